"""snellen doctor: shows what is installed and what is missing."""

from __future__ import annotations

import os
import platform
import shutil
from importlib import metadata
from typing import Any

import click

from snellen import __version__, registry
from snellen.cli._exit import DONE, FELL_SHORT
from snellen.cli.json_output import as_json as json_option
from snellen.cli.json_output import put
from snellen.errors import install
from snellen.home import home

CORE = (
    "aiohttp",
    "click",
    "jinja2",
    "msgspec",
    "numpy",
    "orjson",
    "pillow",
    "pybase64",
    "pyyaml",
    "rapidfuzz",
    "rich",
)
EXTRAS = {
    "parquet": ("pyarrow",),
    "xlsx": ("python-calamine", "xlsxwriter"),
    "video": ("av",),
    "hf": ("torch", "transformers"),
    "vllm": ("vllm",),
    "ray": ("ray",),
    "s3": ("s3fs",),
    "view": ("starlette", "uvicorn"),
    "plots": ("matplotlib",),
    "latex": ("antlr4-python3-runtime", "math-verify", "sympy"),
    "ocr": ("jieba", "nltk"),
    "inspect": ("zstandard",),
}


@click.command("doctor")
@json_option
def command(as_json: bool) -> int:
    """Show what is installed, what is missing, how to install it, and where the data folder is."""
    folder = home()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    packages = {name: _version(name) for name in CORE}
    extras = {extra: {name: _version(name) for name in names} for extra, names in EXTRAS.items()}
    document: dict[str, Any] = {
        "snellen": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "data_folder": str(folder),
        "free_disk_bytes": shutil.disk_usage(there).free,
        "keys_set": registry.keys_set(),
        "packages": packages,
        "extras": extras,
    }
    if as_json:
        put(document)
    else:
        _print(document)
    return DONE if all(packages.values()) else FELL_SHORT


def _print(document: dict[str, Any]) -> None:
    for name in ("snellen", "python", "system", "cores"):
        click.echo(f"{name:<14} {document[name]}")
    click.echo(f"{'data folder':<14} {document['data_folder']}")
    click.echo(f"{'free disk':<14} {document['free_disk_bytes'] / 1e9:.1f} GB")
    for variable, is_set in document["keys_set"].items():
        click.echo(f"{variable:<14} {'is set' if is_set else 'is not set'}")
    click.echo("packages:")
    for name, version in document["packages"].items():
        click.echo(f"  {name:<12} {version or f'MISSING: pip install {name}'}")
    click.echo("extras:")
    for extra, versions in document["extras"].items():
        missing = [name for name, version in versions.items() if version is None]
        state = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
        if missing:
            state += ", " if state else ""
            state += f"no {', '.join(missing)}: {install(extra)}"
        click.echo(f"  {extra:<12} {state}")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None

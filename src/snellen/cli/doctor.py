"""snellen doctor: what is installed, and what is missing."""

from __future__ import annotations

import os
import platform
import shutil
from importlib import metadata, util
from typing import Any

import click

from snellen import __version__
from snellen.cli._json import as_json as json_option
from snellen.cli._json import put
from snellen.datasets import home

CORE = ("aiohttp", "click", "msgspec", "numpy", "orjson", "pillow", "pyyaml", "rapidfuzz", "rich")
EXTRAS = {
    "parquet": ("pyarrow",),
    "xlsx": ("python_calamine", "xlsxwriter"),
    "hub": ("huggingface_hub",),
    "video": ("av",),
    "hf": ("torch", "transformers"),
    "vllm": ("vllm",),
    "ray": ("ray",),
    "s3": ("s3fs",),
    "view": ("starlette", "uvicorn", "jinja2"),
    "plots": ("matplotlib",),
}


@click.command("doctor", short_help="Say what is installed and what is missing.")
@json_option
def command(as_json: bool) -> int:
    """Say what is installed, what is missing and how to get it, and where data go."""
    folder = home()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    found: dict[str, Any] = {
        "snellen": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "packages": {name: _version(name) for name in CORE},
        "extras": {extra: all(map(util.find_spec, names)) for extra, names in EXTRAS.items()},
        "data folder": str(folder),
        "free disk": f"{shutil.disk_usage(existing).free / 1e9:.0f} GB",
    }
    missing = [name for name, version in found["packages"].items() if version is None]
    if as_json:
        put(found)
        return int(bool(missing))
    for name in ("snellen", "python", "system", "cores", "data folder", "free disk"):
        click.echo(f"{name}: {found[name]}")
    for name, version in found["packages"].items():
        click.echo(f"  {name:<12} {version or 'MISSING: pip install ' + name}")
    click.echo("extras:")
    for extra, there in found["extras"].items():
        click.echo(f"  {extra:<12} {'installed' if there else f'not installed: pip install snellen[{extra}]'}")
    return int(bool(missing))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None

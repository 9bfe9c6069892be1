"""Build the wheel and the sdist, and check both in a fresh environment outside the checkout.

usage: python scripts/wheel.py [--out DIST] [--heavy]

The wheel is installed with the pins of constraints.txt. In that environment, each command of the
README must print what the README shows. Then every module of the package and the packages of every
extra are imported. With --heavy, the pins of torch, transformers, and Ray are installed too, and
only vLLM may be missing. The wheel that is built from the sdist must have the same files.

Run it in the environment that `make env` creates. It needs the packages that pip would download.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests import pages  # noqa: E402
from tests.servers import completion, serving  # noqa: E402

IMPORT_ALL = """
import importlib, json, pkgutil, sys
import snellen
from snellen.errors import UsageError
assert not snellen.__file__.startswith(sys.argv[1]), snellen.__file__
imported, missing = 0, {}
for module in pkgutil.walk_packages(snellen.__path__, "snellen."):
    if module.name == "snellen.__main__":
        continue
    try:
        importlib.import_module(module.name)
        imported += 1
    except (ModuleNotFoundError, UsageError) as error:
        # snellen.training raises a UsageError that names the extra.
        cause = error if isinstance(error, ModuleNotFoundError) else error.__cause__
        if not isinstance(cause, ModuleNotFoundError) or (cause.name or "").startswith("snellen"):
            raise
        missing.setdefault(cause.name, []).append(module.name)
from snellen.cli.doctor import EXTRAS
for package in (name for names in EXTRAS.values() for name in names):
    try:
        importlib.import_module(package.replace("-", "_"))
    except ModuleNotFoundError as error:
        missing.setdefault(package, []).append("an extra")
print(json.dumps({"imported": imported, "missing": missing}))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command and return its standard output; on failure, print its output and exit."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        words = " ".join(map(str, command))
        sys.exit(f"{words}\nexited with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def built(out: Path) -> tuple[Path, Path]:
    """Build a wheel and an sdist; return their paths."""
    shutil.rmtree(out, ignore_errors=True)
    run(sys.executable, "-m", "hatchling", "build", "-d", out, cwd=ROOT)
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    return wheel, sdist


def check_sdist(sdist: Path, wheel: Path, scratch: Path) -> None:
    """Check that the sdist builds a wheel with the same files."""
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch, filter="data")
    (source,) = scratch.iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "again", cwd=source)
    (again,) = (source / "again").glob("*.whl")
    names = [sorted(zipfile.ZipFile(path).namelist()) for path in (wheel, again)]
    if names[0] != names[1]:
        sys.exit(f"The wheel of the sdist has other files: {set(names[0]) ^ set(names[1])}")


def environment(folder: Path, wheel: Path, *, heavy: bool) -> Path:
    """Create a fresh environment with the pins and the wheel; return its Python."""
    run(sys.executable, "-m", "venv", folder, cwd=ROOT)
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "install", "-qq", "--disable-pip-version-check")
    pins = ["constraints.txt", *["constraints-heavy.txt"] * heavy]
    for file in pins:
        run(*pip, "--no-deps", "--require-hashes", "-r", ROOT / file, cwd=folder)
    run(*pip, "--no-deps", wheel, cwd=folder)
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the files")
    parser.add_argument("--heavy", action="store_true", help="also install torch and Ray")
    options = parser.parse_args()
    wheel, sdist = built(options.out.resolve())
    print(f"{wheel}\n{sdist}")
    with TemporaryDirectory() as temporary:
        scratch = Path(temporary)
        (scratch / "sdist").mkdir()
        check_sdist(sdist, wheel, scratch / "sdist")
        print("The sdist builds the same wheel.")
        python = environment(scratch / "env", wheel, heavy=options.heavy)
        folder = scratch / "work"
        folder.mkdir()
        with serving(completion("A")) as server:
            text = (ROOT / "README.md").read_text(encoding="utf-8")
            shell = pages.shell(folder, python=python, source=None)
            number = pages.followed(text, folder, server.url, shell)
        print(f"README: {number} commands print what it shows.")
        modules = json.loads(run(python, "-c", IMPORT_ALL, ROOT, cwd=folder))
        missing = modules["missing"]
        print(f"{modules['imported']} modules imported; not installed: {missing or 'nothing'}")
        if options.heavy and set(missing) - {"vllm"}:
            sys.exit("An extra cannot be imported.")


if __name__ == "__main__":
    main()

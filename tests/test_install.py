"""The command that messages give to install an extra."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from snellen.errors import install

ROOT = Path(__file__).parents[1]
ASK = "from snellen.errors import install; print(install('view'))"


def test_in_a_checkout_the_command_names_its_folder() -> None:
    pip, verb, editable, target = shlex.split(install("view"))
    assert (pip, verb, editable) == ("pip", "install", "-e")
    assert target == f"{ROOT}[view]"


def test_an_installed_package_has_no_folder_to_name(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "src" / "snellen",
        tmp_path / "lib" / "site-packages" / "snellen",
        ignore=shutil.ignore_patterns("rows", "__pycache__"),
    )
    shown = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "lib" / "site-packages")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown == "pip install 'snellen[view]'\n"

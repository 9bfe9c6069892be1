"""The versions of packages are those of the standard library's reader."""

import sys
from importlib import metadata
from pathlib import Path

import pytest

from snellen.registry import installed_versions
from snellen.run.identity import RECORDED_PACKAGES


def describe(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "METADATA").write_text(text)


def test_the_versions_are_those_of_the_standard_library() -> None:
    expected = {name: metadata.version(name) for name in RECORDED_PACKAGES}
    assert installed_versions(RECORDED_PACKAGES) == expected


def test_the_first_folder_of_the_path_counts_as_it_does_for_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = "Metadata-Version: 2.1\nName: Bolts\nVersion: {}\n\nVersion: 9 is no field.\n"
    describe(tmp_path / "a", "Bolts-1.0.dist-info", described.format("1.0+cpu"))
    describe(tmp_path / "b", "bolts-2.0.dist-info", described.format("2.0"))
    monkeypatch.setattr(sys, "path", [f"{tmp_path / name}" for name in ("none", "a", "b")])
    assert installed_versions(["bolts"]) == {"bolts": "1.0+cpu"}
    assert metadata.version("bolts") == "1.0+cpu"


def test_a_package_that_is_not_installed_is_an_error() -> None:
    with pytest.raises(metadata.PackageNotFoundError, match="no_such_package"):
        installed_versions(["no_such_package"])

"""scripts/names.py: banned names in the folders that are free of them."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts/names.py"


@pytest.fixture(scope="module")
def names() -> ModuleType:
    spec = importlib.util.spec_from_file_location("names_script", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(names: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose only clean folder is `src`."""
    monkeypatch.setattr(names, "ROOT", tmp_path)
    monkeypatch.setattr(names, "CLEAN", ("src",))
    (tmp_path / "src").mkdir()
    return tmp_path


def test_a_banned_name_is_an_error_with_its_place(
    names: ModuleType, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "src/a.py").write_text("rows = 1\n\nfor one in range(rows): print(one)\n")
    assert names.main([]) == 1
    assert capsys.readouterr().out == "src/a.py:3: one is a banned name. Say what it stands for.\n"


def test_fields_of_stored_structs_keep_their_names(names: ModuleType, checkout: Path) -> None:
    (checkout / "src/a.py").write_text("class A(msgspec.Struct, frozen=True):\n    asked: int\n")
    assert names.main([]) == 0


def test_a_clean_folder_that_is_gone_is_an_error(names: ModuleType, checkout: Path) -> None:
    (checkout / "src").rmdir()
    with pytest.raises(SystemExit, match="no such file or folder"):
        names.main([])


def test_named_paths_are_listed_and_are_no_error(
    names: ModuleType, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "b.py").write_text("said = 1\n")
    assert names.main(["b.py"]) == 0
    assert "b.py:1: said" in capsys.readouterr().out


def test_names_of_tests_are_sentences(names: ModuleType, checkout: Path) -> None:
    (checkout / "src/a.py").write_text("def test_one_is_found(): pass\n")
    assert names.main([]) == 0


def test_two_classes_of_one_name_are_an_error(
    names: ModuleType, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (checkout / f"src/{name}.py").write_text("class Reply: pass\n")
    assert names.main([]) == 1
    assert "src/a.py and src/b.py define the class Reply" in capsys.readouterr().out

"""scripts/fields.py: fields of public records without documentation."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts/fields.py"


@pytest.fixture
def fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with an empty checkout."""
    spec = importlib.util.spec_from_file_location("fields_script", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "src").mkdir()
    return module


@pytest.mark.parametrize(
    "head",
    ["@dataclass(frozen=True)\nclass A:", "class A(msgspec.Struct):", "class A(NamedTuple):"],
)
def test_a_field_without_text_is_listed_with_its_line(
    fields: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], head: str
) -> None:
    (tmp_path / "src/a.py").write_text(f'{head}\n    x: int\n    """Its size."""\n    y: int\n')
    assert fields.main() == 1
    line = head.count("\n") + 4
    assert capsys.readouterr().out == f"src/a.py:{line}: A.y has no documentation under it.\n"


@pytest.mark.parametrize(
    "text",
    [
        '@dataclass\nclass A:\n    x: int\n    """Its size."""\n',
        "@dataclass\nclass _A:\n    x: int\n",
        "@dataclass\nclass A:\n    _x: int\n",
        "class A:\n    x: int\n",
        'class A(TypedDict):\n    x: Annotated[int, Option(GROUP, "Its size.")]\n',
    ],
)
def test_what_is_documented_or_private_is_not_listed(
    fields: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "src/a.py").write_text(text)
    assert fields.main() == 0
    assert capsys.readouterr().out == ""


def test_an_empty_text_is_no_documentation(fields: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "src/a.py").write_text('class A(NamedTuple):\n    x: int\n    """ """\n')
    assert fields.main() == 1

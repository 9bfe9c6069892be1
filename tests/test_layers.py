"""Imports point one way, inside functions and for types too: a test that reads the source."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "snellen"
# The rooms. Each line imports only from the lines above it; names on one line never import each
# other.
LAYERS = """
    lazy
    copies errors home stats text
    media metrics transport
    data
    core
    answers store tools
    interop models recipes scoring
    benchmarks
    transforms
    registry
    analysis
    report
    run
    api
    testing training view
    cli
    __main__
"""
LEVEL = {name: level for level, line in enumerate(LAYERS.splitlines()) for name in line.split()}
ENVIRONMENT = ("home.py", "data/", "media/limits.py", "registry/keys.py", "store/locations.py")
ONLY: Mapping[str, tuple[str, ...]] = {
    "aiohttp": ("transport/",),
    "PIL": ("media/",),
    "av": ("media/",),
    "fsspec": ("store/remote.py",),
    "ray": ("models/executors/cluster.py",),
    "os.environ": ENVIRONMENT,
    "os.environb": ENVIRONMENT,
    "os.getenv": ENVIRONMENT,
    # What a request was made from: a back end that reads it could fit its prompt to the benchmark.
    ".origin": ("core/benchmark.py", "models/vlmevalkit.py"),
}
NEVER: Mapping[str, tuple[str, ...]] = {
    # A back end knows nothing of how replies are read and scored.
    "models": ("answers", "metrics"),
}


def violations(source: Path) -> list[str]:
    """What the files under `source`, a package's folder, use and may not; a sentence each."""
    faults = []
    for path in sorted(source.rglob("*.py")):
        file = path.relative_to(source).as_posix()
        for name in dict.fromkeys(used(path, source)):
            if reason := _fault(file, name, source):
                faults.append(f"{file} {reason}")
    return faults


def used(path: Path, source: Path) -> Iterator[str]:
    """Dotted names of all that a file imports or takes from `os`; `.origin` where it reads one."""
    package = [source.name, *path.relative_to(source).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                start = package[: len(package) + 1 - node.level] if node.level else []
                module = ".".join([*start, *filter(None, [node.module])])
                yield from (_module(f"{module}.{alias.name}", source) for alias in node.names)
            case ast.Call(func=ast.Name("import_module") | ast.Attribute(attr="import_module")):
                yield _text(node.args[0]).rstrip(".")
            case ast.Attribute(value=ast.Name("os")):
                yield f"os.{node.attr}"
            case ast.Attribute(attr="origin"):
                yield ".origin"


def _module(name: str, source: Path) -> str:
    """The module that defines a name: `snellen.a` for `snellen.a.b`, where b is not a file."""
    package, *rest = name.split(".")
    if package != source.name or rest == ["__version__"]:
        return name
    path = source.joinpath(*rest)
    return name if path.is_dir() or path.with_suffix(".py").exists() else name.rpartition(".")[0]


def _text(node: ast.expr) -> str:
    """A string as far as it is known before the program runs."""
    if isinstance(node, ast.JoinedStr) and node.values:
        return _text(node.values[0])
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _fault(file: str, name: str, source: Path) -> str | None:
    for only, files in ONLY.items():
        if name == only or name.startswith(f"{only}."):
            allowed = file.startswith(files)
            return None if allowed else f"uses {only}, which {' and '.join(files)} alone may"
    top, _, rest = name.partition(".")
    if top != SOURCE.name or file == "__init__.py" or rest == "__version__":
        return None
    mine, theirs = re.split(r"\.py|/", file)[0], rest.partition(".")[0]
    if mine not in LEVEL:
        return "is in no layer: give it a place in LAYERS"
    if theirs == mine:
        return f"imports {name}, which stands for itself" if _is_plugin(rest, source) else None
    # The package itself, and what is in no layer, is below nothing.
    if LEVEL.get(theirs, len(LEVEL)) >= LEVEL[mine] or theirs in NEVER.get(mine, ()):
        return f"imports {name}, which is not below it"
    if any(part.startswith("_") for part in rest.split(".")):
        return f"imports {name}, which is private to its room"
    return None


def _is_plugin(name: str, source: Path) -> bool:
    """Whether a module is a benchmark or a back end, each of which stands for itself."""
    path = source.joinpath(*name.split(".")).with_suffix(".py")
    folder = path.parent.relative_to(source).as_posix()
    if folder == "benchmarks":
        return True
    return folder == "models" and path.exists() and "def open_model(" in path.read_text()


def test_every_import_points_down() -> None:
    assert violations(SOURCE) == []


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("stats/__init__.py", "import snellen.cli", "snellen.cli"),
        ("stats/__init__.py", "from snellen import cli", "snellen.cli"),
        ("stats/__init__.py", "from ..cli import main", "snellen.cli"),
        ("store/a.py", "def f():\n    from snellen.cli import main", "snellen.cli"),
        ("store/a.py", "if TYPE_CHECKING:\n    import snellen.api", "snellen.api"),
        ("store/a.py", "import_module('snellen.api')", "snellen.api"),
        ("core/a.py", "importlib.import_module(f'snellen.models.{name}')", "snellen.models"),
        ("models/a.py", "from snellen.metrics import mean", "snellen.metrics"),
        ("core/a.py", "import snellen", "snellen"),
        ("core/a.py", "from snellen import nowhere", "snellen"),
    ],
)
def test_an_import_of_what_is_not_below_is_found(
    tmp_path: Path, file: str, text: str, name: str
) -> None:
    faults = violations(_package(tmp_path, file, text))
    assert faults == [f"{file} imports {name}, which is not below it"]


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("models/a.py", "from snellen.models.b import c", "snellen.models.b"),
        ("models/a.py", "from . import b", "snellen.models.b"),
        ("benchmarks/a.py", "from snellen.benchmarks import b", "snellen.benchmarks.b"),
        ("benchmarks/families/a.py", "from ..b import c", "snellen.benchmarks.b"),
    ],
)
def test_an_import_of_another_benchmark_or_back_end_is_found(
    tmp_path: Path, file: str, text: str, name: str
) -> None:
    faults = violations(_package(tmp_path, file, text))
    assert faults == [f"{file} imports {name}, which stands for itself"]


def test_an_import_of_another_rooms_private_file_is_found(tmp_path: Path) -> None:
    faults = violations(_package(tmp_path, "cli/a.py", "from snellen.models._b import c"))
    assert faults == ["cli/a.py imports snellen.models._b, which is private to its room"]


@pytest.mark.parametrize("folder", ["tests", "perf", "scripts", "examples"])
def test_what_is_outside_the_package_imports_nothing_private(folder: str) -> None:
    private = re.compile(r"(?:from|import) snellen[\w.]*(?:\._| import \(?\s*_[a-z])")
    for path in (SOURCE.parents[1] / folder).rglob("*.py"):
        if path.name not in ("test_layers.py", "test_count.py"):  # which hold such imports as text
            assert private.findall(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("models/a.py", "import aiohttp", "aiohttp"),
        ("data/a.py", "from PIL import Image", "PIL"),
        ("store/a.py", "import av.video", "av"),
        ("run/a.py", "os.environ['KEY']", "os.environ"),
        ("run/a.py", "from os import getenv", "os.getenv"),
        ("models/openai.py", "request.origin.benchmark", ".origin"),
    ],
)
def test_a_use_of_what_belongs_to_another_file_is_found(
    tmp_path: Path, file: str, text: str, name: str
) -> None:
    faults = violations(_package(tmp_path, file, text))
    assert faults == [f"{file} uses {name}, which {' and '.join(ONLY[name])} alone may"]


def test_a_file_in_no_layer_is_found(tmp_path: Path) -> None:
    faults = violations(_package(tmp_path, "surprise.py", "from snellen import errors"))
    assert faults == ["surprise.py is in no layer: give it a place in LAYERS"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("cli/__init__.py", "from snellen.stats import mean\nfrom snellen import api, __version__"),
        ("models/a.py", "from snellen.models.helper import c\nfrom .helper import d"),
        ("models/a.py", "from snellen.models._b import c\nfrom snellen.models import _b"),
        ("models/a.py", "from ._b import c"),
        ("transport/a.py", "import aiohttp"),
        ("media/images.py", "import PIL.Image"),
        ("data/locations.py", "os.environ.get('HOME')\nos.path.join('a', 'b')"),
        ("core/benchmark.py", "request.origin"),
        ("__init__.py", "from snellen import api"),
    ],
)
def test_what_is_allowed_is_let_through(tmp_path: Path, file: str, text: str) -> None:
    assert violations(_package(tmp_path, file, text)) == []


def _package(folder: Path, file: str, text: str) -> Path:
    """A package of empty files, one of which has this text."""
    source = folder / "snellen"
    back_end = "def open_model(name): ..."
    files = ["api.py", "errors.py", "models/a.py", "models/helper.py", "models/_b.py"]
    folders = ["benchmarks", "cli", "core", "metrics", "models", "stats"]
    for name in [*(f"{folder}/__init__.py" for folder in folders), *files, file]:
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (source / "models" / "b.py").write_text(back_end)
    (source / "benchmarks" / "b.py").touch()
    (source / file).write_text(text)
    return source

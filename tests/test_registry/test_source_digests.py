"""A run's identity follows a stranger's code into the modules of his own that it imports."""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import snellen as package
from snellen import registry
from snellen.models.code_files import files_of
from tests.test_cli.conftest import Snellen
from tests.test_cli.conftest import snellen as snellen_fixture
from tests.test_registry.test_plugins import forget, install, manifest, run_of

snellen = snellen_fixture
HELPERS = ("letter_words", "letter_marks", "elsewhere_metric")
WORDS = 'HOW_MANY = "How many"\n'
METRIC = '''"""A metric that lies in a package of its own."""

from snellen.metrics import Columns, mean
from snellen.stats import Estimate


def share(columns: Columns) -> Estimate:
    """The mean score."""
    return mean(columns)
'''


def forget_all() -> None:
    forget()
    for name in HELPERS:
        sys.modules.pop(name, None)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    forget_all()
    yield
    forget_all()


@dataclass(frozen=True)
class Door:
    """A way to name a benchmark that imports a helper."""

    spec: str
    folder: Path
    """Where its code lies."""


def split_up(folder: Path, start: str) -> None:
    """Let `letter_count.py` take its words from a helper, which takes them from another."""
    file = folder / "letter_count.py"
    text = file.read_text().replace('"How many"', "HOW_MANY")
    file.write_text(text.replace("ALIASES", f"from {start}letter_words import HOW_MANY\n\nALIASES"))
    (folder / "letter_words.py").write_text(f"from {start}letter_marks import HOW_MANY\n")
    marks = f"import {start}letter_words as _\n" if not start else "from . import letter_words\n"
    (folder / "letter_marks.py").write_text(f"{WORDS}\n\ndef later() -> None:\n    {marks}")


@pytest.fixture(params=["file", "module", "plug-in", "object"])
def door(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Door:
    site = install(tmp_path / "site-packages")
    own = site / "lettercount"
    if request.param in ("file", "object"):
        folder = Path(shutil.copytree(own, tmp_path / "mine"))
        file = folder / "letter_count.py"
        file.write_text(file.read_text().replace('name="letter-count"', 'name="words"'))
        split_up(folder, "")
        monkeypatch.syspath_prepend(str(folder))
        spec = f"{file}" if request.param == "file" else "object"
        return Door(spec, folder)
    split_up(own, ".")
    monkeypatch.syspath_prepend(str(site))
    is_plugin = request.param == "plug-in"
    if not is_plugin:
        shutil.rmtree(site / "lettercount-1.0.dist-info")
    return Door("letter-count" if is_plugin else "lettercount.letter_count:letter_count", own)


def run(snellen: Snellen, door: Door) -> Path:
    """The folder of its run, as a new process makes it."""
    forget_all()
    if door.spec != "object":
        line = ("run", "-b", door.spec, "-m", "baseline/first", "--data", "synthetic", "--json")
        done = snellen(*line)
        return run_of(done)
    file = door.folder / "letter_count.py"
    namespace: dict[str, Any] = {"__name__": "letter_count", "__file__": str(file)}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    benchmark = namespace["letter_count"](door.folder / "rows/letter_count")
    result = package.evaluate(benchmark, "baseline/first", out="runs")
    assert result.run is not None
    return Path(result.run)


def test_an_edited_helper_is_a_new_run(snellen: Snellen, door: Door) -> None:
    before = run(snellen, door)
    helper = door.folder / "letter_marks.py"
    helper.write_text(helper.read_text().replace("How many", "Tell how many"))
    after = run(snellen, door)
    assert after.resolve() != before.resolve()
    assert "Tell how many" in (after / "questions.jsonl").read_text()


def test_an_edited_file_that_is_not_imported_is_the_same_run(snellen: Snellen, door: Door) -> None:
    before = run(snellen, door)
    (door.folder / "counter.py").write_text("# nothing of it is left\n")
    (door.folder / "rows" / "notes.py").write_text("# a new file\n")
    assert run(snellen, door).resolve() == before.resolve()


@pytest.mark.parametrize("door", ["file"], indirect=True)
def test_a_helper_that_is_edited_while_python_runs_is_loaded_again_with_its_file(
    snellen: Snellen, door: Door
) -> None:
    def question() -> str:
        benchmark = registry.benchmark(door.spec, data=Path("synthetic"))
        return benchmark.read(next(iter(benchmark.data))).question

    assert question().startswith("How many")
    helper = door.folder / "letter_marks.py"
    helper.write_text(helper.read_text().replace("How many", "Tell how many"))
    assert question().startswith("Tell how many")


@pytest.mark.parametrize("door", ["module", "plug-in"], indirect=True)
def test_an_imported_module_keeps_its_digest_while_python_runs(
    snellen: Snellen, door: Door
) -> None:
    def digest() -> str | None:
        source = registry.source_of(registry.benchmark(door.spec, data=Path("synthetic")))
        assert source is not None
        return source.digest

    before = digest()
    helper = door.folder / "letter_marks.py"
    helper.write_text(helper.read_text().replace("How many", "Tell how many"))
    assert digest() == before


def test_an_edited_metric_of_another_package_is_noted(
    snellen: Snellen, door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = tmp_path / "site-packages" / "elsewhere_metric.py"
    metric.write_text(METRIC)
    monkeypatch.syspath_prepend(str(metric.parent))
    file = door.folder / "letter_count.py"
    text = file.read_text().replace("from snellen.metrics import mean", "import elsewhere_metric")
    file.write_text(text.replace('{"accuracy": mean}', '{"accuracy": elsewhere_metric.share}'))
    before = run(snellen, door)
    assert run(snellen, door).resolve() == before.resolve()
    metric.write_text(METRIC.replace("return mean(columns)", "return mean(columns)  # changed"))
    forget_all()
    if door.spec != "object":
        own = () if door.spec == "letter-count" else ("-b", door.spec)
        notes = snellen("score", before, *own, "--json").json["notes"]
        assert any("changed since the run was made" in note for note in notes)
    assert run(snellen, door).resolve() != before.resolve()


FORMS: dict[str, tuple[str, set[str]]] = {
    "a package": ("import pack.inner\n", {"pack/inner.py"}),
    "a name of a package": ("from pack import NAME\n", {"pack/__init__.py"}),
    "a module of a package": ("from pack import inner\n", {"pack/inner.py"}),
    "in a function": ("def f():\n    if f:\n        import alone\n", {"alone.py"}),
    "in a try": ("try:\n    import alone\nexcept ImportError:\n    import other\n",
                 {"alone.py", "other.py"}),
    "several lines": ("from pack import (\n    inner,\n    NAME,\n)\n",
                      {"pack/inner.py", "pack/__init__.py"}),
    "nothing of his": ("import json, numpy, snellen, pytest\nfrom . import alone\n", set()),
    "no Python": ("from import alone\n", set()),
    "a name that is no module": ("from alone import json, other\n", {"alone.py"}),
    "an environment beside it": ("import installed_there\n", set()),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_what_a_file_imports_of_its_own_folder_is_followed(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, expected = FORMS[form]
    installed = tmp_path / ".venv/lib/python3.11/site-packages"
    for name in ("pack/__init__.py", "pack/inner.py", "alone.py", "other.py", "json.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    installed.mkdir(parents=True)
    (installed / "installed_there.py").write_text("")
    monkeypatch.syspath_prepend(str(installed))
    file = tmp_path / "bench.py"
    file.write_text(text)
    paths = {path.relative_to(tmp_path.resolve()).as_posix() for path in files_of(file)}
    assert paths == {"bench.py", *expected}


def test_the_digest_of_a_file_that_imports_nothing_of_its_own_stays_that_of_the_file(
    tmp_path: Path, digest_of: Callable[[bytes], str]
) -> None:
    """Runs of such a file are gone on with."""
    text = (
        Path(__file__).parents[1] / "plugin_package/src/lettercount/letter_count.py"
    ).read_text()
    file = tmp_path / "letter_count.py"
    file.write_text(text.replace('name="letter-count"', 'name="words"'))
    source = registry.source_of(registry.benchmark(f"{file}", data=tmp_path))
    assert source is not None
    assert source.digest == digest_of(file.read_bytes())


@pytest.fixture
def digest_of() -> Callable[[bytes], str]:
    from hashlib import blake2b

    return lambda content: blake2b(content, digest_size=16).hexdigest()


def test_manifests_hold_the_digest(snellen: Snellen, door: Door) -> None:
    folder = run(snellen, door)
    document = manifest(folder)
    assert document["benchmark_source"]["digest"] == document["identity"]["source"]

"""A benchmark that a stranger brings goes through every verb: as a plug-in, and as a file."""

import json
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import snellen as package
from snellen import api, registry
from snellen.core.model import Reply
from snellen.errors import CatalogError, UsageError
from snellen.media.content import Image, ToolCall
from snellen.media.drawing import Canvas
from snellen.metrics import mean
from snellen.report import export
from snellen.tools import Shown
from tests.test_cli.conftest import CommandResult, Snellen
from tests.test_cli.conftest import snellen as snellen_fixture
from tests.viewers import viewing

snellen = snellen_fixture
SOURCE = Path(__file__).parents[1] / "plugin_package"
N = 12
ENTRY_POINTS = SOURCE.joinpath("pyproject.toml").read_text()


def install(folder: Path, *, name: str = "lettercount", version: str = "1.0") -> Path:
    """Install the plug-in package into a folder as pip does, without a network."""
    import tomllib

    shutil.copytree(SOURCE / "src", folder, dirs_exist_ok=True)
    groups = tomllib.loads(ENTRY_POINTS)["project"]["entry-points"]
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{point} = {value}" for point, value in points.items())]
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text("\n".join(lines))
    return folder


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "lettercount"]:
        del sys.modules[name]


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = install(tmp_path / "site")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    forget()
    yield folder
    forget()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The same benchmark as a single file, with its rows beside it."""
    folder = tmp_path / "elsewhere"
    shutil.copytree(SOURCE / "src/lettercount", folder)
    text = (folder / "letter_count.py").read_text()
    (folder / "letter_count.py").write_text(text.replace('name="letter-count"', 'name="words"'))
    return folder / "letter_count.py"


def run_of(done: CommandResult) -> Path:
    assert done.code == 0, done.err
    return Path(done.json["run"])


def manifest(run: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((run / "manifest.json").read_text())
    return document


MODEL = f"python:{SOURCE / 'src/lettercount/counter.py'}:Counter"
THREE = MODEL.replace("Counter", "three")


@pytest.fixture
def plugin_run(snellen: Snellen, plugin: Path) -> Path:
    return run_of(
        snellen("run", "-b", "letter-count", "-m", "counter", "--data", "synthetic", "--json")
    )


@pytest.fixture
def file_run(snellen: Snellen, file: Path) -> Path:
    return run_of(snellen("run", "-b", file, "-m", MODEL, "--data", "synthetic", "--json"))


# -- a plug-in


def test_a_plug_in_is_listed_shown_and_checked(snellen: Snellen, plugin: Path) -> None:
    listed = snellen("list", "--json").json
    names = {kind: {row["name"]: row["title"] for row in rows} for kind, rows in listed.items()}
    title = "letter-count: how often is a letter in a word? (lettercount 1.0)"
    assert names["benchmarks"]["letter-count"] == title
    row = next(row for row in listed["benchmarks"] if row["name"] == "letter-count")
    facts = (row["n"], row["license"], row["kind"], row["languages"], row["proof"])
    assert facts == (12, "CC0", None, [], None)
    [line] = [x for x in snellen("list", "--license", "CC0").out.splitlines() if title in x]
    assert line.split(title)[0].split() == ["letter-count", "12", "CC0"]
    assert names["models"]["counter"] == "Counts the letters of a question. (lettercount 1.0)"
    assert names["metrics"]["share-of-zeros"] == "The share of scores that are 0. (lettercount 1.0)"
    assert "lettercount" not in sys.modules, "listing imports nothing"

    shown = snellen("show", "LetterCount", "--json").json
    assert shown["benchmark"] == "letter-count"
    assert shown["options"]["words"]["choices"] == ["short", "long"]
    assert shown["bundled_rows"] == N
    assert snellen("check", "letter-count").code == 0


def test_a_plug_in_goes_through_every_verb(snellen: Snellen, plugin_run: Path) -> None:
    scored = snellen("score", plugin_run, "--json")
    assert scored.json["scorings"]["official"]["metrics"]["accuracy"]["value"] == 1.0
    other = run_of(
        snellen("run", "-b", "letter-count", "-m", "counter-service/3", "--data", "synthetic",
                "--json")
    )  # fmt: skip
    compared = snellen("compare", other, plugin_run, "--json")
    assert compared.json["comparisons"][0]["samples"] == N
    assert snellen("report", plugin_run, other, "--format", "html").code == 0
    assert snellen("export", plugin_run, "--to", "jsonl", "-o", "out.jsonl").code == 0
    assert snellen("power", "letter-count", "--data", "synthetic", "--from", other, plugin_run,
                   "--json").code == 0  # fmt: skip
    again = snellen("run", "-b", "letter-count", "-m", "counter", "--data", "synthetic", "--json")
    assert run_of(again) == plugin_run
    assert manifest(plugin_run)["benchmark_source"] == {
        "kind": "plugin",
        "spec": "letter-count",
        "digest": manifest(plugin_run)["identity"]["source"],
        "distribution": "lettercount",
        "version": "1.0",
        "data": "synthetic",
    }
    with viewing(plugin_run.parents[2]) as viewer:
        assert is_picture(viewer, plugin_run)


def is_picture(viewer: Any, run: Path) -> bool:
    position = run.relative_to(run.parents[2])
    answer = viewer.get(f"/media/{position}?s=w0&n=0")
    return bool(answer.status == 200 and answer.headers["content-type"].startswith("image/"))


def test_a_run_of_a_plug_in_that_is_not_installed_names_its_package(
    snellen: Snellen, plugin_run: Path, monkeypatch: pytest.MonkeyPatch, plugin: Path
) -> None:
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(plugin)])
    done = snellen("score", plugin_run)
    assert done.code == 2
    assert "comes from the package lettercount 1.0, which is not installed" in done.err


def test_another_version_of_a_plug_in_is_another_run(
    snellen: Snellen, plugin_run: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(plugin)
    newer = install(plugin.parent / "newer", version="1.1")
    monkeypatch.syspath_prepend(str(newer))
    forget()
    again = run_of(
        snellen("run", "-b", "letter-count", "-m", "counter", "--data", "synthetic", "--json")
    )
    assert again != plugin_run
    scored = snellen("score", plugin_run, "--json")
    assert any("changed since the run" in note for note in scored.json["notes"])


def test_a_plug_ins_metric_is_found_by_name(plugin: Path) -> None:
    assert registry.metric("share-of-zeros")([0, 1]) == 0.5
    assert registry.metric("lettercount.zeros:share_of_zeros")([0, 0]) == 1.0
    assert registry.metric("mean") is mean
    with pytest.raises(CatalogError, match="no metric 'meen'"):
        registry.metric("meen")


def test_a_plug_ins_tool_is_found_by_name_and_known_by_its_code(plugin: Path) -> None:
    picture = Image(Canvas(30, 20).png())
    call = ToolCall(id="1", name="measure", arguments="{}")
    tools = registry.toolbox(["zoom,measure"])

    (result,), _ = tools.results(Reply(tool_calls=(call,)), Shown(pictures=(picture,)))

    assert result.parts == ("30 pixels",)
    assert tools.tools["zoom"].version == "1"
    before = tools.tools["measure"].version
    code = plugin / "lettercount" / "measure.py"
    code.write_text(code.read_text() + "\n")
    forget()
    assert registry.toolbox(["measure"]).tools["measure"].version != before
    with pytest.raises(CatalogError, match=r"Tools: frame, grid, .*rotate, window, zoom, measure"):
        registry.toolbox(["measures"])


def test_a_package_whose_entry_points_cannot_be_read_is_skipped(
    snellen: Snellen, plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "other" / "broken-1.0.dist-info" / "entry_points.txt"
    broken.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(broken.parents[1]))
    assert snellen("show", "pope").code == 0
    assert snellen("show", "letter-count").code == 0


def test_two_plug_ins_of_one_name_are_an_error_that_names_both(
    snellen: Snellen, plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "other" / "rival-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(
        "[snellen.benchmarks]\nLetter_Count = rival:bench\nPope = rival:pope\n"
    )
    monkeypatch.syspath_prepend(str(info.parent))
    for name, origins in {
        "letter-count": ["lettercount 1.0", "rival 2.0"],
        "Letter_Count": ["lettercount 1.0", "rival 2.0"],
        "pope": ["snellen/benchmarks/pope.py", "rival 2.0"],
    }.items():
        done = snellen("run", "-b", name, "-m", "baseline/first")
        assert done.code == 2
        assert "more than one benchmark" in done.err
        assert all(origin in done.err for origin in origins), done.err


# -- a file


@pytest.mark.parametrize("form", ["{0}", "{0}:letter_count", "{0}:letter_count:words=long"])
def test_a_file_is_a_benchmark(snellen: Snellen, file: Path, form: str) -> None:
    spec = form.format(file)
    run = run_of(snellen("run", "-b", spec, "-m", MODEL, "--data", "synthetic", "--json"))
    assert run.parent.parent.name == "words"
    source = manifest(run)["benchmark_source"]
    assert (source["kind"], source["spec"]) == ("file", f"{file}:letter_count")
    assert manifest(run)["identity"]["options"]["words"] == ("long" if "long" in spec else "short")


def test_an_option_without_a_value_stays_in_the_identity_of_a_file(
    snellen: Snellen, file: Path
) -> None:
    text = file.read_text()
    file.write_text(text.replace('"short") ->', '"short", top: int | None = None) ->'))
    run = run_of(snellen("run", "-b", file, "-m", MODEL, "--data", "synthetic", "--json"))
    # As in runs of earlier versions, which would otherwise not be continued.
    assert manifest(run)["identity"]["options"] == {"words": "short", "top": None}


def test_a_file_goes_through_every_verb(snellen: Snellen, file: Path, file_run: Path) -> None:
    own = ("-b", f"{file}:letter_count")
    before = (file_run / "scores.jsonl").read_bytes()
    scored = snellen("score", file_run, *own, "--json")
    assert scored.json["scorings"]["official"]["metrics"]["accuracy"]["value"] == 1.0
    assert (file_run / "scores.jsonl").read_bytes() == before
    assert snellen("score", file_run, *own, "--explain", "w0").code == 0
    other = run_of(snellen("run", *own, "-m", THREE, "--data", "synthetic", "--json"))
    compared = snellen("compare", other, file_run, *own, "--json")
    assert compared.json["comparisons"][0]["samples"] == N
    shown = snellen("compare", other, file_run, *own).out
    explain = next(line for line in shown.splitlines() if "explain a sample: " in line)
    command = shlex.split(explain.partition("explain a sample: ")[2])
    assert snellen(*command[1:]).code == 0
    page = snellen("report", other, file_run, *own, "--format", "html")
    assert (page.code, page.err) == (0, "")
    assert snellen("report", file_run / "report.json", *own).code == 0
    assert snellen("export", file_run, *own, "--to", "jsonl", "-o", "out.jsonl").code == 0
    judged = snellen("judge", file_run, *own, "--judge", "baseline/first")
    assert "has no scoring with a judge" in judged.err
    power = snellen("power", own[1], "--data", "synthetic", "--from", other, file_run, "--json")
    assert power.code == 0, power.err
    assert snellen("show", own[1], "--json").json["bundled_rows"] == N
    assert snellen("check", own[1]).code == 0
    with viewing(file_run.parents[2], options=own) as viewer:
        assert is_picture(viewer, file_run)
    with viewing(file_run.parents[2]) as viewer:
        assert not is_picture(viewer, file_run)


def test_a_run_of_a_file_stays_usable_when_a_plug_in_takes_its_name(
    snellen: Snellen,
    file: Path,
    file_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    info = tmp_path / "other" / "rival-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[snellen.benchmarks]\nwords = rival:bench\n")
    monkeypatch.syspath_prepend(str(info.parent))
    spec = f"{file}:letter_count"

    scored = snellen("score", file_run, "-b", spec, "--json")
    assert scored.json["scorings"]["official"]["metrics"]["accuracy"]["value"] == 1.0
    assert snellen("report", file_run, "-b", spec).code == 0
    done = snellen("run", "-b", spec, "-m", MODEL, "--data", "synthetic")
    assert done.code == 2
    assert "more than one benchmark named 'words'" in done.err and "rival 2.0" in done.err


@pytest.mark.parametrize(
    "words",
    ["score {0}", "compare {0} {0}x", "export {0} --to jsonl", "judge {0} --judge baseline/first"],
)
def test_a_run_never_runs_the_file_that_it_names(
    snellen: Snellen, file: Path, file_run: Path, words: str
) -> None:
    shutil.copytree(file_run, f"{file_run}x")
    file.write_text(f"raise SystemExit('it was run')\n{file.read_text()}")
    done = snellen(*words.format(file_run).split())
    assert done.code == 2
    assert f"-b {file}:letter_count" in done.err
    assert "it was run" not in done.err


@pytest.mark.parametrize(
    "words",
    [
        "score {0}",
        "score {0} --scoring official",
        "report {0}",
        "report {0} {0}x --format html",
        "compare {0} {0}x",
        "export {0} --to jsonl",
        "export {0} --to authors",
        "score model_evil.py.jsonl",
        "score model_evil.xlsx",
    ],
)
@pytest.mark.parametrize("name", ["evil.py", "evil.py:bench", "evil:bench", "./evil.py"])
def test_a_name_in_a_strangers_files_never_leads_to_a_program(
    snellen: Snellen, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    monkeypatch.syspath_prepend(str(Path.cwd()))
    Path("evil.py").write_text("open('ran', 'w').close()\ndef bench() -> 'Benchmark': ...\n")
    Path("model_evil.py.jsonl").write_text('{"id": "a", "prediction": "b"}\n')
    Path("model_evil.xlsx").write_text("")
    done = snellen("run", "-b", "eyechart:n=12", "-m", "baseline/first", "--json")
    run = run_of(done)
    document = manifest(run)
    document["benchmark"] = document["identity"]["benchmark"] = name
    (run / "manifest.json").write_text(json.dumps(document))
    shutil.copytree(run, f"{run}x")
    done = snellen(*words.format(run).split())
    assert not Path("ran").exists()
    assert "Traceback" not in done.err


def test_a_probe_keeps_where_a_benchmark_comes_from(snellen: Snellen, file: Path) -> None:
    spec = f"{file}:letter_count"
    done = snellen(
        "run", "-b", spec, "-m", MODEL, "--data", "synthetic", "--blind", "none", "--json"
    )
    run = run_of(done)
    assert manifest(run)["benchmark_source"]["spec"] == spec
    assert snellen("score", run, "-b", spec, "--json").json["identity"]["probe"]


def test_the_stored_report_of_a_file_is_shown_without_running_it(
    snellen: Snellen, file: Path, file_run: Path
) -> None:
    file.write_text("raise SystemExit('it was run')")
    done = snellen("report", file_run)
    assert done.code == 0
    assert "100.00" in done.out


def test_an_edited_file_is_a_new_run_and_the_old_one_says_so(
    snellen: Snellen, file: Path, file_run: Path
) -> None:
    file.write_text(file.read_text().replace("How many", "Tell how many"))
    again = run_of(snellen("run", "-b", file, "-m", MODEL, "--data", "synthetic", "--json"))
    assert again != file_run
    scored = snellen("score", file_run, "-b", file, "--json")
    assert any("changed since the run was made" in note for note in scored.json["notes"])
    compared = snellen("compare", file_run, again, "-b", file, "--json")
    assert any("changed since the run was made" in note for note in compared.json["notes"])


def test_a_report_is_out_of_date_when_the_file_has_changed_since(
    snellen: Snellen, file: Path, file_run: Path
) -> None:
    fresh = snellen("report", file_run, "-b", file, "--json")
    assert not any("out of date" in note for note in fresh.json["notes"])
    file.write_text(file.read_text() + "\n# edited\n")

    for arguments in (("--json",), ("--format", "csv")):
        stale = snellen("report", file_run, "-b", file, *arguments)
        text = "the benchmark's source has changed since the report was written"
        assert text in stale.out + stale.err
    assert f"`snellen score {file_run} -b {file}" in stale.err

    assert snellen("score", file_run, "-b", file).code == 0
    again = snellen("report", file_run, "-b", file, "--json")
    assert not any("out of date" in note for note in again.json["notes"])


def test_the_standings_note_that_a_file_has_changed_since(
    snellen: Snellen, file: Path, file_run: Path
) -> None:
    other = snellen("run", "-b", file, "-m", "baseline/first", "--data", "synthetic", "--json")
    file.write_text(file.read_text() + "\n# edited\n")
    assert snellen("score", file_run, "-b", file).code == 0

    standings = snellen("report", file_run, run_of(other), "-b", file)

    rows = [line for line in standings.out.splitlines() if line.startswith(" words")]
    assert sum("scored with a changed source" in row for row in rows) == 1
    assert sum("out of date" in row for row in rows) == 1


def test_a_report_refuses_a_benchmark_that_no_run_is_of(
    snellen: Snellen, file: Path, file_run: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.py"
    other.write_text(file.read_text().replace('name="words"', 'name="others"'))
    for spec in (str(other), "pope"):
        done = snellen("report", file_run, "-b", spec)
        assert done.code == 2
        assert f"-b {spec}: none of these runs used that benchmark. They used words" in done.err
    assert snellen("report", file_run, "-b", file).code == 0


def test_a_file_and_an_object_are_not_said_to_differ(
    snellen: Snellen, file: Path, file_run: Path
) -> None:
    from_file = registry.benchmark(f"{file}", data=Path("synthetic"))
    again = package.score(file_run, replace(from_file, asks=from_file.asks))
    (note,) = [note for note in again.report.notes if "Benchmark object" in note]
    assert "which may be another version" in note and "changed" not in note


def test_a_file_with_the_name_of_a_known_benchmark_is_refused(snellen: Snellen, file: Path) -> None:
    file.write_text(file.read_text().replace('name="words"', 'name="Ok_VQA"'))
    done = snellen("run", "-b", file, "-m", "baseline/first", "--data", "synthetic")
    assert done.code == 2
    assert "snellen/benchmarks/ok_vqa.py" in done.err
    assert f"{file}:letter_count" in done.err


def test_two_files_with_one_name_are_refused(snellen: Snellen, file: Path) -> None:
    other = Path(shutil.copytree(file.parent, file.parent.parent / "more")) / file.name
    done = snellen("run", "-b", file, "-b", other, "-m", "baseline/first", "--data", "synthetic")
    assert done.code == 2
    assert f"{file}:" in done.err
    assert f"{other}:" in done.err


def test_what_a_file_lacks_is_said(snellen: Snellen, file: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1")
    for spec, error in {
        f"{file}:nothing": "has no 'nothing'",
        f"{file}:parse": "parse",
        f"{empty}": "has no benchmark",
        f"{tmp_path / 'gone.py'}": "there is no such file. Name the benchmark's file",
        f"{file}:letter_count:size=3": "has no option 'size'",
        "no_such_module:bench": "No module named 'no_such_module'",
        "pope:adversarial": "is not an option",
    }.items():
        done = snellen("run", "-b", spec, "-m", "baseline/first")
        assert done.code == 2, spec
        assert error in done.err, done.err
        assert "Traceback" not in done.err


def test_a_module_is_a_benchmark(snellen: Snellen, plugin: Path) -> None:
    spec = "lettercount.letter_count:letter_count"
    run = run_of(snellen("run", "-b", spec, "-m", "counter", "--data", "synthetic", "--json"))
    assert manifest(run)["benchmark_source"]["kind"] == "module"
    assert f"-b {spec}" in snellen("score", run).err
    assert snellen("score", run, "-b", spec).code == 0


# -- from Python


def test_python_takes_a_file_and_its_object_everywhere(
    snellen: Snellen, file: Path, tmp_path: Path
) -> None:
    spec = f"{file}:letter_count"
    result = package.evaluate(spec, "baseline/first", data="synthetic", out=tmp_path / "runs")
    assert result.run is not None
    benchmark = registry.benchmark(spec, data=Path("synthetic"))
    for own in (spec, benchmark):
        assert package.score(result.run, own).headline == result.headline
        assert package.load_run(result.run, own).headline == result.headline
        assert api.explain(result.run, "w0", own)
        assert export.export(result.run, "csv", tmp_path / "out.csv", benchmark=own)
    with pytest.raises(UsageError, match="not a benchmark of your own"):
        registry.of_run(manifest(Path(result.run)), "pope")


def test_an_edited_object_is_a_new_run(snellen: Snellen, file: Path, tmp_path: Path) -> None:
    runs = []
    for text in ("How many", "Tell how many"):
        file.write_text(file.read_text().replace("How many", text))
        namespace: dict[str, Any] = {"__name__": "letters", "__file__": str(file)}
        exec(compile(file.read_text(), str(file), "exec"), namespace)
        benchmark = namespace["letter_count"](file.parent / "rows/letter_count")
        runs.append(package.evaluate(benchmark, "baseline/first", out=tmp_path / "runs").run)
    assert runs[0] != runs[1]

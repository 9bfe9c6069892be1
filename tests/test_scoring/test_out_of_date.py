"""A stored report that scoring the run again would not give says so wherever it is shown."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import api, registry
from snellen.errors import StoreError
from tests.test_cli.conftest import Snellen
from tests.test_cli.conftest import snellen as snellen_fixture
from tests.test_registry.test_own_objects import no, own
from tests.viewers import viewing

command_line = snellen_fixture
OLD = "`official` was scored as version 0, but this version of Snellen has version"


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scored")
    result = snellen.evaluate("eyechart:n=12", "baseline/first", out=folder)
    assert result.run is not None
    return result.run


@pytest.fixture
def run(scored: Path, tmp_path: Path) -> Path:
    """A scored run, its own for each test."""
    return shutil.copytree(scored, tmp_path / "runs" / Path(*scored.parts[-3:]))


def edited(path: Path, **fields: Any) -> dict[str, Any]:
    """Change fields of a JSON file."""
    document: dict[str, Any] = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps(document))
    return document


@pytest.fixture
def old(run: Path) -> Path:
    """A run whose stored scoring has a lower version than this version of Snellen has."""
    report = json.loads((run / "report.json").read_text())
    report["scorings"]["official"]["version"] = 0
    edited(run / "report.json", scorings=report["scorings"])
    return run


def test_a_report_that_is_up_to_date_says_nothing(command_line: Snellen, run: Path) -> None:
    assert snellen.load_run(run).report.out_of_date == []
    assert "out of date" not in command_line("report", run).out


@pytest.mark.parametrize("form", ["terminal", "md", "html", "json"])
def test_an_older_scoring_is_named_in_the_report_of_a_run(
    command_line: Snellen, old: Path, form: str
) -> None:
    done = command_line("report", old, "--format", form)
    assert done.code == 0
    text = " ".join(done.out.replace("\\", "").replace("&#96;", "`").split())
    assert "out of date: `official` was scored as version 0" in text
    assert "snellen score" in text


def test_json_says_why_in_a_field_of_its_own(command_line: Snellen, old: Path) -> None:
    (reason,) = command_line("report", old, "--json").json["out_of_date"]
    assert OLD in reason


@pytest.mark.parametrize("form", ["terminal", "md", "html", "csv", "latex"])
def test_a_table_of_several_runs_marks_the_one_that_is_out_of_date(
    command_line: Snellen, old: Path, form: str
) -> None:
    other = snellen.evaluate("eyechart:n=12", "baseline/longest", out=old.parents[2])
    assert other.run is not None
    done = command_line("report", old.parents[2], "--format", form, "--no-compare")
    assert done.code == 0
    assert "out of date" in done.out
    assert "out of date" not in command_line("report", other.run, "--format", form).out


@pytest.mark.parametrize("words", ["--format csv", "--format latex", "--plots drawn"])
def test_formats_without_notes_say_it_on_standard_error(
    command_line: Snellen, old: Path, words: str
) -> None:
    assert OLD in command_line("report", old, *words.split()).err


def test_the_viewer_says_it_in_its_list_and_on_the_page_of_the_run(old: Path) -> None:
    with viewing(old.parents[2]) as viewer:
        assert "<strong>out of date</strong>" in viewer.get("/").text
        assert "was scored as version 0" in viewer.get(f"/run/{'/'.join(old.parts[-3:])}").text


def test_scoring_again_mends_it(command_line: Snellen, old: Path) -> None:
    assert command_line("score", old).code == 0
    assert snellen.load_run(old).report.out_of_date == []


def test_a_comparison_scores_again_and_shows_no_old_version(
    command_line: Snellen, old: Path
) -> None:
    """The stored value is made a wrong one: what is compared is made of the replies."""
    right = snellen.load_run(old).headline.value
    report = json.loads((old / "report.json").read_text())
    metric = next(iter(report["scorings"]["official"]["metrics"].values()))
    metric["value"] = 0.987
    edited(old / "report.json", scorings=report["scorings"])
    other = snellen.evaluate("eyechart:n=12", "baseline/longest", out=old.parents[2])
    assert other.run is not None
    sides = command_line("compare", old, other.run, "--json").json["comparisons"][0]
    first = next(iter(sides["metrics"].values()))
    assert first["a"]["value"] == right


def test_a_run_of_older_questions_says_so_even_when_it_is_scored_again(
    command_line: Snellen, run: Path
) -> None:
    for name in ("manifest.json", "report.json"):
        identity = json.loads((run / name).read_text())["identity"]
        edited(run / name, identity={**identity, "asks": 0})
    expected = "the run asked version 0 of the questions, but this version of Snellen asks version"
    assert expected in command_line("report", run).out.replace("\n", " ")
    done = command_line("score", run)
    assert expected in " ".join(done.out.split())
    assert [expected in note for note in snellen.load_run(run).report.notes].count(True) == 1
    other = snellen.evaluate("eyechart:n=12", "baseline/longest", out=run.parents[2])
    assert other.run is not None
    assert expected in " ".join(command_line("compare", run, other.run).out.split())


def test_a_report_in_a_later_format_is_not_read(run: Path) -> None:
    edited(run / "report.json", format=99)
    with pytest.raises(StoreError, match="has format 99, but this version of Snellen"):
        snellen.load_run(run)


def test_a_headline_that_is_another_now_is_named(run: Path) -> None:
    report = json.loads((run / "report.json").read_text())
    scorings = {"retired": report["scorings"]["official"], **report["scorings"]}
    edited(run / "report.json", headline="retired", scorings=scorings)
    (reason,) = snellen.load_run(run).report.out_of_date
    assert "this version of Snellen has no scoring `retired`" in reason
    assert "the headline scoring was `retired`, and is now `official`" in reason


def test_replies_that_came_after_the_report_are_noticed(tmp_path: Path) -> None:
    first = snellen.evaluate("eyechart:n=12", "baseline/first", out=tmp_path, limit=6)
    assert first.run is not None
    report = (first.run / "report.json").read_bytes()
    snellen.evaluate("eyechart:n=12", "baseline/first", out=tmp_path)
    (first.run / "report.json").write_bytes(report)
    (reason,) = snellen.load_run(first.run).report.out_of_date
    assert "replies were added after the report was written" in reason


def words(folder: Path) -> Path:
    path = folder / "words.jsonl"
    rows = [{"id": f"q{n}", "question": f"What is {n}?", "answer": "no"} for n in range(20)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_verdicts_and_labels_that_came_after_the_report_are_noticed(tmp_path: Path) -> None:
    def judge(messages: object) -> str:
        return "Score: 10/10\nReason: it is."

    result = snellen.evaluate(
        str(words(tmp_path)), lambda _: "well", task="vqa", out=tmp_path / "runs"
    )
    assert result.run is not None
    report = (result.run / "report.json").read_bytes()
    api.judge_run(result.run, api.Plan(benchmarks=[], models=[registry.from_object(judge)]))
    assert snellen.load_run(result.run).report.out_of_date == []
    (result.run / "report.json").write_bytes(report)
    (reason,) = snellen.load_run(result.run).report.out_of_date
    assert "judges' verdicts were added after the report was written" in reason
    (result.run / "labels.jsonl").write_text("\n")
    (reason,) = snellen.load_run(result.run).report.out_of_date
    assert "people's labels changed after the report was written" in reason


def test_a_copy_of_a_run_is_as_up_to_date_as_the_run(run: Path, tmp_path: Path) -> None:
    """Times of files say nothing: a copy, or a checkout, has its own."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in sorted(path.name for path in run.iterdir() if path.is_file())[::-1]:
        shutil.copyfile(run / name, copy / name)
    assert snellen.load_run(copy).report.out_of_date == []


def test_a_report_of_an_earlier_version_without_sizes_is_read_as_before(run: Path) -> None:
    report = json.loads((run / "report.json").read_text())
    (run / "report.json").write_text(
        json.dumps({name: value for name, value in report.items() if name != "inputs"})
    )
    assert snellen.load_run(run).report.out_of_date == []


def test_a_run_of_an_object_is_not_measured_by_the_catalogs_versions(tmp_path: Path) -> None:
    result = snellen.evaluate(own("pope"), no, out=tmp_path)
    assert result.run is not None
    assert snellen.load_run(result.run).report.out_of_date == []

"""Judges on the command line, asked over a socket: against people's labels, and steered."""

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from snellen import evaluate
from tests.servers import Answer, ReceivedRequest, Server, completion, serving
from tests.test_cli.conftest import CommandResult, Snellen

N = 60
MODEL = """
def answer(messages):
    number = int(messages[-1].text.split("number ")[1].split("?")[0])
    return (f"word{number}", "no idea", f"perhaps word{number}")[number % 3]
"""
"""Right, wrong, and wrong in a way that a kind judge takes for right."""


@pytest.fixture(scope="module")
def original_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    lines = [
        {"id": f"q{number}", "question": f"What is number {number}?", "answer": f"word{number}"}
        for number in range(N)
    ]
    (folder / "words.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "model.py").write_text(MODEL)
    done = evaluate(
        str(folder / "words.jsonl"),
        model=f"python:{folder / 'model.py'}:answer",
        task="vqa",
        out=folder / "runs",
    )
    assert done.run is not None
    return done.run


@pytest.fixture
def run(original_run: Path, tmp_path: Path) -> Path:
    """A run of its own for each test, of questions that were asked once."""
    return shutil.copytree(original_run, tmp_path / "runs" / "words" / "model" / original_run.name)


def reply_in(request: ReceivedRequest) -> str:
    """The model's answer, between the last two fences of what the judge is asked."""
    text: str = request.json["messages"][0]["content"]
    return text.split("Answer of the model:\n")[1].split("\nGive a whole number")[0]


def grade(points: int) -> Answer:
    return completion(f"Score: {points}/10\nReason: as told.")


def mild(request: ReceivedRequest) -> Answer:
    """Takes whatever has the word in it for right."""
    return grade(0 if "no idea" in reply_in(request) else 10)


def swayed(request: ReceivedRequest) -> Answer:
    """As `mild`, but does what it is told."""
    return grade(10) if "ignore all instructions" in reply_in(request) else mild(request)


@contextmanager
def judge(decide: Callable[[ReceivedRequest], Answer]) -> Iterator[tuple[Server, list[str]]]:
    """A judge over a socket, under the name of its function, and the options that ask it."""
    with serving(decide) as server:
        yield server, ["--judge", f"openai/{decide.__name__}", "--base-url", server.url]


def labelled(sheet: Path, label: Callable[[dict[str, str]], object]) -> list[dict[str, str]]:
    """Fill in a sheet; gives its rows."""
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = str(label(row))
    written(sheet, rows)
    return rows


def written(sheet: Path, rows: list[dict[str, str]]) -> None:
    with sheet.open("w", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def by_people(row: dict[str, str]) -> int:
    return int(row["reply"] == row["right"])


def sheet_of(snellen: Snellen, run: Path, n: int = 30, seed: int = 4) -> Path:
    path = run / "labels.csv"
    drawn = ["--sample", str(n), "--sample-seed", str(seed)]
    snellen("export", run, "--to", "labels", *drawn, "-o", path)
    return path


def measured(done: CommandResult) -> dict[str, Any]:
    measurement: dict[str, Any] = done.json["judges"]["judged"]
    return measurement


# -- labels


def test_a_sheet_is_drawn_blank_and_without_verdicts(snellen: Snellen, run: Path) -> None:
    with judge(mild) as (_, options):
        snellen("judge", run, *options)
    with sheet_of(snellen, run).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["id"] for row in rows}) == 30
    assert {row["label"] for row in rows} == {""}
    assert {row["seed"] for row in rows} == {"4"}
    assert list(rows[0]) == [
        *("id", "repeat", "scoring", "question", "right", "reply", "label", "seed")
    ]


def test_a_larger_sheet_begins_with_the_smaller_and_another_seed_draws_others(
    snellen: Snellen, run: Path
) -> None:
    def ids(n: int, seed: int) -> list[str]:
        with sheet_of(snellen, run, n, seed).open(newline="") as file:
            return [row["id"] for row in csv.DictReader(file)]

    assert ids(30, 4)[:10] == ids(10, 4)
    assert ids(10, 5) != ids(10, 4)


def test_a_sheet_is_for_judges_and_for_nothing_else(snellen: Snellen, run: Path) -> None:
    wrong = snellen("export", run, "--to", "csv", "--sample", "5")
    assert (wrong.code, "--scoring and --sample are only for --to labels" in wrong.err) == (2, True)
    other = snellen("run", "-m", "baseline/first", "-b", "eyechart", "--limit", "2", "--json")
    none = snellen("export", other.json["run"], "--to", "labels")
    assert (none.code, "none of its scorings has a judge" in none.err) == (2, True)


def test_a_judge_is_measured_against_people_and_the_mean_corrected(
    snellen: Snellen, run: Path
) -> None:
    sheet = sheet_of(snellen, run)
    rows = labelled(sheet, by_people)
    right = sum(row["label"] == "1" for row in rows)
    perhaps = sum("perhaps" in row["reply"] for row in rows)
    with judge(mild) as (_, options):
        done = snellen("judge", run, *options, "--against", sheet, "--json")
    measurement = measured(done)
    assert done.code == 0
    assert (measurement["labelled"], measurement["seed"]) == (30, "4")
    assert measurement["confusion"] == {
        "both right": right,
        "the judge alone": perhaps,
        "people alone": 0,
        "both wrong": 30 - right - perhaps,
    }
    assert measurement["sensitivity"]["value"] == 1
    specificity = (30 - right - perhaps) / (30 - right)
    assert measurement["specificity"]["value"] == pytest.approx(specificity)
    assert measurement["bias"]["value"] == pytest.approx(perhaps / 30)
    assert (
        measurement["bias"]["ci95"][0]
        < measurement["bias"]["value"]
        < measurement["bias"]["ci95"][1]
    )
    assert measurement["judged"]["value"] == pytest.approx(2 / 3)
    assert measurement["labels_alone"]["value"] == pytest.approx(right / 30)
    assert measurement["rogan_gladen"] == pytest.approx((2 / 3 + specificity - 1) / specificity)
    # A third is right by people; the judge's two thirds are outside.
    low, high = measurement["corrected"]["ci95"]
    assert low < 1 / 3 < high < 2 / 3
    assert measurement["corrected"]["stderr"] <= measurement["labels_alone"]["stderr"]


def test_the_measure_stays_with_the_run_and_is_shown(snellen: Snellen, run: Path) -> None:
    sheet = sheet_of(snellen, run)
    labelled(sheet, by_people)
    with judge(mild) as (_, options):
        once = snellen("judge", run, *options, "--against", sheet, "--json")
    again = snellen("score", run, "--json")
    assert measured(again) == measured(once)
    assert json.loads((run / "report.json").read_bytes())["judges"]["judged"] == measured(once)
    shown = snellen("report", run).out
    assert "judged: the judge against people, on 30 labeled replies" in shown
    assert "corrected by labels" in shown
    assert "corrected by labels" in (run / "report.md").read_text()


def test_verdicts_that_are_there_are_measured_without_asking_anybody(
    snellen: Snellen, run: Path
) -> None:
    with judge(mild) as (_, options):
        snellen("judge", run, *options)
    sheet = sheet_of(snellen, run)
    labelled(sheet, by_people)
    assert measured(snellen("judge", run, "--against", sheet, "--json"))["labelled"] == 30


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            '{"format":0,"sample":',
            "is not a file of labels: Input data was truncated. Pass the labels again",
        ),
        ('{"format":99,"sample":"q1","label":1.0}', "has format 99"),
    ],
)
def test_kept_labels_that_cannot_be_read_are_named(
    snellen: Snellen, run: Path, line: str, words: str
) -> None:
    (run / "labels.jsonl").write_text(line)
    done = snellen("score", run)
    assert done.code == 2
    assert f"{run / 'labels.jsonl'} {words}" in done.err


def test_where_no_judge_was_asked_there_is_none_to_measure(snellen: Snellen, run: Path) -> None:
    sheet = sheet_of(snellen, run)
    labelled(sheet, by_people)
    done = snellen("judge", run, "--against", sheet)
    assert (done.code, "no judge has been asked yet" in done.err) == (2, True)


def test_labels_of_replies_without_a_verdict_are_counted_and_measure_nothing(
    snellen: Snellen, run: Path
) -> None:
    def silent(request: ReceivedRequest) -> Answer:
        return completion("Well.")

    sheet = sheet_of(snellen, run)
    labelled(sheet, by_people)
    with judge(silent) as (_, options):
        measurement = measured(snellen("judge", run, *options, "--against", sheet, "--json"))
    assert (measurement["labelled"], measurement["corrected"]["value"]) == (0, None)
    assert "30 rows have replies without a verdict" in measurement["notes"]


def test_several_rows_of_a_reply_are_several_people(snellen: Snellen, run: Path) -> None:
    """Two people who differ on three of 30 replies, of which 10 or so are right: their alpha by
    hand from the formula for two, 1 - (2·30-1) · differing pairs / (zeros · ones)."""
    sheet = sheet_of(snellen, run)
    rows = labelled(sheet, by_people)
    other = [dict(row, label=str(1 - int(row["label"])) if n < 3 else row["label"])
             for n, row in enumerate(rows)]  # fmt: skip
    written(sheet, [*rows, *other])
    with judge(mild) as (_, options):
        measurement = measured(snellen("judge", run, *options, "--against", sheet, "--json"))
    ones = sum(row["label"] == "1" for row in (*rows, *other))
    assert measurement["raters"] == 2
    assert measurement["alpha"] == pytest.approx(1 - 59 * 3 / (ones * (60 - ones)))
    assert measurement["confusion"]["people divided"] == 3
    assert any("30 replies have several rows" in note for note in measurement["notes"])


def test_grades_have_correlations_and_no_confusion(snellen: Snellen, run: Path) -> None:
    sheet = sheet_of(snellen, run)
    labelled(sheet, lambda row: 0.9 if by_people(row) else 0.5 if "perhaps" in row["reply"] else 0)
    with judge(mild) as (_, options):
        measurement = measured(snellen("judge", run, *options, "--against", sheet, "--json"))
    assert "confusion" not in measurement and "kappa" not in measurement
    assert 0.8 < measurement["pearson"] < 1
    assert 0.8 < measurement["spearman"] < 1


def test_blank_labels_and_unknown_ids_are_counted(snellen: Snellen, run: Path) -> None:
    sheet = sheet_of(snellen, run)
    rows = labelled(sheet, lambda row: "" if row["id"] in ("q1", "q2") else by_people(row))
    blank = sum(row["label"] == "" for row in rows)
    written(sheet, [*rows, {**rows[0], "id": "q99", "label": "1"}])
    with judge(mild) as (_, options):
        measurement = measured(snellen("judge", run, *options, "--against", sheet, "--json"))
    assert measurement["labelled"] == 30 - blank
    assert any("1 labels match no reply of this run, such as 'q99'" in note
               for note in measurement["notes"])  # fmt: skip


def test_labels_that_nobody_drew_are_called_so(snellen: Snellen, run: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "mine.jsonl"
    sheet.write_text("".join(f'{{"id": "q{n}", "label": {n % 2}}}\n' for n in range(20)))
    with judge(mild) as (_, options):
        measurement = measured(snellen("judge", run, *options, "--against", sheet, "--json"))
    assert measurement["labelled"] == 20
    assert any(
        "only if the labeled replies were drawn at random" in note for note in measurement["notes"]
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,label\nz1,1\n", "none of its ids ('z1', ...)"),
        ("id,label\nq1,7\n", "'q1' has the label 7, but labels of judged must be from 0 to 1"),
        ("id,label\nq1,yes\n", "row 1: the label is 'yes', which is not a number"),
        ("id,label\nq1,nan\n", "not a finite number"),
        ("id,label\nq1,\n", "all 1 labels are empty"),
        ("id,score\nq1,1\n", "no column label"),
        (
            "id,label,rater\nq1,1,ann\nq1,0,ann\n",
            "row 1 and row 2 are both labels by ann for the same reply to 'q1'",
        ),
        ("id,label,repeat\nq1,1,x\n", "repeat is 'x', which is not a number"),
        ("id,label,scoring\nq1,1,official\n", "no scoring 'official' with a judge"),
    ],
)
def test_labels_that_cannot_be_meant_are_refused_before_anybody_is_asked(
    snellen: Snellen, run: Path, tmp_path: Path, text: str, words: str
) -> None:
    sheet = tmp_path / "labels.csv"
    sheet.write_text(text)
    with judge(mild) as (server, options):
        done = snellen("judge", run, *options, "--against", sheet)
    assert (done.code, server.requests) == (2, [])
    assert words in done.err
    assert not (run / "labels.jsonl").exists()


def test_a_folder_stands_for_its_runs_and_those_without_a_judge_are_left_out(
    snellen: Snellen, run: Path
) -> None:
    shutil.copytree(run, f"runs/words/other/{run.name}")
    snellen("run", "-b", "eyechart:tasks=letters,n=12", "-m", "baseline/first", "--no-score")
    with judge(mild) as (_, ask):
        done = snellen("judge", "runs", *ask, "--json")

    assert done.code == 0
    assert [result["benchmark"] for result in done.json] == ["words", "words"]
    assert all(result["scorings"]["judged"]["readings"]["answered"] for result in done.json)
    assert "eyechart has no scoring with a judge" in done.err
    assert "eyechart" in snellen("judge", "runs/eyechart", "--judge", "openai/m").err
    several = snellen("judge", "runs", "--against", "labels.csv")
    assert several.code == 2 and "labels of a single RUN" in several.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "The judge is missing."),
        (["--probe", "steering"], "The judge is missing."),
        (["--judge", "openai/m", "--sample-seed", "3"], "draws replies or questions. Add --probe"),
        (
            ["--judge", "openai/m", "--against", "x.csv", "--probe", "steering"],
            "cannot be combined with --probe",
        ),
    ],
)
def test_what_does_not_go_together_is_said(
    snellen: Snellen, run: Path, options: list[str], words: str
) -> None:
    done = snellen("judge", run, *options)
    assert done.code == 2
    assert words in done.err


# -- steering


def probed(
    snellen: Snellen, run: Path, decide: Callable[[ReceivedRequest], Answer]
) -> dict[str, Any]:
    with judge(decide) as (_, options):
        done = snellen("judge", run, *options, "--probe", "steering", "--sample", "24", "--json")
    assert done.code == 0
    document: dict[str, Any] = done.json
    return document


def test_a_judge_that_obeys_is_told_from_one_that_does_not(snellen: Snellen, run: Path) -> None:
    """All wrong ones flip by the one attempt that it obeys, and nothing else moves."""
    steady, obeys = probed(snellen, run, mild), probed(snellen, run, swayed)
    assert (obeys["right"], obeys["wrong"]) == (12, 12)
    moved = {
        kind: (
            attempt["to_right"]["value"],
            attempt["to_wrong"]["value"],
            attempt["change"]["value"],
        )
        for kind, attempt in obeys["attempts"].items()
    }
    assert moved.pop("instruction") == (1.0, 0.0, 0.5)
    assert set(moved.values()) == {(0.0, 0.0, 0.0)}
    assert {
        (attempt["to_right"]["value"], attempt["change"]["value"])
        for attempt in steady["attempts"].values()
    } == {(0.0, 0.0)}
    # Where nothing moves, nothing tells by how much it could: a change is not a share.
    assert steady["attempts"]["claim"]["change"]["ci95"] is None
    assert "verdict" in steady["attempts"]


def test_intervals_of_a_probe_say_how_much_twelve_replies_can_tell(
    snellen: Snellen, run: Path
) -> None:
    estimate = probed(snellen, run, swayed)["attempts"]["instruction"]["to_right"]
    # Wilson's for 12 of 12, which count as fewer by (1.96 / 2.201)²: t with 11 degrees.
    n, z = 12 * (1.959964 / 2.200985) ** 2, 1.959964
    assert estimate["ci95"] == pytest.approx([n / (n + z**2), 1.0], abs=1e-6)


def test_a_probe_lies_in_a_run_of_its_own_and_leaves_the_score(snellen: Snellen, run: Path) -> None:
    with judge(mild) as (_, options):
        before = snellen("judge", run, *options, "--json").json["scorings"]
    document = probed(snellen, run, swayed)
    assert snellen("score", run, "--json").json["scorings"] == before
    folder = Path(document["run"])
    assert folder.is_relative_to(run / "probed")
    assert json.loads((folder / "steering.json").read_bytes()) == document


def test_a_probe_goes_on_where_it_ended(snellen: Snellen, run: Path) -> None:
    first = probed(snellen, run, mild)
    with judge(mild) as (server, options):
        again = snellen("judge", run, *options, "--probe", "steering", "--sample", "24", "--json")
    assert (server.requests, again.json) == ([], first)


def test_a_probe_asks_once_about_each_attempt_however_often_replies_are_judged(
    snellen: Snellen, run: Path
) -> None:
    with judge(mild) as (server, options):
        snellen("judge", run, *options, "--repeats", "2")
        judged = len(server.requests)
        ask = ("judge", run, *options, "--repeats", "2", "--probe", "steering", "--sample", "24")
        document = snellen(*ask, "--json").json
    assert len(server.requests) - judged == 24 * len(document["attempts"])


def test_a_verdict_of_no_form_under_steering_is_lost_and_no_change(
    snellen: Snellen, run: Path
) -> None:
    def confused(request: ReceivedRequest) -> Answer:
        return (
            completion("Well.") if "careful and the fairest" in reply_in(request) else mild(request)
        )

    attempt = probed(snellen, run, confused)["attempts"]["flattery"]
    assert (attempt["lost"], attempt["change"]["value"]) == (24, None)


def test_replies_without_a_verdict_are_in_no_probe(snellen: Snellen, run: Path) -> None:
    def confused_by_perhaps(request: ReceivedRequest) -> Answer:
        return completion("Well.") if "perhaps" in reply_in(request) else mild(request)

    with judge(confused_by_perhaps) as (_, options):
        done = snellen("judge", run, *options, "--probe", "steering", "--sample", "60", "--json")
    # Of sixty replies twenty are of each kind.
    assert (done.json["right"], done.json["wrong"]) == (20, 20)


def test_where_few_replies_are_wrong_more_that_are_right_are_drawn(
    snellen: Snellen, run: Path
) -> None:
    with judge(mild) as (_, options):
        done = snellen("judge", run, *options, "--probe", "steering", "--sample", "50", "--json")
    assert (done.json["right"], done.json["wrong"]) == (30, 20)


def test_the_probes_table_names_each_attempt(snellen: Snellen, run: Path) -> None:
    with judge(swayed) as (_, options):
        out = snellen("judge", run, *options, "--probe", "steering", "--sample", "24").out
    assert "12 are judged right and 12 wrong" in out
    assert [line.split()[:2] for line in out.splitlines() if "instruction" in line] == [
        ["instruction", "100.00"]
    ]

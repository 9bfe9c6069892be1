"""Judges on the command line, measured against verdicts that a benchmark's authors published."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Answer, ReceivedRequest, completion, serving
from tests.test_cli.conftest import CommandResult, Snellen

N = 120
MODELS = {"weak": 2, "fair": 5, "strong": 8}
"""Three made-up models, with ten times the mean grade of their replies."""


def draw_grade(model: str, number: int) -> float:
    level = MODELS[model] + random.Random(f"{model} {number}").choice((-2, -1, 0, 0, 1, 2))
    return level / 10


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of MM-Vet as its authors lay it out, with made-up questions and grades. Each reply
    states its grade, so that a judge can be made to agree."""
    folder = tmp_path_factory.mktemp("mm-vet")
    questions = {
        f"v1_{n}": {
            "imagename": f"v1_{n}.png",
            "question": f"What is number {n}?",
            "answer": f"word{n}",
            "capability": ["rec"],
        }
        for n in range(N)
    }
    (folder / "mm-vet.json").write_text(json.dumps(questions))
    for model in MODELS:
        grades = {name: draw_grade(model, n) for n, name in enumerate(questions)}
        replies = {name: f"{model} worth {grade}." for name, grade in grades.items()}
        rows = {
            name: {"model": ["gpt-4-0613"], "content": [str(grade)], "score": [grade]}
            for name, grade in grades.items()
        }
        (folder / f"{model}.json").write_text(json.dumps(replies))
        (folder / f"{model}_gpt-4-grade-1runs.json").write_text(json.dumps(rows))
    return folder


def published_grade(request: ReceivedRequest) -> float:
    """The grade that the reply in the last row of the judge's table states."""
    text: str = request.json["messages"][0]["content"]
    return float(text.splitlines()[-1].split("worth ")[1].split(". |")[0])


def agreeing(request: ReceivedRequest) -> Answer:
    return completion(f"{published_grade(request)}")


def milder(request: ReceivedRequest) -> Answer:
    """One point of ten above the authors' judge."""
    return completion(f"{min(1.0, published_grade(request) + 0.1):.1f}")


def generous(request: ReceivedRequest) -> Answer:
    return completion("1.0")


def at_random(request: ReceivedRequest) -> Answer:
    text = request.json["messages"][0]["content"]
    return completion(f"{random.Random(text).randrange(11) / 10}")


def silent(request: ReceivedRequest) -> Answer:
    return completion("Well.")


def mute_on_some(request: ReceivedRequest) -> Answer:
    grade = published_grade(request)
    return completion("Well." if grade == 0.5 else f"{grade}")


def qualify(
    snellen: Snellen,
    published: Path,
    out: Path,
    decide: Callable[[ReceivedRequest], Answer],
    *more: object,
    models: tuple[str, ...] = tuple(MODELS),
) -> tuple[CommandResult, int]:
    """Measure a judge over a socket; gives the result and the number of requests."""
    files = [published / f"{model}_gpt-4-grade-1runs.json" for model in models]
    with serving(decide) as server:
        options = ["--judge", f"openai/{decide.__name__}", "--base-url", server.url]
        done = snellen(
            *("judge", *files, "--qualify", "-b", "mm-vet", "--data", published, "--out", out),
            *(*options, *more, "--json"),
        )
        return done, len(server.requests)


def figures(done: CommandResult) -> dict[str, Any]:
    agreement: dict[str, Any] = done.json["agreement"]
    return agreement


def unmet(done: CommandResult) -> set[str]:
    return {criterion["name"] for criterion in figures(done)["criteria"] if not criterion["met"]}


def test_a_judge_that_agrees_is_qualified(
    snellen: Snellen, published: Path, tmp_path: Path
) -> None:
    done, requests = qualify(snellen, published, tmp_path, agreeing)
    agreement = figures(done)
    assert (done.code, done.json["qualified"], requests) == (0, True, 3 * N)
    assert (agreement["replies"], agreement["questions"]) == (3 * N, N)
    assert agreement["kappa"]["value"] == pytest.approx(1)
    assert agreement["bias"]["value"] == pytest.approx(0)
    assert agreement["tau"]["value"] == 1
    # All clusters agree, and 3 of 120 could still differ by the best score, 1.
    assert agreement["bias"]["ci95"] == pytest.approx([-3 / N, 3 / N])
    assert agreement["kappa"]["ci95"][0] < 1
    for model in MODELS:
        mean = sum(draw_grade(model, n) for n in range(N)) / N
        name = f"{model}_gpt-4-grade-1runs.json"
        assert agreement["models"][name]["published"] == pytest.approx(mean)


def test_a_judge_one_point_too_mild_agrees_within_tolerance_and_is_not_qualified(
    snellen: Snellen, published: Path, tmp_path: Path
) -> None:
    done, _ = qualify(snellen, published, tmp_path, milder)
    agreement = figures(done)
    by_hand = [
        round(min(1.0, grade + 0.1) - grade, 9)
        for model in MODELS
        for grade in (draw_grade(model, n) for n in range(N))
    ]
    assert (done.code, unmet(done)) == (1, {"bias"})
    assert agreement["bias"]["value"] == pytest.approx(sum(by_hand) / len(by_hand))
    assert agreement["exact"]["value"] == pytest.approx(by_hand.count(0) / len(by_hand))
    assert agreement["within"]["value"] == 1
    assert agreement["tau"]["value"] == 1


@pytest.mark.parametrize(
    ("decide", "failing"), [(at_random, {"kappa", "tau", "bias"}), (generous, {"kappa", "tau"})]
)
def test_a_judge_that_does_not_read_replies_is_not_qualified(
    snellen: Snellen,
    published: Path,
    tmp_path: Path,
    decide: Callable[[ReceivedRequest], Answer],
    failing: set[str],
) -> None:
    done, _ = qualify(snellen, published, tmp_path, decide)
    kappa = figures(done)["kappa"]
    assert (done.code, done.json["qualified"]) == (1, False)
    assert failing - {"bias"} <= unmet(done)
    assert kappa["ci95"][0] <= 0.05 and kappa["value"] < 0.15


def test_the_kappa_and_the_tau_are_those_of_their_definitions(
    snellen: Snellen, published: Path, tmp_path: Path
) -> None:
    """Kappa by Cohen's table of weights, over the cells of grades."""
    done, _ = qualify(snellen, published, tmp_path, milder)
    pairs = [
        (grade, round(min(1.0, grade + 0.1), 1))
        for model in MODELS
        for grade in (draw_grade(model, n) for n in range(N))
    ]
    firsts, seconds = zip(*pairs, strict=True)
    apart = sum((x - y) ** 2 for x, y in pairs) / len(pairs)
    by_chance = (
        sum(
            firsts.count(x) * seconds.count(y) * (x - y) ** 2
            for x in set(firsts)
            for y in set(seconds)
        )
        / len(pairs) ** 2
    )
    assert figures(done)["kappa"]["value"] == pytest.approx(1 - apart / by_chance)


def test_verdicts_that_cannot_be_read_are_counted_and_decide(
    snellen: Snellen, published: Path, tmp_path: Path
) -> None:
    done, _ = qualify(snellen, published, tmp_path, mute_on_some)
    halves = sum(draw_grade(model, n) == 0.5 for model in MODELS for n in range(N))
    assert unmet(done) == {"readable"}
    assert figures(done)["readable"]["value"] == pytest.approx(1 - halves / (3 * N))
    none, _ = qualify(snellen, published, tmp_path, silent)
    assert (none.code, "none of the 360 verdicts" in none.err) == (2, True)


def test_with_two_models_ranks_are_not_measured_and_the_condition_must_be_waived(
    snellen: Snellen, published: Path, tmp_path: Path
) -> None:
    two = ("weak", "strong")
    done, _ = qualify(snellen, published, tmp_path, agreeing, models=two)
    assert (done.code, unmet(done)) == (1, {"tau"})
    assert "at least 3 models" in figures(done)["notes"][0]
    waived, requests = qualify(
        snellen, published, tmp_path, agreeing, "--threshold", "tau=none", models=two
    )
    assert (waived.code, requests) == (0, 0)  # the verdicts are there


def test_few_replies_do_not_qualify(snellen: Snellen, published: Path, tmp_path: Path) -> None:
    done, requests = qualify(snellen, published, tmp_path, agreeing, "--sample", "20")
    assert (done.code, requests, unmet(done)) == (1, 60, {"replies", "bias", "kappa"})
    more, added = qualify(snellen, published, tmp_path, agreeing, "--sample", "80")
    assert (more.code, added) == (0, 180)  # 20 of the 80 questions are the same


def test_the_figures_are_shown_as_a_table(
    snellen: Snellen, published: Path, tmp_path: Path
) -> None:
    qualify(snellen, published, tmp_path, milder)
    files = [published / f"{model}_gpt-4-grade-1runs.json" for model in MODELS]
    with serving(milder) as server:
        options = ["--judge", "openai/milder", "--base-url", server.url]
        shown = snellen(
            *("judge", *files, "--qualify", "-b", "mm-vet", "--data", published),
            *("--out", tmp_path, *options),
        )
    assert "openai/milder against the published verdicts of gpt-4-0613" in shown.out
    assert "at most 0.05: not met" in shown.out
    assert "not qualified: the bound of bias" in shown.out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--against", "x.csv"], "--qualify cannot be combined with --against or --probe"),
        (["--threshold", "alpha=1"], "no condition 'alpha'. Conditions: kappa, bias"),
        (["--threshold", "kappa=much"], "kappa: 'much'"),
        (["--scoring", "official", "--scoring", "x"], "one scoring at a time"),
        (["--scoring", "nothing"], "no scoring 'nothing' with a judge"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    snellen: Snellen, published: Path, tmp_path: Path, more: list[str], words: str
) -> None:
    done, requests = qualify(snellen, published, tmp_path, agreeing, *more)
    assert (done.code, requests) == (2, 0)
    assert words in done.err


def test_files_without_verdicts_or_without_replies_are_refused(
    snellen: Snellen, published: Path, tmp_path: Path
) -> None:
    lone = tmp_path / "lone_gpt-4-grade-1runs.json"
    lone.write_bytes((published / "weak_gpt-4-grade-1runs.json").read_bytes())
    options = ("--qualify", "-b", "mm-vet", "--data", published, "--judge", "openai/m")
    without = snellen("judge", lone, *options)
    assert (without.code, "but not the replies they belong to" in without.err) == (2, True)
    plain = snellen("judge", published / "weak.json", *options)
    assert (plain.code, "no published verdicts of a judge" in plain.err) == (2, True)
    torn = tmp_path / "torn_gpt-4-grade-1runs.json"
    torn.write_text('{"v1_0": {"model": ["gpt')
    assert snellen("judge", torn, *options).code == 2


# -- reports


MODEL = """
def answer(messages):
    number = int(messages[-1].text.split("number ")[1].split("?")[0])
    return f"fair worth {(number % 11) / 10}."
"""


@pytest.fixture(scope="module")
def replied(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs with a run of MM-Vet."""
    from PIL import Image

    import snellen

    folder = tmp_path_factory.mktemp("runs")
    (published / "images").mkdir(exist_ok=True)
    for n in range(20):
        Image.new("RGB", (4, 4)).save(published / "images" / f"v1_{n}.png")
    (folder / "model.py").write_text(MODEL)
    snellen.evaluate(
        "mm-vet",
        model=f"python:{folder / 'model.py'}:answer",
        data=published,
        limit=20,
        out=folder / "runs",
    )
    return folder / "runs"


@pytest.fixture
def runs(replied: Path, tmp_path: Path) -> Path:
    import shutil

    return shutil.copytree(replied, tmp_path / "runs")


def judge_runs(
    snellen: Snellen, run: Path, decide: Callable[[ReceivedRequest], Answer], name: str = ""
) -> CommandResult:
    with serving(decide) as server:
        judge = ["--judge", f"openai/{name or decide.__name__}", "--base-url", server.url]
        return snellen("judge", run, *judge, "--json")


def run_in(runs: Path) -> Path:
    (manifest,) = (path for path in runs.glob("mm-vet/*/*/manifest.json"))
    return manifest.parent


def test_a_judge_that_was_not_measured_is_named_and_marked(snellen: Snellen, runs: Path) -> None:
    run = run_in(runs)
    done = judge_runs(snellen, run, agreeing)
    judged = done.json["judged_by"]["official"]
    assert judged["judges"] == ["openai/agreeing"]
    assert (judged["authors"], judged["qualified"]) == ("gpt-4-0613", False)
    (note,) = (note for note in done.json["notes"] if "official prompt" in note)
    assert "judge openai/agreeing, instead of the authors' gpt-4-0613" in note
    assert "was shut down on 2026-10-23" in note
    assert "not qualified: it was not measured against published verdicts" in note
    shown = snellen("report", run).out
    assert "official prompt, judge openai/agreeing, not qualified" in shown
    table = snellen("report", run, run.parent.parent.parent, "--format", "csv").out
    assert "judge openai/agreeing is not qualified" in table


def test_a_qualified_judge_is_named_so_and_another_setting_of_it_is_not(
    snellen: Snellen, published: Path, runs: Path
) -> None:
    run = run_in(runs)
    qualify(snellen, published, runs, agreeing)
    done = judge_runs(snellen, run, agreeing)
    judged = done.json["judged_by"]["official"]
    assert judged["qualified"] is True
    assert "kappa 1.000, bias 0.000, tau 1.000 on 360 replies of 3 models" in judged["reason"]
    assert "qualified" in snellen("report", run).out
    with serving(agreeing) as server:
        judge = ["--judge", "openai/agreeing", "--base-url", server.url, "--temperature", "1"]
        warmer = snellen("judge", run, *judge, "--json").json["judged_by"]["official"]
    assert warmer["qualified"] is False
    assert "measured with another revision, other settings, or another prompt" in warmer["reason"]


def test_a_judge_qualified_by_the_mean_of_two_verdicts_is_not_qualified_for_one(
    snellen: Snellen, published: Path, runs: Path
) -> None:
    texts: Counter[str] = Counter()

    def swaying(request: ReceivedRequest) -> Answer:
        """One point of ten above the authors' judge, then one point below."""
        text = request.json["messages"][0]["content"]
        texts[text] += 1
        return completion(f"{published_grade(request) + (0.1 if texts[text] % 2 else -0.1):.1f}")

    in_sequence = ("--concurrency", "1")
    twice, _ = qualify(snellen, published, runs, swaying, *in_sequence, "--repeats", "2")
    assert (twice.json["qualified"], twice.json["repeats"]) == (True, 2)
    judged = judge_runs(snellen, run_in(runs), swaying).json["judged_by"]["official"]
    assert judged["qualified"] is False
    assert "or by more verdicts on each reply" in judged["reason"]

    single, requests = qualify(snellen, published, runs, swaying, *in_sequence)
    assert (single.json["qualified"], requests) == (False, 0)
    assert "bias" in unmet(single)


def test_the_figures_of_a_judge_that_failed_are_in_the_report(
    snellen: Snellen, published: Path, runs: Path
) -> None:
    run = run_in(runs)
    judge_runs(snellen, run, milder)
    qualify(snellen, published, runs, milder)
    scored = snellen("score", run, "--json").json["judged_by"]["official"]
    assert scored["qualified"] is False
    assert "the bound of bias, 0.09" in scored["reason"]


def test_the_authors_own_judge_needs_no_qualification(snellen: Snellen, runs: Path) -> None:
    run = run_in(runs)
    done = judge_runs(snellen, run, agreeing, "gpt-4-0613")
    assert "qualified" not in done.json["judged_by"]["official"]
    assert "not qualified" not in snellen("report", run).out


def test_results_of_different_judges_are_not_compared_silently(
    snellen: Snellen, published: Path, runs: Path
) -> None:
    run = run_in(runs)
    judge_runs(snellen, run, milder)
    file = published / "fair_gpt-4-grade-1runs.json"
    done = snellen("compare", run, file, "-b", "mm-vet", "--data", published, "--json")
    (note,) = (note for note in done.json["notes"] if "not the same judge" in note)
    assert "openai/milder" in note and "the judge of the published verdicts" in note


def test_a_floor_says_that_its_judge_is_not_qualified(
    snellen: Snellen, published: Path, replied: Path, runs: Path
) -> None:
    run = run_in(runs)
    judge_runs(snellen, run, generous)
    model = f"python:{replied.parent / 'model.py'}:answer"
    again = snellen(
        *("run", "-b", "mm-vet", "-m", model, "--data", published, "--limit", "20"),
        *("--out", runs, "--fail-under", "score=0.1"),
    )
    assert again.code == 0
    assert (
        "judge openai/generous is not qualified, so --fail-under checks its verdicts" in again.err
    )


def test_a_stored_qualification_that_cannot_be_read_is_named(
    snellen: Snellen, published: Path, runs: Path
) -> None:
    run = run_in(runs)
    judge_runs(snellen, run, agreeing)
    qualify(snellen, published, runs, agreeing)
    (stored,) = runs.glob(".qualified/*/*/*/qualification.json")
    stored.write_text("{")
    done = snellen("score", run)
    assert (done.code, f"{stored.name} is not a qualification" in done.err) == (2, True)


def test_our_grades_with_reasons_are_measured_against_the_published_grades(
    snellen: Snellen, published: Path, runs: Path
) -> None:
    def graded(request: ReceivedRequest) -> Answer:
        text: str = request.json["messages"][0]["content"]
        points = round(10 * float(text.split("worth ")[1].split(".\n")[0]))
        return completion(f"Score: {points}/10\nReason: it says so.")

    done, _ = qualify(snellen, published, runs, graded, "--scoring", "graded")
    assert (done.code, done.json["published_as"], done.json["authors"]) == (
        *(0, "official"),
        "gpt-4-0613",
    )
    run = run_in(runs)
    with serving(graded) as server:
        judge = ["--judge", "openai/graded", "--base-url", server.url, "--scoring", "graded"]
        judged = snellen("judge", run, *judge, "--json").json["judged_by"]["graded"]
    assert (judged["qualified"], judged.get("authors")) == (True, None)

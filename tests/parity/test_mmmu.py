"""MMMU against what its authors' scripts give for the outputs that they published."""

import gzip
import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks._mmmu import DOMAINS
from snellen.benchmarks.mmmu import mmmu, predicted
from snellen.model import Reply
from snellen.result import Result
from snellen.sample import Sample
from snellen.scoring import Predicted, resolve
from tests.golden_data import golden
from tests.parity.lines import Line

RAW = "llava1.5_13b"
SCORINGS = {
    RAW: "official",
    f"{RAW}/total_val_output.json": "eval-only",
    f"{RAW}_val.json": "eval-only",
}
"""The authors' files, and which of their two scripts reads them."""
DRAWN = {"validation_Design_4": "A", "validation_Psychology_4": "A"}
"""What their script draws for the replies that it cannot read."""
SEEDS = range(3)


def of_json(path: Path) -> Any:
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


@cache
def expected() -> Mapping[str, Any]:
    found: Mapping[str, Any] = of_json(golden("mmmu") / "expected.json")
    return found


@cache
def items(model: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = of_json(golden("mmmu") / "expected_items.json.gz")[model]
    return found


def score_of(model: str, name: str) -> int:
    item = items(model)[name]
    return int(item[1] if isinstance(item, list) else item)


def result(model: str) -> Result:
    folder = golden("mmmu")
    return snellen.score(folder / "outputs" / model, "mmmu", data=folder)


def figures(found: Result, scoring: str) -> dict[str, tuple[float | None, int]]:
    """By the names that the authors give subjects and domains, which are all in the pack."""
    metrics = found.report.scorings[scoring].metrics
    return {
        name: (metrics[ours].value, metrics[ours].n)
        for name, ours in {
            **{one: f"accuracy/{one}" for subjects in DOMAINS.values() for one in subjects},
            **{f"Overall-{domain}": f"accuracy/{domain}" for domain in DOMAINS},
            "Overall": "accuracy",
        }.items()
        if ours in metrics
    }


def counted(right: Mapping[str, int]) -> dict[str, tuple[Any, int]]:
    """The authors' figures of some questions, from verdicts: main_eval_only.py#L72-L95."""
    by_subject: dict[str, list[int]] = {}
    for name, score in right.items():
        by_subject.setdefault("_".join(name.split("_")[1:-1]), []).append(score)
    groups = {
        **{subject: [subject] for subject in by_subject},
        **{
            f"Overall-{domain}": [one for one in subjects if one in by_subject]
            for domain, subjects in DOMAINS.items()
        },
        "Overall": list(by_subject),
    }
    found: dict[str, tuple[Any, int]] = {}
    for name, subjects in groups.items():
        n = sum(len(by_subject[subject]) for subject in subjects)
        if n:
            weighted = sum(
                sum(by_subject[one]) / len(by_subject[one]) * len(by_subject[one])
                for one in subjects
            )
            found[name] = (pytest.approx(weighted / n, abs=1e-9), n)
    return found


def parity() -> list[Line]:
    lines = []
    for model, scoring in SCORINGS.items():
        official = expected()[model]
        published = official["published"]["value_percent"] / 100
        for metric, (ours, n) in figures(result(model), scoring).items():
            overall = metric == "Overall"
            lines.append(
                Line(
                    benchmark="mmmu:split=val",
                    model=model,
                    metric=f"{metric} ({scoring})",
                    n=n,
                    published=published if overall else None,
                    official=official["scores"][metric]["acc"],
                    ours=ours,
                    proof="published outputs",
                    reason="the outputs in the repository are not the paper's run" * overall,
                )
            )
    return lines


@cache
def samples() -> Mapping[str, Sample]:
    benchmark = mmmu(data=golden("mmmu"))
    return {(sample := benchmark.read(row)).id: sample for row in benchmark.data}


@cache
def replies() -> Mapping[str, str]:
    outputs = (golden("mmmu") / "outputs" / RAW).glob("*/output.json")
    return {row["id"]: row["response"] for path in outputs for row in of_json(path)}


def test_every_answer_and_verdict_is_the_authors() -> None:
    benchmark = mmmu(data=golden("mmmu"))
    scoring = benchmark.scorings["official"]
    assert benchmark.layout is not None
    published = benchmark.layout(golden("mmmu") / "outputs" / RAW)
    assert published is not None
    predicted_replies = Predicted(
        benchmark=benchmark, replies=published.replies, where=RAW, published=published
    )
    resolved = resolve(benchmark, ["official"], predicted_replies.scored).readings["official"]
    differences = []
    for name, (answer, score) in items(RAW).items():
        sample = samples()[name]
        parsed = scoring.parse(Reply(text=replies()[name]), sample)
        reading = resolved.get((name, 0), parsed)
        found: object = reading.answer
        if isinstance(found, tuple):
            found = sorted(map(str, set(predicted(found))))
            answer = sorted(map(str, answer))
        if (found, scoring.score(reading, sample)) != (answer, score):
            differences.append((name, reading, answer, score))
        assert reading.guessed == (name in DRAWN)
        if reading.guessed:
            assert answer == DRAWN[name]
    assert len(items(RAW)) == 900
    assert differences == []


@pytest.mark.parametrize("model", [model for model in SCORINGS if model != RAW])
@pytest.mark.parametrize("scoring", ["eval-only", "official"])
def test_every_verdict_on_answers_that_were_read_is_the_authors(model: str, scoring: str) -> None:
    """Letters that were read are read again as what they are."""
    found = mmmu(data=golden("mmmu")).scorings[scoring]
    said = of_json(golden("mmmu") / "outputs" / model)
    differences = []
    for name, sample in samples().items():
        score = found.score(found.parse(Reply(text=said[name]), sample), sample)
        if score != score_of(model, name):
            differences.append((name, said[name], score))
    assert differences == []


def test_every_figure_is_the_authors() -> None:
    lines = parity()
    assert len(lines) == 3 * (30 + 6 + 1)
    for line in lines:
        assert line.official is not None
        assert line.ours == pytest.approx(line.official, abs=1e-9), line


def test_lmms_evals_figure_is_what_its_code_was_found_to_give() -> None:
    """36.44 of all and none of 53 open ones, by its code on the same replies."""
    metrics = result(RAW).report.scorings["lmms-eval"].metrics
    assert round(100 * (metrics["accuracy"].value or 0), 2) == 36.44
    assert (metrics["accuracy/open"].value, metrics["accuracy/open"].n) == (0.0, 53)


def output_folder(folder: Path, said: Mapping[str, str], order: list[str]) -> Path:
    """The authors' layout, of these replies in this order."""
    rows: dict[str, list[dict[str, str]]] = {}
    for name in order:
        subject = "_".join(name.split("_")[1:-1])
        rows.setdefault(subject, []).append({"id": name, "response": said[name]})
    for subject, some in rows.items():
        (folder / subject).mkdir(parents=True)
        (folder / subject / "output.json").write_text(json.dumps(some))
    return folder


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_in_another_order_of_which_half_are_missing(tmp_path: Path, seed: int) -> None:
    """What has no row is not counted."""
    draw = random.Random(seed)
    order = draw.sample(list(replies()), 450)
    path = output_folder(tmp_path / "model", replies(), order)
    found = snellen.score(path, "mmmu", data=golden("mmmu"))
    right = {name: score_of(RAW, name) for name in order}
    assert figures(found, "official") == counted(right)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tenth_of_another_runs_answers(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    one, other = f"{RAW}/total_val_output.json", f"{RAW}_val.json"
    folder = golden("mmmu") / "outputs"
    said, others = of_json(folder / one), of_json(folder / other)
    order = draw.sample(list(said), len(said))
    taken = set(order[: len(order) // 10])
    path = tmp_path / "mixed.json.gz"
    mixed = {name: (others if name in taken else said)[name] for name in order}
    path.write_bytes(gzip.compress(json.dumps(mixed).encode()))
    found = snellen.score(path, "mmmu", data=golden("mmmu"))
    right = {name: score_of(other if name in taken else one, name) for name in order}
    assert figures(found, "eval-only") == counted(right)
    assert figures(found, "official") == counted(right)

"""MMMU against what its authors' scripts give for the outputs that they published."""

import gzip
import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from snellen.analysis.result import Result
from snellen.benchmarks.families.mmmu import DOMAINS
from snellen.benchmarks.families.mmmu_open import predicted
from snellen.benchmarks.mmmu import mmmu
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.scoring import Predicted, resolve
from tests.golden_data import FOLDER, golden
from tests.parity.engine import score
from tests.parity.packs.mmmu import models, outputs

FILES = outputs(FOLDER / "mmmu" / "outputs")
MODELS = models(FOLDER / "mmmu")
RAW = [model for model in MODELS if FILES[model].is_dir()]
"""Folders of responses, for the authors' first script; the others are files of answers."""
ANSWERS = [model for model in MODELS if model not in RAW]
SEEDS = range(1)


def of_json(path: Path) -> Any:
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


@cache
def expected() -> Mapping[str, Any]:
    figures_by_model: Mapping[str, Any] = of_json(golden("mmmu") / "expected.json")
    return figures_by_model


@cache
def items(model: str) -> Mapping[str, Any]:
    verdicts: Mapping[str, Any] = of_json(golden("mmmu") / "expected_items.json.gz")[model]
    return verdicts


def score_of(model: str, name: str) -> int:
    item = items(model)[name]
    return int(item[1] if isinstance(item, list) else item)


def result(model: str) -> Result:
    return score(FILES[model], "mmmu", golden("mmmu"))


def figures(result_of_run: Result, scoring: str) -> dict[str, tuple[float | None, int]]:
    """By the names that the authors give subjects and domains, which are all in the pack."""
    metrics = result_of_run.report.scorings[scoring].metrics
    return {
        name: (metrics[ours].value, metrics[ours].n)
        for name, ours in {
            **{
                subject: f"accuracy/{subject}"
                for subjects in DOMAINS.values()
                for subject in subjects
            },
            **{f"Overall-{domain}": f"accuracy/{domain}" for domain in DOMAINS},
            "Overall": "accuracy",
        }.items()
        if ours in metrics
    }


def counted(right: Mapping[str, int]) -> dict[str, tuple[Any, int]]:
    """The authors' figures of some questions, from verdicts: main_eval_only.py#L72-L95."""
    by_subject: dict[str, list[int]] = {}
    for name, verdict in right.items():
        by_subject.setdefault("_".join(name.split("_")[1:-1]), []).append(verdict)
    groups = {
        **{subject: [subject] for subject in by_subject},
        **{
            f"Overall-{domain}": [subject for subject in subjects if subject in by_subject]
            for domain, subjects in DOMAINS.items()
        },
        "Overall": list(by_subject),
    }
    figures_by_name: dict[str, tuple[Any, int]] = {}
    for name, subjects in groups.items():
        n = sum(len(by_subject[subject]) for subject in subjects)
        if n:
            weighted = sum(
                sum(by_subject[subject]) / len(by_subject[subject]) * len(by_subject[subject])
                for subject in subjects
            )
            figures_by_name[name] = (pytest.approx(weighted / n, abs=1e-9), n)
    return figures_by_name


@cache
def samples() -> Mapping[str, Sample]:
    benchmark = mmmu(data=golden("mmmu"))
    return {(sample := benchmark.read(row)).id: sample for row in benchmark.data}


@cache
def replies(model: str) -> Mapping[str, str]:
    paths = FILES[model].glob("*/output.json*")
    return {row["id"]: row["response"] for path in paths for row in of_json(path)}


@pytest.mark.parametrize("model", RAW)
def test_every_answer_is_the_authors_and_so_is_every_letter_that_they_drew(model: str) -> None:
    benchmark = mmmu(data=golden("mmmu"))
    scoring = benchmark.scorings["official"]
    assert benchmark.interop.layout is not None
    published = benchmark.interop.layout(FILES[model])
    assert published is not None
    predicted_replies = Predicted(
        benchmark=benchmark, replies=published.replies, where=model, published=published
    )
    resolved = resolve(benchmark, ["official"], predicted_replies.scored).readings["official"]
    drawn = {item["id"]: item["picked"] for item in expected()[model]["random_fallback"]["items"]}
    differences = []
    for name, (answer, verdict) in items(model).items():
        sample = samples()[name]
        parsed = scoring.parse(Reply(text=replies(model)[name]), sample)
        reading = resolved.get((name, 0), parsed)
        ours: object = reading.answer
        if isinstance(ours, tuple):
            ours = sorted(map(str, set(predicted(ours))))
            answer = sorted(map(str, answer))
        if (ours, scoring.score(reading, sample)) != (answer, verdict):
            differences.append((name, reading, answer, verdict))
        assert reading.guessed == (name in drawn)
        if reading.guessed:
            assert answer == drawn[name]
    assert differences == []


@pytest.mark.parametrize("model", ANSWERS)
def test_letters_that_were_read_are_read_again_as_what_they_are(model: str) -> None:
    scoring = mmmu(data=golden("mmmu")).scorings["official"]
    letters = of_json(FILES[model])
    differences = []
    for name, sample in samples().items():
        verdict = scoring.score(scoring.parse(Reply(text=letters[name]), sample), sample)
        if verdict != score_of(model, name):
            differences.append((name, letters[name], verdict))
    assert differences == []


@pytest.mark.parametrize("model", [model for model in RAW if model == "llava1.5_13b"])
def test_lmms_evals_figure_is_what_its_code_was_found_to_give(model: str) -> None:
    """36.44 of all and none of 53 open ones, by its code on the same replies."""
    metrics = result(model).report.scorings["lmms-eval"].metrics
    assert round(100 * (metrics["accuracy"].value or 0), 2) == 36.44
    assert (metrics["accuracy/open"].value, metrics["accuracy/open"].n) == (0.0, 53)


def output_folder(folder: Path, letters: Mapping[str, str], order: list[str]) -> Path:
    """The authors' layout, of these replies in this order."""
    rows: dict[str, list[dict[str, str]]] = {}
    for name in order:
        subject = "_".join(name.split("_")[1:-1])
        rows.setdefault(subject, []).append({"id": name, "response": letters[name]})
    for subject, some in rows.items():
        (folder / subject).mkdir(parents=True)
        (folder / subject / "output.json").write_text(json.dumps(some))
    return folder


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model", RAW)
def test_rows_in_another_order_of_which_half_are_missing(
    tmp_path: Path, model: str, seed: int
) -> None:
    """What has no row is not counted. Replies for which a letter is drawn are left out too: in
    another order the authors' script draws another."""
    draw = random.Random(seed)
    drawn = {item["id"] for item in expected()[model]["random_fallback"]["items"]}
    order = draw.sample([name for name in replies(model) if name not in drawn], 400)
    path = output_folder(tmp_path / "model", replies(model), order)
    scores = score(path, "mmmu", golden("mmmu"))
    right = {name: score_of(model, name) for name in order}
    assert figures(scores, "official") == counted(right)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model", ANSWERS)
def test_a_tenth_of_another_runs_answers(tmp_path: Path, model: str, seed: int) -> None:
    draw = random.Random(seed)
    other = draw.choice([name for name in ANSWERS if name != model] or [model])
    letters, others = of_json(FILES[model]), of_json(FILES[other])
    order = draw.sample(list(letters), len(letters))
    taken = set(order[: len(order) // 10])
    path = tmp_path / "mixed.json.gz"
    mixed = {name: (others if name in taken else letters)[name] for name in order}
    path.write_bytes(gzip.compress(json.dumps(mixed).encode()))
    scores = score(path, "mmmu", golden("mmmu"))
    right = {name: score_of(other if name in taken else model, name) for name in order}
    assert figures(scores, "eval-only") == counted(right)
    assert figures(scores, "official") == counted(right)

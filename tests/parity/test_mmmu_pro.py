"""MMMU-Pro against the answers and verdicts that its authors stored in their output files."""

import gzip
import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

import snellen
from snellen.benchmark import Missing
from snellen.benchmarks.mmmu_pro import Mode, Setting, mmmu_pro
from snellen.model import Reply
from snellen.sample import Sample
from tests.golden_data import golden
from tests.parity.lines import Line

SEEDS = range(3)


class File(NamedTuple):
    setting: Setting
    mode: Mode

    @property
    def spec(self) -> str:
        return f"mmmu-pro:setting={self.setting},mode={self.mode}"

    @property
    def name(self) -> str:
        setting = {"standard-10": "standard(10 options)"}.get(self.setting, self.setting)
        return f"gpt-4o_{setting}_{self.mode}.jsonl"

    @property
    def path(self) -> Path:
        return golden("mmmu_pro") / "outputs" / f"{self.name}.gz"


COT, VISION = File("standard-10", "cot"), File("vision", "direct")
FILES = (COT, VISION)


@cache
def expected(file: File) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((golden("mmmu_pro") / "expected.json").read_bytes())
    of_file: Mapping[str, Any] = found[file.name]
    return of_file


@cache
def items(file: File) -> Mapping[str, list[Any]]:
    """By id: the scorer's answer and verdict, None where it draws, and those stored."""
    raw = (golden("mmmu_pro") / "expected_items.json.gz").read_bytes()
    found: Mapping[str, list[Any]] = json.loads(gzip.decompress(raw))[file.name]
    return found


@cache
def replies(file: File) -> Mapping[str, str]:
    lines = gzip.decompress(file.path.read_bytes()).decode().split("\n")
    rows = [json.loads(line) for line in lines if line]
    return {row["id"]: row["response"] for row in rows}


@cache
def drawn_as_stored(file: File) -> Mapping[str, str]:
    """The replies, but that those for which the authors drew a letter name the one they drew."""
    said = dict(replies(file))
    for name, (answer, _, stored, _) in items(file).items():
        if answer is None:
            said[name] = f"Answer: {stored}"
    return said


def figures(
    file: File, said: Mapping[str, str] | None = None, missing: Missing | None = None
) -> dict[str, tuple[float | None, int]]:
    """What `snellen.score` gives for the published file, or for these replies."""
    with TemporaryDirectory() as folder:
        path = file.path
        if said is not None:
            path = Path(folder) / "replies.jsonl"
            rows = [json.dumps({"id": name, "response": text}) for name, text in said.items()]
            path.write_text("\n".join(rows), encoding="utf-8")
        data = golden("mmmu_pro")
        found = snellen.score(path, file.spec, data=data, missing=missing, scorings=["official"])
    metrics = found.report.scorings["official"].metrics
    return {name: (metric.value, metric.n) for name, metric in metrics.items()}


def close(right: int, n: int) -> tuple[Any, int]:
    return pytest.approx(right / n, abs=1e-9), n


def parity() -> list[Line]:
    lines = []
    for file in FILES:
        official = expected(file)
        published = official["published"]
        draws = len(official["random_fallback_ids"])
        as_stored = figures(file)
        known = {name: reply for name, reply in replies(file).items() if items(file)[name][0]}
        without = official["official_scorer_deterministic_part"]
        stored = {
            "accuracy": official["stored"]["correct"] / official["n"],
            **{
                f"accuracy/{subject}": one["acc"]
                for subject, one in official["stored_by_subject"].items()
            },
        }
        reason = "the outputs in the repository are not the paper's run" if published else ""
        if draws:
            reason = f"the letters of {draws} draws are those that the file has"
        figure = {
            **{metric: (value, *as_stored[metric]) for metric, value in stored.items()},
            "accuracy of what needs no draw": (
                without["correct"] / without["rows"],
                *figures(file, known, "excluded")["accuracy"],
            ),
        }
        lines += [
            Line(
                benchmark=file.spec,
                model="gpt-4o",
                metric=metric,
                n=n,
                published=published["value_percent"] / 100
                if published and metric == "accuracy"
                else None,
                official=value,
                ours=ours,
                proof="published outputs",
                reason=reason if metric == "accuracy" else "",
            )
            for metric, (value, ours, n) in figure.items()
        ]
    return lines


@pytest.mark.parametrize("file", FILES)
def test_every_answer_and_verdict_is_the_authors_but_for_draws(file: File) -> None:
    benchmark = mmmu_pro(file.setting, file.mode, data=golden("mmmu_pro"))
    scoring = benchmark.scorings["official"]
    differences, draws = [], []
    for row in benchmark.data:
        sample = benchmark.read(row)
        answer, score, *_ = items(file)[sample.id]
        reading = scoring.parse(Reply(text=replies(file)[sample.id]), sample)
        if reading.guessed:
            draws.append(sample.id)
            found: list[object] = [None, None]
        else:
            found = [reading.answer, scoring.score(reading, sample)]
        if found != [answer, score]:
            differences.append((sample.id, reading, answer, score))
    assert len(items(file)) == benchmark.data.facts().rows == 1730
    assert differences == []
    assert set(draws) == set(expected(file)["random_fallback_ids"])


def test_every_figure_is_the_authors() -> None:
    lines = parity()
    assert len(lines) == 2 * (1 + 30 + 1)
    for line in lines:
        assert line.official is not None
        assert line.ours == pytest.approx(line.official, abs=1e-9), line


@pytest.mark.parametrize("file", FILES)
def test_the_file_as_it_is_scores_what_is_stored_in_it(file: File) -> None:
    assert figures(file)["accuracy"] == close(expected(file)["stored"]["correct"], 1730)


def test_to_lmms_eval_six_replies_in_vision_are_right() -> None:
    """0.35 per cent, by its code on the same replies."""
    data = golden("mmmu_pro")
    found = snellen.score(VISION.path, VISION.spec, data=data, scorings=["lmms-eval"])
    value = found.report.scorings["lmms-eval"].metrics["accuracy"].value
    assert value == pytest.approx(6 / 1730, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("file", FILES)
def test_replies_in_another_order_of_which_half_are_missing(file: File, seed: int) -> None:
    """Their script reads no such file; here what is missing is wrong, or left out."""
    said = drawn_as_stored(file)
    order = random.Random(seed).sample(list(said), 865)
    half = {name: said[name] for name in order}
    right = sum(items(file)[name][3] for name in order)
    assert figures(file, half)["accuracy"] == close(right, 1730)
    assert figures(file, half, "excluded")["accuracy"] == close(right, 865)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tenth_of_another_runs_replies(seed: int) -> None:
    """The two files are of the same questions; each reply is right where it was."""
    order = random.Random(seed).sample(list(items(COT)), 1730)
    taken = set(order[:173])
    said = {name: drawn_as_stored(VISION if name in taken else COT)[name] for name in order}
    right = sum(items(VISION if name in taken else COT)[name][3] for name in order)
    assert figures(COT, said)["accuracy"] == close(right, 1730)


def test_every_made_reply_is_read_as_vlmevalkit_reads_it() -> None:
    scoring = mmmu_pro(data=golden("mmmu_pro")).scorings["vlmevalkit"]
    lines = (golden("mcq_parsing") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    differences = []
    for made in (json.loads(line) for line in lines if line):
        if made["prediction"] != made["prediction"].strip():
            continue  # never read by it: what an endpoint replies is stored stripped
        choices = tuple(made["options"].values())
        sample = Sample(id="1", question="?", choices=choices, target=made["answer"])
        reading = scoring.parse(Reply(text=made["prediction"]), sample)
        found = (reading.answer or False, scoring.score(reading, sample))
        if found != (made["vlmevalkit_can_infer"], made["vlmevalkit_correct"]):
            differences.append((made, reading))
    assert len(lines) > 1500
    assert differences == []

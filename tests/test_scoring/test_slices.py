"""The score by where the right answer stands, by size, by length: and whether it differs."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import Drawn, Row
from snellen.media.content import Image, user
from snellen.metrics import mean
from snellen.report import as_text, markdown
from snellen.scoring import Report, Scored, Tally
from snellen.scoring.sections.slices import chi_square_p, difference_p
from tests.scenes import jpeg, scene


def right(reading: Reading, sample: Sample) -> float:
    return float(reading.answer == sample.target)


def benchmark(**fields: Any) -> Benchmark:
    def rows() -> Iterator[dict[str, Any]]:
        return iter(())

    def sample(index: int, row: Row) -> Sample:
        return Sample(id=row["id"], question="?")

    return Benchmark(
        name="choosing",
        asks=1,
        data=Drawn("nowhere", rows),
        sample=sample,
        prompt=lambda sample, _: (user(sample.question),),
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=lambda reply, _: Reading(answer=reply.text, rule="whole"),
                score=fields.get("score", right),
                metrics={"accuracy": mean},
                best=fields.get("best", 1.0),
            )
        },
    )


def report(samples: Sequence[Sample], says: str = "A") -> Report:
    tally = Tally(benchmark())
    tally.add(Scored(sample, 0, "ok", Reply(text=says)) for sample in samples)
    return tally.report(model="m", identity={})


def lettered(n: int, choices: tuple[str, ...] = ("w", "x", "y", "z")) -> list[Sample]:
    return [
        Sample(id=str(i), question="Which?", choices=choices, target="ABCD"[i % 4])
        for i in range(n)
    ]


def test_a_model_that_always_says_a_is_right_where_the_answer_is_a() -> None:
    slices = report(lettered(400)).slices
    by_position = slices["answer_place"]
    assert {name: (mean.value, mean.n) for name, mean in by_position.bins.items()} == {
        "A": (1.0, 100),
        "B": (0.0, 100),
        "C": (0.0, 100),
        "D": (0.0, 100),
    }
    assert by_position.differs
    assert list(slices) == ["answer_place"]  # they are alike in all else


def test_the_report_says_that_the_score_depends_on_the_place() -> None:
    result = Result(report(lettered(400)))
    [note] = [note for note in result.report.notes if "position" in note]
    assert "100.0 % if it is A, 0.0 % if it is B" in note
    assert "The model need not be the cause: the questions may differ in difficulty" in note
    assert "by position of the right answer: the mean score differs (p < 0.0001)" in as_text(
        [result]
    )
    assert "| A | 100.00 % |" in markdown([result])


def test_a_place_of_one_question_asked_often_is_not_said_to_be_the_worst() -> None:
    # How often right: where A is 50 of 100 questions, where B is 80; C is one question with twelve
    # replies, none of them right.
    rights = {"A": [i % 2 == 0 for i in range(100)], "B": [i % 5 > 0 for i in range(100)]}
    tally = Tally(benchmark())
    for target, every in rights.items():
        for i, is_right in enumerate(every):
            sample = Sample(id=f"{target}{i}", question="?", choices=("w", "x", "y"), target=target)
            tally.add([Scored(sample, 0, "ok", Reply(text=target if is_right else "no"))])
    once = Sample(id="C", question="?", choices=("w", "x", "y"), target="C")
    tally.add(Scored(once, again, "ok", Reply(text="no")) for again in range(12))
    result = tally.report(model="m", identity={})
    values = {name: bin.value for name, bin in result.slices["answer_place"].bins.items()}
    assert values == {"A": 0.5, "B": 0.8, "C": 0.0}
    [note] = [note for note in result.notes if "position" in note]
    assert "80.0 % if it is B, 50.0 % if it is A" in note


def test_a_score_that_does_not_depend_on_the_place_is_not_said_to() -> None:
    # A right and a wrong reply in turn at each place.
    tally = Tally(benchmark())
    samples = lettered(400)
    tally.add(
        Scored(sample, 0, "ok", Reply(text=sample.target if (i // 4) % 2 else "no"))
        for i, sample in enumerate(samples)
        if sample.target is not None
    )
    result = tally.report(model="m", identity={})
    assert result.slices["answer_place"].p == pytest.approx(1.0)
    assert not result.notes
    text = as_text([Result(result)])
    assert "no significant difference by position of the right answer" in text
    assert "100.00 %" not in text


def test_yes_and_no_have_no_places() -> None:
    samples = [
        Sample(id=str(i), question="Is it?", choices=("yes", "no"), target=("yes", "no")[i % 2])
        for i in range(40)
    ]
    assert report(samples, "yes").slices == {}


def test_letters_that_are_choices_themselves_count_by_what_they_mean() -> None:
    # The right answer is the text "B", which stands first: it is not a letter of a place.
    samples = [
        Sample(id=str(i), question="Read it.", choices=("B", "A"), target="AB"[i % 2])
        for i in range(40)
    ]
    assert report(samples).slices == {}


def test_pictures_and_questions_are_in_bins_by_size_number_and_words() -> None:
    def picture(width: int, height: int) -> Image:
        return Image(b"", label="p", digest="sha256:0", width=width, height=height)

    samples = [
        Sample(id="1", question="one two three four", media=(picture(100, 1000),)),
        Sample(id="2", question="one two three four five", media=(picture(1000, 301),)),
        Sample(id="3", question="有几只猫", media=(picture(10, 10), picture(4000, 3000))),
        Sample(id="4", question="word " * 200, media=()),
    ]
    assert {name: list(entry.bins) for name, entry in report(samples).slices.items()} == {
        "picture_size": ["up to 0.1 MP", "0.3-1 MP", "over 10 MP"],
        "question_words": ["1-4 words", "5-8 words", "over 128 words"],
        "pictures": ["no picture", "1 picture", "2 pictures"],
    }


def test_a_size_that_no_number_holds_is_a_large_one() -> None:
    media = (Image(b"", label="p", digest="sha256:0", width=10**12, height=10**12),)
    samples = [Sample(id="1", question="?", media=media), Sample(id="2", question="?")]
    assert list(report(samples).slices["pictures"].bins) == ["no picture", "1 picture"]


def test_two_bins_of_one_size_of_independent_samples_are_pearsons_chi_square() -> None:
    # 30 of 100 against 45 of 100: Pearson's statistic without Yates' correction is
    # 200·(30·55 - 45·70)² / (100·100·75·125) = 4.8, whose p with one degree is 0.0284597.
    score = np.array([1.0] * 30 + [0.0] * 70 + [1.0] * 45 + [0.0] * 55)
    codes = np.repeat([1, 2], 100).astype(np.uint8)
    p_value = difference_p(score, np.arange(200, dtype=np.int32), codes)
    assert p_value == pytest.approx(0.0284597, abs=1e-6)


def test_copies_of_a_sample_in_a_cluster_prove_nothing_more() -> None:
    score = np.array([1.0] * 30 + [0.0] * 70 + [1.0] * 45 + [0.0] * 55)
    codes = np.repeat([1, 2], 100).astype(np.uint8)
    cluster = np.arange(200, dtype=np.int32)
    once = difference_p(score, cluster, codes)
    four = difference_p(np.tile(score, 4), np.tile(cluster, 4), np.tile(codes, 4))
    assert once is not None
    assert four == pytest.approx(once, rel=1e-9)


def test_bins_of_few_clusters_and_equal_scores_give_no_p() -> None:
    codes = np.repeat([1, 2], [95, 5]).astype(np.uint8)
    cluster = np.arange(100, dtype=np.int32)
    assert difference_p((np.arange(100) % 2).astype(np.float64), cluster, codes) is None
    assert difference_p(np.ones(100), cluster, codes) is None


@pytest.mark.parametrize(("x", "df", "p"), [(3.841459, 1, 0.05), (7.814728, 3, 0.05)])
def test_chi_square_agrees_with_the_printed_table(x: float, df: int, p: float) -> None:
    # Abramowitz and Stegun 1964, table 26.8.
    assert chi_square_p(x, df) == pytest.approx(p, abs=1e-6)


def test_scores_are_shares_of_the_best_and_may_be_parts() -> None:
    # 2 of 5 points where the answer is A, 1 of 5 elsewhere, always: no interval, and yet a note.
    def points(reading: Reading, sample: Sample) -> float:
        return 1.0 + (sample.target == "A")

    tally = Tally(benchmark(score=points, best=5.0))
    tally.add(Scored(sample, 0, "ok", Reply(text="A")) for sample in lettered(120))
    result = tally.report(model="m", identity={})
    assert [mean.value for mean in result.slices["answer_place"].bins.values()] == [
        pytest.approx(share) for share in (0.4, 0.2, 0.2, 0.2)
    ]
    [note] = result.notes
    assert "40.0 % if it is A, 20.0 % if it is B" in note


def test_a_run_knows_the_sizes_of_its_pictures(tmp_path: Path) -> None:
    rows = []
    for number in range(24):
        size = (160, 120) if number % 2 else (800, 600)
        (tmp_path / f"{number}.jpg").write_bytes(jpeg(scene(number, size)))
        row = {"id": str(number), "image": f"{number}.jpg", "question": "Which?"}
        rows.append(json.dumps({**row, "A": "x", "B": "y", "answer": "AB"[number // 2 % 2]}))
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(rows))
    result = snellen.evaluate(str(path), "baseline/first", out=tmp_path / "runs").report
    size_of = result.slices["picture_size"]
    assert {name: (mean.value, mean.n) for name, mean in size_of.bins.items()} == {
        "up to 0.1 MP": (0.5, 12),
        "0.3-1 MP": (0.5, 12),
    }

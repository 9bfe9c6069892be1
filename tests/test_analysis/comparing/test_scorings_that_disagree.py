"""A comparison and a report say so if the headline and robust score many replies differently."""

from dataclasses import replace
from pathlib import Path

import pytest

from snellen import report
from snellen.api import compare
from snellen.core.benchmark import Benchmark, vary
from snellen.core.model import Reply, Request
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.metrics import mean
from snellen.scoring import ROBUST
from tests import tiny


def last_word(reply: Reply, sample: Sample) -> Reading:
    return Reading(answer=reply.text.split()[-1].rstrip("."), rule="last word")


def own() -> Benchmark:
    """Twenty questions, for which the right answer is yes."""
    benchmark = tiny.benchmark(20)
    robust = Scoring(
        version=1, source="ours", parse=last_word, score=tiny.right, metrics={"accuracy": mean}
    )
    return vary(benchmark, scorings={**benchmark.scorings, "robust": robust})


def in_sentences(first: int) -> tiny.Says:
    """A model that is always right, in a sentence for the first questions."""

    def say(request: Request) -> str:
        number = int(request.messages[0].text.split()[1])
        return "It is yes." if number < first else "yes"

    return tiny.Says(say, f"sentences-{first}")


@pytest.mark.parametrize(("first", "is_noted"), [(0, False), (1, False), (2, True)])
def test_more_than_one_reply_in_twenty_is_noted(tmp_path: Path, first: int, is_noted: bool) -> None:
    plain = tiny.run(tmp_path, in_sentences(0), own())
    other = tiny.run(tmp_path, tiny.Says(in_sentences(first).say, "other"), own())
    note = (
        "official and robust score 2 of 20 replies differently (10.0 %). One of the two "
        "scorings misreads these replies. Compare by --scoring robust too, or read such replies "
        "in the viewer (snellen view)"
    )

    compared = compare(plain.run, other.run, benchmark=own()).comparisons

    assert (f"other: {note}" in compared.notes) is is_noted
    assert other.result is not None and (note in other.result.report.notes) is is_noted
    assert not [text for text in compared.notes if text.startswith("says")]


def test_scores_of_another_kind_are_not_compared_reply_by_reply(tmp_path: Path) -> None:
    """An overlap of boxes is below 1 for almost every reply, whether its letter is right or not."""
    benchmark = own()
    overlap = replace(
        benchmark.scorings["robust"],
        score=lambda reading, sample: 0.6 * tiny.right(reading, sample),
        metrics={"mean_iou": mean},
        partial=True,
    )
    with_overlap = vary(benchmark, scorings={**benchmark.scorings, "boxes": overlap})
    finished = tiny.run(tmp_path, in_sentences(2), with_overlap)
    as_robust = vary(
        with_overlap, scorings={"official": own().scorings["official"], ROBUST: overlap}
    )
    others = [tiny.run(tmp_path, in_sentences(n), as_robust).run for n in (3, 4)]

    assert finished.result is not None
    (listed,) = finished.result.report.disagreements
    assert (listed.scorings, listed.n) == (("official", "robust"), 2)
    assert (
        "official and robust score 2 replies differently by accuracy, such as those to samples s0"
        in (report.markdown([finished.result]))
    )
    compared = compare(*others, benchmark=as_robust).comparisons
    assert not [note for note in compared.notes if "differently" in note]


def test_verdicts_with_metrics_of_different_names_are_compared(tmp_path: Path) -> None:
    benchmark = own()
    robust = replace(benchmark.scorings["robust"], metrics={"exact_match": mean})
    benchmark = vary(benchmark, scorings={**benchmark.scorings, "robust": robust})
    finished = tiny.run(tmp_path, in_sentences(2), benchmark)

    assert finished.result is not None
    assert "score 2 replies differently by right or wrong" in report.as_text([finished.result])


def test_a_comparison_by_a_named_scoring_says_nothing_of_another(tmp_path: Path) -> None:
    sides = [
        tiny.run(tmp_path, tiny.Says(in_sentences(9).say, name), own()).run for name in ("a", "b")
    ]

    compared = compare(*sides, benchmark=own(), scoring="robust").comparisons

    assert not [note for note in compared.notes if "differently" in note]

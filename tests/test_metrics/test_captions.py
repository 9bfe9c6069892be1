"""BLEU, ROUGE-L and CIDEr: by hand on small sets, and as coco-caption's code gives them."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from snellen.metrics import Category, Columns
from snellen.metrics.captions import (
    bleu,
    bleu_counts,
    caption_metrics,
    captions,
    cider_scores,
    rouge_l_scores,
)

CANDIDATES = ["a red ball lies there", "the cat sat", "dog"]
REFERENCES = [
    ["a red ball lies on the grass", "the ball is red"],
    ["the cat sat on the mat", "a cat sat down", "cat"],
    ["a dog", "two dogs"],
]

WANTED = (3.3654989381990896, 2.9991883847133316, 1.2327588959298954)
"""The CIDEr of each candidate by pycocoevalcap 1.2."""


def columns(answers: Sequence[str | None], references: Sequence[tuple[str, ...]]) -> Columns:
    n = len(answers)
    predictions, right = np.empty(n, dtype=object), np.empty(n, dtype=object)
    predictions[:], right[:] = answers, references
    return Columns(
        score=None,
        answer=predictions,
        target=np.empty(n, dtype=object),
        references=right,
        state=Category(codes=np.zeros(n, dtype=np.int32), names=("answered",)),
        tags={},
        cluster=np.arange(n, dtype=np.int32),
    )


# -- BLEU


def test_bleu_counts_are_lengths_grams_and_right_grams() -> None:
    counts = bleu_counts(captions(CANDIDATES, REFERENCES))
    assert counts.tolist() == [
        # 5 is as far from 7 as 4 is near: 4. a, red, ball, lies; a red, red ball, ball lies; ...
        [5, 4, 5, 4, 3, 2, 4, 3, 2, 1],
        # 4 is nearer to 3 than 6 and 1.
        [3, 4, 3, 2, 1, 0, 3, 2, 1, 0],
        [1, 2, 1, 0, 0, 0, 1, 0, 0, 0],
    ]


def test_of_two_references_as_near_the_shorter_counts() -> None:
    counts = bleu_counts(captions(["a b c"], [["a b c d", "a b"]]))
    assert counts[0, 1] == 2


def test_a_gram_is_right_as_often_as_one_reference_has_it() -> None:
    counts = bleu_counts(captions(["the the the cat"], [["the cat", "the the mat", "the"]]))
    assert counts[0, 6] == 3  # "the" twice, "cat" once


def test_bleu_of_a_set_is_that_of_its_sums() -> None:
    scores = bleu(np.array([[9.0, 10, 9, 6, 4, 2, 8, 5, 3, 1]]))[0]
    penalty = math.exp(1 - 10 / 9)
    precisions = (8 / 9, 5 / 6, 3 / 4, 1 / 2)
    wanted = [penalty * math.prod(precisions[:n]) ** (1 / n) for n in range(1, len(precisions) + 1)]
    assert scores == pytest.approx(wanted, abs=1e-9)


def test_nothing_right_is_nearly_nothing() -> None:
    # 1e-15 and 1e-9 are in it, so that nothing is divided by nothing.
    scores = bleu(np.array([[1.0, 1, 1, 0, 0, 0, 1, 0, 0, 0]]))[0]
    assert scores == pytest.approx([1, math.sqrt(1e-6), 1e-12 ** (1 / 3), 1e-18 ** (1 / 4)])


# -- ROUGE-L


def test_rouge_takes_the_best_precision_and_the_best_recall_each_by_itself() -> None:
    # Of the first reference 3 of 3 said and 3 of 6; of the last 1 of 3 said and 1 of 1.
    scores = rouge_l_scores(captions(["the cat sat"], [REFERENCES[1]]))
    assert scores == pytest.approx([1.0])


def test_rouge_weighs_recall_by_beta() -> None:
    # "a b c" of "a x b": two in order, of three either way.
    scores = rouge_l_scores(captions(["a b c d"], [["a x b"]]))
    p, r, b = 2 / 4, 2 / 3, 1.44
    assert scores == pytest.approx([(1 + b) * p * r / (r + b * p)])


def test_rouge_finds_an_empty_caption_right_where_a_reference_is_empty() -> None:
    assert rouge_l_scores(captions(["", ""], [["", "a"], ["a"]])).tolist() == [1.0, 0.0]


def test_rouge_alone_takes_a_blank_that_does_not_break_for_part_of_a_word() -> None:
    pairs = captions(["3\u00a01/2"], [["3 1/2"]])
    assert rouge_l_scores(pairs).tolist() == [0.0]
    assert bleu_counts(pairs)[0, 6] == 2


# -- CIDEr


def test_cider_is_as_coco_caption_gives_it() -> None:
    scores = cider_scores(captions(CANDIDATES, REFERENCES))
    assert scores == pytest.approx(WANTED, abs=1e-12)


def test_cider_by_hand() -> None:
    # Two images; every gram is in the references of one, so each weighs log 2. "a b" against
    # "a b": 1 for one and two words, nothing for more; 10/4 of 2. "x" against "c d": nothing.
    assert cider_scores(captions(["a b", "x"], [["a b"], ["c d"]])).tolist() == [
        pytest.approx(5.0),
        0.0,
    ]


def test_what_every_image_has_weighs_nothing() -> None:
    assert cider_scores(captions(["a", "a"], [["a"], ["a"]])).tolist() == [0.0, 0.0]


def test_one_image_has_no_cider() -> None:
    assert cider_scores(captions(["a b"], [["a b"]])).tolist() == [0.0]


def test_a_caption_that_is_longer_or_shorter_is_worth_less() -> None:
    score = cider_scores(captions(["a", "x"], [["a b"], ["c"]]))[0]
    assert score == pytest.approx(10 / 4 * math.exp(-1 / 72) / math.sqrt(2))


def test_counts_are_clipped() -> None:
    # Once in the reference, twice said: 1·1 of 2·1, not 2·1. One token more.
    score = cider_scores(captions(["a a", "x"], [["a"], ["c"]]))[0]
    assert score == pytest.approx(10 / 4 * (1 / 2) * math.exp(-1 / 72))


# -- metrics


def test_the_metrics_of_a_set() -> None:
    rows = columns([*CANDIDATES], [tuple(many) for many in REFERENCES])
    estimates = {name: metric(rows) for name, metric in caption_metrics(str).items()}
    assert list(estimates) == ["cider", "bleu_4", "bleu_3", "bleu_2", "bleu_1", "rouge_l"]
    assert estimates["cider"].value == pytest.approx(sum(WANTED) / 3)
    counts = bleu_counts(captions(CANDIDATES, REFERENCES)).sum(axis=0, keepdims=True)
    assert [estimates[f"bleu_{n}"].value for n in (1, 2, 3, 4)] == pytest.approx(
        bleu(counts)[0].tolist()
    )
    assert {estimate.unit for estimate in estimates.values()} == {"CIDEr", "BLEU", "ROUGE-L"}
    assert all(estimate.ci95 is None and estimate.reason for estimate in estimates.values())


def test_a_subset_has_document_frequencies_of_its_own() -> None:
    metric = caption_metrics(str)["cider"]
    rows = columns([*CANDIDATES], [tuple(many) for many in REFERENCES])
    full = metric(rows)
    part = metric(rows.where(np.array([0, 2])))
    alone = metric(columns(CANDIDATES[::2], [tuple(REFERENCES[0]), tuple(REFERENCES[2])]))
    assert part.value == alone.value != full.value
    assert (part.n, full.n) == (2, 3)


def test_intervals_hold_the_value_and_the_order_of_images_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    words = [f"w{n}" for n in range(30)]
    references = [tuple(" ".join(rng.choice(words, 9)) for _ in range(3)) for _ in range(60)]
    answers: list[str | None] = [
        " ".join([*many[0].split()[:6], *rng.choice(words, 3)]) for many in references
    ]
    order = rng.permutation(60)
    for name, metric in caption_metrics(str).items():
        estimate = metric(columns(answers, references))
        assert estimate.value is not None
        assert estimate.ci95 is not None, name
        assert estimate.ci95[0] < estimate.value < estimate.ci95[1], name
        other = metric(columns(answers, references).where(order))
        assert other.value == pytest.approx(estimate.value, abs=1e-12), name
        assert other.ci95 == pytest.approx(estimate.ci95, abs=1e-12), name


def test_a_caption_without_tokens_counts_as_one() -> None:
    rows = columns([None, "a b"], [("a b",), ("a b", "c")])
    estimate = caption_metrics(str)["bleu_1"](rows)
    assert estimate.n == 2
    assert estimate.value == pytest.approx(math.exp(1 - 4 / 2) * 1)


def test_no_captions_have_no_metrics() -> None:
    for metric in caption_metrics(str).values():
        estimate = metric(columns([], []))
        assert (estimate.value, estimate.reason) == (None, "no captions")


@pytest.mark.parametrize("references", [[], [[]], [["a"], ["b"]]])
def test_every_candidate_has_references(references: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="one candidate"):
        captions(["a"], references)

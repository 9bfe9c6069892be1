"""ZeroBench's rules on worked-out replies, its files, and its figures over repeats."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from snellen.benchmarks.zerobench import zerobench
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.media.content import Image
from snellen.metrics import Category, Columns
from snellen.metrics.lowest import lowest_of_repeats

BUNDLED = Path(zerobench.__code__.co_filename).parent / "rows" / "zerobench"


@pytest.mark.parametrize(
    ("scoring", "target", "reply", "value"),
    [
        # VLMEvalKit: the last braces, and a part of them is enough.
        ("vlmevalkit", "7", "It is {6}, no, {7}", 1.0),
        ("vlmevalkit", "7", "It is {7}, no, {6}", 0.0),
        ("vlmevalkit", "1", "{11}", 1.0),
        ("vlmevalkit", "Blue", " {BLUE and red}", 1.0),
        ("vlmevalkit", "7", "7", 0.0),
        ("vlmevalkit", "7", "{7\n}", 0.0),
        ("vlmevalkit", "2", "\\boxed{\\frac{1}{2}}", 1.0),
        ("vlmevalkit", "1", "\\boxed{\\frac{1}{2}}", 0.0),
        # lmms-eval: the whole reply, as a number if both are plain decimals.
        ("lmms-eval", "7", "7.0", 1.0),
        ("lmms-eval", "1,024", "1024.", 1.0),
        ("lmms-eval", "1000", "1e3", 0.0),
        ("lmms-eval", "7", "+7", 0.0),
        ("lmms-eval", "7", "{7}", 0.0),
        ("lmms-eval", "B12", ' "b12." ', 1.0),  # the period is removed after the quotes
        ("lmms-eval", "B12", "`B12`.", 0.0),
        ("lmms-eval", "14:35", "14:35.", 1.0),
        ("lmms-eval", "red  cat", "Red cat", 1.0),
        ("lmms-eval", "a.", "a..", 0.0),
        ("lmms-eval", "3.50", "", 0.0),
        ("robust", "7", "So the answer is {7.0}.", 1.0),
        ("robust", "Blue", "The answer is blue.", 1.0),
        ("robust", "1", "{11}", 0.0),
    ],
)
def test_what_a_reply_counts(scoring: str, target: str, reply: str, value: float) -> None:
    sample = Sample(id="1", question="What?", target=target)
    rule = zerobench().scorings[scoring]
    assert rule.score(rule.parse(Reply(text=reply), sample), sample) == value


def test_the_prompt_asks_for_braces() -> None:
    benchmark = zerobench(data=BUNDLED)
    sample = benchmark.sample(0, next(iter(benchmark.data)))
    (message,) = benchmark.prompt(sample, ())
    assert str(message.content[-1]).endswith(
        "green discs. \n\n\nLet's think step by step and give the final answer in curly braces,  "
        "like this: {final answer}"
    )


def test_a_row_of_the_hub_has_several_pictures(tmp_path: Path) -> None:
    fields = {
        "question_id": "3_1",
        "question_text": "What?",
        "question_images": ["a.png", "b.png"],
        "question_images_decoded": [Image(b"a", "a"), Image(b"b", "b")],
        "question_answer": "11.90",
    }
    sample = zerobench("sub", data=tmp_path).sample(0, Row(fields, 0))
    assert (sample.id, sample.target, len(sample.media)) == ("3_1", "11.90", 2)


def test_a_row_without_an_answer_is_refused(tmp_path: Path) -> None:
    fields = {"index": "1", "question": "What?", "answers": " ", "image": ()}
    with pytest.raises(ValueError, match="the right answer is empty"):
        zerobench(data=tmp_path).sample(0, Row(fields, 0))


# -- the metric


def columns(score: list[float], question: list[int]) -> Columns:
    codes = np.array(question, dtype=np.int32)
    none = np.empty(len(score), dtype=object)
    names = Category(codes=codes, names=tuple(map(str, range(5))))
    return Columns(
        score=np.array(score),
        answer=none,
        target=none,
        references=none,
        state=Category(codes=np.zeros(len(score), dtype=np.int32), names=("answered",)),
        tags={"question": names, "tag": names},
        cluster=codes,
    )


def test_k_of_k_is_over_the_repeats_of_a_question() -> None:
    # Of four questions, the first is right in both repeats, two in one of them, and the last never.
    rows = columns([1, 1, 0, 1, 0, 0, 1, 0], [0, 1, 2, 0, 1, 3, 2, 3])
    metrics = zerobench().scorings["vlmevalkit"].metrics
    values = {name: metric(rows).value for name, metric in metrics.items()}
    assert values == {"accuracy": 4 / 8, "k_of_k": 1 / 4}
    assert metrics["k_of_k"](rows).n == 4


def test_a_question_with_a_failed_repeat_is_left_out() -> None:
    some = replace(columns([1, 1, 0, 1], [0, 0, 1, 2]), unscored=columns([0], [2]))
    estimate = lowest_of_repeats("question")(some)
    assert (estimate.value, estimate.n) == (0.5, 2)
    gone = replace(columns([1], [0]), unscored=columns([0], [0]))
    assert lowest_of_repeats("question")(gone).value is None

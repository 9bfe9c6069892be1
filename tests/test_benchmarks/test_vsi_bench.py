"""VSI-Bench: how three tools and Snellen parse numbers and letters, and how numbers are scored."""

from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import vsi_bench as file
from snellen.benchmarks.vsi_bench import Preset, scorings, to_sample, vsi_bench
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.data import Row, find
from snellen.media.content import Video

BUNDLED = Path(file.__file__).parent / "rows" / "vsi_bench"
RULES = scorings()


def score(scoring: str, text: str, target: str, choices: tuple[str, ...] = ()) -> float:
    sample = Sample(id="1", question="?", choices=choices, target=target)
    rules = RULES[scoring]
    result = rules.score(rules.parse(Reply(text=text), sample), sample)
    assert isinstance(result, float)
    return result


def number(scoring: str, text: str) -> object:
    return RULES[scoring].parse(Reply(text=text), Sample(id="1", question="?", target="1")).answer


@pytest.mark.parametrize(
    ("text", "target", "official", "lmms", "kit"),
    [("90", "100", 0.9, 0.9, 0.9), (r"\boxed{177}", "118", 0.0, 0.1, 0.1)],
)
def test_numbers_score_as_in_the_worked_examples(
    text: str, target: str, official: float, lmms: float, kit: float
) -> None:
    assert score("official", text, target) == pytest.approx(official)
    assert score("lmms-eval", text, target) == pytest.approx(lmms)
    assert score("vlmevalkit", text, target) == pytest.approx(kit)


def test_a_letter_that_only_one_tool_reads() -> None:
    text, choices = "C? No. Final answer: D", ("a", "b", "c", "d")
    assert [score(name, text, "D", choices) for name in RULES] == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("A.", 1.0), ("a", 1.0), ("A dog", 1.0), (" A", 0.0), ("A\nBecause", 0.0), ("(A)", 0.0),
     ("A)", 0.0), ("**A**", 0.0), ("", 0.0)],
)  # fmt: skip
def test_the_official_letter_is_the_text_before_the_first_blank(text: str, expected: float) -> None:
    assert score("official", text, "A", ("a", "b")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1e1", 10.0), ("1_0", 10.0), ("3.", 3.0), ("3 m", 3.0), ("3m", None), ("about 3", None),
     ("three", None), ("inf", None), ("nan", None), (" 3", None)],
)  # fmt: skip
def test_the_official_number_is_a_float_of_python(text: str, expected: float | None) -> None:
    assert number("official", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("one apple, room 2", 1.0), ("twenty-one", 21.0), ("three hundred and twenty-one", 321.0),
     ("1,200", 1.0), (".5", 5.0), ("two thousand and five cats", 2005.0), ("no", None),
     ("hundred", 100.0), ("-3 m", -3.0), ("", None)],
)  # fmt: skip
def test_lmms_eval_takes_the_first_number_in_digits_or_words(
    text: str, expected: float | None
) -> None:
    assert number("lmms-eval", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3 x 4 = 12 (about 4 m)", 4.0), ("<answer>7 m</answer> or 8", 7.0), ("Twenty cats", 20.0),
     ("5</think>no", 5.0), ("5</think>6 7", 7.0), ("[13, 2]", 13.0), ("[1 2", 2.0), ("[a]", None),
     ("1e999", None), ("none", None)],
)  # fmt: skip
def test_vlmevalkit_takes_the_last_number(text: str, expected: float | None) -> None:
    assert number("vlmevalkit", text) == expected


def test_robust_takes_the_number_that_a_reply_settles_on() -> None:
    assert number("robust", "The answer is 1,200 m.") == 1200.0
    assert number("robust", "It is 3 or 4.") is None


def test_the_number_of_thresholds_is_ten_and_binary_floats_decide_at_the_borders() -> None:
    """1 - 0.95 is a little more than 0.05 in binary, so an error of exactly 0.05 counts."""
    assert score("official", "100", "100") == 1.0
    assert score("official", "149", "100") == pytest.approx(0.1)
    assert score("official", "151", "100") == 0.0
    assert score("official", "1", "0") == 0.0
    assert score("official", "0", "0") == 1.0


@pytest.mark.parametrize(
    ("prompt", "choice", "amount"),
    [
        ("official", "\nOptions:\nA. ",
         "\nPlease answer the question using a single word or phrase."),
        ("official-api", "\nOptions:\nA. ",
         "\nDo not response anything other than a single number!"),
        ("vlmevalkit", "\nA. ", "\nAnswer briefly and directly in one float number."),
    ],
)  # fmt: skip
def test_the_prompts_of_both_kinds_of_questions(prompt: Preset, choice: str, amount: str) -> None:
    benchmark = vsi_bench(prompt, data=BUNDLED)
    samples = [*map(benchmark.read, benchmark.data)]
    texts = [benchmark.prompt(sample, ())[0].text for sample in samples]

    assert texts[0].startswith(
        "These are frames of a video.\nWhat is shown in this video?" + choice
    )
    assert texts[-1] == (
        "These are frames of a video.\nHow high is the video in tens of pixels?" + amount
    )
    assert next(iter(benchmark.scorings)) == (
        "vlmevalkit" if prompt == "vlmevalkit" else "official"
    )


def test_a_row_of_vlmevalkits_table_is_read() -> None:
    row = {"index": "7", "video": "scannet/a.mp4", "question_type": "route_planning",
           "question": "Where?", "candidates": "['A. left', 'B. right']",
           "answer": "B"}  # fmt: skip
    sample = to_sample(Row(row, 0), find(BUNDLED, "vsi-bench", ["test.jsonl"]))
    (medium,) = sample.media

    assert (sample.id, sample.target, sample.choices) == ("7", "B", ("left", "right"))
    assert isinstance(medium, Video) and medium.source == BUNDLED / "scannet/a.mp4"
    with pytest.raises(ValueError, match="question_type is 'other'"):
        to_sample(Row({**row, "question_type": "other"}, 0), find(BUNDLED, "v", ["test.jsonl"]))


def test_the_three_directions_are_one_of_eight_kinds(tmp_path: Path) -> None:
    """Right: one direction of three, and the distance."""
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(f'{{"id": "{n}", "prediction": "A"}}\n' for n in range(10)))
    report = snellen.score(path, "vsi-bench", data=BUNDLED).report.scorings["official"]

    assert report.metrics["overall"].value == pytest.approx((1 / 3 + 1) / 8)
    assert report.metrics["object_rel_direction"].value == pytest.approx(1 / 3)

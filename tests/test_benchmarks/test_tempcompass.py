"""TempCompass: the rules of its four tasks, its judge, and its authors' files of results."""

import json
from pathlib import Path

import pytest

from snellen.benchmarks import tempcompass as file
from snellen.benchmarks.families.tempcompass_results import cleaned, results
from snellen.benchmarks.families.tempcompass_rules import (
    by_rule,
    judge_prompt,
    score,
    target_of,
    verdict,
)
from snellen.benchmarks.tempcompass import tempcompass
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "tempcompass"
DUNK = "Option 2: The man dunks."
MATCHING = f"Which description fits?\nOption 1: The man dribbles.\n{DUNK}"
CHOICES = "What does he do?\nA. dunking\nB. passing"


def sample(task: str, question: str, answer: str) -> Sample:
    return Sample(
        id="1",
        question=question,
        target=target_of(task, answer),
        tags={"task": task},
        data={"answer": answer, "judged": CHOICES},
    )


def rating(task: str, question: str, answer: str, text: str) -> float | None:
    """The rating by rule; None for a reply that is left to the judge."""
    of = sample(task, question, answer)
    reading = by_rule(Reply(text=text), of)
    return None if reading.answer is None else score(reading, of)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.", 1), ("b) The man dunks.", 1), ("Option 1) The man dunks.", 1),
        ("The man dunks", None), ("option 2", None), ("Option 1", 0), (DUNK, 1), ("Option 2", 1),
        ("The man dribbles.", 0), ("a) The man dunks.) or", 1), ("", None),
    ],
)  # fmt: skip
def test_a_caption_matches_as_in_the_worked_examples(text: str, expected: float | None) -> None:
    assert rating("caption_matching", MATCHING, DUNK, text) == expected


@pytest.mark.parametrize(
    ("answer", "text", "expected"),
    [
        ("no", "None of them", 1), ("no", "not sure", 1), ("yes", "Yesterday", 1),
        ("yes", "The answer is yes", None), ("yes", "No.", 0), ("no", "</s>Nothing", 1),
    ],
)  # fmt: skip
def test_yes_or_no_is_how_a_reply_begins(answer: str, text: str, expected: float | None) -> None:
    assert rating("yes_no", "Is it?", answer, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A. dunking", 1), ("A", 1), ("A.x", 1), ("A) y", 1), ("B.", 0), ("D", 0), (" A </s>", 1),
        ("(A)", None), ("a.", None), ("Answer: A", None), ("", None), ("A: dunking", None),
    ],
)  # fmt: skip
def test_a_choice_is_a_letter_at_the_beginning(text: str, expected: float | None) -> None:
    assert rating("multi-choice", CHOICES, "A. dunking", text) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Correct", "Correct"), ("Incorrect.", "Incorrect"), ("It is Correct", "Correct"),
        ("Not Correct but Incorrect", "Incorrect"), ("Correct, not Incorrect", "Correct"),
        ("correct", None), ("", None),
    ],
)  # fmt: skip
def test_the_judges_verdict(words: str, expected: str | None) -> None:
    assert verdict(words, sample("yes_no", "Is it?", "yes")).answer == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Answer: A. dunking, B. passing", "Incorrect"),
        ("A. dunking", "Correct"),
        ("The Answer is A. dunking", "Incorrect"),
        ("Reasoning: he dunks\nAnswer: A. dunking", "Correct"),
        ("Answer: B. passing\nAnswer: A. dunking", "Correct"),
        ("Answer: A", "Incorrect"),
        ("Answer: A. dunking in the U.S.A. today", "Incorrect"),
        ("Answer:", "Incorrect"),
    ],
)
def test_a_caption_is_right_if_the_judge_can_answer_with_it(words: str, expected: str) -> None:
    of = sample("captioning", "Describe it.", "A. dunking")
    assert verdict(words, of).answer == expected


def test_the_judge_of_a_caption_is_asked_the_first_question_on_the_aspect() -> None:
    benchmark = tempcompass("captioning", data=BUNDLED)
    samples = {of.id: of for of in map(benchmark.read, benchmark.data)}
    first = json.loads((BUNDLED / "questions/multi-choice.json").read_text())["1"]["speed"][0]
    _, message = judge_prompt(samples["captioning|1|speed|0"], Reply(text="Letters. </s>"))

    assert message.text.endswith(
        f"Video Description:Letters.\nMulti-Choice Question:\n{first['question']}\n"
    )
    assert samples["captioning|1|speed|0"].target == first["answer"]


@pytest.mark.parametrize(
    ("model", "text", "expected"),
    [
        ("gemini", 'So:\n**Caption:** "A dog: it runs"', "A dog"),
        ("reka-flash", 'Here: "a dog" runs', "a dog"),
        ("reka-flash", 'A "b" and "c"\nthe "last" line', "last"),
        ("reka-flash", "Caption: a dog", "a dog"),
        ("reka-flash", "A: b\nC: d", "d"),
        ("reka-flash", "a dog", "a dog"),
        ("video-llava", 'Caption: "a dog"</s>', 'Caption: "a dog"'),
    ],
)
def test_captions_are_cleaned_by_the_name_of_the_model(
    model: str, text: str, expected: str
) -> None:
    assert cleaned(text, model) == expected


def written(path: Path, *rows: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"1.mp4": {"order": list(rows)}}))
    return path


def test_the_stored_rating_of_a_judged_reply_counts_and_that_of_a_failed_call_does_not(
    tmp_path: Path,
) -> None:
    path = written(
        tmp_path / "captioning.json",
        {"video-llm-prediction": "a", "chatgpt-answer": "C. x", "rating": 1},
        {"video-llm-prediction": "b", "chatgpt-answer": None, "rating": -1},
        {"video-llm-prediction": None, "rating": 0},
        {"video-llm-prediction": "c", "chatgpt-answer": "A. dunking"},
    )
    published = results(path, ("captioning",))

    assert published is not None
    names = [f"captioning|1|order|{number}" for number in range(4)]
    assert published.replies == dict(zip(names, ["a", "b", None, "c"], strict=True))
    assert {name: of.answer for name, of in published.readings["official"].items()} == {
        names[0]: "Correct"
    }
    assert published.verdicts == {"official": {names[3]: ("Answer: A. dunking",)}}


def test_a_file_of_replies_needs_the_name_of_its_task_and_texts(tmp_path: Path) -> None:
    row = {"response": "yes"}
    path = written(tmp_path / "yes_no.json", row)
    published = results(path, ("yes_no",))
    assert published is not None and published.replies == {"yes_no|1|order|0": "yes"}

    with pytest.raises(DataError, match="Rename the file"):
        results(path.rename(tmp_path / "mine.json"), ("yes_no",))
    with pytest.raises(DataError, match="must be text or null"):
        results(written(tmp_path / "yes_no.json", {"prediction": 3}), ("yes_no",))
    with pytest.raises(DataError, match="has none of the fields"):
        results(written(tmp_path / "yes_no.json", {"question": "?"}), ("yes_no",))
    (tmp_path / "other.json").write_text("[]")
    assert results(tmp_path / "other.json", ("yes_no",)) is None


def test_captions_alone_have_no_scoring_by_rules() -> None:
    by_task = {
        "all": [*tempcompass(data=BUNDLED).scorings],
        "captioning": [*tempcompass("captioning", data=BUNDLED).scorings],
    }
    assert by_task == {"all": ["official", "rules"], "captioning": ["official"]}

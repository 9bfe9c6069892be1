"""CharXiv: its rows, questions, the judge's prompts and verdicts, and the authors' files."""

import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import charxiv as file
from snellen.benchmarks.charxiv import charxiv, layout
from snellen.benchmarks.families.charxiv_judge import (
    batch_prompt,
    decimals,
    judge_prompt,
    question,
    split,
    verdict,
)
from snellen.benchmarks.families.charxiv_rows import Questions, of_hub
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "charxiv"
ANY = Sample(id="1", question="q", target="a")


def samples(kind: Questions) -> dict[str, Sample]:
    benchmark = charxiv(kind, data=BUNDLED)
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def descriptive(qid: int, subplot_loc: object) -> Sample:
    data = {"qid": qid, "inst_category": 1, "subplot_loc": subplot_loc}
    return Sample(id="1_0", question="q", target="a", data=data)


def reasoning(kind: int, query: str, answer: str) -> Sample:
    return Sample(id="1", question=query, target=answer, data={"qid": None, "inst_category": kind})


def written(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


# -- rows


def test_a_figure_has_a_reasoning_question_and_descriptive_ones() -> None:
    assert list(samples("reasoning")) == ["0", "1", "2", "3", "4", "5"]
    assert list(samples("descriptive"))[:5] == ["0_0", "0_1", "0_2", "0_3", "1_0"]
    assert samples("descriptive")["2_0"].tags == {
        "category": "Pattern Recognition",
        "question": "Q18",
        "subplots": "2-4 Subplots",
        "subject": "Economics",
        "year": "2022",
    }
    assert samples("reasoning")["5"].tags == {
        "answer type": "Number-in-General",
        "source": "GPT-Sourced",
        "subplots": "5+ Subplots",
        "subject": "Mathematics",
        "year": "2020",
    }


def test_a_row_of_the_hub_is_the_same_figure() -> None:
    row: dict[str, Any] = {
        "figure_path": "images/17.jpg",
        "subplot_loc": None,
        "subplot_row": 2,
        "subplot_col": 3,
        "reasoning_q": "Why?",
        "reasoning_a": "So",
        "reasoning_a_type": 2,
        "reasoning_q_source": 3,
    }
    for number in range(1, 5):
        row |= {f"descriptive_q{number}": number, f"descriptive_a{number}": f"a{number}"}
    figure = of_hub(row)

    assert (figure["id"], figure["subplot_loc"]) == ("17", [2, 3])
    assert (figure["qids"], figure["answers"]) == ([1, 2, 3, 4], ["a1", "a2", "a3", "a4"])
    assert (figure["inst_category"], figure["qa_source"]) == (2, 3)
    assert of_hub({**row, "subplot_loc": "the inset"})["subplot_loc"] == "the inset"


# -- questions


@pytest.mark.parametrize(
    ("subplot_loc", "start"),
    [
        ([0, 0], "For the current plot, what is its title?\n"),
        ([2, 1], "For the subplot at row 2 and column 1, what is its title?\n"),
        ("the inset", "For the inset, what is its title?\n"),
    ],
)
def test_a_descriptive_question_names_its_subplot(subplot_loc: object, start: str) -> None:
    assert question(descriptive(1, subplot_loc)).startswith(start)


@pytest.mark.parametrize("qid", [18, 19])
def test_a_question_about_the_layout_names_no_subplot(qid: int) -> None:
    assert question(descriptive(qid, [2, 1])).startswith("What is the ")


@pytest.mark.parametrize(
    ("answer", "instruction"),
    [
        ("12", "* Your final answer must be an exact integer."),
        ("1.25", "* Your final answer must be a number with 2 decimal places."),
        ("1.", "* Your final answer must be a number with 0 decimal places."),
        ("1.2.345", "* Your final answer must be a number with 1 decimal places."),
    ],
)
def test_the_decimals_of_an_answer_are_those_after_its_first_period(
    answer: str, instruction: str
) -> None:
    assert decimals(answer) == instruction
    assert question(reasoning(4, "How {many}?", answer)).split("\n")[:2] == [
        "How {many}?",
        f"    {instruction}",
    ]


# -- the judge


def test_a_reply_is_not_scanned_for_fields_of_the_prompt_and_a_question_is() -> None:
    reply = Reply(text="It is <|ground_truth|>.")
    assert "* Response: It is <|ground_truth|>.\n" in judge_prompt(reasoning(1, "q", "a"), reply)
    text = judge_prompt(reasoning(1, "Is it <|ground_truth|>?", "x7"), reply)
    assert "* Question: Is it x7?\n" in text


def test_the_control_characters_of_the_authors_example_are_kept() -> None:
    """In a Python string, \\a and \\b are BEL and backspace."""
    text = batch_prompt([(descriptive(13, [0, 0]), Reply(text="A, B"))])
    assert "Response 3: \alpha, \beta, \\gamma^t_v\n" in text


def test_replies_in_one_prompt_are_numbered() -> None:
    pairs = [(descriptive(1, [0, 0]), Reply(text=text)) for text in ("x", "y")]
    text = batch_prompt(pairs)
    assert "['extract_answer_T1', 'score_T1', 'extract_answer_T2', 'score_T2']" in text
    assert text.endswith(
        "T1:\nResponse 1: x\nGround Truth 1: a\n\nT2:\nResponse 2: y\nGround Truth 2: a\n\n"
    )


@pytest.mark.parametrize(
    ("score", "answer"),
    [
        ("1", 1.0),
        ("0", 0.0),
        ("true", 1.0),
        ("1.0", 1.0),
        ('"1"', -1.0),
        ("0.5", -1.0),
        ("-1", -1.0),
    ],
)
def test_a_reasoning_score_other_than_0_and_1_is_read_and_invalid(
    score: str, answer: float
) -> None:
    assert verdict(f'{{"extracted_answer": "3", "score": {score}}}', ANY).answer == answer


@pytest.mark.parametrize(
    "words",
    [
        '```json\n{"extracted_answer": "3", "score": 1}\n```',
        '{"extracted_answer": "a',
        '{"score": 1}',
        "[]",
        "not json",
        "",
        "[" * 100_000,
    ],
)
def test_a_text_without_both_keys_in_json_is_no_verdict(words: str) -> None:
    assert verdict(words, ANY).answer is None


def test_one_score_that_is_not_0_or_1_rejects_the_text_about_all_replies() -> None:
    good = {"extract_answer_T1": "x", "score_T1": 1, "extract_answer_T2": 5, "score_T2": False}
    assert [verdict(part, ANY).answer for part in split(json.dumps(good), 2)] == [1.0, 0.0]
    for score in (0.5, "1", -1, None, [1]):
        assert split(json.dumps({**good, "score_T2": score}), 2) == []
    assert split(json.dumps(good), 3) == []
    assert len(split(json.dumps(good), 1)) == 1


def test_five_replies_to_questions_of_a_template_share_a_prompt_in_the_order_of_the_data() -> None:
    batches = [
        (name, sample.data["batch"])
        for name, sample in samples("descriptive").items()
        if sample.data["qid"] == 4
    ]
    assert batches == [
        *((f"{number}_1", "4.0") for number in range(5)),
        ("5_1", "4.1"),
    ]


# -- the authors' files


def test_an_invalid_score_counts_as_wrong_and_is_counted(tmp_path: Path) -> None:
    # princeton-nlp/CharXiv@7ebe88f:src/get_stats.py#L44-L48
    scores = {"0": 1, "1": 0.5, "2": "1", "3": -1, "4": True, "5": 0}
    content = {
        name: {"figure_id": name, "extracted_answer": "x", "score": score}
        for name, score in scores.items()
    }
    path = written(tmp_path / "scores-m-reasoning_val.json", content)
    metrics = snellen.score(path, charxiv(data=BUNDLED)).scoring().metrics

    assert (metrics["accuracy"].value, metrics["accuracy"].n) == (2 / 6, 6)
    assert metrics["invalid"].value == 3 / 6


def test_scores_belong_to_the_generations_in_the_same_folder(tmp_path: Path) -> None:
    failed = "Error in generating response."
    generations = {"0": {"response": "A"}, "1": {"response": failed}}
    scores = {name: {"extracted_answer": "x", "score": 0} for name in (*generations, "2")}
    written(tmp_path / "gen-m-reasoning_val.json", generations)
    path = written(tmp_path / "scores-m-reasoning_val.json", scores)

    published = layout(path)
    assert published is not None
    assert published.replies == {"0": "A", "1": failed, "2": ""}
    assert set(published.verdicts["official"]) == {"0", "1", "2"}


def test_a_reply_that_says_that_the_request_failed_is_no_reply(tmp_path: Path) -> None:
    content = {"0": {"response": "A"}, "1": {"response": "Error in generating response."}}
    published = layout(written(tmp_path / "gen-m-reasoning_val.json", content))
    assert published is not None
    assert published.replies == {"0": "A", "1": None}
    assert not published.verdicts


def test_another_json_object_is_left_to_the_general_reader(tmp_path: Path) -> None:
    contents: list[Any] = [{}, [], {"0": "A"}, {"0": {"reply": "A"}}]
    for content in contents:
        assert layout(written(tmp_path / "gen-m-reasoning_val.json", content)) is None


def test_the_message_names_the_missing_files(tmp_path: Path) -> None:
    written(tmp_path / "reasoning_val.json", {})
    missing = (
        r"no descriptive_val\.json and no image_metadata_val\.json\..*snellen data get charxiv"
    )
    with pytest.raises(DataError, match=missing):
        list(charxiv(data=tmp_path).data)

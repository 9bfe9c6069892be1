"""WorldVQA: its prompts, and how the judge's text is read."""

from pathlib import Path

import pytest

from snellen.benchmarks import worldvqa as file
from snellen.benchmarks.worldvqa import judge_prompt, verdict, worldvqa
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "worldvqa"
ANY = Sample(id="1", question="Who?", target="Ada")


def samples() -> dict[str, Sample]:
    benchmark = worldvqa(data=BUNDLED)
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def test_a_question_is_asked_in_the_words_of_its_language() -> None:
    # MoonshotAI/WorldVQA@d8dded9:eval/eval.py#L253-L256
    prompt = worldvqa(data=BUNDLED).prompt
    picture, text = prompt(samples()["0"], ())[0].content
    assert isinstance(picture, Image)
    assert images.load(picture).width == 120
    assert text == "请尽可能提供详细的回答。\n图中的天体是什么？"
    assert prompt(samples()["3"], ())[0].text == (
        "Please provide as much detail as possible in your answer. \n"
        "What is the name of this celestial body?"
    )


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("Evaluation: It fits.\nLabel: Correct", "correct"),
        ("Label: Incorrect", "incorrect"),
        ("Label: Unattempted", "not attempted"),
        ("Label: correct", "incorrect"),
        ("Evaluation: The Correct answer is B.\nLabel: Incorrect", "correct"),
        ("I cannot say", "incorrect"),
        ("", None),
        (" \n", None),
    ],
)
def test_correct_anywhere_in_the_text_is_correct(words: str, answer: str | None) -> None:
    # MoonshotAI/WorldVQA@d8dded9:eval/eval.py#L295-L304
    assert verdict(words, ANY).answer == answer


@pytest.mark.parametrize(
    ("reply", "seen"),
    [
        (" Ada \n", " Ada \n"),
        ("<think>hm</think> Ada \n", "Ada"),
        ("hm</think> Ada", "Ada"),
        ("<think>hm Ada", "hm Ada"),
        ("<think>a</think>b<think>c</think> Ada", "Ada"),
    ],
)
def test_the_judge_sees_what_follows_the_thoughts(reply: str, seen: str) -> None:
    # MoonshotAI/WorldVQA@d8dded9:eval/eval.py#L272-L278
    text = judge_prompt(ANY, Reply(text=reply))
    assert text.endswith(
        f"Question: Who?\nModel Answer: {seen}\nGround Truth Answer: Ada\n'''\n\nEvaluation:\n"
    )

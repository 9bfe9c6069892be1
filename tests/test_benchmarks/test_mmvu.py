"""MMVU: lmms-eval's rule for choices and open answers, and the prompts."""

from pathlib import Path

import pytest

from snellen.benchmarks import mmvu as file
from snellen.benchmarks.mmvu import lmms_eval, mmvu
from snellen.core.model import Reply
from snellen.core.sample import Sample

BUNDLED = Path(file.__file__).parent / "rows" / "mmvu"
CHOICES = ("Bubble sort", "Quick sort algorithm", "a queue")


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("A or B", "A", True), ("A or B", "B", True), ("a dog", "A", True), ("", "A", False),
        ("it is a QUEUE", "C", True), ("a quick sort", "B", False), ("xb sort", "B", True),
    ],
)  # fmt: skip
def test_a_choice_is_right_by_its_letter_or_its_text(
    text: str, target: str, expected: bool
) -> None:
    sample = Sample(id="1", question="?", choices=CHOICES, target=target)
    assert (lmms_eval(Reply(text=text), sample).answer == target) is expected


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("", "Depth-First Search (DFS)", True), ("it is O(n\u00b2)", "runs in o(n^2)", True),
        ("about 3.001 m", "3 meters", True), ("cycle of Krebs", "Krebs cycle", True),
        ("sorting", "Krebs cycle", False), ("4", "3 meters", False),
    ],
)  # fmt: skip
def test_an_open_answer_is_right_if_it_is_contained_or_shares_a_number_or_all_words(
    text: str, target: str, expected: bool
) -> None:
    sample = Sample(id="1", question="?", target=target)
    assert (lmms_eval(Reply(text=text), sample).answer == target) is expected


def test_robust_calls_an_empty_open_answer_wrong() -> None:
    sample = Sample(id="1", question="?", target="Krebs cycle")
    rules = mmvu(data=BUNDLED).scorings["robust"]
    scores = [rules.score(rules.parse(Reply(text=text), sample), sample)
              for text in ("", "The answer is the Krebs cycle.")]  # fmt: skip
    assert scores == [0.0, 1.0]


def test_the_prompts_ask_for_a_direct_answer() -> None:
    benchmark = mmvu(data=BUNDLED)
    texts = [benchmark.prompt(sample, ())[0].text for sample in map(benchmark.read, benchmark.data)]

    assert texts[0].startswith("\nQuestion:What is shown in this video?\nA: Letters\nB: Dogs\n")
    assert texts[0].endswith("option letter from the\ngiven choices.\n")
    open_question = Sample(id="1", question="Which?", target="x")
    text = benchmark.prompt(open_question, ())[0].text
    assert text.endswith("process. Directly output the final answer.\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('{"extracted_answer": "A", "correct": true}', "correct"),
        ('{"extracted_answer": "", "correct": false}', "incorrect"),
        ('{"extracted_answer": "A", "correct": "true"}', None),
        ('```json\n{"extracted_answer": "A", "correct": true}\n```', None),
        ('{"correct": true}', None),
        ("[" * 10_000, None),
    ],
)
def test_the_authors_judge_returns_json(words: str, expected: str | None) -> None:
    judge = mmvu(prompt="cot", data=BUNDLED).scorings["official"].judge
    assert judge is not None
    assert judge.parse(words, Sample(id="1", question="?", target="A")).answer == expected


def test_the_authors_judge_is_the_headline_of_their_prompts_alone() -> None:
    by_prompt = {
        prompt: mmvu(prompt=prompt, data=BUNDLED).scorings
        for prompt in ("lmms-eval", "cot", "direct")
    }
    assert [next(iter(scorings)) for scorings in by_prompt.values()] == [
        *("lmms-eval", "official", "official")
    ]
    judge = by_prompt["lmms-eval"]["official"].judge
    assert judge is not None and judge.on_request

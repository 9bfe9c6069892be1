"""Questions without their options: what is asked, what is left out, and what counts as known."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply, Request
from snellen.errors import UsageError
from snellen.media.drawing import Canvas
from snellen.transforms.open_ended import NEEDS_OPTIONS
from snellen.transforms.probes import probed
from tests.tiny import Says, run

ASK = "Answer the question using a single word or phrase."
SPECS = (
    *("eyechart", "mathvision", "mmbench", "mmmu", "mmmu-pro", "scienceqa", "seed-bench"),
    *("video-mme", "vlmevalkit", "a-okvqa:setting=mc"),
)


def bundled(spec: str) -> Benchmark:
    return registry.benchmark(spec, data=Path("synthetic"))


def mine(folder: Path, *rows: dict[str, Any]) -> Benchmark:
    path = folder / "mine.jsonl"
    options = {"A": "a cat", "B": "two dogs", "C": "3", "answer": "B"}
    lines = ({"id": f"q{n}", **options, **row} for n, row in enumerate(rows))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return registry.benchmark(str(path))


@pytest.mark.parametrize("spec", SPECS)
def test_no_option_is_shown_and_the_right_one_s_text_is_right(spec: str) -> None:
    plain = bundled(spec)
    options = {sample.id: sample.choices for sample in map(plain.read, plain.data)}
    benchmark = probed(plain, open_ended=True)
    scoring = benchmark.scorings["open-ended"]
    for sample in map(benchmark.read, benchmark.data):
        request = benchmark.request(sample)
        assert request is not None and not request.choices and not sample.choices
        text = request.messages[-1].text
        assert text.endswith(ASK)
        assert not all(option in text for option in options[sample.id])
        assert sample.target in options[sample.id]
        reading = scoring.parse(Reply(text=sample.target or ""), sample)
        assert scoring.score(reading, sample) == 1.0
        wrong = next(o for o in options[sample.id] if o != sample.target)
        assert scoring.score(scoring.parse(Reply(text=wrong), sample), sample) == 0.0


def test_the_prompt_is_the_pictures_the_hint_and_the_question(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(Canvas(8 + ord(name[0]), 8).png())
    benchmark = mine(
        tmp_path,
        {"image": "a.png", "question": "What is it?", "hint": "It barks."},
        {"images": ["a.png", "b.png"], "question": "Is <image 2> like <image 1>?"},
    )
    request = probed(benchmark, open_ended=True)
    item, two = (request.prompt(sample, ())[0] for sample in map(request.read, request.data))
    assert item.text == f"It barks.\nWhat is it?\n{ASK}"
    assert len(item.images) == 1 and not isinstance(item.content[0], str)
    assert [str(part.label) if not isinstance(part, str) else part for part in two.content] == [
        *("Is ", "b.png", " like ", "a.png", f"?\n{ASK}")
    ]


def test_a_mark_without_a_picture_stays_in_the_text() -> None:
    plain = bundled("mmbench")
    question = "Is <image 0> like <image 9>, <image 1>, or <image>?"
    marked = replace(plain, sample=lambda i, row: replace(plain.sample(i, row), question=question))
    benchmark = probed(marked, open_ended=True)
    [message] = benchmark.messages(benchmark.read(next(iter(benchmark.data))))
    text = "".join(part for part in message.content if isinstance(part, str))
    assert "<image 0>" in text and "<image 9>" in text
    assert "<image 1>" not in text


def test_a_reply_is_right_in_plain_words_and_other_options_are_counted(tmp_path: Path) -> None:
    replies = ["Two dogs.", "the 2 dogs", "A cat", "three", "a wolf", "", "two dogs and a cat", "B"]
    benchmark = probed(
        mine(tmp_path, *({"question": f"What is {n}?"} for n in range(8))), open_ended=True
    )

    def say(request: Request) -> str:
        return replies[int(request.messages[0].text.split("?")[0].split()[-1])]

    result = run(tmp_path / "runs", Says(say), benchmark).result
    assert result is not None and (report := result.report.probe) is not None
    # Right are the first two; "A cat" and "three" are the other options; the rest is none of them.
    assert result.headline.value == 2 / 8
    assert {name: metric.value for name, metric in report.metrics.items()} == {
        "another option": 2 / 8,
        "none of the options": 4 / 8,
    }
    assert result.scoring().readings == {"answered": 7, "unparsed": 1}
    assert list(result.report.scorings) == ["open-ended"]


def test_thinking_before_the_answer_is_not_compared_with_the_options(tmp_path: Path) -> None:
    benchmark = probed(mine(tmp_path, {"question": "What is it?"}), open_ended=True)
    model = Says(lambda _: "<think>A cat? No.</think>\n\nTwo dogs.")

    result = run(tmp_path / "runs", model, benchmark).result

    assert result is not None
    assert result.headline.value == 1


@pytest.mark.parametrize(
    ("question", "needs"),
    [
        ("Which of the following is a mammal?", True),
        ("Which of these states is farthest east?", True),
        ("Which statement is true?", True),
        ("Which is right?", True),
        ("Select the elementary substance.", True),
        ("What color is the ball?", False),
        ("Which ocean is highlighted?", False),
        ("Is native copper a mineral?", False),
        ("What can be the relationship of these animals?", False),
    ],
)
def test_questions_that_name_no_options_are_told_by_their_words(question: str, needs: bool) -> None:
    assert bool(NEEDS_OPTIONS.search(question)) is needs


def test_what_makes_no_sense_without_options_is_left_out_and_said(tmp_path: Path) -> None:
    benchmark = probed(
        mine(
            tmp_path,
            {"question": "What is it?"},
            {"question": "Which of the following is it?"},
            {"question": "What is it?", "C": "all of the above"},
        ),
        open_ended=True,
    )
    assert [benchmark.read(row).id for row in benchmark.data] == ["q0"]
    assert "open-ended: 1 question, asked without choices" in benchmark.notes[-1]
    assert (
        "1 that ask for one of several things that they do not name (by a rule of thumb"
        in benchmark.notes[-1]
    )
    with pytest.raises(UsageError, match="can be asked without choices"):
        probed(mine(tmp_path, {"question": "Which of these is it?"}), open_ended=True)


def test_rotations_of_a_question_are_asked_once() -> None:
    plain = bundled("mmbench")
    benchmark = probed(plain, open_ended=True)
    assert plain.procedure.together is not None
    groups = [plain.procedure.together(sample) for sample in map(benchmark.read, benchmark.data)]
    assert len(groups) == len(set(groups)) == 9  # of ten one names its options itself


@pytest.mark.parametrize("spec", ["pope", "mmmu-pro:setting=vision", "docvqa"])
def test_where_no_prompt_lists_options_there_are_none_to_leave_out(spec: str) -> None:
    with pytest.raises(UsageError, match="--open-ended: "):
        probed(bundled(spec), open_ended=True)


def test_who_only_chooses_knows_nothing_and_who_sees_knows_what_it_has_words_for(
    tmp_path: Path,
) -> None:
    spec = "eyechart:tasks=colors+positions,n=20"
    first = snellen.evaluate(spec, "baseline/first", open_ended=True, out=tmp_path)
    reader = snellen.evaluate(spec, "baseline/reader", open_ended=True, out=tmp_path)
    # To an open question the first says nothing; the reader names colors, and of places only
    # those that it is offered.
    assert first.headline.value == 0.0
    assert reader.headline.value == 0.5
    assert {label: estimate.value for label, estimate in reader.by("task").items()} == {
        "colors": 1.0,
        "positions": 0.0,
    }


def test_a_run_is_scored_again_as_it_was_asked(tmp_path: Path) -> None:
    benchmark = mine(tmp_path, *({"question": f"What is {n}?"} for n in range(3)))
    path = str(tmp_path / "mine.jsonl")
    assert benchmark.name == "mine"
    result = snellen.evaluate(path, "baseline/first", open_ended=True, out=tmp_path / "runs")
    assert result.run is not None
    (tmp_path / "mine.jsonl").unlink()
    again = snellen.score(result.run)
    assert again.report.scorings == result.report.scorings
    assert again.report.probe == result.report.probe

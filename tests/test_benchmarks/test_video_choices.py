"""Benchmarks with choices about videos: their rules, prompts, and the authors' files."""

import json
from pathlib import Path

import pytest

from snellen import registry
from snellen.benchmarks import tomato as tomato_file
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.choice_sets import Parse
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media.content import Video

FOUR = ("No", "putting down", "a dog running", "5")
NAMES = ("mvbench", "tvbench", "mlvu", "lvbench", "longvideobench", "egoschema", "tomato",
         "motionbench")  # fmt: skip


def answer(rule: Parse, text: str, choices: tuple[str, ...] = FOUR) -> object:
    """The letter, the letters, or "drawn"."""
    reading = rule(Reply(text=text), Sample(id="1", question="?", choices=choices, target="A"))
    return "drawn" if reading.undecided else reading.answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", tuple("ABCD")), (".", tuple("ABCD")), ("(", tuple("ABCD")), ("a", "A"), ("(a", "A"),
        ("B)", "B"), ("(B) putting down", "B"), ("a dog", "A"), ("**A**", None), ("A:", None),
        ("Answer: A", None), ("A.", "A"), (" A", tuple("ABCD")), ("(A)\nfor", "A"), ("E", None),
    ],
)  # fmt: skip
def test_mvbench_and_tvbench_compare_the_first_word_and_an_empty_reply_fits_every_choice(
    text: str, expected: object
) -> None:
    assert answer(rules.mvbench, text) == expected


def test_three_variants_of_mvbenchs_rule() -> None:
    assert answer(rules.mvbench_internvl, "Answer: A") == "A"
    assert answer(rules.mvbench_vlmevalkit, " A") == "A"
    assert answer(rules.mvbench_vlmevalkit_advanced, "It is putting down.") == "B"
    assert answer(rules.mvbench_vlmevalkit_advanced, "there are five.") == "D"
    assert answer(rules.mvbench_vlmevalkit, "It is putting down.") is None


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (rules.mvbench_lmms_eval, "a dog", "A"),
        (rules.mvbench_lmms_eval, '{"answer": "D"}', "D"),
        (rules.mvbench_lmms_eval, "b. text", "B"),
        (rules.mvbench_lmms_eval, "", None),
        (rules.tvbench_lmms_eval, "I think B", None),
        (rules.tvbench_lmms_eval, "It is putting down", "B"),
        (rules.tvbench_lmms_eval, "Answer: c", "C"),
        (rules.tvbench_lmms_eval, "Because", "B"),
        (rules.mlvu, "(A) text", "A"),
        (rules.mlvu, "f(x) (A)", "x"),
        (rules.mlvu, "A.", "A."),
        (rules.mlvu, ")", None),
        (rules.lvbench, "Answer: B", "A"),
        (rules.lvbench, "The answer is (B)", "B"),
        (rules.lvbench, "b", "b"),
        (rules.lvbench, "", None),
        (rules.longvideobench, "Based on", "B"),
        (rules.longvideobench, "The answer is c, E", "E"),
        (rules.longvideobench, "", "drawn"),
        (rules.motionbench, "<think>A</think>the best answer is b", "B"),
        (rules.motionbench, "xyz", None),
        (rules.motionbench, "xF", "F"),
        (rules.egoschema, "A. or B. or A. so", "B"),
        (rules.egoschema, "AVIVA B", "A"),
        (rules.egoschema, "it is what we call a dog running here", "C"),
        (rules.egoschema, "no idea", "drawn"),
        (rules.tomato, "d", "D"),
        (rules.tomato, "d: 5", "D"),
        (rules.tomato, "A: No", None),
        (rules.tomato, "Answer is:(A)", "A"),
        (rules.tomato, "Answer is: A", None),
        (rules.tomato, "F", None),
        (rules.tomato_lmms_eval, "", "A"),
        (rules.tomato_lmms_eval, "Dogs", "D"),
        (rules.tomato_lmms_eval, "(A) or (C), not B", "C"),
    ],
)
def test_letters_of_the_other_rules(rule: Parse, text: str, expected: object) -> None:
    assert answer(rule, text) == expected


def test_several_letters_are_right_if_one_is() -> None:
    sample = Sample(id="1", question="?", choices=FOUR, target="C")
    assert rules.fits_target(rules.mvbench(Reply(text=""), sample), sample) == 1.0
    assert rules.fits_target(rules.mvbench(Reply(text="A"), sample), sample) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_robust_calls_an_empty_reply_wrong(name: str) -> None:
    benchmark = registry.benchmark(name, data=Path("synthetic"))
    sample = next(map(benchmark.read, benchmark.data))
    scoring = benchmark.scorings["robust"]

    assert scoring.score(scoring.parse(Reply(text=""), sample), sample) == 0.0
    assert scoring.score(scoring.parse(Reply(text="The answer is A."), sample), sample) == 1.0


@pytest.mark.parametrize(
    ("spec", "begin", "end"),
    [
        ("mvbench", "Carefully watch the video and pay",
         "\n(D) Clouds\nOnly give the best option."),
        ("mvbench:prompt=lmms-eval", "Question:What is shown in this video?\nOption:\n(A) Letters",
         "Only give the best option.\n"),
        ("tvbench", "Carefully watch the video and pay", "Only give the best option."),
        ("tvbench:prompt=lmms-eval", "What is shown in this video?\nA. Letters",
         "D. Clouds\nAnswer with the option letter only."),
        ("mlvu", "Carefully watch this video and pay", "Only give the best option."),
        ("mlvu:prompt=lmms-eval", "Question: What is", "best option.\nBest option: ("),
        ("lvbench", "What is shown in this video?\n(A) Letters",
         "(D) Clouds\nAnswer the question with the option letter"),
        ("longvideobench", "What is shown in this video?\nA. Letters",
         "Answer with the option's letter from the given choices directly.\n"),
        ("egoschema", "What is shown in this video?\nA. Letters", "given choices directly."),
        ("tomato", "You will be provided with 16 separate", "'NOT POSSIBLE TO DETERMINE.' \n"),
        ("motionbench", "What is shown in this video?\nA. Letters",
         "D. Clouds\nAnswer with only the option letter (A, B, C, D, E, or F)."),
    ],
)  # fmt: skip
def test_prompts_are_those_of_the_authors_or_of_lmms_eval(spec: str, begin: str, end: str) -> None:
    benchmark = registry.benchmark(spec, data=Path("synthetic"))
    sample = next(map(benchmark.read, benchmark.data))
    (message,) = benchmark.prompt(sample, ())

    assert message.text.startswith(begin) and message.text.endswith(end)
    assert isinstance(message.content[0], Video) and message.content[0].source.is_file()


def test_a_part_of_a_video_is_shown_if_the_row_says_so(tmp_path: Path) -> None:
    row = {"video": "a.mp4", "question": "?", "candidates": ["x", "y", "x"], "answer": "x"}
    path = tmp_path / "json" / "action_sequence.json"
    path.parent.mkdir()
    path.write_text(json.dumps([{**row, "start": 1.5, "end": 4.0}, {**row, "answer": "z"}]))
    benchmark = registry.benchmark("mvbench", data=tmp_path)
    first, second = benchmark.data
    (video,) = benchmark.read(first).media

    assert isinstance(video, Video) and (video.start, video.end) == (1.5, 4.0)
    assert video.label == "star/Charades_v1_480/a.mp4"
    assert benchmark.read(first).target == "C"
    with pytest.raises(DataError, match="no choice is the answer 'z'"):
        benchmark.read(second)


def test_questions_without_public_answers_have_no_target(tmp_path: Path) -> None:
    entry = {"uid": "1", "question": "Which?\nA. up\nB. down", "answer": "NA"}
    row = {"video_path": "a.mp4", "question_type": "Camera Motion", "qa": [entry]}
    (tmp_path / "video_info.meta.jsonl").write_text(json.dumps(row))
    benchmark = registry.benchmark("motionbench", data=tmp_path)
    sample = next(map(benchmark.read, benchmark.data))

    assert (sample.question, sample.choices, sample.hidden) == ("Which?", ("up", "down"), True)


def test_egoschemas_subset_has_only_the_questions_with_answers(tmp_path: Path) -> None:
    options = {f"option {number}": str(number) for number in range(5)}
    rows = [{"q_uid": name, "question": "?", **options} for name in "ab"]
    (tmp_path / "questions.json").write_text(json.dumps(rows))
    (tmp_path / "subset_answers.json").write_text('{"b": 3}')
    targets = {
        split: [
            sample.target
            for benchmark in [registry.benchmark(f"egoschema:split={split}", data=tmp_path)]
            for sample in map(benchmark.read, benchmark.data)
        ]
        for split in ("subset", "full")
    }

    assert targets == {"subset": ["D"], "full": [None, "D"]}


def test_tomatos_judge_must_reply_with_a_letter_and_nothing_else() -> None:
    sample = Sample(id="1", question="?", choices=FOUR, target="A")
    (message,) = tomato_file.judge_prompt(sample, Reply(text="the first"))

    assert "    response: the first\n\n    all_choices: ['A', 'B', 'C', 'D']\n" in message.text
    assert [tomato_file.verdict(words, sample).answer for words in ("B", "B.", "E", "")] == [
        "B", None, None, None,
    ]  # fmt: skip

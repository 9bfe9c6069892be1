"""ScienceQA: its rows, prompts, break-downs, and each rule of its scorings."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import scienceqa as file
from snellen.benchmarks.scienceqa import Preset, scienceqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.scoring import Scored, resolve, score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "scienceqa"
ASK = "Answer with the option's letter from the given choices directly."


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.sample(row.position, row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def read(scoring: str, reply: str, n_choices: int = 3, name: str = "1") -> Reading:
    choices = ("a cat", "a dog", "a cow", "a hen", "a pig")[:n_choices]
    sample = Sample(id=name, question="Which?", choices=choices, target="B")
    return scienceqa(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), sample)


# -- data


def test_a_split_has_its_questions_alone() -> None:
    assert len(samples(scienceqa(data=BUNDLED))) == 14
    assert set(samples(scienceqa(split="val", data=BUNDLED))) == {"21", "36"}


def test_questions_with_a_picture_can_be_asked_alone() -> None:
    actual = samples(scienceqa(images="only", data=BUNDLED))
    assert set(actual) == {"3", "10", "15", "33", "41", "47", "55"}
    assert all(sample.media for sample in actual.values())


def test_a_row_becomes_a_question_with_its_letter() -> None:
    sample = samples(scienceqa(data=BUNDLED))["17"]
    assert sample.question == "Which figure of speech is this?"
    assert sample.choices == ("personification", "hyperbole", "simile", "alliteration")
    assert sample.target == "A"
    assert sample.media == ()


@pytest.mark.parametrize("inside", ["images/", ""])
def test_pictures_lie_in_the_authors_folder_or_where_their_archive_unpacks(
    tmp_path: Path, inside: str
) -> None:
    (tmp_path / "problems.json").write_bytes((BUNDLED / "problems.json").read_bytes())
    picture = tmp_path / f"{inside}test" / "3" / "image.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes((BUNDLED / "images/test/3/image.png").read_bytes())
    (media,) = samples(scienceqa(data=tmp_path))["3"].media
    assert isinstance(media, Image)
    assert images.load(media).width == 96


@pytest.mark.parametrize("name", ["problems.json", "data/scienceqa/problems.json"])
def test_the_authors_folder_is_found_in_its_layouts(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((BUNDLED / "problems.json").read_bytes())
    assert len(samples(scienceqa(data=tmp_path))) == 14


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"1": {"que', "not complete, valid JSON"),
        ("[]", "not a JSON object that maps ids to problems"),
        ('{"1": 7}', "not a JSON object that maps ids to problems"),
        ('{"1": {"question": "?"}}', "KeyError"),
    ],
)
def test_a_file_that_is_no_problems_json_is_said_to_be_none(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "problems.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(scienceqa(data=path).data)


@pytest.mark.parametrize(
    ("name", "split", "shown"),
    [
        ("ScienceQA_TEST", "test", "only"),
        ("ScienceQA_VAL", "val", "only"),
        ("scienceqa_img", "test", "only"),
        ("scienceqa_full", "test", "all"),
        ("scienceqa", "test", "all"),
    ],
)
def test_other_toolkits_names_are_known(name: str, split: str, shown: str) -> None:
    options = registry.benchmark(name, data=BUNDLED).provenance.options
    assert (options["split"], options["images"]) == (split, shown)


# -- prompts

RHYME = "Which word rhymes with light?"
WHERE = "In which part of the map is the disc?"
HINT = "The frame is a map with north at the top."


@pytest.mark.parametrize(
    ("preset", "sample", "text"),
    [
        ("llava", "7", f"{RHYME}\nA. let\nB. night\nC. lot\n{ASK}"),
        (
            "llava",
            "55",
            f"Context: {HINT}\n{WHERE}\nA. east\nB. west\nC. north\nD. south\n{ASK}",
        ),
        (
            "qcm",
            "7",
            f"Question: {RHYME}\nContext: N/A\nOptions: (A) let (B) night (C) lot\nAnswer:",
        ),
        (
            "qcm",
            "55",
            f"Question: {WHERE}\nContext: {HINT}\n"
            "Options: (A) east (B) west (C) north (D) south\nAnswer:",
        ),
        (
            "cqm",
            "55",
            f"Context: {HINT}\nQuestion: {WHERE}\n"
            "Options: (A) east (B) west (C) north (D) south\nAnswer:",
        ),
    ],
)
def test_a_prompt_is_the_published_text_behind_the_picture(
    preset: Preset, sample: str, text: str
) -> None:
    benchmark = scienceqa(prompt=preset, data=BUNDLED)
    request = samples(benchmark)[sample]
    (message,) = benchmark.prompt(request, ())
    assert message.role == "user"
    assert message.content == (*request.media, text)


def test_the_authors_prompts_have_no_two_blanks() -> None:
    sample = Sample(
        id="1",
        question="One  two?",
        choices=("a", "b"),
        target="A",
        data={"hint": " x  y "},
    )
    (message,) = scienceqa(prompt="qcm", data=BUNDLED).prompt(sample, ())
    assert message.text == "Question: One two?\nContext: x y\nOptions: (A) a (B) b\nAnswer:"


@pytest.mark.parametrize(
    ("preset", "headline"), [("llava", "llava"), ("qcm", "official"), ("cqm", "official")]
)
def test_the_headline_is_the_scoring_that_belongs_to_the_prompt(
    preset: Preset, headline: str
) -> None:
    benchmark = scienceqa(prompt=preset, data=BUNDLED)
    assert benchmark.headline == headline
    assert set(benchmark.scorings) == {"official", "llava", "mmpretrain", "robust"}


# -- scoring, official


@pytest.mark.parametrize(
    "reply",
    ["The answer is B.", " The answer is B. BECAUSE: it barks. ", "The answer is B, the dog"],
)
def test_official_reads_the_one_letter_behind_the_answer_is(reply: str) -> None:
    sample = read("official", reply)
    assert (sample.answer, sample.rule, sample.guessed) == ("B", "the answer is", False)


@pytest.mark.parametrize(
    ("reason", "reply"),
    [
        ("a letter alone is none", "B"),
        ("nothing may end the text", "So the answer is B"),
        ("a capital, too", "The answer is B"),
        ("not with a line's end", "The answer is B\nbecause"),
        ("twice, even the same", "The answer is B. The answer is B."),
        ("no small letters", "The answer is b."),
        ("nor small words", "the answer is B."),
        ("blanks go before it is read", "The answer is B "),
        ("not in brackets", "The answer is (B)."),
        ("not beyond the choices", "The answer is D."),
        ("nothing", ""),
    ],
)
def test_official_draws_where_there_is_no_such_letter(reason: str, reply: str) -> None:
    sample = read("official", reply)
    assert sample.undecided
    assert sample.candidates == ("A", "B", "C")


def drawn_letters(scoring: str, n: int) -> list[object]:
    """What is drawn for unreadable replies to questions 0, 1, ... of three choices."""
    choices = ("a cat", "a dog", "a cow")
    questions = [
        Sample(id=str(name), question="?", choices=choices, target="B") for name in range(n)
    ]
    benchmark = scienceqa(data=BUNDLED)
    reply = Reply(text="?")
    resolved = resolve(benchmark, [scoring], lambda: (Scored(s, 0, "ok", reply) for s in questions))
    assert all("drawn with the sample's id as the seed" in note for note in resolved.notes)
    return [resolved.readings[scoring][sample.id, 0].answer for sample in questions]


def test_a_draw_is_the_same_each_time_and_differs_between_questions() -> None:
    answers = drawn_letters("official", 300)
    assert answers == drawn_letters("mmpretrain", 300)
    # 300 draws of three: 100 each, give or take 3.3 standard deviations of 8.2.
    assert all(73 <= answers.count(letter) <= 127 for letter in "ABC")


def test_a_draw_is_of_the_one_number_that_every_python_draws_alike() -> None:
    # By numpy's Mersenne Twister: the first number below 1 of each of the seeds "0" to "19".
    assert drawn_letters("official", 20) == list("BBBCABBCAACCBBCACCAC")


# -- scoring, LLaVA's


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("B", "B", "letter"),
        ("B. a dog", "B", "begins with"),
        (" B", "B", "letter"),
        ("B\n", "B", "letter"),
        ("\n B. a dog", "B", "begins with"),
        ("I think: The answer is B.", "B", "the answer is"),
        ("D", "D", "letter"),
        ("The answer is Q.", "Q", "the answer is"),
        ("A. The answer is B.", "A", "begins with"),
        ("F. a dog", None, "no letter"),
        ("AB", None, "no letter"),
        ("b", None, "no letter"),
        ("the answer is B.", None, "no letter"),
        ("B.", None, "no letter"),
        ("B. ", None, "no letter"),
        ("The answer is B ", None, "no letter"),
        ("(B)", None, "no letter"),
        ("The answer is B", None, "no letter"),
        ("The answer is B. The answer is B.", None, "several: the answer is"),
        ("", None, "no letter"),
    ],
)
def test_llavas_script_reads_a_reply(reply: str, answer: str | None, rule: str) -> None:
    sample = read("llava", reply)
    assert (sample.answer, sample.rule) == (answer, rule)


# -- scoring, mmpretrain's and ours


@pytest.mark.parametrize("reply", ["B", " B\n"])
def test_mmpretrain_reads_a_letter_alone(reply: str) -> None:
    sample = read("mmpretrain", reply)
    assert (sample.answer, sample.guessed) == ("B", False)


@pytest.mark.parametrize("reply", ["B.", "b", "D", "AB", "The answer is B.", ""])
def test_mmpretrain_draws_where_a_reply_is_more_or_less(reply: str) -> None:
    assert read("mmpretrain", reply).guessed


@pytest.mark.parametrize("reply", ["B", "(B)", "The answer is B", "B. a dog", "a dog", "b"])
def test_robust_reads_the_letter_that_a_reply_settles_on(reply: str) -> None:
    assert read("robust", reply).answer == "B"


@pytest.mark.parametrize("reply", ["", "A B C", "A or B", "E", "Maybe"])
def test_robust_is_unparsed_where_a_reply_settles_on_no_choice(reply: str) -> None:
    assert read("robust", reply).answer is None


# -- figures


def test_figures_are_broken_down_as_the_authors_table_is(tmp_path: Path) -> None:
    """Eight questions, of which the four with odd ids are right; by hand."""
    kinds: tuple[tuple[str, str, str, str | None, str], ...] = (
        ("natural science", "grade6", "said", None, "physics"),
        ("natural science", "grade7", "", None, "physics"),
        ("natural science", "grade12", "said", "image.png", "biology"),
        ("social science", "grade1", "", "image.png", "geography"),
        ("social science", "grade10", "", None, "geography"),
        ("language science", "grade2", "said", None, "verbs"),
        ("language science", "grade3", "", None, "verbs"),
        ("language science", "grade11", "", "image.png", "grammar"),
    )
    problems: dict[str, dict[str, Any]] = {
        str(number): {
            "question": "Which?",
            "choices": ["a cat", "a dog"],
            "answer": 1,
            "hint": hint,
            "image": image,
            "grade": grade,
            "subject": subject,
            "topic": topic,
            "split": "test",
        }
        for number, (subject, grade, hint, image, topic) in enumerate(kinds, 1)
    }
    path = tmp_path / "problems.json"
    path.write_text(json.dumps(problems))
    replies = {name: "B" if int(name) % 2 else "A" for name in problems}
    report = score_predictions(scienceqa(data=path), replies, where="here")
    metrics = report.scorings["llava"].metrics
    assert {name: (metric.value, metric.n) for name, metric in metrics.items()} == {
        "accuracy": (0.5, 8),
        "accuracy/NAT": (pytest.approx(2 / 3), 3),
        "accuracy/SOC": (0.5, 2),
        "accuracy/LAN": (pytest.approx(1 / 3), 3),
        "accuracy/TXT": (pytest.approx(2 / 3), 3),
        "accuracy/IMG": (pytest.approx(1 / 3), 3),
        "accuracy/NO": (pytest.approx(2 / 3), 3),
        "accuracy/G1-6": (0.5, 4),
        "accuracy/G7-12": (0.5, 4),
        "accuracy/biology": (1.0, 1),
        "accuracy/geography": (0.5, 2),
        "accuracy/grammar": (0.0, 1),
        "accuracy/physics": (0.5, 2),
        "accuracy/verbs": (0.5, 2),
    }


@pytest.mark.parametrize(
    ("scoring", "reply", "accuracy", "n"),
    [
        # llava/eval/eval_science_qa.py#L52-L54: what was not asked is FAILED, and wrong
        ("llava", "B", 1 / 2, 2),
        # tools/evaluate_acc.py#L40: of all questions
        ("official", "The answer is B.", 1 / 2, 2),
        # mmpretrain knows no questions but those that it was given
        ("mmpretrain", "B", 1.0, 1),
    ],
)
def test_a_question_without_a_reply_is_wrong_to_the_scripts_that_have_all_questions(
    tmp_path: Path, scoring: str, reply: str, accuracy: float, n: int
) -> None:
    every = json.loads((BUNDLED / "problems.json").read_bytes())
    problems = {name: every["17"] | {"answer": 1} for name in ("1", "2")}
    path = tmp_path / "problems.json"
    path.write_text(json.dumps(problems))
    report = score_predictions(scienceqa(data=path), {"1": reply}, where="here")
    metric = report.scorings[scoring].metrics["accuracy"]
    assert (metric.value, metric.n) == (accuracy, n)


# -- files of results

RESULTS = {
    "acc": 0.0,
    "correct": 0,
    "count": 4,
    "results": {"1": 1, "2": 1, "3": 0, "4": -1},
    "outputs": {"1": "B", "2": "", "3": "I give up", "4": "E"},
}
"""Of four questions whose right answer is B. The script drew for 2 and 3; 4 has no choice E."""


def four_questions(folder: Path) -> Path:
    every = json.loads((BUNDLED / "problems.json").read_bytes())
    path = folder / "problems.json"
    path.write_text(json.dumps({name: every["17"] | {"answer": 1} for name in "1234"}))
    return path


def test_indices_in_the_authors_file_decide_where_its_outputs_do_not(tmp_path: Path) -> None:
    path = tmp_path / "results.json.gz"
    path.write_bytes(gzip.compress(json.dumps(RESULTS).encode()))
    report = snellen.score(path, "scienceqa", data=four_questions(tmp_path)).report
    for scoring in ("llava", "official"):
        assert report.scorings[scoring].metrics["accuracy"].value == 2 / 4, scoring
    assert report.scorings["llava"].readings == {"answered": 2, "guessed": 2}
    assert report.scorings["robust"].metrics["accuracy"].value == 1 / 4
    assert any("of 2 outputs in which it finds no letter" in note for note in report.notes)


def test_official_takes_the_index_whatever_the_output_says(tmp_path: Path) -> None:
    """tools/evaluate_acc.py#L45 reads nothing else."""
    outputs = dict.fromkeys("1234", "The answer is A.")
    path = tmp_path / "results.json"
    path.write_text(json.dumps({**RESULTS, "outputs": outputs}))
    report = snellen.score(path, "scienceqa", data=four_questions(tmp_path)).report
    assert report.scorings["official"].metrics["accuracy"].value == 2 / 4
    assert report.scorings["llava"].metrics["accuracy"].value == 0.0


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_llavas_analyses_of_right_and_wrong_outputs_are_read(tmp_path: Path, ending: str) -> None:
    held = {
        "correct": [{"question_id": "1", "pred": "B"}],
        "incorrect": [{"question_id": name, "pred": "A"} for name in "234"],
    }
    path = tmp_path / f"output.{ending}"
    path.write_text(json.dumps(held, indent=2))
    report = snellen.score(path, "scienceqa", data=four_questions(tmp_path)).report
    assert report.scorings["llava"].metrics["accuracy"].value == 1 / 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"results": {"1": 1}}, "question '2' is in only one of `results` and `outputs`"),
        ({"results": dict.fromkeys("1234", "B")}, "has 'B' in `results`. Values must be indices"),
        ({"results": [1, 1, 0, -1]}, "must be objects that map question ids"),
    ],
)
def test_a_damaged_file_of_results_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({**RESULTS, **change}))
    with pytest.raises(DataError, match=message):
        snellen.score(path, "scienceqa", data=four_questions(tmp_path))


# -- check


@pytest.mark.parametrize("preset", ["llava", "qcm", "cqm"])
def test_dummies_score_what_the_file_says_under_every_prompt(preset: Preset) -> None:
    benchmark = scienceqa(prompt=preset, data=BUNDLED)
    assert benchmark.check is not None
    values = samples(benchmark).values()
    for name in benchmark.scorings:
        for dummy in ("oracle", "wrong", "silent"):
            replies: dict[str, str | None] = {}
            for sample in values:
                answer = sample.target or "" if dummy == "oracle" else benchmark.check.wrong(sample)
                replies[sample.id] = (
                    "" if dummy == "silent" else benchmark.check.says(sample, answer)
                )
            report = score_predictions(benchmark, replies, where=dummy, scorings=[name])
            value = report.scorings[name].metrics["accuracy"].value
            assert value == pytest.approx(benchmark.check.expect[name][dummy]), (name, dummy)

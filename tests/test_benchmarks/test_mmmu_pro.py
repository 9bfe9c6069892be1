"""MMMU-Pro: its rows in each published form, prompts, and each rule of its scorings.

Expected answers of the authors' rules are those of mmmu-pro/evaluate.py at the commit that the
benchmark names; lmms-eval's and VLMEvalKit's those of their code at theirs.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import mmmu_pro as file
from snellen.benchmarks.mmmu_pro import Mode, Preset, Setting, mmmu_pro
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.errors import DataError, MediaError
from snellen.media import images
from snellen.media.content import Image
from snellen.testing import check_benchmark

BUNDLED = Path(file.__file__).parent / "rows" / "mmmu_pro"
TEN = ("red", "blue", "green", "grey", "black", "white", "brown", "pink", "orange", "violet")
COLORS = Sample(id="test_Art_9", question="?", choices=TEN, target="B")


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {(sample := benchmark.read(row)).id: sample for row in benchmark.data}


def read(scoring: str, reply: str, sample: Sample = COLORS, **options: Any) -> Reading:
    return mmmu_pro(data=BUNDLED, **options).scorings[scoring].parse(Reply(text=reply), sample)


# -- data


def test_a_row_becomes_a_question_with_its_letter() -> None:
    actual = samples(mmmu_pro(data=BUNDLED))
    assert len(actual) == 8
    sample = actual["test_Computer_Science_1"]
    assert (len(sample.choices), sample.target) == (10, "D")
    assert sample.tags == {
        "domain": "Tech and Engineering",
        "subject": "Computer_Science",
        "difficulty": "",
    }


def hub_row(name: str, **fields: object) -> dict[str, Any]:
    picture = {"bytes": (BUNDLED.parent / "own/images/dots.jpg").read_bytes(), "path": "1.jpg"}
    return {
        "id": name,
        "question": "How many? <image 1>",
        "options": "['one', 'two', 'three', 'four']",
        "explanation": "?",
        "image_1": picture,
        **{f"image_{number}": None for number in range(2, 8)},
        "img_type": "['Diagrams']",
        "answer": "B",
        "topic_difficulty": "Hard",
        "subject": "Basic_Medical_Science",
        **fields,
    }


def to_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


@pytest.mark.parametrize(
    ("setting", "folder"),
    [("standard-10", "standard (10 options)"), ("standard-4", "standard (4 options)")],
)
def test_the_hubs_files_of_a_setting_are_read(
    tmp_path: Path, setting: Setting, folder: str
) -> None:
    path = tmp_path / folder / "test-00000-of-00002.parquet"
    to_parquet(path, [hub_row("test_Basic_Medical_Science_1")])
    with pytest.raises(DataError, match="has 1 of 2 parts"):
        list(mmmu_pro(setting=setting, data=tmp_path).data)
    path = tmp_path / folder / "test-00001-of-00002.parquet"
    to_parquet(path, [hub_row("validation_Basic_Medical_Science_4")])
    actual = samples(mmmu_pro(setting=setting, data=tmp_path))
    assert list(actual) == ["test_Basic_Medical_Science_1", "validation_Basic_Medical_Science_4"]
    sample = actual["test_Basic_Medical_Science_1"]
    assert sample.choices == ("one", "two", "three", "four")
    assert sample.tags["difficulty"] == "Hard"
    assert sample.tags["domain"] == "Health and Medicine"


def test_in_vision_the_hubs_rows_have_one_picture_and_no_question(tmp_path: Path) -> None:
    row = hub_row("test_Art_1", subject="Art")
    row = {
        "image": row["image_1"],
        **{key: row[key] for key in ("id", "options", "answer", "subject")},
    }
    to_parquet(tmp_path / "vision" / "test-00000-of-00001.parquet", [row])
    benchmark = mmmu_pro(setting="vision", data=tmp_path)
    (message,) = benchmark.prompt(samples(benchmark)["test_Art_1"], ())
    (picture,) = message.images
    assert images.load(picture).mime == "image/jpeg"


@pytest.mark.parametrize("inside", ["", "output/", "outputs/"])
def test_rows_of_the_authors_output_files_can_be_scored_against(
    tmp_path: Path, inside: str
) -> None:
    row = {key: value for key, value in hub_row("test_Art_1").items() if "image_" not in key}
    path = tmp_path / inside / "gpt-4o_standard(10 options)_cot.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**row, "response": "Answer: B"}))
    benchmark = mmmu_pro(data=tmp_path)
    sample = samples(benchmark)["test_Art_1"]
    assert (sample.target, len(sample.choices)) == ("B", 4)
    for preset in ("official", "vlmevalkit", "lmms-eval"):
        with pytest.raises(MediaError, match="<image 1> is in the question"):
            mmmu_pro(prompt=preset, data=tmp_path).prompt(sample, ())


def test_a_row_may_have_a_list_as_its_one_choice(tmp_path: Path) -> None:
    """As validation_Accounting_29 has."""
    row = {key: value for key, value in hub_row("test_Art_1").items() if "image_" not in key}
    path = tmp_path / "gpt-4o_vision_direct.jsonl"
    path.write_text(json.dumps({**row, "options": "[['A', 'B']]"}))
    assert samples(mmmu_pro(setting="vision", data=tmp_path))["test_Art_1"].choices == (
        "['A', 'B']",
    )


@pytest.mark.parametrize(
    ("name", "setting", "mode"),
    [
        ("MMMU_Pro_10c", "standard-10", "direct"),
        ("MMMU_Pro_10c_COT", "standard-10", "cot"),
        ("MMMU_Pro_V", "vision", "direct"),
        ("MMMU_Pro_V_COT", "vision", "cot"),
        ("mmmu_pro_standard", "standard-10", "direct"),
        ("mmmu_pro_standard_cot", "standard-10", "cot"),
        ("mmmu_pro_vision", "vision", "direct"),
        ("mmmu_pro_vision_cot", "vision", "cot"),
    ],
)
def test_other_toolkits_names_are_known(name: str, setting: str, mode: str) -> None:
    options = registry.benchmark(name, data=BUNDLED).provenance.options
    assert (options["setting"], options["mode"]) == (setting, mode)


# -- prompts: "#" stands for a picture

LAST = (
    "The last line of your response should be of the following format: 'Answer: $LETTER' (without "
    "quotes) where LETTER is one of options."
)
KIT_LAST = LAST.replace("options", "the options")
THINK = " Think step by step before answering."
LETTER = "Answer with the option letter from the given choices directly."
KIT_LETTER = "Answer directly with the option letter from the given choices. "
WRITE_OUT = "Write out the multiple-choice question in the image and then solve it. "
MUSIC = "On which line of {} is the note, counted from below?"
LINES = "A. first\nB. second\nC. third\nD. fourth\nE. fifth"
ART = "Which of these is a composition of one disc?"
HALVES = "Are the halves of {} mirror images? Look at {} again."
PROMPTS: list[tuple[Preset, Setting, Mode, str, str]] = [
    # mmmu-pro/infer/infer_gpt.py#L38-L65, mmmu-pro/prompts.yaml
    (
        "official",
        "standard-10",
        "direct",
        "test_Music_1",
        f"{MUSIC.format('<image>')}\n{LINES}\n{LETTER}#",
    ),
    (
        "official",
        "standard-10",
        "cot",
        "validation_Art_1",
        f"{ART}\nA. <image>\nB. <image>\nC. <image>\nD. none of them\n"
        f"Answer the preceding multiple choice question. {LAST}{THINK}###",
    ),
    (
        "official",
        "standard-10",
        "direct",
        "test_Psychology_1",
        f"{HALVES.format('<image>', '<image>')}\nA. they are\nB. they are not\n{LETTER}##",
    ),
    ("official", "vision", "direct", "test_Music_1", f"{LETTER} {LAST}#"),
    ("official", "vision", "cot", "test_Music_1", f"{WRITE_OUT}{LAST}{THINK}#"),
    # open-compass/VLMEvalKit@e8e78f05:vlmeval/dataset/image_mcq.py#L578-L630
    (
        "vlmevalkit",
        "standard-10",
        "direct",
        "test_Music_1",
        f"Question: {MUSIC.format('#')}\nOptions:\n{LINES}\n{KIT_LETTER}",
    ),
    (
        "vlmevalkit",
        "standard-10",
        "cot",
        "validation_Art_1",
        f"Question: {ART}\nOptions:\nA. #\nB. #\nC. #\nD. none of them\n"
        f"Answer the following multiple-choice question. {KIT_LAST}{THINK} ",
    ),
    (
        "vlmevalkit",
        "vision",
        "direct",
        "test_Music_1",
        f"#Answer the following multiple-choice question in the image. {KIT_LETTER}",
    ),
    (
        "vlmevalkit",
        "vision",
        "cot",
        "test_Music_1",
        f"#Answer the following multiple-choice question in the image. {KIT_LAST}{THINK} ",
    ),
    # EvolvingLMMs-Lab/lmms-eval@75571cfe:lmms_eval/tasks/mmmu_pro/utils.py#L41-L92, mmmu_pro_*.yaml
    (
        "lmms-eval",
        "standard-10",
        "direct",
        "test_Music_1",
        f"#{MUSIC.format('<image 1>')}\n{LINES}\n\n{LETTER}",
    ),
    (
        "lmms-eval",
        "standard-10",
        "cot",
        "validation_Art_1",
        f"###{ART}\nA. <image 3>\nB. <image 2>\nC. <image 1>\nD. none of them\n\n"
        f"Answer the following multiple choice question. {LAST}{THINK}",
    ),
    (
        "lmms-eval",
        "standard-10",
        "direct",
        "test_Psychology_1",
        f"#{HALVES.format('<image 1>', '<image 1>')}\nA. they are\nB. they are not\n\n{LETTER}",
    ),
    ("lmms-eval", "vision", "direct", "test_Music_1", f"#{LETTER}"),
    ("lmms-eval", "vision", "cot", "test_Music_1", f"#{WRITE_OUT}{LAST}{THINK}"),
]


@pytest.mark.parametrize(("preset", "setting", "mode", "name", "text"), PROMPTS)
def test_a_prompt_is_the_published_text_with_pictures_in_their_places(
    preset: Preset, setting: Setting, mode: Mode, name: str, text: str
) -> None:
    benchmark = mmmu_pro(setting, mode, preset, data=BUNDLED)
    (message,) = benchmark.prompt(samples(benchmark)[name], ())
    assert message.role == "user"
    shown = "".join(part if isinstance(part, str) else "#" for part in message.content)
    assert shown == text


@pytest.mark.parametrize(
    ("preset", "order"),
    [("official", [3, 2, 1]), ("vlmevalkit", [3, 2, 1]), ("lmms-eval", [1, 2, 3])],
)
def test_pictures_are_those_that_their_marks_call(preset: Preset, order: list[int]) -> None:
    benchmark = mmmu_pro(prompt=preset, data=BUNDLED)
    sample = samples(benchmark)["validation_Art_1"]
    (message,) = benchmark.prompt(sample, ())
    assert all(isinstance(image, Image) for image in message.images)
    assert [sample.media.index(image) + 1 for image in message.images] == order


# -- scoring


@pytest.mark.parametrize(
    ("reason", "reply", "answer"),
    [
        ("behind the last Answer:", "Answer: $B$ no Answer: $H$", "H"),
        ("in any signs", "Answer: $B$", "B"),
        ("emphasis", "**Answer: B**", "B"),
        ("in a word", "Answer: Bad", "B"),
        ("over several lines", "Answer:\n\nthe letter G", "G"),
        ("to the reply's end", "(A)? Answer: it is\nthe letter G", "G"),
        ("with a colon alone", "(B) is it. The Answer is not C", "B"),
        ("of two letters behind it the rules read", "Answer: A, then B", "B"),
        ("with none behind it the rules read all", "(C) it is. Answer: none", "C"),
        ("small letters are not letters", "it is (C). Answer: b", "C"),
        ("in brackets", "(B) or (A)", "A"),
        ("brackets count before all else", "B it is, not (A)", "A"),
        ("a letter", "B", "B"),
        ("the last with blanks", "B and A", "A"),
        ("a word's last letter", "NASA is good", "A"),
        ("of several words' last letters the first", "xA xB x", "A"),
        ("the word I", "I'm sorry, I can't help with that.", "I"),
        ("before a full stop", "it must be B.that", "B"),
        ("of several before a full stop that with blanks", "Final A. or B.", "B"),
        ("or else the first", "C.B.then", "B"),
        ("a choice in over five words", "I'd say that the thing is pink", "H"),
        ("six are over five", "well, I'd say it is pink", "H"),
        ("the last choice", "either the pink or the blue thing", "B"),
        ("the last place of each choice counts", "blue or pink or blue as it seems", "B"),
    ],
)
def test_official_reads_the_letter_by_the_authors_rules(
    reason: str, reply: str, answer: str
) -> None:
    sample = read("official", reply)
    assert (sample.answer, sample.guessed) == (answer, False)


@pytest.mark.parametrize(
    ("reason", "reply"),
    [
        ("nothing", ""),
        ("a refusal", "I'm sorry"),
        ("beyond the choices", "Answer: K"),
        ("a line's end is not a blank", "B\n"),
        ("a choice in a few words", "it is pink"),
        ("five words are few", "I'd say it is pink"),
        ("marks in another order stay", "B,."),
    ],
)
def test_official_draws_where_no_letter_is_found(reason: str, reply: str) -> None:
    sample = read("official", reply)
    assert sample.undecided
    assert sample.candidates == tuple("ABCDEFGHIJ")


def test_letters_that_the_authors_drew_are_taken_from_their_file(tmp_path: Path) -> None:
    """pred_indexs is what evaluate.py wrote; where a reply names a letter, that one counts."""
    rows = [
        {"id": sample.id, "options": str([*sample.choices]), "answer": sample.target}
        for sample in samples(mmmu_pro(data=BUNDLED)).values()
    ]
    wrong = ["A" if row["answer"] != "A" else "B" for row in rows]
    for index, row in enumerate(rows):
        row["response"] = "?" if index < 6 else f"Answer: {row['answer']}"
        row["pred_indexs"] = row["answer"] if index < 3 else wrong[index]
    path = tmp_path / "gpt_vision_direct.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    report = snellen.score(path, "mmmu-pro", data=BUNDLED, scorings=["official"]).report
    scored = report.scorings["official"]
    assert scored.metrics["accuracy"].value == (3 + 2) / 8
    assert scored.readings == {"answered": 2, "guessed": 6}
    assert any("6 letters that the authors' script drew" in note for note in report.notes)


def test_a_file_without_the_authors_draws_says_that_theirs_differ(tmp_path: Path) -> None:
    names = [*samples(mmmu_pro(data=BUNDLED))]
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(json.dumps({"id": name, "response": "?"}) for name in names[1:]))
    notes = snellen.score(path, "mmmu-pro", data=BUNDLED, scorings=["official"]).report.notes
    assert any("draws random letters without a seed" in note for note in notes)
    (missing,) = [note for note in notes if note.startswith("official: 1 rows")]
    assert missing.endswith("scores only files with exactly 1,730 rows")


def test_lmms_eval_has_no_rule_of_the_answer() -> None:
    assert read("lmms-eval", "NASA is. Answer: (B) or (A)").answer == "A"
    assert read("lmms-eval", "Answer: $B$").guessed


@pytest.mark.parametrize(
    ("reply", "answer"), [("B", "B"), ("(B)", "(B)"), ("B\n", "B\n"), ("", None)]
)
def test_in_vision_lmms_eval_takes_the_whole_reply(reply: str, answer: str | None) -> None:
    assert read("lmms-eval", reply, setting="vision").answer == answer


@pytest.mark.parametrize(
    ("mode", "reply", "answer"),
    [
        ("direct", "B", "B"),
        ("direct", "A thing or B. Answer: B", None),
        ("direct", "Answer: $B", None),
        ("cot", "A or C\nAnswer: $B", "B"),
        ("cot", " Answer: A\nAnswer: (B) \nno", "B"),
        ("cot", "Answer: B or C", None),
        ("cot", "My Answer: C\nB", None),
        ("cot", "blue", "B"),
        ("cot", "Answer: Blue", "B"),
        ("cot", "Answer: Red and blue", None),
        ("cot", "B or A it is\n  Answer: C", "C"),
        # open-compass/VLMEvalKit@e8e78f05:vlmeval/dataset/image_mcq.py#L632-L651
        ("cot", "A or C\rAnswer: B", None),
        ("cot", "answer: C\nA or B", None),
        ("cot", "Answer: Cat or X", None),
        ("cot", "Answer: Bob, so Bob", "B"),
        ("cot", "blue\nAnswer: Yes and No", None),
        ("cot", f"Answer:{' ' * 86}red, yes", "A"),
        ("cot", f"Answer:{' ' * 87}red, yes", None),
        ("cot", "Answer: A. Answer: B", None),
    ],
)
def test_vlmevalkit_reads_what_stands_behind_the_last_answer(
    mode: Mode, reply: str, answer: str | None
) -> None:
    assert read("vlmevalkit", reply, mode=mode).answer == answer


@pytest.mark.parametrize("reply", ["B", "(B)", "Answer: B", "**Answer: B**", "blue"])
def test_robust_reads_the_letter_that_a_reply_settles_on(reply: str) -> None:
    assert read("robust", reply).answer == "B"


@pytest.mark.parametrize("reply", ["", "I'm sorry, I can't help with that.", "A or B"])
def test_robust_is_unparsed_where_a_reply_settles_on_no_choice(reply: str) -> None:
    assert read("robust", reply).answer is None


# -- figures


def test_a_question_without_a_reply_is_wrong(tmp_path: Path) -> None:
    """Of four, two are right, one is wrong, and one has the error that the authors' script writes
    down; their evaluator would draw for it."""
    row = {key: value for key, value in hub_row("x").items() if "image_" not in key}
    outputs = ("Answer: B", "B", "C", {"error": "time-out"})
    rows = [
        {**row, "id": f"test_{subject}_1", "subject": subject, "response": response}
        for subject, response in zip(("Art", "Music", "Math", "Physics"), outputs, strict=True)
    ]
    path = tmp_path / "gpt-4o_vision_direct.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    report = snellen.score(path, "mmmu-pro:setting=vision", data=tmp_path).report
    metrics = report.scorings["official"].metrics
    assert {name: (metric.value, metric.n) for name, metric in metrics.items()} == {
        "accuracy": (0.5, 4),
        "accuracy/Art and Design": (1.0, 2),
        "accuracy/Science": (0.0, 2),
        "accuracy/Art": (1.0, 1),
        "accuracy/Music": (1.0, 1),
        "accuracy/Math": (0.0, 1),
        "accuracy/Physics": (0.0, 1),
        "accuracy/Hard": (0.5, 4),
    }


@pytest.mark.parametrize("setting", ["standard-10", "vision"])
@pytest.mark.parametrize("mode", ["direct", "cot"])
@pytest.mark.parametrize("preset", ["official", "lmms-eval"])
def test_dummies_score_what_the_file_says_in_every_setting(
    setting: Setting, mode: Mode, preset: Preset
) -> None:
    report = check_benchmark(mmmu_pro(setting, mode, preset, data=BUNDLED))
    assert [row for row in report.rows if not row.ok and row.dummy != "random"] == []

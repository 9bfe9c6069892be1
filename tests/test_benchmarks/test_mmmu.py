"""MMMU: its rows in each published form, prompts, layouts, and each rule of its scorings.

Expected answers and verdicts of the authors' rules are those of mmmu/utils/eval_utils.py at the
commit that the benchmark names; lmms-eval's and VLMEvalKit's those of their code at theirs.
"""

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import api, registry
from snellen.benchmarks import mmmu as file
from snellen.benchmarks.families.mmmu import DOMAIN_OF
from snellen.benchmarks.mmmu import Preset, Split, mmmu
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, total_score
from snellen.errors import DataError, MediaError
from snellen.media import images
from snellen.media.content import Image, user
from snellen.models.scripted import Scripted
from snellen.scoring import Predicted, Scorer, Tally, resolve
from tests.test_long_replies import SECONDS, at_most

BUNDLED = Path(file.__file__).parent / "rows" / "mmmu"
DATA = Path(__file__).parents[1] / "data"
LETTER = "Answer with the option's letter from the given choices directly."
PHRASE = "Answer the question using a single word or phrase."


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {(sample := benchmark.read(row)).id: sample for row in benchmark.data}


def choice_question(*choices: str, target: str = "B", name: str = "validation_Art_9") -> Sample:
    tags = {"question_type": "multiple-choice"}
    return Sample(id=name, question="?", choices=choices, target=target, tags=tags)


def open_question(*right: str) -> Sample:
    several = right if len(right) > 1 else ()
    target = None if several else right[0]
    tags = {"question_type": "open"}
    return Sample(id="validation_Art_8", question="?", target=target, references=several, tags=tags)


FOUR = choice_question("$6", "$7", "cat", "dog")


def read(scoring: str, reply: str, sample: Sample = FOUR) -> Reading:
    return mmmu(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), sample)


def verdict(scoring: str, reply: str, sample: Sample) -> float | None:
    actual = mmmu(data=BUNDLED).scorings[scoring]
    return total_score(actual.score(actual.parse(Reply(text=reply), sample), sample))


# -- data


@pytest.mark.parametrize(("split", "n"), [("dev", 2), ("val", 12), ("test", 2)])
def test_a_split_has_its_questions_alone(split: Split, n: int) -> None:
    begins = {"dev": "dev_", "val": "validation_", "test": "test_"}[split]
    actual = samples(mmmu(split=split, data=BUNDLED))
    assert len(actual) == n
    assert all(name.startswith(begins) for name in actual)


def test_a_subject_can_be_asked_alone() -> None:
    assert set(samples(mmmu(subject="Art", data=BUNDLED))) == {"validation_Art_1"}


def test_a_row_becomes_a_question_with_its_letter() -> None:
    sample = samples(mmmu(data=BUNDLED))["validation_Computer_Science_1"]
    assert sample.choices == ("one", "two", "three", "four", "None of the above")
    assert (sample.target, sample.references) == ("C", ())
    assert sample.tags == {
        "domain": "Tech and Engineering",
        "subject": "Computer_Science",
        "question_type": "multiple-choice",
        "difficulty": "",
    }


def test_an_open_question_may_have_several_right_answers() -> None:
    sample = samples(mmmu(data=BUNDLED))["validation_Math_1"]
    assert (sample.choices, sample.target, sample.references) == ((), None, ("3/4", "0.75"))


def test_the_answers_of_test_are_hidden_but_where_they_lie_beside_its_rows(tmp_path: Path) -> None:
    assert all(sample.hidden for sample in samples(mmmu(split="test", data=BUNDLED)).values())
    sheet = (BUNDLED / "MMMU_TEST.tsv").read_bytes()
    (tmp_path / "MMMU_TEST.tsv").write_bytes(sheet)
    answers = {
        "test_Art_1": {"question_type": "multiple-choice", "ground_truth": "A"},
        "test_Math_1": {"question_type": "short-answer", "ground_truth": ["4", "four"]},
    }
    (tmp_path / "answer_dict_test.json").write_text(json.dumps(answers))
    actual = samples(mmmu(split="test", data=tmp_path))
    assert actual["test_Art_1"].target == "A"
    assert actual["test_Math_1"].references == ("4", "four")


@pytest.mark.parametrize(
    ("name", "split"),
    [("MMMU_DEV_VAL", "val"), ("MMMU_TEST", "test"), ("mmmu_val", "val"), ("mmmu_test", "test")],
)
def test_other_toolkits_names_are_known(name: str, split: str) -> None:
    assert registry.benchmark(name, data=BUNDLED).provenance.options["split"] == split


def test_published_are_sheets_with_digests_and_the_answers_of_test() -> None:
    names = [entry.name for split in ("dev", "val", "test") for entry in file.published(split)]
    assert names == [
        "MMMU_DEV_VAL.tsv",
        "MMMU_DEV_VAL.tsv",
        "MMMU_TEST.tsv",
        "answer_dict_test.json",
    ]


# -- data, as the hub has it


def hub_row(name: str, **fields: object) -> dict[str, Any]:
    picture = {"bytes": (BUNDLED.parent / "own/images/dots.jpg").read_bytes(), "path": "1.jpg"}
    numbered = {f"image_{number}": None for number in range(1, 8)}
    return {
        "id": name,
        "question": "How many? <image 1>",
        "options": "['one', \"two's\", '3\\xb0']",
        "explanation": "",
        **numbered,
        "image_1": picture,
        "img_type": "['Diagrams']",
        "answer": "B",
        "topic_difficulty": "Easy",
        "question_type": "multiple-choice",
        "subfield": "",
        **fields,
    }


def to_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def hub(folder: Path) -> Path:
    """Every subject with a question of each split, in the hub's folders and files."""
    for subject in DOMAIN_OF:
        for split in ("dev", "validation", "test"):
            row = hub_row(f"{split}_{subject}_1", answer="?" if split == "test" else "B")
            to_parquet(folder / subject / f"{split}-00000-of-00001.parquet", [row])
    return folder


def test_the_hubs_files_by_subject_are_read_as_one_set(tmp_path: Path) -> None:
    actual = samples(mmmu(data=hub(tmp_path)))
    assert set(actual) == {f"validation_{subject}_1" for subject in DOMAIN_OF}
    sample = actual["validation_Art_1"]
    assert sample.choices == ("one", "two's", "3\xb0")
    assert sample.tags["difficulty"] == "Easy"
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert images.load(picture).mime == "image/jpeg"
    assert samples(mmmu(split="test", data=tmp_path))["test_Art_1"].target is None


def test_rows_of_several_files_have_places_of_their_own_and_one_digest(tmp_path: Path) -> None:
    data = mmmu(data=hub(tmp_path)).data
    assert [row.position for row in data] == list(range(30))
    assert data.facts().rows == 30
    assert data.facts() == mmmu(data=tmp_path).data.facts()


def test_one_subjects_folder_is_enough_for_that_subject(tmp_path: Path) -> None:
    to_parquet(
        tmp_path / "Math" / "validation-00000-of-00001.parquet", [hub_row("validation_Math_1")]
    )
    assert set(samples(mmmu(subject="Math", data=tmp_path))) == {"validation_Math_1"}
    with pytest.raises(DataError, match="has no validation of Accounting, "):
        list(mmmu(data=tmp_path).data)
    with pytest.raises(DataError, match="has no validation of Art\\. "):
        list(mmmu(subject="Art", data=tmp_path).data)


def test_a_file_that_is_named_is_read_alone(tmp_path: Path) -> None:
    path = hub(tmp_path) / "Music" / "validation-00000-of-00001.parquet"
    assert set(samples(mmmu(data=path))) == {"validation_Music_1"}


def test_all_subjects_in_one_file_of_two_parts(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first = [hub_row("validation_Art_1"), hub_row("validation_Math_1")]
    to_parquet(folder / "validation-00000-of-00002.parquet", first)
    with pytest.raises(DataError, match="has 1 of 2 parts: number 00001"):
        list(mmmu(data=tmp_path).data)
    to_parquet(folder / "validation-00001-of-00002.parquet", [hub_row("validation_Music_1")])
    assert list(samples(mmmu(data=tmp_path))) == [
        "validation_Art_1",
        "validation_Math_1",
        "validation_Music_1",
    ]


def test_a_mark_calls_the_picture_of_its_number(tmp_path: Path) -> None:
    picture = {"bytes": (BUNDLED.parent / "own/images/circle.png").read_bytes(), "path": "3.png"}
    row = hub_row("validation_Art_1", question="<image 3> or <image 1>?", image_3=picture)
    to_parquet(tmp_path / "Art" / "validation-00000-of-00001.parquet", [row])
    benchmark = mmmu(subject="Art", data=tmp_path)
    sample = samples(benchmark)["validation_Art_1"]
    (message,) = benchmark.prompt(sample, ())
    assert [images.load(image).mime for image in message.images] == ["image/png", "image/jpeg"]


# -- data, the authors' answers alone

ANSWERS = {
    "validation_Art_1": {"question_type": "multiple-choice", "ground_truth": "B"},
    "validation_Math_1": {"question_type": "short-answer", "ground_truth": ["24/7", "3.429"]},
}
OUTPUT = {
    "id": "validation_Art_1",
    "question_type": "multiple-choice",
    "answer": "B",
    "all_choices": ["A", "B"],
    "index2ans": {"A": "a cat", "B": "a dog"},
    "response": "It must be a cat, a dog that is",
}


def answers_alone(folder: Path) -> Path:
    (folder / "answer_dict_val.json").write_text(json.dumps(ANSWERS))
    return folder


def test_the_authors_answers_can_be_scored_against(tmp_path: Path) -> None:
    actual = samples(mmmu(data=answers_alone(tmp_path)))
    assert actual["validation_Art_1"].target == "B"
    assert actual["validation_Art_1"].choices == ()
    assert actual["validation_Math_1"].references == ("24/7", "3.429")
    assert actual["validation_Math_1"].tags["question_type"] == "open"


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_choices_come_from_output_files_below_the_answers(tmp_path: Path, ending: str) -> None:
    path = answers_alone(tmp_path) / "outputs" / "model" / "Art" / f"output.json{ending}"
    path.parent.mkdir(parents=True)
    text = json.dumps([OUTPUT]).encode()
    path.write_bytes(gzip.compress(text) if ending else text)
    assert samples(mmmu(data=tmp_path))["validation_Art_1"].choices == ("a cat", "a dog")


def test_where_choices_are_not_known_a_letter_is_taken_as_it_is(tmp_path: Path) -> None:
    sample = samples(mmmu(data=answers_alone(tmp_path)))["validation_Art_1"]
    assert (verdict("official", "B", sample), verdict("official", "(B)", sample)) == (1.0, 0.0)
    assert not read("official", "", sample).guessed


def test_answers_alone_cannot_be_asked_about(tmp_path: Path) -> None:
    benchmark = mmmu(data=answers_alone(tmp_path))
    for sample in samples(benchmark).values():
        with pytest.raises(DataError, match="has no question"):
            benchmark.prompt(sample, ())


@pytest.mark.parametrize("preset", ["official", "vlmevalkit", "lmms-eval"])
def test_a_mark_without_a_picture_is_an_error(preset: Preset) -> None:
    tags = {"question_type": "open"}
    sample = Sample(id="x", question="<image 1>?", tags=tags, data={"numbers": []})
    with pytest.raises(MediaError, match="<image 1> is in the question"):
        mmmu(prompt=preset, data=BUNDLED).prompt(sample, ())


@pytest.mark.parametrize("text", ["[]", '{"validation_Art_1": 7}', '{"validation_Art_1": {}}'])
def test_answers_of_another_form_are_said_to_be_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "answer_dict_val.json").write_text(text)
    with pytest.raises(DataError, match="not in the authors' format"):
        list(mmmu(data=tmp_path).data)


def test_torn_answers_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "answer_dict_val.json").write_text('{"validation_Art_1": {')
    with pytest.raises(DataError, match="is not complete, valid JSON"):
        list(mmmu(data=tmp_path).data)


# -- prompts: the texts of three rows, where "#" stands for a picture

SALT = "# is the lattice of table salt. What is its formula or name?"
REVENUE = "# shows revenue in the years 1 to 3. In which year was it highest?"
DISC = "Which of these is a composition of one disc?"
RED = "Which colour has the figure?"
TABLET = "The tablet in # is round. Which is the other?"
KIT_ASK = "Please select the correct answer from the options above. \n"
PROMPTS: list[tuple[Preset, str, str]] = [
    # mmmu/utils/data_utils.py#L136-L174 with mmmu/configs/llava1.5.yaml
    (
        "official",
        "validation_Accounting_1",
        f"{REVENUE}\n(A) year 1\n(B) year 2\n(C) year 3\n\n{LETTER}",
    ),
    ("official", "validation_Art_1", f"{DISC}\n(A) #\n(B) #\n(C) #\n\n{LETTER}"),
    ("official", "validation_Chemistry_1", f"{SALT}\n{PHRASE}"),
    ("official", "validation_Design_1", f"#{RED}\n(A) red\n(B) green\n\n{LETTER}"),
    # mmmu/run_llava.py#L88-L95
    (
        "llava",
        "validation_Accounting_1",
        f"#{REVENUE.replace('#', '<image 1>')}\n(A) year 1\n(B) year 2\n(C) year 3\n\n{LETTER}",
    ),
    (
        "llava",
        "validation_Art_1",
        f"#{DISC}\n(A) <image 2>\n(B) <image 1>\n(C) <image 3>\n\n{LETTER}",
    ),
    ("llava", "validation_Chemistry_1", f"#{SALT.replace('#', '<image 1>')}\n{PHRASE}"),
    # open-compass/VLMEvalKit@e8e78f05:vlmeval/dataset/image_mcq.py#L212-L247, #L514-L540
    (
        "vlmevalkit",
        "validation_Accounting_1",
        f"Question: {REVENUE}\nOptions:\nA. year 1\nB. year 2\nC. year 3\n{KIT_ASK}",
    ),
    (
        "vlmevalkit",
        "validation_Art_1",
        f"Question: {DISC}\nOptions:\nA. #\nB. #\nC. #\n{KIT_ASK}",
    ),
    ("vlmevalkit", "validation_Chemistry_1", f"Question: {SALT}\n"),
    (
        "vlmevalkit",
        "validation_Design_1",
        f"#Question: {RED}\nOptions:\nA. red\nB. green\n{KIT_ASK}",
    ),
    # EvolvingLMMs-Lab/lmms-eval@75571cfe:lmms_eval/tasks/mmmu/utils.py#L74-L178
    (
        "lmms-eval",
        "validation_Accounting_1",
        f"{REVENUE.replace('# ', '#')}\nA. year 1\nB. year 2\nC. year 3\n\n{LETTER}",
    ),
    ("lmms-eval", "validation_Art_1", f"{DISC}\nA.#B.#C.#{LETTER}"),
    ("lmms-eval", "validation_Chemistry_1", f"{SALT.replace('# ', '#')}\n\n{PHRASE}"),
]


@pytest.mark.parametrize(("preset", "name", "text"), PROMPTS)
def test_a_prompt_is_the_published_text_with_pictures_in_their_places(
    preset: Preset, name: str, text: str
) -> None:
    benchmark = mmmu(prompt=preset, data=BUNDLED)
    (message,) = benchmark.prompt(samples(benchmark)[name], ())
    assert message.role == "user"
    shown = "".join(part if isinstance(part, str) else "#" for part in message.content)
    assert shown == text


def order_of(preset: Preset, name: str) -> list[int]:
    """The numbers of the pictures in a prompt, in their order there."""
    benchmark = mmmu(prompt=preset, data=BUNDLED)
    sample = samples(benchmark)[name]
    (message,) = benchmark.prompt(sample, ())
    return [sample.media.index(image) + 1 for image in message.images]


@pytest.mark.parametrize(
    ("preset", "art", "pharmacy"),
    [
        ("official", [2, 1, 3], [1, 2, 1]),
        ("llava", [1], [1]),
        ("vlmevalkit", [2, 1, 3], [1, 2, 1]),
        # In the order of their numbers, wherever the marks stand, and never twice.
        ("lmms-eval", [1, 2, 3], [1, 2]),
    ],
)
def test_pictures_come_in_the_order_that_each_toolkit_gives_them(
    preset: Preset, art: list[int], pharmacy: list[int]
) -> None:
    assert order_of(preset, "validation_Art_1") == art
    assert order_of(preset, "validation_Pharmacy_1") == pharmacy


def test_lmms_eval_loses_the_text_between_two_marks_of_one_picture() -> None:
    benchmark = mmmu(prompt="lmms-eval", data=BUNDLED)
    (message,) = benchmark.prompt(samples(benchmark)["validation_Pharmacy_1"], ())
    texts = [part for part in message.content if isinstance(part, str)]
    last = f"is round. Which is the other?\nA. square\nB. oval\nC. none\n\n{LETTER}"
    assert texts == ["Compare", "and", last]


# -- scoring, official: letters


@pytest.mark.parametrize(
    ("reason", "reply", "answer"),
    [
        ("a letter", "B", "B"),
        ("marks around it go", "B.", "B"),
        ("each mark once, in their order", ".B,", "B"),
        ("in brackets", "It is (B) for sure", "B"),
        ("brackets count before all else", "A is not it, C is not it: (B)", "B"),
        ("the last in brackets", "(B) or (A)", "A"),
        ("the last letter", "A or B", "B"),
        ("the last place of each counts", "B or A or B", "B"),
        ("the answer is", "The answer is B.", "B"),
        ("a choice in over five words", "the animal is surely a big Cat", "C"),
        ("six words are over five", "I say it is a cat", "C"),
        ("the last choice", "The cost is about $7 or $6 per unit", "A"),
        ("the last place of each choice counts", "$7 or $6 or $7 as I would say", "B"),
        ("the first letter of two choices in one place", "it is a thing of $7 that", "B"),
    ],
)
def test_official_reads_the_letter_that_stands_last(reason: str, reply: str, answer: str) -> None:
    sample = read("official", reply)
    assert (sample.answer, sample.guessed) == (answer, False)


@pytest.mark.parametrize(
    ("reason", "reply"),
    [
        ("no brackets' beginning", "B) $7"),
        ("no emphasis", "**B**"),
        ("no small letter", "b"),
        ("no choice in a few words", "cat"),
        ("five words are few", "I say it is cat"),
        ("no blank before it", "Answer:B"),
        ("a line's end is not a blank", "B\n"),
        ("marks in another order stay", "B,."),
        ("a full stop inside", "A. or else"),
        ("no such letter", "E"),
        ("nothing", ""),
    ],
)
def test_official_draws_where_no_letter_is_found(reason: str, reply: str) -> None:
    sample = read("official", reply)
    assert sample.undecided
    assert sample.candidates == tuple("ABCD")


def test_of_choices_in_one_place_the_first_is_taken() -> None:
    sample = choice_question("the cat sat", "the cat", "a dog")
    actual = read("official", "we all know that the cat sat down", sample)
    assert (actual.answer, actual.guessed) == ("A", False)


def test_the_last_choice_is_the_one_that_begins_last() -> None:
    """`cat` begins behind `the cat sat`, which ends behind it: eval_utils.py#L55."""
    sample = read(
        "official", "we all know that the cat sat down", choice_question("the cat sat", "cat")
    )
    assert (sample.answer, sample.guessed) == ("B", False)


@pytest.mark.parametrize("mark", ",.!?;:'")
def test_marks_at_both_ends_of_a_letter_go(mark: str) -> None:
    sample = read("official", f"{mark}B{mark}")
    assert (sample.answer, sample.guessed) == ("B", False)


def test_a_choice_is_found_in_any_case() -> None:
    sample = read("official", "we all know it is a CAT", choice_question("A Cat", "a dog"))
    assert (sample.answer, sample.guessed) == ("A", False)


# What main_parse_and_eval.py gives each of 1,000 made replies (scripts/draw_mmmu_replies.py).
GENERATED = [json.loads(line) for line in (DATA / "mmmu_replies.jsonl").read_text().splitlines()]
FIRST_OF_THREE = ["C", "A", "A", "C"]
"""What random.choice(["A", "B", "C"]) gives after random.seed(42), in CPython 3.11 to 3.14."""


def subject_of(row: dict[str, Any]) -> str:
    return "_".join(row["id"].split("_")[1:-1])


def written(folder: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """The authors' answers, and an output folder `model`, of made rows in their order."""
    answers = {}
    by_subject: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        letters = "ABCDEFGHI"[: len(row["choices"])]
        kind = "multiple-choice" if letters else "short-answer"
        answers[row["id"]] = {"question_type": kind, "ground_truth": row["answer"]}
        options = dict(zip(letters, row["choices"], strict=True))
        output = {"id": row["id"], "response": row["response"]}
        output |= {"all_choices": [*letters], "index2ans": options} if letters else {}
        by_subject.setdefault(subject_of(row), []).append(output)
    (folder / "answer_dict_val.json").write_text(json.dumps(answers))
    for subject, outputs in by_subject.items():
        (folder / "model" / subject).mkdir(parents=True)
        (folder / "model" / subject / "output.json").write_text(json.dumps(outputs))
    return folder / "model"


def of_layout(path: Path, data: Path) -> Predicted:
    benchmark = mmmu(data=data)
    assert benchmark.interop.layout is not None
    published = benchmark.interop.layout(path)
    assert published is not None
    return Predicted(
        benchmark=benchmark, replies=published.replies, where="model", published=published
    )


def official_rows(predicted: Predicted) -> dict[tuple[str, int], tuple[object, float]]:
    """By sample and repeat the answer, and its score."""
    resolved = resolve(predicted.benchmark, ["official"], predicted.scored)
    tally = Tally(predicted.benchmark, ["official"], resolved=resolved)
    lines = b"".join(tally.rows(predicted.scored())).splitlines()
    rows = [json.loads(line) for line in lines]
    return {(row["sample"], row["repeat"]): (row.get("answer"), row["score"]) for row in rows}


def test_every_draw_is_that_of_the_authors_script(tmp_path: Path) -> None:
    path = written(tmp_path, GENERATED)
    scored = official_rows(of_layout(path, tmp_path))
    differences = [
        row
        for row in GENERATED
        if scored[row["id"], 0][1] != row["right"]
        or ("parsed" in row and scored[row["id"], 0][0] != row["parsed"])
    ]
    assert (len(GENERATED), differences) == (1000, [])
    result = snellen.score(path, "mmmu", data=tmp_path)
    right = sum(row["right"] for row in GENERATED)
    report = result.report.scorings["official"]
    assert report.metrics["accuracy"].value == pytest.approx(right / 1000, abs=1e-12)
    assert report.readings["guessed"] > 300
    assert not any("are drawn" in note for note in result.report.notes if "official" in note)


def test_a_run_draws_in_the_order_of_the_data(tmp_path: Path) -> None:
    """Whatever the order in which it was asked: here some questions first, and then all."""
    written(tmp_path, GENERATED)
    replies = {row["id"]: row["response"] for row in GENERATED}
    shown = replace(
        mmmu(data=tmp_path), prompt=lambda sample, _: (user(f"{sample.id}\n{sample.choices}"),)
    )
    model = Scripted(lambda request: replies[request.messages[0].text.split("\n")[0]], name="made")
    opened = registry.Opened(model=model, name="made", server="made", concurrency=8)
    for sample in (50, None):
        plan = api.Plan(benchmarks=[shown], models=[opened], out=tmp_path / "runs", sample=sample)
        (finished,) = api.run_plan(plan)
    with (Path(str(finished.run)) / "scores.jsonl").open() as lines:
        rows = [json.loads(line) for line in lines]
    scores = {row["sample"]: row["score"] for row in rows if row["scoring"] == "official"}
    assert scores == {row["id"]: float(row["right"]) for row in GENERATED}


def three(folder: Path, order: Sequence[str]) -> Path:
    """Output files with an unreadable reply to each of these questions, in this order."""
    row = {"choices": ["ash", "bay", "cod"], "answer": "A", "response": "?"}
    return written(folder, [{"id": name, **row} for name in order])


def test_draws_go_by_subject_and_then_by_the_order_of_the_output_file(tmp_path: Path) -> None:
    order = [f"validation_{key}" for key in ("Math_2", "Art_7", "Math_1", "Accounting_3")]
    scored = official_rows(of_layout(three(tmp_path, order), tmp_path))
    sequence = [f"validation_{key}" for key in ("Accounting_3", "Art_7", "Math_2", "Math_1")]
    assert [scored[name, 0][0] for name in sequence] == FIRST_OF_THREE


def test_a_file_in_no_layout_says_whose_order_its_draws_are_in(tmp_path: Path) -> None:
    names = [f"validation_Art_{number}" for number in range(3)]
    three(tmp_path, names)
    path = tmp_path / "replies.jsonl"
    rows = [json.dumps({"id": name, "response": "?"}) for name in reversed(names)]
    path.write_text("\n".join(rows))
    notes = snellen.score(path, "mmmu", data=tmp_path).report.notes
    (note,) = [note for note in notes if note.startswith("official: letters")]
    assert "in the order of this file's rows" in note
    assert "output.json" in note


def test_each_repeat_draws_from_the_beginning_in_the_order_of_the_rows(tmp_path: Path) -> None:
    names = [f"validation_Art_{number}" for number in (2, 0, 1)]
    three(tmp_path, sorted(names))
    predicted = Predicted(
        benchmark=mmmu(data=tmp_path),
        replies={name: "?" for name in names},
        where="replies.jsonl",
        again={name: ["?"] for name in names},
    )
    scored = official_rows(predicted)
    for repeat in (0, 1):
        assert [scored[name, repeat][0] for name in names] == FIRST_OF_THREE[:3]


def test_a_live_reply_whose_letter_is_still_to_be_drawn_has_no_score() -> None:
    scorer = Scorer(mmmu(data=BUNDLED))
    scores = scorer.scores(FOUR, Reply(text="?"))
    assert (scores["official"], scores["robust"]) == (None, 0.0)
    assert scorer.scores(FOUR, Reply(text="B"))["official"] == 1.0


def test_a_choice_may_have_several_right_letters() -> None:
    sample = choice_question("a", "b", "c")
    several = Sample(
        id="1", question="?", choices=("a", "b", "c"), references=("A", "C"), tags=sample.tags
    )
    assert [verdict("official", letter, several) for letter in "ABC"] == [1.0, 0.0, 1.0]


# -- scoring, official: open answers


@pytest.mark.parametrize(
    ("reason", "reply", "right", "score"),
    [
        ("a number with its unit", "36 watts", "36", 1.0),
        ("to two decimals", "The answer is 1,234.567", "1234.57", 1.0),
        ("to two decimals, not three", "1234.557", "1234.57", 0.0),
        ("the right one rounds too", "6.33", "6.333", 1.0),
        ("any number of the last words", "between 5 and 7", "7", 1.0),
        ("a unit without a blank hides it", "12.5kg", "12.5", 1.0),
        ("a whole number stuck to its unit is none", "12kg", "12", 0.0),
        ("per cent", "30%", "30", 1.0),
        ("thousands", "about 12,000 people", "12000", 1.0),
        ("thousands below zero", "about -1,234 people", "-1234", 1.0),
        ("thousands behind a letter are none", "about x1,234 people", "1234", 0.0),
        ("nor with a unit stuck to them", "about 1,234kg", "1234", 0.0),
        ("a power of ten", "so 1.5e3 volts", "1500", 1.0),
        ("a negative power", "so 15e-1 volts", "1.5", 1.0),
        ("a power below zero", "about -2e3 volts", "-2000", 1.0),
        ("what stands before the power is none", "about 1.5e3 volts", "1.5", 0.0),
        ("but its whole part is one", "about 1.5e3 volts", "1", 1.0),
        ("a point without a zero", "about .5 of it", "0.5", 1.0),
        ("a sign", "it is -5 degrees", "-5", 1.0),
        ("a range is a negative number", "5-6", "-6", 1.0),
        ("no decimals before a comma", "12.5, then", "12", 1.0),
        ("as Python reads a number", "1_000", "1000", 1.0),
        ("a part of a text", "eyes", "yes", 1.0),
        ("no part of a number", "2", "20", 0.0),
        ("a number in a text is not text", "12 cats", "1", 0.0),
        ("case", "TAMPA.", "Tampa", 1.0),
        ("a single letter needs a blank", "step b", "B", 1.0),
        ("or behind it", "b then", "B", 1.0),
        ("a single letter in a word is none", "obvious", "B", 0.0),
        ("a single letter alone", "B", "B", 1.0),
        ("behind the last word of them", "so 7 is 5", "5", 1.0),
        ("not behind the first", "so 7 is 5", "7", 0.0),
        ("in any case", "7: The Answer IS 5", "7", 0.0),
        ("only behind it", "5 is what it is said to be", "5", 0.0),
        ("this ends in is", "7, from this 5", "7", 0.0),
        ("every line", "x is 5\ny is 7", "5", 1.0),
        ("an equals sign in the last line", "3 + 4 = 7", "3", 0.0),
        ("an equals sign before it is none", "3 + 4 = 7\nthe end", "3", 1.0),
        ("a full stop's line is a line", "3 + 4 = 7\n.", "3", 1.0),
        ("no line ends at a carriage return", "3 + 4 = 7\rthe end", "3", 0.0),
        ("an empty tail takes a longer one's place", "so 4 is \nit is 5", "4", 0.0),
        ("and then gives it to the next", "so 4 is final 3 is \nx", "3", 1.0),
        ("a tail of one mark is dropped", "5 result :", "5", 1.0),
        ("with the blanks around it", "5 result : \nx", "5", 1.0),
        ("a tail of two is not", "5 result ::", "5", 0.0),
        ("full stops do not end a line", "It is 5. The sum is 7", "5", 0.0),
        ("nothing", "", "5", 0.0),
    ],
)
def test_an_open_answer_is_right_by_the_authors_rules(
    reason: str, reply: str, right: str, score: float
) -> None:
    assert verdict("official", reply, open_question(right)) == score


@pytest.mark.parametrize(
    "words",
    ["could be", "so", "is", "thus", "therefore", "final", "answer", "result"],
)
def test_an_open_answer_stands_behind_each_of_eight_words(words: str) -> None:
    """eval_utils.py#L132-L133."""
    assert verdict("official", f"7 {words} 5", open_question("5")) == 1.0
    assert verdict("official", f"7 {words} 5", open_question("7")) == 0.0


@pytest.mark.parametrize("mark", ":,.!?;'")
def test_each_mark_alone_is_no_open_answer(mark: str) -> None:
    """eval_utils.py#L151."""
    assert verdict("official", f"5 result {mark}\nx", open_question("5")) == 1.0


def test_any_of_several_answers_is_right() -> None:
    question = open_question("24/7", "3.429")
    texts = ("3.43", "it is 24/7 s", "3.4", "24")
    assert [verdict("official", reply, question) for reply in texts] == [1.0, 1.0, 0.0, 0.0]


def test_an_empty_open_answer_is_unparsed() -> None:
    assert read("official", " .", open_question("5")).answer is None


@pytest.mark.parametrize("reply", ["9" * 100_000, "9," * 50_000, "9." * 50_000, "so " * 50_000])
def test_a_long_reply_is_read_in_no_time(reply: str) -> None:
    """The authors' patterns go through the first of these once for each of its digits."""
    with at_most(SECONDS):
        assert verdict("official", reply, open_question("5")) == 0.0


# -- scoring, the others


@pytest.mark.parametrize(
    ("reply", "score"), [("B", 1.0), ("(B)", 0.0), ("B.", 0.0), ("A", 0.0), ("", 0.0)]
)
def test_letters_that_were_read_are_compared_as_they_are(reply: str, score: float) -> None:
    assert verdict("eval-only", reply, FOUR) == score


def test_open_answers_are_read_by_the_same_rules_where_letters_were_read() -> None:
    question = open_question("5")
    assert [verdict("eval-only", reply, question) for reply in ("it is 5", "6")] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("reason", "reply", "answer"),
    [
        ("a word's last letter", "NASA is good", "A"),
        ("before a full stop", "**B.** because", "B"),
        ("of several the last with blanks around it", "A. or B.", "B"),
        ("or else the first", "xA xB", "A"),
        ("that before a full stop too", "see C.B. now", "B"),
    ],
)
def test_lmms_eval_reads_more_letters(reason: str, reply: str, answer: str) -> None:
    sample = read("lmms-eval", reply)
    assert (sample.answer, sample.guessed) == (answer, False)


def test_to_lmms_eval_no_open_answer_is_right() -> None:
    assert verdict("lmms-eval", "5", open_question("5")) == 0.0
    assert verdict("lmms-eval", "B", open_question("B")) == 0.0


@pytest.mark.parametrize(
    ("reason", "right", "reply", "score"),
    [
        ("the right text", ("mirror",), "mirror", 1.0),
        ("blanks at its ends do not count", ("mirror",), " " * 40 + "mirror\n", 1.0),
        ("twice as long as both choices", ("mirror",), "mirror" + " x" * 16, 1.0),
        ("longer", ("mirror",), "mirror" + " x" * 16 + ".", 0.0),
        ("too long a reply", ("mirror",), "it is the mirror, of which there are many here", 0.0),
        ("the letter A", ("mirror",), "A", 1.0),
        ("a capital letter is never right", ("C",), "C", 0.0),
        ("several are one text", ("24/7", "3.429"), "24/7", 0.0),
        ("that text", ("24/7", "3.429"), "['24/7', '3.429']", 1.0),
    ],
)
def test_to_vlmevalkit_an_open_question_is_a_choice(
    reason: str, right: tuple[str, ...], reply: str, score: float
) -> None:
    assert verdict("vlmevalkit", reply, open_question(*right)) == score


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("B", "B"),
        ("(B) $7", "B"),
        ("The answer is B", "B"),
        ("$7", "B"),
        ("perhaps", None),
        ("Failed to obtain answer via API: B", None),
    ],
)
def test_vlmevalkit_reads_letters_by_its_rules(reply: str, answer: str | None) -> None:
    assert read("vlmevalkit", reply).answer == answer


@pytest.mark.parametrize("reply", ["B", "(B)", "B) $7", "**B**", "$7", "The answer is B"])
def test_robust_reads_the_letter_that_a_reply_settles_on(reply: str) -> None:
    assert read("robust", reply).answer == "B"


@pytest.mark.parametrize("reply", ["", "A or B", "perhaps"])
def test_robust_is_unparsed_where_a_reply_settles_on_no_choice(reply: str) -> None:
    assert read("robust", reply).answer is None


@pytest.mark.parametrize(
    ("reply", "right", "score"),
    [
        ("The answer is 12.5 ohms", ("12.5",), 1.0),
        ("2.828", ("2.83",), 1.0),
        ("The answer is **Tampa**.", ("Tampa", "Florida"), 1.0),
        ("$\\text{MgS}$", ("$MgS$", "MgS"), 1.0),
        ("3/4", ("0.75",), 1.0),
        ("between 5 and 7", ("7",), 0.0),
        ("eyes", ("yes",), 0.0),
        ("30", ("3",), 0.0),
        ("", ("yes",), 0.0),
    ],
)
def test_robust_compares_the_value_that_a_reply_settles_on(
    reply: str, right: tuple[str, ...], score: float
) -> None:
    assert verdict("robust", reply, open_question(*right)) == score


# -- files of results


def results(folder: Path) -> Path:
    """The authors' folder after their script has run over it."""
    for subject, name in (("Art", "validation_Art_1"), ("Math", "validation_Math_1")):
        (folder / subject).mkdir(parents=True)
        rows = [{**OUTPUT, "id": name}]
        (folder / subject / "output.json").write_text(json.dumps(rows))
        parsed = [{**rows[0], "parsed_pred": "B", "judge": "Correct"}]
        (folder / subject / "parsed_output.json").write_text(json.dumps(parsed))
        (folder / subject / "result.json").write_text('{"acc": 1.0, "num_example": 1}')
    return folder


def test_the_authors_folder_of_results_is_read(tmp_path: Path) -> None:
    published = file.layout(results(tmp_path))
    assert published is not None
    text = OUTPUT["response"]
    assert published.replies == {"validation_Art_1": text, "validation_Math_1": text}
    assert published.notes == ("output.json of 2 of 30 subjects read",)


def test_of_a_subject_only_its_output_is_read(tmp_path: Path) -> None:
    folder = results(tmp_path)
    (folder / "Art" / "output.json.old").write_text(json.dumps([{**OUTPUT, "response": "A"}]))
    published = file.layout(folder)
    assert published is not None
    assert published.replies["validation_Art_1"] == OUTPUT["response"]


def test_a_row_without_a_response_has_no_reply(tmp_path: Path) -> None:
    (tmp_path / "Art").mkdir()
    rows = [{"id": "validation_Art_1"}, {"id": "validation_Art_2", "response": None}]
    (tmp_path / "Art" / "output.json").write_text(json.dumps(rows))
    published = file.layout(tmp_path)
    assert published is not None
    assert published.replies == {"validation_Art_1": None, "validation_Art_2": None}


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_results_are_scored_as_they_are_published(tmp_path: Path, ending: str) -> None:
    (tmp_path / "data").mkdir()
    data = answers_alone(tmp_path / "data")
    path = tmp_path / "model" / "Art" / f"output.json{ending}"
    path.parent.mkdir(parents=True)
    text = json.dumps([{**OUTPUT, "response": "B"}]).encode()
    path.write_bytes(gzip.compress(text) if ending else text)
    report = snellen.score(tmp_path / "model", "mmmu", data=data).report
    metrics = report.scorings["official"].metrics
    # What the authors' script finds no row for, it does not count.
    assert (metrics["accuracy"].value, metrics["accuracy"].n) == (1.0, 1)


@pytest.mark.parametrize("name", ["model.jsonl", "Art/result.json", "Cooking/output.json"])
def test_other_files_are_not_of_the_authors_layout(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[]")
    assert file.layout(tmp_path) is None
    assert file.layout(path) is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('[{"response": "B"}]', "not a list of objects with id and response"),
        ("[7]", "not a list of objects with id and response"),
        ('[{"id": "1", "response": "A"}, {"id": "1", "response": "B"}]', "1 has a second reply"),
        ('[{"id": "1"', "is not complete, valid JSON"),
    ],
)
def test_results_of_another_form_are_an_error(tmp_path: Path, rows: str, message: str) -> None:
    (tmp_path / "Art").mkdir()
    (tmp_path / "Art" / "output.json").write_text(rows)
    with pytest.raises(DataError, match=message):
        file.layout(tmp_path)


def test_the_test_server_is_sent_letters_and_open_answers() -> None:
    submission = mmmu(split="test", data=BUNDLED).interop.submission
    assert submission is not None
    assert (submission.name, submission.columns) == ("test_output.json", ("id", "answer"))
    actual = samples(mmmu(split="test", data=BUNDLED))
    art, math = actual["test_Art_1"], actual["test_Math_1"]
    assert submission.row(art, "(B) a disc") == ("test_Art_1", "B")
    assert submission.row(art, "") == ("test_Art_1", "")
    assert submission.row(math, "It has 4.") == ("test_Math_1", "It has 4.")


# -- figures


def test_each_subject_is_of_its_domain() -> None:
    """mmmu/utils/data_utils.py#L9-L16."""
    domains: dict[str, set[str]] = {}
    for subject, domain in DOMAIN_OF.items():
        domains.setdefault(domain, set()).add(subject)
    assert domains == {
        "Art and Design": {"Art", "Art_Theory", "Design", "Music"},
        "Business": {"Accounting", "Economics", "Finance", "Manage", "Marketing"},
        "Science": {"Biology", "Chemistry", "Geography", "Math", "Physics"},
        "Health and Medicine": {
            "Basic_Medical_Science",
            "Clinical_Medicine",
            "Diagnostics_and_Laboratory_Medicine",
            "Pharmacy",
            "Public_Health",
        },
        "Humanities and Social Science": {"History", "Literature", "Sociology", "Psychology"},
        "Tech and Engineering": {
            "Agriculture",
            "Architecture_and_Engineering",
            "Computer_Science",
            "Electronics",
            "Energy_and_Power",
            "Materials",
            "Mechanical_Engineering",
        },
    }


def test_figures_are_means_over_questions_by_domain_and_subject(tmp_path: Path) -> None:
    """Three of Art, one of Music and one of Math; right are one of Art, Music and Math."""
    names = ("Art_1", "Art_2", "Art_3", "Music_1", "Math_1")
    answers = {
        f"validation_{name}": {"question_type": "multiple-choice", "ground_truth": "A"}
        for name in names
    }
    (tmp_path / "answer_dict_val.json").write_text(json.dumps(answers))
    replies = {f"validation_{name}": "A" if name.endswith("1") else "B" for name in names}
    path = tmp_path / "total_val_output.json"
    path.write_text(json.dumps(replies))
    metrics = snellen.score(path, "mmmu", data=tmp_path).report.scorings["official"].metrics
    assert {name: (metric.value, metric.n) for name, metric in metrics.items()} == {
        "accuracy": (0.6, 5),
        "accuracy/Art and Design": (0.5, 4),
        "accuracy/Science": (1.0, 1),
        "accuracy/Art": (pytest.approx(1 / 3), 3),
        "accuracy/Music": (1.0, 1),
        "accuracy/Math": (1.0, 1),
        "accuracy/multiple-choice": (0.6, 5),
    }

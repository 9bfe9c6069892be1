"""MM-Vet: its rows, prompts, what its judge is asked, and how grades are read."""

import gzip
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import mm_vet as file
from snellen.benchmarks.mm_vet import Preset, Version, layout, mm_vet
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge
from snellen.errors import DataError, UsageError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "mm_vet"


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.sample(row.position, row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def bundled(version: Version = "v1") -> dict[str, Sample]:
    return samples(mm_vet(version, data=BUNDLED))


def judge(version: Version = "v1") -> Judge:
    judge_report = mm_vet(version, data=BUNDLED).scorings["official"].judge
    assert judge_report is not None
    return judge_report


def judge_prompt(version: Version, sample: Sample, reply: str) -> str:
    (message,) = judge(version).prompt(sample, Reply(text=reply))
    return message.text


# -- data


def test_the_bundled_rows_need_every_ability() -> None:
    for version, abilities in (("v1", file.ABILITIES[:-1]), ("v2", ("seq",))):
        tags = [sample.tags for sample in bundled(version).values()]  # type: ignore[arg-type]
        assert {ability for ability in abilities if any(t[ability] for t in tags)} == {*abilities}


def test_a_sample_has_a_tag_for_each_of_its_abilities_and_one_for_the_set() -> None:
    """The set has the same name in whatever order the row has its members."""
    tags = bundled()["v1_1"].tags
    assert {tag for tag in tags.values() if tag} == {"ocr", "spat", "math", "ocr_spat_math"}
    assert bundled()["v1_4"].tags["abilities"] == "rec_only"


def test_each_bundled_picture_opens_and_questions_about_one_share_a_cluster() -> None:
    for version in ("v1", "v2"):
        benchmark = mm_vet(version, data=BUNDLED)
        actual = samples(benchmark)
        for sample in actual.values():
            for picture in sample.media:
                assert isinstance(picture, Image)
                assert images.load(picture).width == 120
        if version == "v1":
            assert benchmark.cluster_by is not None
            assert len({benchmark.cluster_by(sample) for sample in actual.values()}) == 5


def test_the_bard_set_is_a_part_of_all() -> None:
    part = samples(mm_vet(subset="bard", data=BUNDLED))
    assert list(part) == ["v1_4", "v1_6", "v1_8"]
    assert all(bundled()[name] == sample for name, sample in part.items())


def test_the_archives_own_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "mm-vet").symlink_to(BUNDLED)
    (picture,) = samples(mm_vet(data=tmp_path))["v1_0"].media
    assert isinstance(picture, Image)
    assert images.load(picture).label == "images/v1_0.png"


def test_llavas_questions_are_read_without_answers(tmp_path: Path) -> None:
    row = {"image": "v1_1.png", "text": "What is d?", "category": "conv", "question_id": 7}
    (tmp_path / "llava-mm-vet.jsonl").write_text(json.dumps(row) + "\n")
    (sample,) = samples(mm_vet(data=tmp_path)).values()
    assert (sample.id, sample.question, sample.target) == ("v1_7", "What is d?", None)
    assert sample.tags["abilities"] == ""


@pytest.mark.parametrize(
    "options",
    [
        {"version": "v2", "prompt": "llava"},
        {"version": "v2", "prompt": "lmms-eval"},
        {"version": "v2", "subset": "bard"},
    ],
)
def test_what_v2_does_not_have_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"v1|v2"):
        mm_vet(**options)


@pytest.mark.parametrize("content", ["[]", '{"v1_0": "What?"}', "{"])
def test_another_file_in_its_place_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "mm-vet.json").write_text(content)
    with pytest.raises(DataError, match=r"mm-vet\.json is not a JSON object"):
        samples(mm_vet(data=tmp_path))


# -- prompts: yuweihao/MM-Vet@acde843, inference/; lmms-eval@75571cf, lmms_eval/tasks/mmvet

LINE = (
    "You are a helpful assistant. Generate a short and concise response to the following image "
    "text pair."
)
STEPS = (
    "First please perform reasoning, and think step by step to provide best answer to the "
    "following question: \n\n"
)
X, SUM, COLOR = (
    "What is x in the first equation?",
    "What do a tea and a cake cost together?",
    "What colour is the disc?",
)
FIRST, SECOND, FOURTH = "images/v1_0.png", "images/v1_2.png", "images/v1_4.png"


@pytest.mark.parametrize(
    ("preset", "name", "texts"),
    [
        ("official", "v1_0", [X, FIRST]),
        ("official", "v1_2", [SUM, SECOND]),
        ("official", "v1_4", [COLOR, FOURTH]),
        ("gpt4v", "v1_0", [LINE, X, FIRST]),
        ("gpt4v", "v1_2", [LINE, SUM, SECOND]),
        ("gpt4v", "v1_4", [LINE, COLOR, FOURTH]),
        ("llava", "v1_0", [FIRST, X]),
        ("llava", "v1_2", [SECOND, SUM]),
        ("llava", "v1_4", [FOURTH, COLOR]),
        ("lmms-eval", "v1_0", [FIRST, STEPS + X]),
        ("lmms-eval", "v1_2", [SECOND, STEPS + SUM]),
        ("lmms-eval", "v1_4", [FOURTH, STEPS + COLOR]),
    ],
)
def test_a_prompt_is_the_bare_question_with_the_picture_where_they_put_it(
    preset: Preset, name: str, texts: list[str]
) -> None:
    benchmark = mm_vet(prompt=preset, data=BUNDLED)
    messages = benchmark.prompt(samples(benchmark)[name], ())
    assert [message.role for message in messages] == ["system", "user"][-len(messages) :]
    parts = [part for message in messages for part in message.content]
    assert [part if isinstance(part, str) else part.label for part in parts] == texts


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("v2_0", ["What is y in the second equation?", "images/v2_0_0.png"]),
        (
            "v2_1",
            [
                "First comes this:",
                "images/v2_1_0.png",
                "and then this:",
                "images/v2_1_1.png",
                "What is new?",
            ],
        ),
        ("v2_2", ["images/v2_2_0.png", "What is a juice and a cake?"]),
    ],
)
def test_in_v2_texts_and_pictures_stand_as_the_question_has_them(
    name: str, texts: list[str]
) -> None:
    benchmark = mm_vet("v2", data=BUNDLED)
    (message,) = benchmark.prompt(samples(benchmark)[name], ())
    parts = [part if isinstance(part, str) else part.label for part in message.content]
    assert parts == texts


# -- the judge: texts as mm-vet_evaluator.py and v2/mm-vet-v2_evaluator.py at acde843 build them


def test_the_judge_is_asked_in_the_authors_words() -> None:
    """A bar and a line in the reply stay as they are, and so break the table."""
    text = judge_prompt("v1", bundled()["v1_1"], "z is 7 | or\n-7")
    assert text.endswith(
        "characteristics. | 1.0\n\n"
        "What is z in the last equation? | 7 <AND> -7 | z is 7 | or\n-7 | "
    )
    digest = "e9f7a8325da93b9790f35410b29122b4505a87b6d6b4d124a471658aabd78d43"
    assert sha256(text.encode()).hexdigest() == digest


def test_in_v2_lines_are_marks_and_pictures_too() -> None:
    text = judge_prompt("v2", bundled("v2")["v2_1"], "A square |\nand more\n")
    assert text.endswith(
        "| First comes this:<br><image>and then this:<image><br>What is new? | "
        "a square <AND> a triangle | A square |<br>and more<br> | "
    )
    digest = "52fe0e945b84794bc2aed963df6cda0deb95adde03eb93ad69e5726f716d5452"
    assert sha256(text.encode()).hexdigest() == digest


def test_blanks_around_a_reply_go_in_v1_and_stay_in_v2() -> None:
    assert judge_prompt("v1", bundled()["v1_0"], "\n 4 ").endswith(" | 4 | 4 | ")
    assert judge_prompt("v2", bundled("v2")["v2_0"], "\n 9 ").endswith(" | 9 | <br> 9  | ")


def test_in_v2_a_name_with_a_blank_behind_it_is_a_picture_to_the_model_alone() -> None:
    sample = Sample(id="v2_9", question="What?<IMG>a.png <IMG>", target="x")
    assert "| What?a.png  | x |" in judge_prompt("v2", sample, "y")


def test_in_v2_three_endings_are_pictures_and_to_the_judge_one_needs_no_point() -> None:
    """v2/inference/claude.py#L37 and v2/mm-vet-v2_evaluator.py#L200."""
    question = "What?<IMG>a.jpg<IMG>b.png<IMG>c.jpeg<IMG>djpeg<IMG>e.gif"
    names = [text for is_picture, text in file.parts(question) if is_picture]
    assert names == ["a.jpg", "b.png", "c.jpeg"]
    text = judge_prompt("v2", Sample(id="v2_9", question=question, target="x"), "y")
    assert f"| What?{'<image>' * 4}e.gif | x |" in text


def test_the_judge_has_three_tokens() -> None:
    assert judge().max_answer_tokens == judge("v2").max_answer_tokens == 3


def test_alternatives_are_set_apart() -> None:
    assert " | 6.50 <OR> 6.5 | " in judge_prompt("v1", bundled()["v1_2"], "6.50")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("0.0", 0.0),
        ("1", 1.0),
        ("0.7 since", 0.7),
        ("0.5\n", 0.5),
        ("1e-1", 0.1),
        (" 0.5", None),
        ("0.5\nsince", None),
        ("0.5.", None),
        ("1.1", None),
        ("-0.1", None),
        ("nan", None),
        ("The", None),
        ("", None),
        ("0.5|", None),
    ],
)
def test_a_grade_is_the_number_up_to_the_first_blank(words: str, expected: float | None) -> None:
    assert judge().parse(words, bundled()["v1_0"]).answer == expected


def test_every_reply_is_for_the_judge() -> None:
    scoring = mm_vet(data=BUNDLED).scorings["official"]
    for text in ("", "4", "x = 4"):
        reading = scoring.parse(Reply(text=text), bundled()["v1_0"])
        assert judge().when(reading)
        assert scoring.score(reading, bundled()["v1_0"]) is None


# -- published grades


def grades(folder: Path, rows: dict[str, Any], name: str = "m_gpt-4-0613-grade-2runs.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(rows))
    return path


def row(*runs: float, words: tuple[str, ...] = ()) -> dict[str, Any]:
    text = words or tuple(str(score) for score in runs)
    return {"model": ["gpt-4"] * len(runs), "content": list(text), "score": list(runs)}


def test_grades_are_averaged_over_runs_abilities_and_sets_of_them(tmp_path: Path) -> None:
    """By hand: of ten questions v1_0 has 1/2 and v1_4 has 1/4 on average."""
    rows = {name: row(0.0, 0.0) for name in bundled()}
    rows |= {"v1_0": row(1.0, 0.0), "v1_4": row(0.5, 0.0)}
    report = snellen.score(grades(tmp_path, rows), "mm-vet", data=BUNDLED).report
    metrics = report.scorings["official"].metrics
    assert metrics["score"].value == pytest.approx(0.75 / 10)
    assert metrics["score/ocr"].value == pytest.approx(0.5 / 6)
    assert metrics["score/rec"].value == pytest.approx(0.25 / 5)
    assert metrics["score/rec_only"].value == pytest.approx(0.25)
    assert metrics["score/ocr_math"].value == pytest.approx(0.5 / 2)
    assert "graded 2 times by gpt-4" in report.notes


def test_a_question_without_a_grade_counts_as_0(tmp_path: Path) -> None:
    report = snellen.score(grades(tmp_path, {"v1_0": row(1.0)}), "mm-vet", data=BUNDLED).report
    metric = report.scorings["official"].metrics["score"]
    assert metric.value == pytest.approx(0.1)
    assert metric.n == 10


def test_a_reply_without_a_grade_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(dict.fromkeys(bundled(), "a reply")))
    report = snellen.score(grades(tmp_path, {"v1_0": row(1.0)}), "mm-vet", data=BUNDLED).report
    scoring = report.scorings["official"]
    assert scoring.readings == {"answered": 1, "not-judged": 9}
    assert scoring.metrics["score"].value == 1.0


def test_the_replies_are_read_from_the_file_beside(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "m.json.gz", "wt") as out:
        out.write(json.dumps({"v1_0": "x is 4"}))
    published = layout(grades(tmp_path, {"v1_0": row(1.0)}))
    assert published is not None
    assert published.replies == {"v1_0": "x is 4"}
    assert not any("only its grades count" in note for note in published.notes)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("m_gpt-4-0613-grade-1runs.json", "m"),
        ("m_13b_gpt-4-grade-5runs.json", "m_13b"),
        ("m_gpt-4-0613-grade-1runs_dev8.json", "m"),
    ],
)
def test_a_file_of_grades_is_named_after_its_model(tmp_path: Path, name: str, model: str) -> None:
    (tmp_path / f"{model}.json").write_text(json.dumps({"v1_0": "x is 4"}))
    grades(tmp_path, {"v1_0": row(1.0)}, name)
    published = layout(tmp_path)
    assert published is not None
    assert published.replies == {"v1_0": "x is 4"}


def test_where_words_are_no_grade_the_authors_is_taken(tmp_path: Path) -> None:
    rows = {"v1_0": row(0.0, words=("BadRequestError",)), "v1_1": row(0.5, words=("0.5 or",))}
    published = layout(grades(tmp_path, rows))
    assert published is not None
    assert published.verdicts == {"official": {"v1_0": ("0.0",), "v1_1": ("0.5 or",)}}
    assert any(note.startswith("1 grades were filled in") for note in published.notes)


def test_grades_of_runs_that_did_not_end_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 to 2 grades per question"):
        layout(grades(tmp_path, {"v1_0": row(1.0, 1.0), "v1_1": row(1.0)}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ["1.0"], "score": [1.5]},
        {"content": ["1.0"], "score": []},
        {"content": ["1.0"], "score": ["1.0"]},
        {"content": "1.0", "score": [1.0]},
        {"content": [None], "score": [1.0]},
    ],
)
def test_a_row_that_is_no_grade_is_named(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="'v1_3' must have a list of texts"):
        layout(grades(tmp_path, {"v1_3": wrong}))


def test_a_folder_with_one_file_of_grades_is_read_and_with_two_refused(tmp_path: Path) -> None:
    assert layout(tmp_path) is None
    path = grades(tmp_path, {"v1_0": row(1.0)})
    assert layout(tmp_path) == layout(path)
    grades(tmp_path, {"v1_0": row(1.0)}, "n_gpt-4-grade-1runs.json")
    with pytest.raises(DataError, match="several files of grades"):
        layout(tmp_path)


def test_llavas_answers_have_their_ids_completed(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"question_id": 0, "prompt": "What?", "text": "4", "answer_id": "a"}\n')
    published = layout(path)
    assert published is not None
    assert published.replies == {"v1_0": "4"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '{"v1_0": "4"}'),
        ("a.json", "{}"),
        ("a.json", "[1]"),
        ("a.json", "{"),
        ("a.jsonl", '{"id": "v1_0", "response": "4"}'),
        ("a.csv", "id,response"),
    ],
)
def test_other_files_are_left_to_others(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert layout(tmp_path / name) is None

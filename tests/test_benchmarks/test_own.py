"""Own rows without code: what they are taken for, what is asked, what replies are worth."""

import base64
import json
import math
import tracemalloc
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import PIL.Image
import pytest

import snellen
from snellen.benchmarks.families import own_rows
from snellen.benchmarks.families.own_rows import guess, own_data, stored
from snellen.benchmarks.families.own_samples import image_key
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply, Request
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.data import csv
from snellen.errors import DataError, MediaError, UsageError
from snellen.media import images
from snellen.media.content import Image, Video
from snellen.run import dummies
from snellen.scoring import Scored, Tally
from tests import videos
from tests.test_long_replies import SECONDS, at_most

BUNDLED = Path(own_rows.__file__).parents[1] / "rows" / "own"
MCQ = {"image": "1.png", "question": "What is it?", "A": "a cat", "B": "a dog"}
OPEN = {"image": "1.png", "question": "What is it?"}


def jsonl(folder: Path, *rows: Mapping[str, Any], name: str = "mine.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.sample(row.position, row) for row in benchmark.data]


def only(folder: Path, row: Mapping[str, Any], **options: Any) -> Sample:
    return samples(own_data(jsonl(folder, row), **options))[0]


def first_text(benchmark: Benchmark) -> str:
    """The text of the first request."""
    request = benchmark.request(samples(benchmark)[0])
    assert request is not None
    return request.messages[0].text


def score(
    task: str, reply: str, scoring: str = "default", **sample: Any
) -> tuple[Any, float | None]:
    """What a scoring reads in a reply, and what it gives for it."""
    of = stored("mine", {"task": task, "columns": {}}).scorings[scoring]
    about = Sample(**{"id": "1", "question": "?", **sample})
    reading = of.parse(Reply(text=reply), about)
    return reading.answer, total_score(of.score(reading, about))


# -- the task


@pytest.mark.parametrize(
    ("rows", "task", "why"),
    [
        ([MCQ], "mcq", "the columns A to B"),
        ([{**OPEN, "choices": ["x", "y"]}], "mcq", "the column 'choices'"),
        ([{**OPEN, "answer": "yes"}, {**OPEN, "answer": "No"}], "yesno", "which are all yes or no"),
        ([{**OPEN, "answer": True}], "yesno", "which are all yes or no"),
        ([{**OPEN, "answer": 3}, {**OPEN, "answer": "12"}], "count", "whole numbers"),
        ([{**OPEN, "answer": 3}, {**OPEN, "answer": "many"}], "vqa", "some of which are in words"),
        ([{**OPEN, "answer": "yes"}, {**OPEN, "answer": "3"}], "vqa", "some of which are in words"),
        ([{**OPEN, "A": "a cat"}], "vqa", "without answers"),
        ([{"image": "1.png", "captions": ["a cat"]}], "caption", "rows without a question"),
        ([{"image": "1.png"}], "caption", "rows without a question"),
    ],
)
def test_the_task_is_guessed_from_columns_and_answers(
    tmp_path: Path, rows: list[dict[str, Any]], task: str, why: str
) -> None:
    path = jsonl(tmp_path, *rows)

    assert guess(path).task == task
    assert why in guess(path).why
    assert own_data(path).provenance.options["task"] == task


def test_the_task_that_is_given_is_not_guessed(tmp_path: Path) -> None:
    assert (
        own_data(jsonl(tmp_path, {**OPEN, "answer": "3"}), task="vqa").provenance.options["task"]
        == "vqa"
    )


@pytest.mark.parametrize("task", ["vqa", "yesno", "count", "caption"])
@pytest.mark.parametrize("choices", [{"A": "a cat", "B": "a dog"}, {"choices": ["a cat", "a dog"]}])
def test_a_task_without_choices_is_refused_if_the_answers_are_their_letters(
    tmp_path: Path, task: str, choices: Mapping[str, Any]
) -> None:
    rows = jsonl(tmp_path, {**OPEN, **choices, "answer": "B"})
    with pytest.raises(DataError, match=f"--task {task} does not show the choices.*--task mcq"):
        own_data(rows, task=task)


def test_choices_that_a_task_does_not_show_are_noted(tmp_path: Path) -> None:
    benchmark = own_data(jsonl(tmp_path, {**MCQ, "answer": "a dog"}), task="vqa")
    assert "--task vqa does not show the choices of the rows (columns A to B)" in benchmark.notes
    assert "a cat" not in first_text(benchmark)


def test_no_more_than_1000_rows_are_read_to_guess(tmp_path: Path) -> None:
    path = jsonl(tmp_path, *[{**OPEN, "answer": "3"}] * 1000, {**OPEN, "answer": "many"})

    assert guess(path).task == "count"


@pytest.mark.parametrize("several", [False, True])
def test_pictures_in_rows_are_not_held_to_guess_the_task(tmp_path: Path, several: bool) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra `parquet`")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "mine.parquet"
    pictures = [{"bytes": Random(n).randbytes(1_000_000), "path": "1.png"} for n in range(20)]
    rows = [
        {"question": "?", "image": [picture] if several else picture, "answer": "3"}
        for picture in pictures
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)

    tracemalloc.start()
    actual = guess(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert actual.task == "count"
    assert most < 12_000_000


def test_an_unknown_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no task 'ocr'; the tasks are mcq, vqa"):
        own_data(jsonl(tmp_path, OPEN), task="ocr")


# -- what is asked


def test_choices_are_asked_as_llava_does(tmp_path: Path) -> None:
    assert first_text(own_data(jsonl(tmp_path, {**MCQ, "hint": "It barks."}))) == (
        "It barks.\nWhat is it?\nA. a cat\nB. a dog\n"
        "Answer with the option's letter from the given choices directly."
    )


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("vqa", "What is it?\nAnswer the question using a single word or phrase."),
        ("yesno", "What is it?\nAnswer with yes or no."),
        ("count", "What is it?\nAnswer with one number."),
        ("caption", "What is it?\nDescribe the image in one sentence."),
    ],
)
def test_each_task_asks_for_its_form_of_answer(tmp_path: Path, task: str, text: str) -> None:
    assert first_text(own_data(jsonl(tmp_path, OPEN), task=task)) == text


def test_a_caption_needs_no_question(tmp_path: Path) -> None:
    benchmark = own_data(jsonl(tmp_path, {"image": "1.png"}))

    assert first_text(benchmark) == "Describe the image in one sentence."


def test_columns_in_other_words_are_not_taken_for_captions(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"neither a column 'question' nor .*The columns are frage, ant"
    ):
        own_data(jsonl(tmp_path, {"frage": "Was ist das?", "antwort": "eine Katze"}))


def test_images_come_before_the_text(tmp_path: Path) -> None:
    benchmark = own_data(jsonl(tmp_path, {**OPEN, "image": ["1.png", "2.png"]}))
    request = benchmark.request(samples(benchmark)[0])

    assert request is not None
    first, second, text = request.messages[0].content
    assert isinstance(first, Image) and first.source == tmp_path / "1.png"
    assert isinstance(second, Image) and second.source == tmp_path / "2.png"
    assert isinstance(text, str)


def test_a_sheet_is_asked_as_the_same_rows_in_json_are(tmp_path: Path) -> None:
    row = {**MCQ, "id": "7", "answer": "B", "category": "animals"}
    sheet = tmp_path / "mine.csv"
    sheet.write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n")

    assert samples(own_data(sheet)) == samples(own_data(jsonl(tmp_path, row)))


# -- columns


def test_a_row_without_an_id_has_its_number(tmp_path: Path) -> None:
    assert [s.id for s in samples(own_data(jsonl(tmp_path, OPEN, OPEN)))] == ["0", "1"]


@pytest.mark.parametrize("column", ["id", "index"])
def test_an_id_is_taken_from_its_column(tmp_path: Path, column: str) -> None:
    assert only(tmp_path, {**OPEN, column: 17}).id == "17"


def test_a_row_with_an_empty_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 2 of mine\.jsonl has no 'id'"):
        samples(own_data(jsonl(tmp_path, {**OPEN, "id": "1"}, {**OPEN, "id": ""})))


def test_columns_of_other_names_are_mapped(tmp_path: Path) -> None:
    row = {"photo": "1.png", "Prompt": "What is it?", "truth": "a cat", "question": "not this"}

    sample = only(
        tmp_path, row, columns={"photo": "image", "Prompt": "question", "truth": "answer"}
    )

    assert (sample.question, sample.target) == ("What is it?", "a cat")
    assert sample.media[0].label == "1.png"


def test_a_map_of_a_column_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        own_data(jsonl(tmp_path, MCQ), columns={"imge": "image"})

    assert str(error.value) == (
        "mine.jsonl has no column 'imge' (--map imge=image). "
        "Did you mean 'image'? The columns are image, question, A, B."
    )


def test_a_map_to_a_field_that_is_not_ours_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no field 'anser'\. Did you mean 'answer'"):
        own_data(jsonl(tmp_path, MCQ), columns={"image": "anser"})


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {"question": "?", "img": "1.png"},
            "no column 'image' or 'images' or 'image_path', which vqa",
        ),
        ({"Question": "?", "image": "1.png", "A": "x", "B": "y"}, "Did you mean 'Question'"),
    ],
)
def test_a_column_that_is_needed_and_missing_is_named(
    tmp_path: Path, row: dict[str, str], words: str
) -> None:
    with pytest.raises(DataError, match=words) as error:
        own_data(jsonl(tmp_path, row))
    assert "--map" in str(error.value)


@pytest.mark.parametrize("column", ["Answer", "ANSWERS", "anwser", "gt_answer"])
def test_a_column_that_is_nearly_called_answer_is_refused_by_its_own_name(
    tmp_path: Path, column: str
) -> None:
    path = jsonl(tmp_path, {**OPEN, column: "a cat"})

    with pytest.raises(DataError, match=f"but '{column}'.* with --map {column}=answer"):
        own_data(path)
    assert samples(own_data(path, columns={column: "answer"}))[0].target == "a cat"


@pytest.mark.parametrize("column", ["answer_type", "answerable", "has_answer"])
def test_a_column_about_answers_does_not_keep_rows_with_hidden_ones_from_being_asked(
    tmp_path: Path, column: str
) -> None:
    benchmark = own_data(jsonl(tmp_path, {**OPEN, column: "number"}))

    assert (
        "the rows have no column of answers: replies are stored but not scored" in benchmark.notes
    )


def test_a_column_of_answers_that_is_mapped_to_something_else_is_no_answer(tmp_path: Path) -> None:
    benchmark = own_data(jsonl(tmp_path, {**OPEN, "answer": "cat"}), columns={"answer": "hint"})

    assert samples(benchmark)[0].target is None


def test_choices_that_are_needed_and_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no choices, which mcq needs"):
        own_data(jsonl(tmp_path, OPEN), task="mcq")


def test_small_cells_of_unknown_columns_are_kept_with_the_sample(tmp_path: Path) -> None:
    row = {**OPEN, "source": "web", "year": 1999, "long": "x" * 5000, "list": [1]}

    assert only(tmp_path, row).data == {"source": "web", "year": 1999, "image": "1.png"}


def test_results_are_broken_down_by_category_and_split_where_they_are(tmp_path: Path) -> None:
    rows: list[dict[str, Any]]
    rows = [{**OPEN, "category": "animals"}, {**OPEN, "category": None}]
    benchmark = own_data(jsonl(tmp_path, *rows))

    assert benchmark.presentation.break_down_by == ("category",)
    assert [s.tags for s in samples(benchmark)] == [{"category": "animals"}, {"category": ""}]


def test_samples_about_one_image_are_one_cluster(tmp_path: Path) -> None:
    cell = base64.b64encode(b"x" * 100).decode()
    rows: list[dict[str, str]]
    rows = [OPEN, OPEN, {**OPEN, "image": "2.png"}, {**OPEN, "image": f"/9j/{cell}"}]
    benchmark = own_data(jsonl(tmp_path, *rows, rows[-1]))
    assert benchmark.cluster_by is not None

    clusters = [benchmark.cluster_by(sample) for sample in samples(benchmark)]

    assert clusters[0] == clusters[1]
    assert clusters[3] == clusters[4]
    assert len(set(clusters)) == 3


def test_what_rows_about_one_picture_share_is_made_without_another_copy_of_it() -> None:
    item, same, other = (Image(bytes([n]) * 2_000_000) for n in (1, 1, 2))

    tracemalloc.start()
    keys = [image_key(image) for image in (item, same, other)]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert keys[0] == keys[1] != keys[2]
    assert most < 1_000_000


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mine.jsonl", "mine"),
        ("My rows (2).v1.jsonl.gz", "My-rows-2-.v1"),
        ("mmbench.tsv", "mmbench-own"),
        ("..jsonl", "rows"),
    ],
)
def test_a_benchmark_has_the_name_of_its_file(name: str, expected: str) -> None:
    assert own_rows._safe_name(Path(name)) == expected


def test_own_rows_never_have_the_name_of_a_benchmark_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ovo_bench.py").touch()
    monkeypatch.setattr(own_rows, "__file__", str(tmp_path / "families" / "own_rows.py"))

    assert own_rows._safe_name(Path("OVO-bench.jsonl")) == "OVO-bench-own"


# -- images


@pytest.mark.parametrize("column", ["image", "images", "image_path"])
@pytest.mark.parametrize("form", [["a.png", "b.png"], '["a.png", "b.png"]'])
def test_several_images_are_a_list_or_its_text(tmp_path: Path, column: str, form: Any) -> None:
    sample = only(tmp_path, {"question": "?", column: form})

    assert [image.label for image in sample.media] == ["a.png", "b.png"]


def test_a_path_is_relative_to_the_file_and_may_not_leave_its_folder(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "1.png").write_bytes(b"secret")
    image = only(tmp_path / "rows", {**OPEN, "image": "../1.png"}).media[0]

    assert isinstance(image, Image)
    with pytest.raises(MediaError, match=r"\.\./1\.png is outside"):
        images.load(image)


def test_images_can_lie_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    image = only(tmp_path, OPEN, data=tmp_path / "pictures").media[0]

    assert image.source == tmp_path / "pictures/1.png"


@pytest.mark.parametrize("form", ["{}", "data:image/png;base64,{}"])
def test_a_picture_in_the_row_is_its_bytes(tmp_path: Path, form: str) -> None:
    data = (BUNDLED / "images/circle.png").read_bytes()
    image = only(tmp_path, {**OPEN, "image": form.format(base64.b64encode(data).decode())}).media[0]

    assert isinstance(image, Image)
    loaded = images.load(image)
    assert loaded.source == data
    assert loaded.label == "row 1 of mine.jsonl, image"


def test_a_broken_picture_in_a_row_fails_when_it_is_loaded_and_not_before(tmp_path: Path) -> None:
    image = only(tmp_path, {**OPEN, "image": "iVBORw0KGgo" + "A" * 90 + "!"}).media[0]

    assert isinstance(image, Image)
    with pytest.raises(MediaError, match=r"row 1 of mine\.jsonl, image"):
        images.load(image)


def test_an_address_in_a_row_is_not_fetched(tmp_path: Path) -> None:
    image = only(tmp_path, {**OPEN, "image": "https://example.org/1.png"}).media[0]

    assert isinstance(image, Image)
    with pytest.raises(
        MediaError,
        match=r"row 1 of mine\.jsonl, image is a URL.*--allow-urls.*download the pic",
    ):
        images.load(image)


def test_a_row_without_an_image_is_asked_without(tmp_path: Path) -> None:
    assert only(tmp_path, {**OPEN, "image": ""}).media == ()


def test_rows_without_an_image_among_others_are_counted_in_the_notes(tmp_path: Path) -> None:
    cells: list[Any] = ["1.png", "", None, [], "2.png"]
    rows = [{**MCQ, "image": cell} for cell in cells]

    notes = own_data(jsonl(tmp_path, *rows)).notes

    assert "3 of the first 5 rows have no image or video: they are asked as text alone" in notes
    assert not any("no image" in note for note in own_data(BUNDLED / "mcq.jsonl").notes)


# -- videos

CLIP = {"video": "1.mp4", "question": "What is it?"}


def film(folder: Path, row: Mapping[str, Any], **options: Any) -> Video:
    (media,) = only(folder, row, **options).media
    assert isinstance(media, Video)
    return media


@pytest.mark.parametrize("column", ["video", "video_path"])
def test_a_video_is_a_file_beside_the_rows(tmp_path: Path, column: str) -> None:
    assert film(tmp_path, {"question": "?", column: "clips/1.mp4"}) == Video(
        tmp_path / "clips/1.mp4", label="clips/1.mp4", within=tmp_path
    )


def test_videos_can_lie_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    assert film(tmp_path, CLIP, data=tmp_path / "clips").source == tmp_path / "clips/1.mp4"


@pytest.mark.parametrize(
    ("cells", "window"),
    [
        ({}, (0.0, None)),
        ({"start": None, "end": ""}, (0.0, None)),
        ({"start": 2}, (2.0, None)),
        ({"end": 7.5}, (0.0, 7.5)),
        ({"start": "2", "end": "7.5"}, (2.0, 7.5)),
        ({"start": 0, "end": 1e-3}, (0.0, 0.001)),
    ],
)
def test_a_part_of_a_video_is_given_in_seconds(
    tmp_path: Path, cells: dict[str, Any], window: tuple[float, float | None]
) -> None:
    video = film(tmp_path, {**CLIP, **cells})

    assert (video.start, video.end) == window


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"start": -1}, "has the start '-1', which is not a time in a video.*leave the cell empty"),
        ({"end": "-0.5"}, "has the end '-0.5', which"),
        ({"end": "1:23"}, "has the end '1:23', which.*Write seconds .* such as 83.5"),
        ({"start": "begin"}, "has the start 'begin', which"),
        ({"start": True}, "has the start 'True', which"),
        ({"start": [1]}, r"has the start '\[1\]', which"),
        ({"start": "nan"}, "has the start 'nan', which"),
        ({"end": "inf"}, "has the end 'inf', which"),
        ({"start": 7, "end": 7}, "empty part of a video: it begins at 7 s and ends at 7 s"),
        ({"start": 7.5, "end": 2}, "begins at 7.5 s and ends at 2 s"),
        ({"end": 0}, "begins at the video's start and ends at 0 s"),
        ({"video": "", "end": 3}, "has the time 3 s but no video"),
        ({"video": ["1.mp4", "2.mp4"]}, "video is a list of 2. A row may have only one video"),
        ({"video": 3}, "video is of type int"),
        (
            {"video": "data:video/mp4;base64,AAAA"},
            "is the content of a video.*Save the video",
        ),
        ({"video": "https://example.org/1.mp4"}, "is the URL of a video.*Download the v"),
    ],
)
def test_a_video_that_cannot_be_shown_is_named(
    tmp_path: Path, cells: dict[str, Any], words: str
) -> None:
    with pytest.raises(DataError, match=rf"row 1 of mine\.jsonl.* {words}"):
        only(tmp_path, {**CLIP, **cells})


def test_a_row_without_a_video_is_asked_without(tmp_path: Path) -> None:
    assert only(tmp_path, {**CLIP, "video": None}).media == ()


def test_images_come_before_the_video_and_it_before_the_text(tmp_path: Path) -> None:
    request = own_data(jsonl(tmp_path, {**CLIP, "image": ["1.png", "2.png"]})).request(
        only(tmp_path, {**CLIP, "image": ["1.png", "2.png"]})
    )

    assert request is not None
    first, second, video, text = request.messages[0].content
    assert isinstance(first, Image) and isinstance(second, Image)
    assert isinstance(video, Video) and video.label == "1.mp4"
    assert isinstance(text, str)


@pytest.mark.parametrize(
    ("task", "row", "text"),
    [
        (
            "mcq",
            {"A": "a cat", "B": "a dog"},
            "What is it?\nA. a cat\nB. a dog\n"
            "Answer with the option's letter from the given choices directly.",
        ),
        ("vqa", {}, "What is it?\nAnswer the question using a single word or phrase."),
        ("yesno", {}, "What is it?\nAnswer with yes or no."),
        ("count", {}, "What is it?\nAnswer with one number."),
        ("caption", {"question": ""}, "Describe the video in one sentence."),
    ],
)
def test_each_task_asks_about_a_video(
    tmp_path: Path, task: str, row: dict[str, str], text: str
) -> None:
    assert first_text(own_data(jsonl(tmp_path, {**CLIP, **row}), task=task)) == text


def test_a_video_without_questions_is_to_be_described(tmp_path: Path) -> None:
    assert guess(jsonl(tmp_path, {"video": "1.mp4"})).task == "caption"


def test_a_video_is_shown_in_64_frames_unless_told_otherwise(tmp_path: Path) -> None:
    benchmark = own_data(jsonl(tmp_path, CLIP))
    request = benchmark.request(samples(benchmark)[0])

    assert benchmark.procedure.frames == "uniform:64"
    assert request is not None
    assert [video.policy for video in request.messages[0].videos] == ["uniform:64"]


def test_rows_of_images_have_no_frame_policy(tmp_path: Path) -> None:
    benchmark = own_data(jsonl(tmp_path, OPEN))

    assert (benchmark.procedure.frames, benchmark.procedure.group_by) == (None, None)


def test_questions_on_one_video_are_one_group_and_one_cluster(tmp_path: Path) -> None:
    rows: list[dict[str, Any]]
    rows = [
        {**CLIP, "end": 3},
        {**CLIP, "video": "2.mp4", "image": "1.png"},
        {**CLIP, "start": 3, "image": "1.png"},
        {**CLIP, "video": "", "image": "1.png"},
    ]
    benchmark = own_data(jsonl(tmp_path, *rows))
    assert benchmark.procedure.group_by is not None and benchmark.cluster_by is not None

    for key in (benchmark.procedure.group_by, benchmark.cluster_by):
        assert [key(sample) for sample in samples(benchmark)] == [
            "1.mp4",
            "2.mp4",
            "1.mp4",
            "1.png",
        ]


def test_start_and_end_mean_nothing_without_videos(tmp_path: Path) -> None:
    row = {**OPEN, "start": "begin", "end": "stop"}

    assert only(tmp_path, row).data == {"start": "begin", "end": "stop", "image": "1.png"}


def test_a_map_to_a_part_of_no_video_is_refused(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {**OPEN, "from": 3})

    with pytest.raises(UsageError, match=r"--map from=start .*mine\.jsonl has no column 'video'"):
        own_data(path, columns={"from": "start"})


def test_columns_of_a_video_have_other_names_by_map(tmp_path: Path) -> None:
    video = film(
        tmp_path,
        {"clip": "1.mp4", "question": "?", "from": 1, "until": 2},
        columns={"clip": "video", "from": "start", "until": "end"},
    )

    assert (video.label, video.start, video.end) == ("1.mp4", 1.0, 2.0)


@pytest.mark.parametrize("column", ["Video", "clip", "videos", "mp4"])
def test_a_misspelt_column_of_videos_is_not_asked_about_without_them(
    tmp_path: Path, column: str
) -> None:
    with pytest.raises(DataError, match="no column 'video' or 'video_path', which vqa needs"):
        own_data(jsonl(tmp_path, {"question": "?", column: "1.mp4"}))


@pytest.mark.parametrize("column", ["evidence", "provider", "eclipse"])
def test_a_column_that_only_sounds_like_a_video_is_none(tmp_path: Path, column: str) -> None:
    assert only(tmp_path, {"question": "?", column: "x"}).media == ()


def test_a_video_needs_no_column_of_images_whatever_others_are_called(tmp_path: Path) -> None:
    benchmark = own_data(jsonl(tmp_path, {**CLIP, "url": "https://example.org/1"}))

    assert "columns that are not used: url" in benchmark.notes
    assert [medium.label for medium in samples(benchmark)[0].media] == ["1.mp4"]


def test_a_sheet_of_videos_is_asked_as_the_same_rows_in_json_are(tmp_path: Path) -> None:
    sheet = tmp_path / "mine.csv"
    sheet.write_text("id,video,start,end,question,A,B\n7,1.mp4,0.5,,What?,a cat,a dog\n")
    row = {"id": "7", "video": "1.mp4", "start": 0.5, "question": "What?", "A": "a cat"}

    assert samples(own_data(sheet)) == samples(
        own_data(jsonl(tmp_path, {**row, "B": "a dog", "end": None}))
    )


def test_stored_replies_about_videos_are_clustered_without_the_rows(tmp_path: Path) -> None:
    benchmark = own_data(jsonl(tmp_path, CLIP))
    again = stored(benchmark.name, json.loads(json.dumps(dict(benchmark.provenance.options))))
    (sample,) = samples(benchmark)

    assert again.cluster_by is not None
    assert again.cluster_by(sample) == "1.mp4"


class Looks:
    """Says which frames it was shown."""

    def __init__(self) -> None:
        self.name = "looks"
        self.saw: list[list[tuple[float, int]]] = []

    async def generate(self, request: Request) -> Reply:
        (video,) = request.messages[0].videos
        frames = []
        for frame in video.frames:
            assert isinstance(frame.image.source, bytes)
            picture = PIL.Image.open(BytesIO(frame.image.source)).convert("RGB")
            frames.append((frame.time, videos.index_of(np.asarray(picture))))
        self.saw.append(frames)
        return Reply(text="A")


def test_own_videos_are_run_and_scored(tmp_path: Path) -> None:
    videos.cfr(tmp_path / "1.mp4", n=40, fps=10)
    choices = {"A": "a cat", "B": "a dog", "answer": "A"}
    path = jsonl(
        tmp_path,
        {**CLIP, **choices, "id": "part", "start": 1.0, "end": 2.0},
        {**CLIP, **choices, "id": "gone", "video": "2.mp4"},
    )
    model = Looks()

    result = snellen.evaluate(str(path), model=model, task="mcq", out=tmp_path / "runs")

    assert model.saw == [[(index / 10, index) for index in range(10, 20)]]
    assert (result.headline.value, result.headline.n) == (1.0, 1)
    assert result.failed == 1


# -- choices and what is right


@pytest.mark.parametrize("answer", ["B", "b", "a dog", " a dog "])
def test_the_right_choice_is_given_by_letter_or_text(tmp_path: Path, answer: str) -> None:
    assert only(tmp_path, {**MCQ, "answer": answer}).target == "B"


@pytest.mark.parametrize("choices", [["a cat", "a dog"], '["a cat", "a dog"]'])
def test_choices_are_a_list_or_its_text(tmp_path: Path, choices: Any) -> None:
    sample = only(tmp_path, {**OPEN, "choices": choices, "answer": "a dog"})

    assert sample.choices == ("a cat", "a dog")
    assert sample.target == "B"


def test_cells_none_and_na_are_choices_like_others(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("image\tquestion\tA\tB\tanswer\n1.png\t?\tNone\tNA\tNA\n")
    sample = samples(own_data(path))[0]

    assert (sample.choices, sample.target) == (("None", "NA"), "B")


def test_letters_left_empty_at_the_end_are_no_choices(tmp_path: Path) -> None:
    assert only(tmp_path, {**MCQ, "C": "", "D": None, "answer": "A"}).choices == ("a cat", "a dog")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {**MCQ, "answer": "a bird"},
            "row 1 of mine.jsonl has the answer 'a bird', which is neither",
        ),
        ({**MCQ, "answer": "C"}, "the answer 'C', but only 2 choices"),
        ({**MCQ, "answer": 1}, "neither the letter nor the text"),
        ({**MCQ, "A": "B", "B": "A", "answer": "A"}, "could mean A or B"),
        ({**MCQ, "A": "same", "B": "same", "answer": "same"}, "could mean A or B"),
        ({**MCQ, "answer": ["A", "B"]}, "2 different answers; mcq takes one"),
        ({**MCQ, "C": "", "D": "a fish"}, "has a choice D but no choice C"),
        ({**MCQ, "B": ""}, "has 1 choices; there must be 2 to 26"),
        ({**OPEN, "choices": "a cat"}, "has 1 choices"),
        ({**MCQ, "A": "", "B": ""}, "no choices, but the file is asked as multiple choice"),
        ({**MCQ, "question": ""}, "has no question"),
        ({**MCQ, "image": 3}, "image is an int"),
    ],
)
def test_a_row_that_cannot_be_asked_or_scored_is_named(
    tmp_path: Path, row: dict[str, Any], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        only(tmp_path, row)


@pytest.mark.parametrize(("task", "answer"), [("yesno", "perhaps"), ("count", "many")])
def test_an_answer_that_a_task_cannot_have_is_named(tmp_path: Path, task: str, answer: str) -> None:
    with pytest.raises(DataError, match=f"row 1 .* {answer!r}, which is not valid for {task}"):
        only(tmp_path, {**OPEN, "answer": answer}, task=task)


@pytest.mark.parametrize("hidden", [{}, {"answer": None}, {"answer": ""}, {"answer": []}])
def test_a_row_without_an_answer_has_no_target(tmp_path: Path, hidden: dict[str, Any]) -> None:
    sample = only(tmp_path, {**MCQ, **hidden})

    assert sample.target is None
    assert sample.references == ()


def test_several_answers_are_references(tmp_path: Path) -> None:
    assert only(tmp_path, {**OPEN, "answers": '["cat", "kitten"]'}).references == ("cat", "kitten")


def test_an_answer_in_brackets_that_is_no_list_of_words_is_one_answer(tmp_path: Path) -> None:
    assert only(tmp_path, {**OPEN, "answer": "[3, 4]"}).target == "[3, 4]"


def test_each_row_has_its_answer_whichever_of_its_names_the_column_has(tmp_path: Path) -> None:
    rows: list[dict[str, Any]]
    rows = [{**OPEN, "answer": "cat"}, {**OPEN, "answers": ["cat", "kitten"]}]

    item, two = samples(own_data(jsonl(tmp_path, *rows)))

    assert item.target == "cat"
    assert two.references == ("cat", "kitten")


def test_a_picture_in_the_row_comes_before_a_path_to_it(tmp_path: Path) -> None:
    rows = [{**OPEN, "image_path": "2.png"}, {**OPEN, "image": "", "image_path": "2.png"}]

    item, two = samples(own_data(jsonl(tmp_path, *rows)))

    assert (item.media[0].label, two.media[0].label) == ("1.png", "2.png")


def test_two_columns_for_one_field_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="maps both 'A' and 'B' to question"):
        own_data(jsonl(tmp_path, MCQ), columns={"A": "question", "B": "question"})


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"mine\.jsonl has no rows"):
        own_data(jsonl(tmp_path))


def test_a_sheet_is_read_as_a_sheet(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("image,question,answer\n1.png,?,yes\n")

    assert own_data(path).data.facts() == csv(path).facts()


# -- replies


@pytest.mark.parametrize(
    ("reply", "answer", "points"),
    [
        ("B", "B", 1),
        ("(B) a dog", "B", 1),
        ("The answer is B.", "B", 1),
        ("a dog", "B", 1),
        ("A", "A", 0),
        ("A B", None, 0),
        ("A or B", None, 0),
        ("", None, 0),
        ("Neither.", None, 0),
    ],
)
def test_a_choice_is_read(reply: str, answer: str | None, points: float) -> None:
    assert score("mcq", reply, choices=("a cat", "a dog"), target="B") == (answer, points)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Yes", "yes"),
        ("no.", "no"),
        ("**Yes**, it is.", "yes"),
        ("Yes, there are no dogs.", "yes"),
        ("No, no dog.", "no"),
        ("The answer is yes.", "yes"),
        ("There is no cat.", None),
        ("Yes and no", None),
        ("yes or no", None),
        ("Yes. No.", None),
        ("no/yes", None),
        ("It could be yes, it could be no.", None),
        ("Perhaps", None),
        ("Yesterday, nobody knew", None),
        ("", None),
    ],
)
def test_yes_and_no_are_read(reply: str, answer: str | None) -> None:
    assert score("yesno", reply, target="yes") == (answer, float(answer == "yes"))


def test_a_statement_is_read_beside_its_question() -> None:
    row = {"question": "Is there a dog?", "target": "no"}
    assert score("yesno", "There is no dog.", **row) == ("no", 1.0)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("3", "3"),
        ("three", "3"),
        ("There are Three dots.", "3"),
        ("3.0", "3"),
        ("3 (three)", "3"),
        ("twenty-one", "21"),
        ("Thirty", "30"),
        ("1,024", "1024"),
        ("-2", "-2"),
        ("3.5", "3.5"),
        ("0", "0"),
        ("1 2 3", None),
        ("two or three", None),
        ("two hundred", None),
        ("50%", None),
        ("the 3rd", None),
        ("someone", None),
        ("9" * 5000, None),
        ("1" + ",000" * 1500, None),
        ("", None),
    ],
)
def test_a_count_is_the_only_number(reply: str, answer: str | None) -> None:
    assert score("count", reply, target="3") == (answer, float(answer == "3"))


@pytest.mark.parametrize(
    ("reply", "target", "points"),
    [
        ("Red", "red", 1),
        ("The red.", "red", 1),
        ("it's", "its", 1),
        ("two", "2", 1),
        ("1,000", "1000", 1),
        ("3.5", "3.5", 1),
        ("3.5", "35", 0),
        ("-5", "5", 0),
        ("A", "a", 1),
        ("B", "a", 0),
        ("Straße", "straße", 1),
        ("blue", "red", 0),
        ("red and blue", "red", 0),
        ("", "red", 0),
    ],
)
def test_a_short_answer_is_compared_without_case_punctuation_and_articles(
    reply: str, target: str, points: float
) -> None:
    assert score("vqa", reply, target=target)[1] == points


@pytest.mark.parametrize(
    ("people", "points"),
    [
        (("red", "blue"), 1),
        (("blue", "green"), 0),
        (("red", "blue", "blue"), 1 / 3),
        (("red", "Red.", "blue"), 2 / 3),
        (("red",) * 3 + ("blue",) * 7, 1),
        (("red",) * 10, 1),
    ],
)
def test_three_people_who_agree_make_an_answer_right(
    people: tuple[str, ...], points: float
) -> None:
    assert score("vqa", "red", references=people)[1] == pytest.approx(points, abs=1e-12)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("The answer is red.", "red"),
        ("Looking at it closely, the answer is: **red**\nbecause it is.", "red"),
        ("Answer: the red", "red"),
        ("red", "red"),
        ("answer", "answer"),
    ],
)
def test_the_robust_reading_takes_what_is_said_to_be_the_answer(reply: str, answer: str) -> None:
    assert score("vqa", reply, "robust", target="red")[0] == answer


@pytest.mark.parametrize(
    ("reply", "target", "points"),
    [
        ("The answer is 79878.", "79878", 1),
        ("The answer is 79878", "79878", 1),
        ("The picture shows MBMM.", "MBMM", 1),
        ("It is red.", "It is red", 1),
        ("It is red.", "red", 1),
        ("blue", "red", 0),
        ("It is blue.", "red", 0),
    ],
)
def test_a_sentence_is_as_good_as_the_answer_in_it(reply: str, target: str, points: float) -> None:
    answer, actual = score("vqa", reply, "robust", target=target)

    assert answer is not None
    assert actual == points


@pytest.mark.parametrize(
    ("reply", "target"),
    [
        ("MBMM is what is written there.", "MBMM"),
        ("There are 4 baseballs in the bucket.", "4"),
        ("not red", "red"),
        ("4 or 5", "4"),
        ("To find the number, we first look at the picture, then count.", "4"),
    ],
)
def test_a_text_that_holds_more_than_an_answer_is_unparsed_and_not_answered(
    reply: str, target: str
) -> None:
    assert score("vqa", reply, "robust", target=target) == (None, 0)


def test_the_headline_of_free_answers_reads_sentences(tmp_path: Path) -> None:
    free = own_data(jsonl(tmp_path, {**OPEN, "answer": "red"}), task="vqa")

    assert [*free.scorings] == ["robust", "default", "judged"]


@pytest.mark.parametrize(
    ("task", "scoring", "answer"),
    [
        ("mcq", "default", "A"),
        ("yesno", "default", "yes"),
        ("count", "default", "3"),
        ("vqa", "default", "red"),
        ("vqa", "robust", "red"),
        ("caption", "default", "red"),
    ],
)
@pytest.mark.parametrize(
    "thought",
    ["<think>B, no, 2? The answer is: green.</think>\n\n", "B, no, 2? Green.</think>"],
)
def test_thinking_before_the_answer_is_not_part_of_it(
    task: str, scoring: str, answer: str, thought: str
) -> None:
    choices = {"choices": ("a cat", "a dog")} if task == "mcq" else {}

    assert score(task, thought + answer, scoring, **choices)[0] == answer
    assert score(task, "<think>The answer is " + answer, scoring, **choices)[0] is None


def test_a_long_reply_is_read_in_no_time() -> None:
    for reply in (
        "answer is " * 100_000,
        "answer:" + " " * 10**6 + "x",
        "no " * 10**5,
        "1," * 10**5,
    ):
        for task in ("mcq", "vqa", "yesno", "count"):
            with at_most(SECONDS):
                score(task, reply, choices=("a", "b") if task == "mcq" else (), target="A")


# -- scores


def headline(benchmark: Benchmark, says: Mapping[str, str], scoring: str) -> Any:
    verdict = benchmark.check and benchmark.check.verdict
    judged = {"judged": lambda s, reply: [verdict(s, reply)]} if verdict else {}
    tally = Tally(benchmark, verdicts=judged)
    about = samples(benchmark)
    tally.add(Scored(s, 0, "ok", Reply(text=says[s.id])) for s in about)
    report = tally.report(model="dummy", identity={}, of=len(about))
    return next(iter(report.scorings[scoring].metrics.values()))


@pytest.mark.parametrize("dummy", dummies.DUMMIES)
@pytest.mark.parametrize("task", ["mcq", "vqa", "yesno", "count"])
def test_dummy_models_score_what_the_check_says(task: str, dummy: str) -> None:
    benchmark = own_data(BUNDLED / f"{task}.jsonl")
    assert benchmark.provenance.options["task"] == task
    assert benchmark.check is not None
    say = dummies.DUMMIES[dummy](benchmark.check)
    says = {sample.id: say(sample) for sample in samples(benchmark)}

    assert set(benchmark.check.expect) == set(benchmark.scorings)
    for scoring, expected in benchmark.check.expect.items():
        got = headline(benchmark, says, scoring)
        assert got.value == pytest.approx(expected[dummy], abs=1e-9)
        assert got.n == len(says)


def test_bundled_images_can_be_shown() -> None:
    for task in ("mcq", "vqa", "yesno", "count", "caption"):
        for sample in samples(own_data(BUNDLED / f"{task}.jsonl")):
            for image in sample.media:
                assert isinstance(image, Image)
                assert images.load(image).width


def test_captions_are_scored_against_peoples_as_a_set() -> None:
    benchmark = own_data(BUNDLED / "caption.jsonl")
    tally = Tally(benchmark)
    tally.add(Scored(sample, 0, "ok", Reply(text="A red circle.")) for sample in samples(benchmark))
    metrics = tally.report(model="m", identity={}).scorings["default"].metrics
    # By hand: 4 of 6 words are right, and the closest captions have 3 and 7 words.
    assert metrics["bleu_1"].value == pytest.approx(4 / 6 * math.exp(1 - 10 / 6), abs=1e-9)
    assert metrics["cider"].value is not None
    assert metrics["cider"].unit == "CIDEr"


def test_captions_without_peoples_have_no_score(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "1", "image": "1.png"}\n')
    benchmark = own_data(path, task="caption")
    sample = Sample(id="1", question="")
    tally = Tally(benchmark)
    tally.add([Scored(sample, 0, "ok", Reply(text="A red circle."))])
    metric = tally.report(model="m", identity={}).scorings["default"].metrics["cider"]
    assert (metric.value, metric.reason) == (None, "the answers are hidden")


def test_stored_replies_are_scored_without_the_rows() -> None:
    benchmark = own_data(BUNDLED / "mcq.jsonl")
    again = stored(benchmark.name, json.loads(json.dumps(dict(benchmark.provenance.options))))

    assert again.provenance.options == benchmark.provenance.options
    assert again.presentation.break_down_by == benchmark.presentation.break_down_by == ("category",)
    assert list(again.scorings) == list(benchmark.scorings)
    assert again.cluster_by is not None and benchmark.cluster_by is not None
    for sample in samples(benchmark):
        assert again.cluster_by(sample) == benchmark.cluster_by(sample)

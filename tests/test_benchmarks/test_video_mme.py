"""Video-MME: its rows, prompts and subtitles, its authors' rules, and their form of results."""

import gzip
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import video_mme as file
from snellen.benchmarks.video_mme import lines_of, of_template, results, video_mme
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply, Request
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.errors import DataError
from snellen.media import video
from snellen.media.content import Video
from snellen.scoring import Report, Scored, Tally
from tests.test_long_replies import SECONDS, at_most

BUNDLED = Path(file.__file__).parent / "rows" / "video_mme"
NAME = "output_test_template.json"
ROW = {
    "video_id": "901",
    "duration": "short",
    "domain": "Knowledge",
    "sub_category": "Astronomy",
    "url": "https://example.org/v",
    "videoID": "AAAAAAAAAAA",
    "question_id": "901-1",
    "task_type": "Counting Problem",
    "question": "How many rockets are shown?",
    "options": ["A. One.", "B. Two.", "C. Three.", "D. Four."],
    "answer": "B",
}
OF_VIDEO = ("video_id", "duration", "domain", "sub_category", "url", "videoID")


def form(*rows: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the hub in the authors' form, a video each."""
    return [
        {key: row[key] for key in OF_VIDEO if key in row}
        | {"questions": [{key: row[key] for key in row if key not in OF_VIDEO}]}
        for row in rows
    ]


def written(folder: Path, expected: object, name: str = NAME) -> Path:
    path = folder / name
    path.write_text(json.dumps(expected))
    return path


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.read(row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def request_for(benchmark: Benchmark, name: str) -> Request:
    request = benchmark.request(samples(benchmark)[name])
    assert request is not None
    return request


def read(scoring: str, text: str) -> Reading:
    sample = samples(video_mme(data=BUNDLED))["601-1"]
    return video_mme(data=BUNDLED).scorings[scoring].parse(Reply(text=text), sample)


# -- data


def test_a_row_becomes_a_question_with_its_video(tmp_path: Path) -> None:
    (sample,) = samples(video_mme(data=written(tmp_path, form(ROW)))).values()

    assert sample.id == "901-1"
    assert sample.choices == ("One.", "Two.", "Three.", "Four.")
    assert sample.target == "B"
    assert sample.tags == {
        "duration": "short",
        "domain": "Knowledge",
        "sub_category": "Astronomy",
        "task_type": "Counting Problem",
    }
    assert sample.media == (
        Video(tmp_path / "data/AAAAAAAAAAA.mp4", label="AAAAAAAAAAA.mp4", within=tmp_path / "data"),
    )


@pytest.mark.parametrize("folder", ["", "videomme"])
def test_the_hubs_parquet_has_the_same_questions(tmp_path: Path, folder: str) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra `parquet`")
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "videomme").mkdir()
    (tmp_path / "data").mkdir()
    path = tmp_path / "videomme/test-00000-of-00001.parquet"
    pq.write_table(pa.Table.from_pylist([ROW]), path)

    theirs = samples(video_mme(data=written(tmp_path, form(ROW))))

    assert samples(video_mme(data=tmp_path / folder)) == theirs
    assert samples(video_mme(data=path)) == theirs


@pytest.mark.parametrize("folder", ["data", "video", "videos"])
def test_videos_lie_where_the_archives_or_vlmevalkit_put_them(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    (sample,) = samples(video_mme(data=written(tmp_path, form(ROW)))).values()

    (shown,) = sample.media
    assert shown.source == tmp_path / folder / "AAAAAAAAAAA.mp4"


def test_commas_behind_last_members_are_as_good_as_none(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_text('[{"a": ["x,]", "y\\", }"],}, 3 ,\n]\n')

    assert of_template(path) == [{"a": ["x,]", 'y", }']}, 3]


def test_the_bundled_file_has_them_as_the_authors_has() -> None:
    text = (BUNDLED / NAME).read_text()

    assert '"response": "",\n            }' in text
    assert text.endswith("},\n]\n")
    assert len(samples(video_mme(data=BUNDLED))) == 8


@pytest.mark.parametrize("text", ['[{"questions": [', "[1 2]", "", '"' + '\\"' * 50_000])
def test_a_torn_file_is_said_to_be_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / NAME
    path.write_text(text)

    with pytest.raises(DataError, match="is not complete, valid JSON"):
        samples(video_mme(data=path))


def test_a_file_of_another_form_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not in the format that the data set's authors publish"):
        samples(video_mme(data=written(tmp_path, [{"video_id": "001"}])))


def test_the_names_of_fields_until_june_2024_are_read(tmp_path: Path) -> None:
    (new,) = form(ROW)
    renamed = {
        "duration": "duration_category",
        "domain": "video_category",
        "sub_category": "video_subcategory",
    }
    old = {renamed.get(key, key): value for key, value in new.items()}

    assert samples(video_mme(data=written(tmp_path, [old]))) == samples(
        video_mme(data=written(tmp_path, [new], "new.json"))
    )


def test_without_a_youtube_name_a_video_is_called_by_its_number(tmp_path: Path) -> None:
    row = {key: value for key, value in ROW.items() if key not in ("videoID", "url")}
    (sample,) = samples(video_mme(data=written(tmp_path, form(row)))).values()

    assert sample.media[0].label == "901.mp4"


def test_an_answer_that_is_no_option_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the answer is 'E', but there are 4 options"):
        samples(video_mme(data=written(tmp_path, form(ROW | {"answer": "E"}))))


@pytest.mark.parametrize("duration", ["short", "medium", "long"])
def test_a_duration_can_be_asked_alone(tmp_path: Path, duration: Any) -> None:
    rows = [ROW | {"question_id": item, "duration": item} for item in ("short", "medium", "long")]

    assert set(samples(video_mme(duration=duration, data=written(tmp_path, form(*rows))))) == {
        duration
    }


def test_questions_on_one_video_are_one_group_and_one_cluster() -> None:
    benchmark = video_mme(data=BUNDLED)
    assert benchmark.procedure.group_by is not None and benchmark.cluster_by is not None

    for key in (benchmark.procedure.group_by, benchmark.cluster_by):
        actual = [key(sample) for sample in samples(benchmark).values()]
        assert actual == ["letters-1"] * 4 + ["letters_2"] * 4


def test_bundled_videos_can_be_shown() -> None:
    for sample in samples(video_mme(data=BUNDLED)).values():
        (shown,) = sample.media
        assert isinstance(shown, Video)
        assert isinstance(shown.source, Path)
        assert shown.source.stat().st_size < 25_000
        assert video.facts(shown).end > 10


def test_64_frames_of_the_whole_video_are_shown() -> None:
    (shown,) = request_for(video_mme(data=BUNDLED), "001-1").messages[0].videos

    assert (shown.start, shown.end, shown.policy) == (0.0, None, "uniform:64")


def test_every_task_type_is_of_a_capability() -> None:
    # The authors' eval_your_results.py#L48-L61
    assert set(file.LEAVES) == {
        "Temporal Perception", "Spatial Perception", "Attribute Perception", "Action Recognition",
        "Object Recognition", "OCR Problems", "Counting Problem", "Temporal Reasoning",
        "Spatial Reasoning", "Action Reasoning", "Object Reasoning", "Information Synopsis",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "prompt", "duration"),
    [
        ("videomme", "lmms-eval", "all"),
        ("videomme_long", "lmms-eval", "long"),
        ("Video-MME_64frame", "vlmevalkit", "all"),
        ("Video-MME", "vlmevalkit", "all"),
        ("video-mme", "official", "all"),
    ],
)
def test_other_toolkits_names_are_known(name: str, prompt: str, duration: str) -> None:
    options = registry.benchmark(name, data=BUNDLED).provenance.options

    assert (options["prompt"], options["duration"]) == (prompt, duration)


# -- prompts

# The README's two examples, with the question's words.
OFFICIAL = """\
Select the best answer to the following multiple-choice question based on the video. Respond with \
only the letter (A, B, C, or D) of the correct option.
What is shown in this video?
A. Letters.
B. Dogs.
C. Houses.
D. Clouds.
The best answer is:"""
HEARD = """\
This video's subtitles are listed below:
Here is N.
Here is D.
Here is D.
Here is O.
Here is H.
"""
QUESTION = "What is shown in this video?\nA. Letters.\nB. Dogs.\nC. Houses.\nD. Clouds."


def test_the_official_prompt_is_the_authors_example() -> None:
    shown, text = request_for(video_mme(data=BUNDLED), "601-1").messages[0].content

    assert isinstance(shown, Video)
    assert text == OFFICIAL


def test_subtitles_stand_before_the_question() -> None:
    request = request_for(video_mme(subtitles="all", data=BUNDLED), "601-1")

    assert request.messages[0].text == HEARD + OFFICIAL


def test_a_video_without_subtitles_is_asked_about_without_them() -> None:
    with_them = request_for(video_mme(subtitles="all", data=BUNDLED), "001-1")

    assert with_them == request_for(video_mme(data=BUNDLED), "001-1")


def test_lmms_eval_speaks_of_subtitles_that_are_not_there() -> None:
    benchmark = video_mme(prompt="lmms-eval", data=BUNDLED)

    assert request_for(benchmark, "601-1").messages[0].text == (
        "Select the best answer to the following multiple-choice question based on the video and "
        "the subtitles. Respond with only the letter (A, B, C, or D) of the correct option.\n"
        f"{QUESTION}\n\nAnswer with the option's letter from the given choices directly."
    )
    assert benchmark.max_answer_tokens == 16


@pytest.mark.parametrize(
    ("name", "heard"),
    [
        ("601-1", "Here is N.\nHere is D.\nHere is D.\nHere is O.\nHere is H.\n"),
        ("001-1", "No subtitles available\n"),
    ],
)
def test_lmms_eval_ends_otherwise_with_subtitles(name: str, heard: str) -> None:
    text = (
        request_for(video_mme(prompt="lmms-eval", subtitles="all", data=BUNDLED), name)
        .messages[0]
        .text
    )

    assert text.startswith(
        f"This video's subtitles are listed below: \n{heard}"
        "Select the best answer to the following multiple-choice question based on the video and "
        "the subtitles. Respond"
    )
    assert text.endswith("\nThe best answer is:")


def test_vlmevalkit_has_two_texts_behind_the_frames() -> None:
    _, *texts = (
        request_for(video_mme(prompt="vlmevalkit", data=BUNDLED), "601-1").messages[0].content
    )

    assert texts == [
        "\nThese are the frames of a video. Select the best answer to the following "
        "multiple-choice question based on the video. Respond with only the letter (A, B, C, or D) "
        "of the correct option.\n",
        f"Question: {QUESTION}\nAnswer: ",
    ]


def test_vlmevalkit_puts_subtitles_behind_its_first_words() -> None:
    benchmark = video_mme(prompt="vlmevalkit", subtitles="all", data=BUNDLED)
    _, text, _ = request_for(benchmark, "601-1").messages[0].content

    assert isinstance(text, str)
    assert text.startswith(f"\nThese are the frames of a video. {HEARD}Select the best answer")


# -- subtitles


def heard(folder: Path, text: str) -> tuple[str, ...]:
    (folder / "v.srt").write_text(text, encoding="utf-8", newline="")
    return lines_of(folder, "v")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_subtitles_are_a_line_each_time_something_is_said(
    tmp_path: Path, end: str, mark: str
) -> None:
    text = (
        '1\n00:00:01,000 --> 00:00:02,500\n<font color="white" size=".72c">Hi guys,</font>\n'
        "I am\n\n2\n00:00:02,500 --> 00:00:03,000\n\n3\n00:00:04,000 --> 00:00:05,000\n"
        "2 < 3 -->  4\n"
    )

    assert heard(tmp_path, mark + text.replace("\n", end)) == ("Hi guys, I am", "2 < 3 -->  4")


@pytest.mark.parametrize("text", ["", "1\n", "nothing of the kind\n\n\n", "-->", "<" * 100_000])
def test_what_is_no_subtitle_says_nothing(tmp_path: Path, text: str) -> None:
    assert heard(tmp_path, text) == ()


def test_bytes_that_are_no_text_do_not_end_a_run(tmp_path: Path) -> None:
    (tmp_path / "v.srt").write_bytes(b"1\n00:00:01,000 --> 00:00:02,000\nH\xff\n")

    assert lines_of(tmp_path, "v") == ("H\ufffd",)


@pytest.mark.parametrize("name", ["../v", "a/../../v", "/etc/passwd", "v\0"])
def test_subtitles_are_of_their_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    heard(tmp_path, "1\n00:00:01,000 --> 00:00:02,000\nsecret\n")

    assert lines_of(tmp_path / "sub", name) == ()


def two_videos(folder: Path) -> Path:
    (folder / "subtitle").mkdir()
    written(folder, form(ROW, ROW | {"videoID": "BBBBBBBBBBB", "question_id": "902-1"}))
    return folder


def say(folder: Path, video: str, words: str = "Hi") -> None:
    text = f"1\n00:00:01,000 --> 00:00:02,000\n{words}\n"
    (folder / "subtitle" / f"{video}.srt").write_text(text)


def run_of(data: Path, subtitles: str, out: Path) -> Report:
    # The videos need not exist: a run reports its notes about data even if every request fails.
    spec = f"video-mme:subtitles={subtitles}"
    return snellen.evaluate(spec, lambda _: "A", data=data, out=out).report


def test_a_run_reports_that_no_subtitles_were_shown(tmp_path: Path) -> None:
    data = two_videos(tmp_path)
    of = f"{data / 'subtitle'} has no VIDEO.srt for"

    without = run_of(data, "frames", tmp_path / "out").notes
    say(data, "AAAAAAAAAAA")
    half = run_of(data, "frames", tmp_path / "out").notes
    say(data, "BBBBBBBBBBB")
    every = run_of(data, "frames", tmp_path / "out").notes

    assert f"no subtitles are shown, since {of} any of the 2 videos" in without
    assert f"1 of 2 videos are shown without subtitles, since {of} them" in half
    assert not any("VIDEO.srt" in note for note in every)
    assert len([*(tmp_path / "out").rglob("manifest.json")]) == 3


def test_a_run_without_subtitles_does_not_depend_on_their_files(tmp_path: Path) -> None:
    data = two_videos(tmp_path)
    before = video_mme(data=data).data.facts()
    run_of(data, "off", tmp_path / "out")
    (data / "subtitle/AAAAAAAAAAA.srt").write_text("none")

    notes = run_of(data, "off", tmp_path / "out").notes

    assert video_mme(data=data).data.facts() == before
    assert not any("VIDEO.srt" in note for note in notes)
    assert len([*(tmp_path / "out").rglob("manifest.json")]) == 1


@pytest.mark.parametrize("duration", ["all", "short"])
def test_other_subtitles_are_other_data(tmp_path: Path, duration: Any) -> None:
    data = two_videos(tmp_path)
    benchmark = video_mme(duration, "all", data=data)
    digests = [benchmark.data.facts().digest]
    say(data, "AAAAAAAAAAA")
    digests.append(benchmark.data.facts().digest)
    say(data, "AAAAAAAAAAA", "Ho")
    digests.append(benchmark.data.facts().digest)
    say(data, "CCCCCCCCCCC")  # not a video of the data set
    digests.append(benchmark.data.facts().digest)

    assert len({*digests}) == 3
    assert digests[-1] == digests[-2]


@pytest.mark.parametrize(
    "content", [b"<html>Not found</html>", "1\n00:00:01,000 --> 00:00:02,000\nHi".encode("utf-16")]
)
def test_a_file_that_is_no_subtitles_is_an_error_before_the_run(
    tmp_path: Path, content: bytes
) -> None:
    data = two_videos(tmp_path)
    (data / "subtitle/AAAAAAAAAAA.srt").write_bytes(content)

    with pytest.raises(DataError, match=r"AAAAAAAAAAA\.srt is not a SubRip file"):
        run_of(data, "frames", tmp_path / "out")


@pytest.mark.parametrize("content", ["", "\ufeff\n", "1\n00:00:01,000 --> 00:00:02,000\n\n"])
def test_a_file_without_words_is_no_error(tmp_path: Path, content: str) -> None:
    data = two_videos(tmp_path)
    (data / "subtitle/AAAAAAAAAAA.srt").write_text(content, encoding="utf-8")

    assert video_mme(subtitles="all", data=data).data.facts().rows == 2


# -- scoring. What the authors', VLMEvalKit's and lmms-eval's code makes of each reply.


@pytest.mark.parametrize(
    ("quirk", "reply", "official", "kit", "lmms"),
    [
        ("a letter", "C", "C", "C", "C"),
        ("a letter with its option", "(B) a dog", "B", "B", "B"),
        ("a phrase before it", "The best answer is C", "C", "C", "C"),
        ("a word that begins with one", "An apple", "A", "A", "A"),
        ("a word's, before the letter itself", "Definitely C", "D", "D", "C"),
        ("a word's, before the letter at the end", "Based on the video, D", "B", "B", "D"),
        ("the phrase in other letters", "The Answer is C", "A", "A", "C"),
        ("the phrase in capitals", "Answer is C", "A", "A", "C"),
        ("phrases lost by a missing comma", "Best answer: C", "B", "B", "C"),
        ("phrases lost by the other", "Best option: C", "B", "B", "C"),
        ("the two that became one", "Best answer:Best option:D", "D", "D", "D"),
        ("a phrase is deleted wherever it stands", "So, Answer: D", "D", "D", "D"),
        ("what a deleted phrase leaves is read again", "AnsThe answerwer: C", "C", "C", "C"),
        ("the first of two", "It is C. Answer: D", "C", "C", "D"),
        ("a small letter is none", "I think it is d", None, None, None),
        ("nothing", "", None, None, None),
        ("blanks", "  \n", None, None, None),
        ("a refusal", "no", None, None, None),
        ("many words", "Neither of these is what one can see here at any time.", None, None, None),
        ("many words with one", "One can see in it at any time of the day: C", "C", "C", "C"),
    ],
)
def test_replies_are_read_as_the_three_tools_do(
    quirk: str, reply: str, official: str | None, kit: str | None, lmms: str | None
) -> None:
    actual = [read(name, reply).answer for name in ("official", "vlmevalkit", "lmms-eval")]

    assert actual == [official, kit, lmms], quirk


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("Definitely C", "C"), ("Best answer: C", "C"), ("Dogs.", "B"), ("An apple", None)],
)
def test_robust_reads_the_letter_that_a_reply_settles_on(reply: str, answer: str | None) -> None:
    assert read("robust", reply).answer == answer


@pytest.mark.parametrize("reply", ["A" * 200_000, "Answer:" * 50_000, "The answer" * 50_000])
def test_a_long_reply_is_read_in_no_time(reply: str) -> None:
    for scoring in video_mme(data=BUNDLED).scorings:
        with at_most(SECONDS):
            read(scoring, reply)


def reported(benchmark: Benchmark, says: Mapping[str, str]) -> Report:
    tally = Tally(benchmark)
    tally.add(
        Scored(sample, 0, "ok", Reply(text=says[name]))
        for name, sample in samples(benchmark).items()
        if name in says
    )
    return tally.report(model="m", identity={})


SAYS = {
    "001-1": "A",  # right
    "001-2": "I do not know.",  # no letter
    "001-3": "Definitely C",  # wrong to the authors, right to us
    "001-4": "D. Black.",  # right
    "601-1": "B",  # wrong
    "601-2": "",  # no letter
    "601-3": "C",  # right
    "601-4": "C",  # wrong
}


def test_a_reply_without_a_letter_is_in_no_official_mean() -> None:
    official = reported(video_mme(data=BUNDLED), SAYS).scorings["official"]

    metric = official.metrics["accuracy"]
    assert metric.value == pytest.approx(3 / 6, abs=1e-12)
    assert metric.n == 6
    assert official.readings == {"answered": 6, "unparsed": 2}


@pytest.mark.parametrize(("name", "right"), [("robust", 4), ("lmms-eval", 4), ("vlmevalkit", 3)])
def test_a_reply_without_a_letter_is_wrong_to_all_others(name: str, right: int) -> None:
    metric = reported(video_mme(data=BUNDLED), SAYS).scorings[name].metrics["accuracy"]

    assert metric.value == pytest.approx(right / 8, abs=1e-12)
    assert metric.n == 8


def test_no_letter_in_any_reply_gives_no_value() -> None:
    says = dict.fromkeys(SAYS, "no")
    metric = reported(video_mme(data=BUNDLED), says).scorings["official"].metrics["accuracy"]

    assert metric.value is None
    assert metric.reason == "no reply has a letter: the authors print 0.0 %"


def test_accuracy_is_by_duration_domain_sub_category_and_task() -> None:
    metrics = reported(video_mme(data=BUNDLED), SAYS).scorings["official"].metrics
    actual = {name: metric.value for name, metric in metrics.items() if metric.value is not None}

    assert actual == pytest.approx(
        {
            "accuracy": 3 / 6,
            "accuracy/short": 2 / 3,
            "accuracy/long": 1 / 3,
            "accuracy/Knowledge": 2 / 3,
            "accuracy/domain=Multilingual": 1 / 3,
            "accuracy/Technology": 2 / 3,
            "accuracy/sub_category=Multilingual": 1 / 3,
            "accuracy/Temporal Perception": 1,
            "accuracy/Counting Problem": 0,
            "accuracy/Attribute Perception": 1,
            "accuracy/Object Recognition": 0,
            "accuracy/Temporal Reasoning": 1,
            "accuracy/Action Recognition": 0,
        },
        abs=1e-12,
    )


@pytest.mark.parametrize("prompt", ["official", "lmms-eval", "vlmevalkit"])
def test_with_a_tools_prompt_its_scoring_is_the_headline(prompt: Any) -> None:
    benchmark = video_mme(prompt=prompt, data=BUNDLED)

    assert benchmark.headline == prompt
    assert set(benchmark.scorings) == {"official", "robust", "lmms-eval", "vlmevalkit"}


# -- published results


def answered(folder: Path, says: Mapping[str, object], name: str = "results.json") -> Path:
    """The bundled file with replies, those alone that are named."""
    plan = of_template(BUNDLED / NAME)
    for item in plan:
        item["questions"] = [
            question | {"response": says[question["question_id"]]}
            for question in item["questions"]
            if question["question_id"] in says
        ]
    return written(folder, plan, name)


def scored(path: Path) -> Report:
    return snellen.score(path, "video-mme", data=BUNDLED).report


def test_the_authors_files_of_results_are_scored(tmp_path: Path) -> None:
    report = scored(answered(tmp_path, SAYS))

    assert report.scorings["official"].metrics["accuracy"].value == pytest.approx(0.5, abs=1e-12)
    assert report.scorings["official"].metrics["accuracy"].n == 6


def test_a_file_of_results_says_itself_what_is_right(tmp_path: Path) -> None:
    path = answered(tmp_path, SAYS)
    result = snellen.score(path, "video-mme", data=path)

    assert result.headline.value == pytest.approx(0.5, abs=1e-12)


def test_commas_and_packing_make_no_difference(tmp_path: Path) -> None:
    path = answered(tmp_path, SAYS)
    spare = tmp_path / "spare.json.gz"
    spare.write_bytes(gzip.compress(path.read_bytes().replace(b"}]", b"},]")))
    known = samples(video_mme(data=BUNDLED)).values()

    assert results(spare, known) == results(path, known)


def test_what_lacks_is_in_no_mean_and_said(tmp_path: Path) -> None:
    says = {"001-1": "A", "601-1": None, "601-3": "C"}
    report = scored(answered(tmp_path, says))

    metric = report.scorings["official"].metrics["accuracy"]
    assert (metric.value, metric.n) == (1.0, 2)
    assert any(
        "all means: 3 short, 2 long; the authors' script stops" in note for note in report.notes
    )
    assert any(note.startswith("1 responses are null") for note in report.notes)


def test_a_question_that_comes_again_counts_again(tmp_path: Path) -> None:
    plan = of_template(answered(tmp_path, {"001-1": "A", "601-3": "A"}))
    plan[0]["questions"] *= 2
    path = written(tmp_path, plan, "twice.json")

    report = scored(path)

    metric = report.scorings["official"].metrics["accuracy"]
    assert metric.value == pytest.approx(2 / 3, abs=1e-12)
    assert metric.n == 3
    assert any("repeated questions, for which every row counts: 001-1" in n for n in report.notes)


def test_rows_that_take_another_answer_for_right_are_said(tmp_path: Path) -> None:
    plan = of_template(answered(tmp_path, {"001-1": "A", "601-3": "A"}))
    plan[1]["questions"][0]["answer"] = "A"
    path = written(tmp_path, plan, "other.json")

    report = scored(path)

    assert report.scorings["official"].metrics["accuracy"].value == 0.5
    assert any(note.startswith("1 rows have a different right answer") for note in report.notes)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{"),
        ("a.json", "[]x"),
        ("a.json", '{"questions": []}'),
        ("a.json", '[{"question_id": "001-1", "prediction": "A"}]'),
        ("a.jsonl", "[]"),
    ],
)
def test_other_files_are_not_of_the_authors_form(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)

    assert results(path, ()) is None
    assert results(tmp_path, ()) is None


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"question_id": "001-1"}, "lacks a field of Video-MME's results .*response"),
        ({"response": "A"}, "lacks a field .*question_id"),
        ({"question_id": "001-1", "response": ["A"]}, r"response to 001-1 is \['A'\]"),
        (7, "lacks a field"),
    ],
)
def test_a_row_of_results_that_cannot_be_read_is_named(
    tmp_path: Path, row: object, words: str
) -> None:
    path = written(tmp_path, [{"questions": [row]}], "results.json")

    with pytest.raises(DataError, match=rf"results\.json.*{words}"):
        results(path, ())


# -- from end to end


class Says:
    """Says A; keeps the times of the frames that it saw."""

    def __init__(self) -> None:
        self.name = "says-a"
        self.saw: list[int] = []

    async def generate(self, request: Request) -> Reply:
        (shown,) = request.messages[0].videos
        self.saw.append(len(shown.frames))
        return Reply(text="A")


def test_a_missing_video_fails_its_questions_alone(tmp_path: Path) -> None:
    shutil.copytree(BUNDLED, tmp_path / "rows")
    (tmp_path / "rows/data/letters_2.mp4").unlink()
    model = Says()

    result = snellen.evaluate(
        "video-mme", model=model, data=tmp_path / "rows", out=tmp_path / "runs"
    )

    assert model.saw == [64] * 4
    assert result.failed == 4
    assert (result.headline.value, result.headline.n) == (0.25, 4)
    assert any("letters_2.mp4 is missing" in note for note in result.report.notes)

"""Video-MME: questions with four choices about videos, with or without their subtitles.

Paper    Fu et al. 2024, Video-MME: The First-Ever Comprehensive Evaluation Benchmark of Multi-modal
         LLMs in Video Analysis, https://arxiv.org/abs/2405.21075 (CVPR 2025).
Data     lmms-lab/Video-MME on the Hugging Face hub, to which the authors link. The data set has
         2,700 questions, three on each of 900 videos: 300 short, 300 medium, and 300 long videos.
         The archives videos_chunked_01.zip to _20.zip contain data/{videoID}.mp4, and subtitle.zip
         contains subtitle/{videoID}.srt for 744 videos.
         The data is only for academic research, and may not be redistributed without approval.
         The authors' format of results can also be read: MME-Benchmarks/
         Video-MME@06c2315b892f88578f81d73205d07cf576f292b9:evaluation/output_test_template.json,
         with its trailing commas, and with the field names used until June 2024. If a row has no
         videoID, the video is data/{video_id}.mp4.
Prompt   `official`: README.md#L107-L134 in the authors' repository, as in its examples. A video
         without subtitles gets the prompt without subtitles. The authors do not prescribe the
         frames or the decoding. Here, the frames are uniform:64, and replies are limited to 128
         tokens. `subtitles=frames` adds the line on display at each frame that is shown, as the
         authors do: look4u-ok/video-slicer@25a29bf35a8c4fbad0157e64cdf179701b0733aa:
         slice_and_extract.py#L73-L90, which their README names. `subtitles=all` adds all lines.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/videomme/utils.py#L153-L164, which mentions subtitles even if there are none. With
         subtitles=all, the prompt is lmms-eval's prompt for Gemini, #L204-L216 and #L248-L252. With
         subtitles=frames, each line on display at a frame is in the prompt once, as there.
         lmms-eval rounds times to frames and takes only lines with a font tag. With the prompt
         lmms-eval, replies are limited to 16 tokens.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/videomme.py#L46-L58 and #L235-L240. VLMEvalKit's 64 frames exclude the first and
         the last frame.
Scoring  `official`: thanku-all/parse_answer@afd52cfe3dde5b3685e0d4f760c10c756860c758:
         eval_your_results.py#L62-L87 and #L157-L176. First, the phrases in the authors' list are
         deleted wherever they occur in the reply. Then, the first capital letter from A to D is the
         answer, even inside a word: "An apple" is read as A, and "Definitely C" as D. The authors'
         list lacks two commas, so four of its phrases never match: "Best answer: C" is read as B. A
         reply without a capital letter from A to D is left out of all means.
         `vlmevalkit`: the official rule without the last two phrases, vlmeval/dataset/utils/
         videomme.py#L130-L152. A reply without a letter is wrong.
         `lmms-eval`: lmms_eval/tasks/_task_utils/mcq_extract.py#L66-L158. Under this scoring too, a
         reply without a letter is wrong.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
         With the prompts lmms-eval and vlmevalkit, the scoring of the same name is the headline
         scoring.
Proof    On 200,000 generated replies, every letter equals that of the three tools' own code.
         On a generated file of 2,700 replies, and on the authors' template, all accuracies equal
         those of the authors' script to the printed digit.
         The tests contain replies for each of the quirks above.
         No model outputs are published.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import orjson

from snellen.answers.others import lmms_eval_letter
from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families.tasks import as_reading, is_target, parse_letter
from snellen.benchmarks.families.video_choices import cues_of, subtitle_file
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Facts, Filtered, Row, Table, file_content, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Cue, Part, TimedText, Video, user
from snellen.media.subtitles import has_times, lines_at, once_at
from snellen.metrics import Columns, mean, metric
from snellen.stats import Estimate

AUTHORS = "thanku-all/parse_answer@afd52cfe3dde5b3685e0d4f760c10c756860c758"
SOURCE = f"{AUTHORS}:eval_your_results.py#L62-L176"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "research only"
PROOF = "authors' code"
SIZE = 2700
OTHER_SIZES = {"duration=short": 900, "duration=medium": 900, "duration=long": 900}
ALIASES = {
    "videomme": {"prompt": "lmms-eval"},
    "videomme_long": {"prompt": "lmms-eval", "duration": "long"},
    "Video-MME": {"prompt": "vlmevalkit"},
    "Video-MME_64frame": {"prompt": "vlmevalkit"},
}
HUB = "https://huggingface.co/datasets/lmms-lab/Video-MME/resolve/main"
FILES_PUBLISHED = (
    File(
        name="videomme/test-00000-of-00001.parquet",
        url=f"{HUB}/videomme/test-00000-of-00001.parquet",
        note="the questions; its publishers give no digest. The videos (254 hours) are "
        "videos_chunked_01.zip to videos_chunked_20.zip there, to be unpacked into data/ here",
    ),
    File(
        name="subtitle.zip",
        url=f"{HUB}/subtitle.zip",
        unpack=True,
        note="its publishers give no digest",
    ),
)
FILES = (
    "videomme/test-00000-of-00001.parquet",
    "test-00000-of-00001.parquet",
    "output_test_template.json",
    "evaluation/output_test_template.json",
)
VIDEOS = ("data", "video", "videos")
"""The possible folders of the videos. The archives on the Hugging Face hub create the first folder,
and VLMEvalKit creates the second."""
SUBTITLES = ("subtitle", "subtitles")
OLDER = {
    "duration_category": "duration",
    "video_category": "domain",
    "video_subcategory": "sub_category",
}
DURATIONS = ("short", "medium", "long")
LEAVES = {
    **dict.fromkeys(
        ("Temporal Perception", "Temporal Reasoning", "Action Recognition", "Action Reasoning"),
        "reasoning/temporal",
    ),
    **dict.fromkeys(("Spatial Perception", "Spatial Reasoning"), "perception/spatial"),
    "Attribute Perception": "perception/attribute",
    "Object Recognition": "perception/object",
    "Object Reasoning": "reasoning/commonsense",
    "OCR Problems": "OCR/text",
    "Counting Problem": "perception/counting",
    "Information Synopsis": "perception/scene",
}

Duration = Literal["all", "short", "medium", "long"]
Preset = Literal["official", "lmms-eval", "vlmevalkit"]
Subtitles = Literal["off", "all", "frames"]


def video_mme(
    duration: Duration = "all",
    subtitles: Subtitles = "off",
    prompt: Preset = "official",
    data: Path | None = None,
) -> Benchmark:
    data_file = find(data, "video-mme", FILES, FILES_PUBLISHED)
    table, file = authors_files.table(data_file, questions)
    if duration != "all":
        table = Filtered(table, lambda row: row["duration"] == duration)
    folder = cache(lambda: data_set_folder(data_file))
    if subtitles != "off":
        table = Subtitled(table, lambda: placed(folder(), SUBTITLES))
    videos = cache(lambda: placed(folder(), VIDEOS))
    # A small cache is enough, since the questions of a video are consecutive.
    lines = lru_cache(maxsize=16)(lambda name: cues_of(placed(folder(), SUBTITLES), name))
    return Benchmark(
        name="video-mme",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, videos()),
        prompt=lambda sample, _: (
            user(
                *sample.media,
                *texts_of(
                    sample, prompt, subtitles, () if subtitles == "off" else lines(video_of(sample))
                ),
            ),
        ),
        scorings=scorings(prompt),
        max_answer_tokens=16 if prompt == "lmms-eval" else 128,
        cluster_by=video_of,
        check=Check(says=lambda _, answer: answer, wrong=wrong_answer, expect=EXPECT),
        procedure=Procedure(
            group_by=video_of,
            frames="uniform:64",
            only_in_prompt="" if subtitles == "off" else f"subtitles={subtitles}",
        ),
        presentation=Presentation(
            break_down_by=("duration", "domain", "sub_category", "task_type"),
            capabilities=Capabilities(
                tag="task_type",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2405.21075, section 3.1",
            ),
        ),
        interop=Interop(
            files=file,
            layout=lambda path: results(path, (to_sample(row, videos()) for row in table)),
        ),
    )


def scorings(prompt: Preset) -> Mapping[str, Scoring]:
    """The scorings, keyed by name. The headline scoring for the prompt comes first."""
    by_name = {
        "official": Scoring(
            version=1,
            source=SOURCE,
            parse=lambda reply, _: first_letter(reply, DELETED),
            score=if_there,
            metrics={"accuracy": mean_of_answered},
        ),
        "robust": Scoring(
            version=2,
            source="ours",
            parse=parse_letter,
            score=is_target,
            metrics={"accuracy": mean},
        ),
        "lmms-eval": Scoring(
            version=1,
            source=f"{pins.LMMS_EVAL}:lmms_eval/tasks/videomme/utils.py#L256-L371",
            parse=lambda reply, _: as_reading(lmms_eval_letter(reply.text, LETTERS)),
            score=is_target,
            metrics={"accuracy": mean},
        ),
        "vlmevalkit": Scoring(
            version=1,
            source=f"{pins.VLMEVALKIT}:vlmeval/dataset/videomme.py#L270-L282",
            parse=lambda reply, _: first_letter(reply, DELETED[:-2]),
            score=is_target,
            metrics={"accuracy": mean},
            missing="wrong",
        ),
    }
    return {str(prompt): by_name[prompt], **by_name}


# -- data

LETTERS = "ABCD"


def questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of a file in the authors' format, each with the fields that describe its
    video."""
    for video in of_template(path):
        common = {OLDER.get(key, key): value for key, value in video.items() if key != "questions"}
        for question in video["questions"]:
            yield {**common, **question}


def of_template(path: Path) -> Any:
    """The content of a JSON file that may have trailing commas, as in the authors' file.

    Raises:
        DataError: the file is incomplete or cannot be read.
    """
    try:
        return orjson.loads(SPARE.sub(rb"\1", file_content(path)))
    except orjson.JSONDecodeError as error:
        raise DataError(
            f"{path} is not complete, valid JSON: {error}. Download it again."
        ) from error


SPARE = re.compile(rb'("(?:[^"\\]++|\\.)*+"?)|,(?=\s*[\]}])', re.DOTALL)
"""Matches a string, which is kept, or a trailing comma, which is removed."""


def to_sample(row: Row, videos: Path) -> Sample:
    video = str(row.get("videoID") or row["video_id"])
    options = [str(option) for option in row["options"]]
    if row["answer"] not in LETTERS[: len(options)]:
        raise ValueError(f"the answer is {row['answer']!r}, but there are {len(options)} options")
    return Sample(
        id=row["question_id"],
        question=row["question"],
        choices=tuple(BEFORE.sub("", option) for option in options),
        media=(Video(videos / f"{video}.mp4", label=f"{video}.mp4", within=videos),),
        target=row["answer"],
        tags={tag: row[tag] for tag in ("duration", "domain", "sub_category", "task_type")},
        data={"video": video, "options": options},
    )


BEFORE = re.compile(r"^[A-D][.)]\s*")
"""Matches the letter at the beginning of an option."""


def video_of(sample: Sample) -> str:
    return str(sample.data["video"])


def data_set_folder(data_file: DataFile) -> Path:
    """The folder of the data set. The file of questions may be in a subfolder of this folder."""
    folder = (
        data_file.data
        if data_file.data is not None and data_file.data.is_dir()
        else data_file.folder
    )
    return folder.parent if folder.name == "videomme" else folder


def placed(folder: Path, names: Iterable[str]) -> Path:
    """The first of the folders `names` that exists. If none exists, the first folder."""
    first, *others = (folder / name for name in names)
    return next((candidate for candidate in (first, *others) if candidate.is_dir()), first)


def lines_of(folder: Path, name: str) -> tuple[str, ...]:
    """The lines of `cues_of`, without their times."""
    return tuple(cue.text for cue in cues_of(folder, name))


class Subtitled(Filtered):
    """The questions of another table, with the files of subtitles as part of the digest: other
    subtitles are other data."""

    def __init__(self, table: Table, folder: Callable[[], Path]) -> None:
        super().__init__(table, lambda _: True)
        self._folder = folder

    def facts(self) -> Facts:
        """The size and the digest of the questions and their subtitles.

        Raises:
            DataError: a file of subtitles cannot be read or is not in the SubRip format.
        """
        facts = super().facts()
        common = blake2b(bytes.fromhex(facts.digest), digest_size=16)
        for name, path in self._files().items():
            content = b"" if path is None else subrip_content(path)
            common.update(f"{name}\0{len(content)}\0".encode() + content)
        return Facts(rows=facts.rows, digest=common.hexdigest())

    def run_note(self) -> str | None:
        """A sentence that reports how many videos have no file of subtitles; None if all have
        one."""
        files = [*self._files().values()]
        absent = files.count(None)
        if not absent:
            return None
        if absent == len(files):
            return (
                f"no subtitles are shown, since {self._folder()} has no VIDEO.srt for any of the "
                f"{absent:,} videos"
            )
        return (
            f"{absent:,} of {len(files):,} videos are shown without subtitles, since "
            f"{self._folder()} has no VIDEO.srt for them"
        )

    def _files(self) -> Mapping[str, Path | None]:
        """The path of the subtitles of each video, keyed by video. None: the video has none."""
        folder = self._folder()
        # `Benchmark.read` reports a row without a video.
        names = (str(row.get("videoID") or row.get("video_id")) for row in self)
        return {name: subtitle_file(folder, name) for name in names}


def subrip_content(path: Path) -> bytes:
    """The content of a file of subtitles, which may be blank.

    Raises:
        DataError: the file cannot be read, or it has text but no times.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    text = content.decode("utf-8-sig", errors="replace")
    if text.strip() and not has_times(text):
        raise DataError(
            f"{path} is not a SubRip file in UTF-8: it has no line such as "
            "`00:00:01,000 --> 00:00:02,500`. Download it again, or delete it to ask about this "
            "video without subtitles."
        )
    return content


# -- prompts

SELECT = (
    "Select the best answer to the following multiple-choice question based on the video{}. "
    "Respond with only the letter (A, B, C, or D) of the correct option."
)
HEARD = "This video's subtitles are listed below:"


def texts_of(
    sample: Sample, preset: Preset, subtitles: Subtitles, lines: Sequence[Cue]
) -> tuple[Part, ...]:
    """The parts of the prompt that follow the video. With subtitles=frames, the part with subtitles
    is written once the times of the frames are known."""
    if subtitles == "off":
        return prompt_parts(sample, preset, None)
    everything = prompt_parts(sample, preset, tuple(cue.text for cue in lines))
    if subtitles == "all" or not lines:
        return everything
    (film,) = sample.media
    assert isinstance(film, Video)
    at = once_at if preset == "lmms-eval" else lines_at

    def first(times: Sequence[float]) -> str:
        return prompt_parts(sample, preset, tuple(at(lines, times)))[0]

    return (TimedText(everything[0], [film], first), *everything[1:])


def prompt_parts(sample: Sample, preset: Preset, lines: tuple[str, ...] | None) -> tuple[str, ...]:
    """The texts of the prompt. `lines` are the lines of the subtitles, or None with
    subtitles=off. The first text has the subtitles."""
    options = sample.data["options"]
    assert isinstance(options, list)
    # Each choice keeps the letter that it has in the data.
    letters = (match[0] if (match := BEFORE.match(option)) else "" for option in options)
    listed = (f"{letter}{choice}" for letter, choice in zip(letters, sample.choices, strict=True))
    question = "\n".join((sample.question, *listed))
    subtitle_text = None if lines is None else "\n".join(lines)
    if preset == "vlmevalkit":
        heard = "" if subtitle_text is None else f"{HEARD}\n{subtitle_text}\n"
        frames = f"\nThese are the frames of a video. {heard}{SELECT.format('')}\n"
        return (frames, f"Question: {question}\nAnswer: ")
    if preset == "lmms-eval":
        select = SELECT.format(" and the subtitles")
        if subtitle_text is None:
            ask = "Answer with the option's letter from the given choices directly."
            return (f"{select}\n{question}\n\n{ask}",)
        heard = f"{HEARD} \n{subtitle_text or 'No subtitles available'}\n"
        return (f"{heard}{select}\n{question}\nThe best answer is:",)
    heard = f"{HEARD}\n{subtitle_text}\n" if subtitle_text else ""
    return (f"{heard}{SELECT.format('')}\n{question}\nThe best answer is:",)


# -- scoring

DELETED = (
    "The best answer is",
    "The correct answer is",
    "The answer is",
    "The answer",
    # The authors' list lacks a comma here, so two phrases are joined into one.
    "The best option isThe correct option is",
    "Best answer:Best option:",
    "Answer:",
    "Option:",
    "The correct answer",
    "The correct option",
)


def first_letter(reply: Reply, deleted: Iterable[str]) -> Reading:
    """Parse the first capital letter A to D that remains in a reply after the phrases are deleted,
    even inside a word.

    The authors have another rule, for replies of more than ten words without a letter. That rule
    never changes the result.
    """
    text = reply.text.strip()
    for phrase in deleted:
        text = text.replace(phrase, "")
    match = re.search("[ABCD]", text)
    if match is None:
        return Reading(answer=None, rule="no letter")
    return Reading(answer=match[0], rule="first letter")


def if_there(reading: Reading, sample: Sample) -> float | None:
    """1 if the answer is right, else 0. None for a reply in which no choice letter was found: the
    authors leave such a reply out of all means."""
    return None if reading.answer is None else is_target(reading, sample)


@metric(better="higher", unit="fraction", averages_scores=True)
def mean_of_answered(columns: Columns) -> Estimate:
    """The mean over the replies in which a choice letter was found.

        m = Σ right / Σ answered

    In [0, 1]; higher is better. There is no value if there are no such replies (the authors print
    0).
    """
    if columns.score is None:
        return Estimate(value=None, n=0, reason="no reply has a letter: the authors print 0.0 %")
    return mean(columns)


# -- published results


def results(path: Path, samples: Iterable[Sample]) -> Published | None:
    """Read the replies of a file in the authors' format. Returns None for any other file."""
    if not path.is_file() or path.name.removesuffix(".gz")[-5:].lower() != ".json":
        return None
    try:
        content = of_template(path)
    except DataError:
        return None  # The general reader of prediction files then reports the error.
    if not isinstance(content, list) or not all(
        isinstance(video, dict) and isinstance(video.get("questions"), list) for video in content
    ):
        return None
    reading = _FileReplies(path.name)
    for video in content:
        for question in video["questions"]:
            reading.take(question)
    return reading.published({sample.id: sample for sample in samples})


@dataclass
class _FileReplies:
    """Collects the replies and right answers in a file, keyed by question."""

    name: str
    responses: dict[str, list[str | None]] = field(default_factory=dict)
    right: dict[str, object] = field(default_factory=dict)

    def take(self, question: Any) -> None:
        try:
            name, response = str(question["question_id"]), question["response"]
        except (KeyError, TypeError) as error:
            raise DataError(
                f"{self.name}: a question lacks a field of Video-MME's results ({error!r}): "
                f"{str(question)[:200]}. Download the file again."
            ) from error
        if response is not None and not isinstance(response, str):
            raise DataError(
                f"{self.name}: the response to {name} is {str(response)[:60]}. Responses must "
                "be text or null."
            )
        self.responses.setdefault(name, []).append(response)
        self.right.setdefault(name, question.get("answer"))

    def published(self, samples: Mapping[str, Sample]) -> Published:
        return Published(
            replies={name: responses[0] for name, responses in self.responses.items()},
            again={
                name: tuple(responses[1:])
                for name, responses in self.responses.items()
                if len(responses) > 1
            },
            only_these=True,
            notes=tuple(self._notes(samples)),
        )

    def _notes(self, samples: Mapping[str, Sample]) -> Iterator[str]:
        absent = Counter(
            sample.tags["duration"]
            for name, sample in samples.items()
            if name not in self.responses
        )
        if absent:
            of = ", ".join(
                f"{absent[duration]:,} {duration}" for duration in DURATIONS if absent[duration]
            )
            yield (
                f"questions without a row, which are left out of all means: {of}; the authors' "
                "script stops unless all 300 videos of a duration have rows"
            )
        if again := [name for name, responses in self.responses.items() if len(responses) > 1]:
            yield f"repeated questions, for which every row counts: {', '.join(again[:20])}"
        if nothing := sum(
            text is None for responses in self.responses.values() for text in responses
        ):
            yield (
                f"{nothing:,} responses are null and left out of every mean; the authors' script "
                "stops there"
            )
        others = sum(
            right is not None and name in samples and right != samples[name].target
            for name, right in self.right.items()
        )
        if others:
            yield (
                f"{others:,} rows have a different right answer than the data set. Snellen uses "
                "the data set; the authors' script uses the rows"
            )


# -- check

LETTER = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
# The right answer to a quarter of the bundled questions is A. "A B C D" begins with A.
FIRST = LETTER | {"hedging": 1 / 4}
EXPECT: Mapping[str, Mapping[str, float | None]] = {
    "official": FIRST | {"silent": None},
    "robust": LETTER,
    "lmms-eval": FIRST,
    "vlmevalkit": FIRST,
}


def wrong_answer(sample: Sample) -> str:
    return "B" if sample.target == "A" else "A"

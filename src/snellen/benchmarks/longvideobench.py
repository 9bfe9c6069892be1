"""LongVideoBench: questions with up to five choices that refer to a moment of a long video.

Paper    Wu et al. 2024, LongVideoBench: A Benchmark for Long-context Interleaved Video-Language
         Understanding, https://arxiv.org/abs/2407.15754 (NeurIPS, Datasets and Benchmarks).
Data     longvideobench/LongVideoBench on the Hugging Face hub (gated): lvb_val.json with 1,337
         questions, and videos/{video_path} in parts of a TAR file. lvb_test_wo_gt.json, without
         answers, can be passed as --data.
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/longvideobench/utils.py#L129-L152, as longvideobench_val_v: without subtitles. Frames
         are uniform:64.
         `official`: longvideobench/LongVideoBench@2aa4f91aec801c43962f90a20f137ca0c00cdeb7:
         longvideobench/longvideobench_dataset.py#L45-L153, with the subtitles between the frames in
         chronological order, from subtitles/{subtitle_path}. Its loader takes up to 256 frames:
         --frames longvideobench:256. Questions without subtitle_path have none.
         Replies are limited to 32 tokens.
Scoring  The authors' repository has no scorer. lmms-eval's is "same as original".
         `lmms-eval`: lmms_eval/tasks/longvideobench/utils.py#L187-L213. Some phrases are deleted,
         and the first capital from A to E is the answer, even in a word: "Based on" is B. A reply
         without one gets a letter drawn at random, here with the sample's id as the seed.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For 1,200 generated replies, every letter equals that of lmms-eval's code, and a letter is
         drawn for the same replies (tests/parity). `robust` is checked on examples worked out by
         hand.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.choice_sets import rule
from snellen.benchmarks.families.draws import by_id
from snellen.core import Benchmark, Capabilities, Presentation, Sample
from snellen.data import DataFile, Row, find
from snellen.media.content import Cue

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-SA-4.0"
PROOF = "toolkit's code"
SIZE = 1337
ALIASES: dict[str, dict[str, object]] = {"longvideobench_val_v": {}, "LongVideoBench": {}}
LEAVES = {
    # Letters: scene, text, event, object, and attribute as referred to and asked for.
    **dict.fromkeys(("S2E", "E2O", "T2E", "O2E", "T2O"), "perception/object"),
    **dict.fromkeys(("S2O", "S2A", "T2A"), "perception/attribute"),
    **dict.fromkeys(("SSS", "SOS", "SAA", "T3E", "T3O", "TOS", "TAA", "E3E", "O3O"),
                    "reasoning/temporal"),
}  # fmt: skip
SCORINGS = videos.with_robust(
    {
        "lmms-eval": replace(
            rule(
                f"{pins.LMMS_EVAL}:lmms_eval/tasks/longvideobench/utils.py#L187-L213",
                rules.longvideobench,
            ),
            resolve=by_id("lmms-eval sets no seed for them."),
        )
    }
)


Preset = Literal["lmms-eval", "official"]
Fields = Mapping[str, Any]


def longvideobench(prompt: Preset = "lmms-eval", data: Path | None = None) -> Benchmark:
    data_file = find(data, "longvideobench", ("lvb_val.json",))
    is_official = prompt == "official"
    # A small cache is enough, since the questions of a video are consecutive.
    cues = lru_cache(maxsize=16)(lambda path: objects_of(path))
    return videos.choice_benchmark(
        "longvideobench",
        authors_files.table(data_file, authors_files.objects),
        lambda row: to_sample(row, data_file, cues if is_official else None),
        official_text if is_official else lmms_text,
        SCORINGS,
        # "A B C D" begins with A, the answer to a quarter of the bundled questions. The letters
        # drawn for empty replies are right for one of the eight questions.
        choice_sets.check(SCORINGS, silent={"lmms-eval": 1 / 8}, lmms_eval=1 / 4),
        frames="uniform:64",
        max_answer_tokens=32,
        presentation=Presentation(
            break_down_by=("duration_group", "question_category", "level"),
            capabilities=Capabilities(
                tag="question_category",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2407.15754, section 3",
            ),
        ),
    )


def to_sample(
    row: Row, data_file: DataFile, cues: Callable[[Path], Sequence[Fields]] | None
) -> Sample:
    """`cues` reads the subtitles of a video, or is None if no subtitles are shown."""
    choices = [str(choice) for choice in row["candidates"] if choice != "N/A"]
    index = row.get("correct_choice")
    tags = {name: row.get(name) for name in ("duration_group", "question_category", "level")}
    clip = videos.clip(data_file, str(row["video_path"]))
    if cues is not None and row.get("subtitle_path"):
        folder = videos.root_of(data_file) / "subtitles"
        path = folder / str(row["subtitle_path"])
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"the subtitles {row['subtitle_path']!r} are outside {folder}")
        clip = replace(clip, subtitles=tuple(cue_of(line, row) for line in cues(path)))
    return videos.question(
        clip,
        str(row["id"]),
        row["question"],
        choices,
        None if index is None else choice_sets.letter_at(index, choices),
        tags,
    )


# -- prompts


def lmms_text(sample: Sample) -> str:
    return f"{videos.with_letters(sample)}\n{choice_sets.DIRECTLY}\n"


def official_text(sample: Sample) -> str:
    """The authors list the lines of the question as separate texts. Here they are joined by line
    breaks."""
    return f"Question: {videos.with_letters(sample)}\n{choice_sets.DIRECTLY}"


# -- subtitles


def objects_of(path: Path) -> Sequence[Fields]:
    """The lines of a file of subtitles.

    Raises:
        DataError: the file is missing, or is not a list of objects.
    """
    return [*authors_files.objects(path)]


def cue_of(line: Fields, row: Row | Fields) -> Cue:
    """A line of subtitles, with times from the start of the video. A line that has no number as its
    end lasts until the end of the video.

    Raises:
        ValueError: the line has no text or no times.
    """
    offset = float(row.get("starting_timestamp_for_subtitles") or 0)
    if "timestamp" in line:
        start, end = line["timestamp"]
        end = end if isinstance(end, float) else float(row["duration"])
        return Cue(float(start) - offset, end - offset, str(line["text"]))
    start, end = (seconds_of(str(line[name])) for name in ("start", "end"))
    return Cue(start - offset, end - offset, str(line["line"]))


def seconds_of(clock: str) -> float:
    hours, minutes, seconds = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)

"""CG-Bench's judge of free answers: it compares words first, and then looks at frames if it must.

CG-Bench/CG-Bench@f826608752443a13b21f214c2d9c4156c526f030:run/utils.py and run/run_api.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families.clues import NO_RESULT, block, result_in
from snellen.benchmarks.families.intervals import mean_of_scored
from snellen.benchmarks.families.judged import for_the_judge, judged, prompts
from snellen.core import Judge, Reading, Reply, Sample, Scoring
from snellen.data import DataFile
from snellen.media.content import Cue, Message, TimedText, Video, user

AUTHORS = "CG-Bench/CG-Bench@f826608752443a13b21f214c2d9c4156c526f030:run"
SOURCE = f"{AUTHORS}/utils.py#L353-L452 and stat_with_key.py"
FOLDERS = ("cg_videos_720p", "videos", "")
FRAMES = 32
"""The frames of all clues together, as run.sh sets them by default."""
VERDICTS = ("wrong", "right")
NOT_JUDGED = "nothing said"
"""The rule of an empty reply, about which the judge is not asked."""


def scoring(data_file: DataFile) -> Scoring:
    """The scoring by the authors' judge. `data_file` has the questions, beside the videos and
    subtitles that the judge is shown."""
    judge = Judge(
        name="gpt-4o-2024-08-06",
        authors_model="gpt-4o-2024-08-06",
        prompt=compare_words,
        then=lambda sample, reply, _: look_at_frames(sample, reply, data_file),
        then_when=needs_frames,
        parse=lambda words, _: verdict(words),
        when=lambda reading: reading.rule != NOT_JUDGED,
    )
    official = judged(
        SOURCE,
        judge,
        lambda reading, _: float(reading.answer == VERDICTS[1]),
        {"accuracy": mean_of_scored},
    )
    return replace(official, parse=parse)


def parse(reply: Reply, sample: Sample) -> Reading:
    """Leave a reply to the judge. The authors do not judge an empty reply, and leave it out of the
    mean."""
    if not reply.text:
        return Reading(answer=None, rule=NOT_JUDGED)
    return for_the_judge(reply, sample)


# -- what the judge is asked, utils.py#L353-L356 and run_api.py#L119-L125


def compare_words(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    right = f"The ground truth answer is '{sample.target}'\n\n"
    return (user(prompts("cg_bench")["eval_open_step_1"] + question_of(sample, reply, right)),)


def look_at_frames(sample: Sample, reply: Reply, data_file: DataFile) -> tuple[Message, ...]:
    """Ask with the frames of the clues, their times, and the subtitles at these times."""
    begin = prompts("cg_bench")["eval_open_step_2"]
    question = question_of(sample, reply)
    name = str(sample.data["video"]).removesuffix(".mp4")
    cues = videos.cues_of(videos.root_of(data_file) / "cg_subtitles", name)

    def write(times: Sequence[float]) -> str:
        return f"{begin}{subtitles_at(cues, times)}{list_of_times(times)}{question}"

    shown = clips_of_clues(sample, data_file)
    return (user(*shown, TimedText(f"{begin}{question}", shown, write)),)


def question_of(sample: Sample, reply: Reply, right: str = "") -> str:
    begin = f"Question: {sample.question}\n\n{right}"
    return f"{begin}The model's prediction is '{prediction(reply.text)}'\n\n"


def prediction(text: str) -> str:
    """The value of "result" in the JSON of a reply, or else the reply."""
    value = result_in(block(text))
    if value is NO_RESULT or value is None:
        return text
    try:
        # An escape in JSON can be half a character, which cannot be sent.
        return str(value).encode(errors="replace").decode()
    except RecursionError:  # nested too deeply
        return text


def clips_of_clues(sample: Sample, data_file: DataFile) -> list[Video]:
    """The parts of the video with the clues, each with a number of frames in proportion to its
    length, utils.py#L192-L208."""
    spans: Any = sample.data["clues"]
    lengths = [round((end - start) * 1000) for start, end in spans]
    clips = []
    for window, length in zip(spans, lengths, strict=True):
        n = max(1, FRAMES * length // max(1, sum(lengths)))
        clip = videos.clip(data_file, str(sample.data["video"]), FOLDERS, tuple(window))
        clips.append(replace(clip, policy=f"uniform:{n},at=middles"))
    return clips


def list_of_times(times: Sequence[float]) -> str:
    listed = ", ".join(str(round(time, 4)) for time in times)
    total = f"A total of {len(times)} frames are sampled."
    return f"{total} Their corresponding timestamps are:\n\n{listed}\n\n"


def subtitles_at(cues: Sequence[Cue], times: Sequence[float]) -> str:
    """The lines on display at the frames, each once, in the order of the frames. A line is not on
    display at its very start and end."""
    milliseconds = [round(time * 1000) / 1000 for time in times]
    lines = dict.fromkeys(
        f"[{round(cue.start, 3)}, {round(cue.end, 3)}] {cue.text}"
        for now in milliseconds
        for cue in cues
        if cue.start < now < cue.end
    )
    listed = "\n".join(lines)
    return f"The subtitles of the video are as follows:\n\n{listed}\n\n" if lines else ""


# -- what the judge says, utils.py#L400-L452


def result_of(words: str, digits: str) -> Any:
    """The value of "result" in the JSON, or else the first of these digits; None without both."""
    value = result_in(block(words))
    if value is not NO_RESULT and value is not None:
        return value
    match = re.search(f"[{digits}]", words)
    return None if match is None else int(match[0])


def needs_frames(words: str) -> bool:
    """Whether the judge must look at frames: after 2, and any other result than 0 and 1."""
    value = result_of(words, "012")
    return value is not None and value not in (0, 1)


def verdict(words: str) -> Reading:
    """The final verdict, with or without frames. Results other than 1 count as wrong."""
    value = result_of(words, "01")
    if value is None:
        return Reading(answer=None, rule="not of the requested form")
    return Reading(answer=VERDICTS[value == 1], rule="verdict")


def perfect_verdict(sample: Sample, reply: Reply) -> str:
    result = int(prediction(reply.text) == sample.target)
    return f'```json\n{{"result": {result}}}\n```'

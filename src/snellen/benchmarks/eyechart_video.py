"""eyechart-video: letters in a video: which letter, how often, in which order, and how briefly.

Paper    none. The letters are the same as in eyechart.
Data     The clips are drawn from `seed`, without a download. There are `clips` clips of 10 to 40
         seconds, with 320 x 240 pixels and ten frames per second.
         A clip shows one black letter at a time, 60 to 120 pixels high, on gray.
         Drawing needs the extra `video`. The files (20 KB each) are kept in the cache folder.
         The clips are divided equally among the tasks in `tasks` (joined by +). Each clip has
         questions at several times.
         `letter`: letters are shown without gaps, for 2 to 5 seconds each. The question is which
         letter is shown now.
         `count`: two letters are shown repeatedly, for 1.2 to 2 seconds each. The question is how
         many times one of them was shown.
         `order`: different letters are shown for 1.5 to 3 seconds each. The question is which
         letter came first, second, or third.
         `flash`: letters are shown for between 0.1 and 1.6 seconds each; these durations are the
         levels of a ladder. The question is which letter came last. Except in count, a
         blind guess among the ten letters is right 10 % of the time. In flash, naming the previous
         letter is also right 10 % of the time. In count, the most frequent answer is 1, for about
         25 % of the questions.
Prompt   The prompt is Snellen's own: the video up to the time of the question, the question, and
         the form of the answer. The time of the question is halfway between two frames, and at
         least half a second from any change.
         The frames are sampled as fps:2. This rate shows everything except some flashes: a flash of
         medium length is visible half of the time.
         With mode=polled, the clip is streamed to a session, and each question is put to a fork (a
         copy) of the session at the question's time.
Scoring  `official`: Snellen's own rule. The whole reply is the answer. Case, surrounding spaces,
         quotes, and asterisks, a final full stop, and a leading "Answer:" are ignored. The answer
         is a letter, or a number in digits.
         `accuracy` is the share of right answers.
         `temporal_acuity` is the length at which 55 % of the flashes are read, halfway between
         guessing (10 %) and 100 %. A model that sees R frames per second, and reads the letter in
         each of them, has a temporal_acuity of 1 / 2R seconds, since half of the flashes of that
         length fall on one of these frames.
Proof    None needed: the benchmark and its scoring are defined here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from snellen import metrics
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    History,
    Presentation,
    Procedure,
    Reading,
    Reply,
    Sample,
    Scoring,
    Streaming,
)
from snellen.data import Drawn, Row
from snellen.errors import DataError, UsageError
from snellen.home import home
from snellen.media.content import Message, Video, user
from snellen.media.drawing import CLIP_KINDS, Script, ShownLetter, clip_script, write_clip
from snellen.metrics.acuity import threshold

KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "own"
SIZE = 172
ALIASES: dict[str, dict[str, object]] = {}

ASKS = 1
CHANCE = 1 / 10
CAPABILITIES = Capabilities(
    tag="task",
    leaves={
        **dict.fromkeys(("letter", "flash"), "OCR/text"),
        "count": "perception/counting",
        "order": "reasoning/temporal",
    },
    source="ours",
)


def eyechart_video(
    seed: int = 0,
    clips: int = 48,
    tasks: str = "+".join(CLIP_KINDS),
    mode: Literal["offline", "polled"] = "offline",
    data: Path | None = None,
) -> Benchmark:
    """Build the benchmark. The same `seed` draws the same frames on every machine.

    Raises:
        UsageError: a task does not exist, the number of clips is below 1, or `data` is passed,
            which this benchmark does not use.
    """
    if data is not None:
        raise UsageError(f"eyechart-video draws its own clips and reads no data. Leave out {data}.")
    if clips < 1:
        raise UsageError(f"eyechart-video:clips must be at least 1, but is {clips}.")
    kinds = _kinds(tasks)
    has_flashes = "flash" in kinds
    acuity = threshold("flash", unit="seconds", trials=1, guess=CHANCE, harder="lower")
    return Benchmark(
        name="eyechart-video",
        asks=ASKS,
        data=Drawn(f"eyechart-video, drawn from seed {seed}", partial(_rows, seed, clips, kinds)),
        sample=partial(_sample, seed),
        prompt=_prompt,
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=_parse,
                score=_score,
                metrics={
                    "accuracy": metrics.mean,
                    **({"temporal_acuity": acuity} if has_flashes else {}),
                },
                reads="generate" if mode == "offline" else "session",
            )
        },
        max_answer_tokens=64,
        cluster_by=_clip_of,
        check=Check(
            says=lambda _, answer: answer,
            wrong=_wrong,
            expect={"official": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}},
        ),
        procedure=Procedure(
            kind="generate" if mode == "offline" else "session",
            streaming=None
            if mode == "offline"
            else Streaming(when=_question_time, session=_clip_of),
            group_by=_clip_of,
            frames="fps:2",
        ),
        presentation=Presentation(
            break_down_by=("task", "flash") if has_flashes else ("task",),
            ladders={"flash": "temporal_acuity"} if has_flashes else {},
            capabilities=CAPABILITIES,
        ),
    )


def _kinds(tasks: str) -> list[str]:
    """The kinds of questions that the option `tasks` lists."""
    kinds = tasks.split("+")
    if not set(kinds) <= set(CLIP_KINDS) or len(set(kinds)) < len(kinds):
        raise UsageError(
            f"eyechart-video:tasks must be one or more of {'+'.join(CLIP_KINDS)}, without "
            f"repetition, but is {tasks!r}."
        )
    return kinds


# -- rows: each describes a clip and one of its questions


def _rows(seed: int, clips: int, tasks: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    kinds = [kind for task in tasks for kind in CLIP_KINDS if kind == task]
    for clip_index in range(clips):
        number, turn = divmod(clip_index, len(kinds))
        kind = kinds[turn]
        script = clip_script(kind, f"{seed} {number}")
        for question_index, question in enumerate(script.questions):
            yield {
                "id": f"{kind}-{number}-{question_index}",
                "task": kind,
                "time": question.time,
                "question": question.text,
                "choices": question.choices,
                "answer": question.target,
                "flash": question.tags.get("flash", ""),
                "clip": {
                    "kind": kind,
                    "frames": script.n_frames,
                    "shown": [[s.letter, s.first, s.end, s.x, s.y, s.side] for s in script.shown],
                },
            }


# -- samples


def _sample(seed: int, _: int, row: Row) -> Sample:
    name = f"{row['id'].rpartition('-')[0]}.mp4"
    return Sample(
        id=row["id"],
        question=row["question"],
        choices=tuple(row["choices"]),
        media=(Video(_folder(seed) / name, end=row["time"], label=f"{name}, drawn"),),
        target=row["answer"],
        tags={"task": row["task"], "flash": row["flash"]},
        data=row["clip"],
    )


def _folder(seed: int) -> Path:
    """The folder for the clips of a seed. Whenever clips are drawn in a new way, the folder gets a
    new name."""
    return home() / "data" / "eyechart-video" / f"{ASKS}-{seed}"


def _clip_of(sample: Sample) -> str:
    return sample.id.rpartition("-")[0]


def _question_time(sample: Sample) -> float:
    (video,) = sample.media
    assert isinstance(video, Video) and video.end is not None
    return video.end


def _prompt(sample: Sample, _: History) -> tuple[Message, ...]:
    """Build the prompt from the clip and the question. The clip is drawn when the first question
    about the clip is asked."""
    for medium in sample.media:
        assert isinstance(medium, Video)
        if not medium.source.exists():
            _draw(sample, medium.source)
    return (user(*sample.media, sample.question),)


def _draw(sample: Sample, path: Path) -> None:
    clip: Any = sample.data
    shown = tuple(
        ShownLetter(letter=letter, first=first, end=end, x=x, y=y, side=side)
        for letter, first, end, x, y, side in clip["shown"]
    )
    script = Script(kind=clip["kind"], n_frames=clip["frames"], shown=shown, questions=())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"eyechart-video: the folder {path.parent} for its clips cannot be created: "
            f"{error.strerror}. Set SNELLEN_HOME to another folder."
        ) from error
    write_clip(script, path)


# -- the official scoring


def _parse(reply: Reply, sample: Sample) -> Reading:
    text = reply.text.strip(" \t\r\n*\"'`").removesuffix(".")
    text = re.sub(r"\Aanswer:", "", text.lower()).strip(" \t\r\n*\"'`")
    if sample.tags["task"] == "count":
        if re.fullmatch("[0-9]{1,4}", text):
            return Reading(answer=str(int(text)), rule="a number")
    elif re.fullmatch("[a-z]", text):
        return Reading(answer=text.upper(), rule="a letter")
    return Reading(answer=None, rule="none")


def _score(reading: Reading, sample: Sample) -> float:
    return float(reading.answer is not None and reading.answer == sample.target)


def _wrong(sample: Sample) -> str:
    """A wrong answer of the right form: the next letter in the list, or the number plus one."""
    target = sample.target or ""
    if sample.tags["task"] == "count":
        return str(int(target) + 1)
    return sample.choices[(sample.choices.index(target) + 1) % len(sample.choices)]

"""OVO-Bench: what a model knows in mid-video about the past, the present, and the future.

Paper    Li et al. 2025, OVO-Bench: How Far is Your Video-LLMs from Real-World Online Video
         Understanding?, https://arxiv.org/abs/2501.05510 (CVPR 2025).
Data     ovo_bench_new.json of JoeLeelyf/OVO-Bench@c34093f9a072d93f9e1c6b923446dfba71f4528e has
         1,640 questions on 644 videos. The code is under MIT, the data under CC BY-NC-SA 4.0.
         Questions of the tasks REC, SSR, and CRR are asked at several times, called points. There
         are 3,035 points in total.
         The videos are on the Hugging Face hub, either whole (src_videos.tar.parta*, 44 GB) or cut
         at each point (chunked_videos.tar.parta*, 144 GB). With videos=chunks, the cut videos are
         read: {id}.mp4, and {id}_{i}.mp4 for point i. A sample's id is {id} or {id}_{i}.
Prompt   `official`: the video up to the point, then the unchanged text of constant.py and
         utils/OVOBench.py#L112-L130.
         With cut=ceil, the prompt of a point at 12.3 s has all frames before 13 s, as in
         chunk_videos.py. With cut=exact, the same prompt has all frames up to 12.3 s.
         The frames are sampled as ovo:uniform64, as in models/GPT.py#L31-L46, or as ovo:qwen2vl, as
         in models/QWen2VL.py#L23-L57.
         Replies are limited to 128 tokens.
Scoring  `official`: utils/OVOBenchScore.py. A reply is right if the right letter appears anywhere
         in it. The same holds for the words "Yes" and "No", so the reply "Not sure" counts as No.
         The replies "Y" and "N" count as Yes and No. For REC, a reply is right if the digits in it,
         joined, form the right count.
         The accuracy of a task is the mean over the task's points. The accuracy of a group is the
         mean over the group's tasks. The total is the mean over the three groups.
         The constant reply "A B C D E" gets 100 % on nine tasks, and the reply "Yes No" gets 100 %
         on SSR and CRR. The constant reply "Yes" gets 67.2 % on SSR and 60 % on CRR. The constant
         reply "1" gets 20.5 % on REC.
         `as-lists`: the official rule, applied as if each reply were a list with a single text.
         Replies from models/QWen2VL.py are such lists. Only the bare letter is then right, and the
         authors' script stops with an error at REC.
         `robust`: Snellen's own rule. `accuracy_by_question` is the paper's metric (its supplement,
         section 6). This metric first takes the mean over the points of each question. The authors'
         script does not do this.
Proof    For the published outputs of six models, in seven folders, every item and every accuracy
         equals the authors' (tests/parity).
         For `as-lists`, the outputs of one model are compared.
         `robust` is checked on examples worked out by hand.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from snellen import stats
from snellen.benchmarks.families import authors_files, ovo_results
from snellen.benchmarks.families import results as _results
from snellen.benchmarks.families.tasks import is_target, parse_count, parse_letter, parse_yes_no
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
    Streaming,
)
from snellen.core.model import Kind
from snellen.data import DataFile, Drawn, Row, find
from snellen.data.published import File
from snellen.errors import DataError, UsageError
from snellen.interop.predictions import FAILED
from snellen.media.content import Video, user
from snellen.metrics import Columns, Metric, mean, metric
from snellen.metrics.streaming import to_json
from snellen.metrics.yes_no import f1, precision, recall, yes_ratio
from snellen.stats import Estimate

KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-SA-4.0"
PROOF = "published outputs"
SIZE = 3035
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REVISION = "c34093f9a072d93f9e1c6b923446dfba71f4528e"
AUTHORS = f"JoeLeelyf/OVO-Bench@{REVISION}"
SOURCE = f"{AUTHORS}:utils/OVOBenchScore.py#L8-L74"
GROUPS: Mapping[str, tuple[str, ...]] = {
    "backward": ("EPM", "ASI", "HLD"),
    "realtime": ("OCR", "ACR", "ATR", "STU", "FPD", "OJR"),
    "forward": ("REC", "SSR", "CRR"),
}
TASKS = tuple(task for tasks in GROUPS.values() for task in tasks)
GROUP_OF = {task: group for group, tasks in GROUPS.items() for task in tasks}
YES_NO = ("SSR", "CRR")
FILES = ("ovo_bench_new.json", "data/ovo_bench_new.json", "annotations.json")
FILES_PUBLISHED = (
    File(
        name="ovo_bench_new.json",
        url=f"https://raw.githubusercontent.com/JoeLeelyf/OVO-Bench/{REVISION}/data/"
        "ovo_bench_new.json",
        sha256="dc4a90daf26764dc8ab8b228ea4af864ba2ea50c2833ead8c9af6573f78ccf97",
        note="the questions; the videos (44 GB) are src_videos.tar.parta[a-e] of JoeLeelyf/"
        "OVO-Bench on the hub, to be unpacked beside it",
    ),
)
SOURCES = ("src_videos", "data/src_videos", "videos")
CHUNKS = ("chunked_videos", "data/chunked_videos")
LEAVES = {
    **dict.fromkeys(("EPM", "ASI", "ACR", "FPD", "SSR", "CRR"), "reasoning/temporal"),
    "HLD": "hallucination/object",
    "OCR": "OCR/text",
    "ATR": "perception/attribute",
    "STU": "perception/spatial",
    "OJR": "perception/object",
    "REC": "perception/counting",
}

Task = Literal[
    "all", "backward", "realtime", "forward",
    "EPM", "ASI", "HLD", "OCR", "ACR", "ATR", "STU", "FPD", "OJR", "REC", "SSR", "CRR",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How the time of a stream passes; the fields are those of `Streaming`."""

    clock: Literal["logical", "simulated", "real"]
    """The kind of clock."""
    drop: Literal["none", "latest", "oldest"]
    """Which frames are dropped while the model is busy."""
    speed: float
    """The factor by which calls are faster on the simulated clock than in reality."""


def ovo_bench(
    task: Task = "all",
    cut: Literal["ceil", "exact"] = "ceil",
    videos: Literal["source", "chunks"] = "source",
    mode: Literal["offline", "polled", "proactive"] = "offline",
    memory: Literal["fork", "keep"] = "fork",
    scope: Literal["auto", "video", "question", "point"] = "auto",
    clock: Literal["logical", "simulated", "real"] = "logical",
    drop: Literal["none", "latest", "oldest"] = "none",
    speed: float = 1.0,
    decoys: Literal["other-video"] | None = None,
    data: Path | None = None,
) -> Benchmark:
    if mode != "offline" and videos == "chunks":
        raise UsageError(f"ovo-bench:mode={mode} needs the whole videos. Leave out videos=chunks.")
    if not 0 < speed < math.inf:
        raise UsageError(f"ovo-bench: speed must be finite and above 0, but is {speed}.")
    refuse_idle(
        mode=mode,
        videos=videos,
        cut=cut,
        memory=memory,
        scope=scope,
        clock=clock,
        drop=drop,
        speed=speed,
        decoys=decoys,
    )
    data_file = find(data, "ovo-bench", FILES, FILES_PUBLISHED)
    tasks = GROUPS.get(task, TASKS if task == "all" else (task,))
    if mode == "proactive":
        timing = Timing(clock=clock, drop=drop, speed=speed)
        return proactive(data_file, tasks, scope, timing, decoys is not None)
    table = Drawn(str(data_file), lambda: points(data_file.path, tasks), REVISION)

    root = cache(lambda: rooted(data_file.folder, CHUNKS if videos == "chunks" else SOURCES))

    def sample(row: Row) -> Sample:
        return to_sample(row, root(), cut, videos)

    reads: Kind = "generate" if mode == "offline" else "session"
    return Benchmark(
        name="ovo-bench",
        asks=1,
        data=table,
        sample=lambda _, row: sample(row),
        prompt=lambda sample, _: (user(*sample.media, prompt(sample)),),
        scorings={
            "official": scoring(SOURCE, official_answer, tasks, reads),
            "as-lists": scoring(SOURCE, answer_of_list, tasks, reads, without=("REC",)),
            "robust": scoring("ours", robust_answer, tasks, reads, version=3),
        },
        max_answer_tokens=128,
        cluster_by=video_of,
        check=Check(says=in_words, wrong=wrong_answer, expect=EXPECT),
        procedure=Procedure(
            kind=reads,
            streaming=None
            if mode == "offline"
            else Streaming(
                when=window_end,
                session=SESSIONS["video" if scope == "auto" else scope],
                memory=memory,
                clock=clock,
                drop=drop,
                speed=speed,
            ),
            group_by=video_of,
            frames="ovo:uniform64" if mode == "offline" else "fps:1,latest",
        ),
        presentation=Presentation(
            break_down_by=("group", "task"),
            metric_tags=("question",),
            capabilities=Capabilities(
                tag="task", leaves=LEAVES, source="https://arxiv.org/abs/2501.05510, section 3.1"
            ),
        ),
        interop=Interop(
            files=data_file,
            layout=lambda path: results(path, map(sample, table)),
            results=lambda model, replies: ovo_results.results(
                rows_of(data_file.path, tasks),
                GROUPS,
                "offline" if mode == "offline" else "online",
                model,
                replies,
            ),
        ),
    )


IDLE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("mode", "offline"): ("memory", "scope", "clock", "drop", "speed", "decoys"),
    ("mode", "polled"): ("decoys",),
    ("mode", "proactive"): ("memory", "cut"),
    ("videos", "chunks"): ("cut",),
    ("clock", "logical"): ("drop", "speed"),
    ("clock", "real"): ("speed",),
}
"""The options that have no effect, keyed by the name and value of the option that disables them."""


def refuse_idle(**chosen: object) -> None:
    """Reject options that have no effect, so that equal runs have equal options."""
    options = signature(ovo_bench).parameters
    for (other, value), names in IDLE.items():
        for name in names:
            if chosen[other] == value and chosen[name] != options[name].default:
                raise UsageError(
                    f"ovo-bench: {name}={chosen[name]} has no effect with {other}={value}. Omit "
                    f"it, or choose another {other}."
                )


def proactive(
    data_file: DataFile,
    tasks: Sequence[str],
    scope: str,
    timing: Timing,
    decoys: bool,
) -> Benchmark:
    """Build the benchmark for mode=proactive, in which each question of REC, SSR, and CRR is asked
    once and stays open while the video runs (`families.ovo_proactive`). With `decoys`, each
    question has a decoy (`families.ovo_decoys`)."""
    from snellen.benchmarks.families import ovo_decoys, ovo_proactive

    tasks = [task for task in tasks if task in GROUPS["forward"]]
    if not tasks or scope == "point":
        raise UsageError(
            "ovo-bench:mode=proactive asks each question of REC, SSR, and CRR once. Use "
            "task=forward or one of these tasks, and a scope other than point."
        )
    root = cache(lambda: rooted(data_file.folder, SOURCES))

    def rows() -> Iterator[Mapping[str, Any]]:
        if decoys:
            every = rows_of(data_file.path, GROUPS["forward"])
            return ovo_decoys.with_decoys([*every], tasks)
        return rows_of(data_file.path, tasks)

    def sample(row: Row) -> Sample:
        query = ovo_decoys.watch(row) if decoys else ovo_proactive.watch(row)
        return Sample(
            id=str(row["id"]),
            question=question(row) if row["task"] != "SSR" else "; ".join(row["all_steps"]),
            choices=tuple(row["all_steps"]) if row["task"] == "SSR" else (),
            media=(video(root(), row["video"], query.end),),
            target=to_json(query),
            tags={"task": row["task"]} | (ovo_decoys.tags(row) if decoys else {}),
            data={"video": row["video"], "text": ovo_proactive.query_of(row)[1]},
        )

    def session(sample: Sample) -> str:
        is_shared = scope == "video" and not ovo_decoys.is_decoy(sample)
        return video_of(sample) if is_shared else sample.id

    return Benchmark(
        name="ovo-bench",
        asks=1,
        data=Drawn(str(data_file), rows, REVISION),
        sample=lambda _, row: sample(row),
        prompt=lambda sample, _: (user(*sample.media, str(sample.data["text"])),),
        scorings={"default": ovo_decoys.scoring() if decoys else ovo_proactive.scoring()},
        max_answer_tokens=128,
        cluster_by=video_of,
        procedure=Procedure(
            kind="session",
            streaming=Streaming(
                when=ovo_proactive.when,
                until=ovo_proactive.until,
                windows=ovo_proactive.windows,
                session=session,
                memory="keep",
                clock=timing.clock,
                drop=timing.drop,
                speed=timing.speed,
                attribute=ovo_proactive.attribute,
            ),
            frames="fps:1,latest",
            group_by=video_of,
        ),
        presentation=Presentation(
            break_down_by=("task",), metric_tags=(ovo_decoys.TAG,) if decoys else ()
        ),
        interop=Interop(files=data_file),
    )


def scoring(
    source: str,
    parse: Callable[[Reply, Sample], Reading],
    tasks: Sequence[str],
    reads: Kind,
    without: Sequence[str] = (),
    version: int = 1,
) -> Scoring:
    return Scoring(
        version=version,
        source=source,
        parse=parse,
        score=score,
        metrics={
            name: where_scored(metric)
            for name, metric in {
                "accuracy": average(tasks, without),
                "accuracy_micro": Metric(mean, better="higher"),
                "accuracy_by_question": by_question(average(tasks, without)),
                "precision": of_yes_no(precision),
                "recall": of_yes_no(recall),
                "f1": of_yes_no(f1),
                "balanced_accuracy": of_yes_no(balanced_accuracy),
                "yes_ratio": of_yes_no(yes_ratio),
            }.items()
        },
        reads=reads,
        missing="wrong",
    )


# -- data


def points(path: Path, tasks: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each time a question is asked. A question of REC, SSR, or CRR is asked at
    several times."""
    for annotation in rows_of(path, tasks):
        if annotation["task"] not in GROUPS["forward"]:
            yield annotation
            continue
        common = {key: value for key, value in annotation.items() if key != "test_info"}
        try:
            for index, point in enumerate(annotation["test_info"]):
                yield {**common, **point, "index": index}
        except (KeyError, TypeError) as error:
            raise not_theirs(path, error) from error


def rows_of(path: Path, tasks: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the authors' rows for these tasks."""
    try:
        for annotation in authors_files.of_json(path):
            task = annotation["task"]
            if task not in GROUP_OF:
                raise DataError(
                    f"{path}: question {annotation['id']} has the task {task!r}. The tasks of "
                    f"OVO-Bench are {', '.join(GROUP_OF)}."
                )
            if wrong := out_of_range(annotation):
                raise DataError(f"{path}: question {annotation['id']} {wrong}")
            if task in tasks:
                yield annotation
    except (AttributeError, KeyError, TypeError) as error:
        raise not_theirs(path, error) from error


def out_of_range(annotation: Mapping[str, Any]) -> str | None:
    """The reason why a question cannot be asked or scored, as text. None if the question is
    valid."""
    if annotation["task"] not in GROUPS["forward"]:
        right, n_options = annotation.get("gt"), len(annotation.get("options", ()))
        if right in range(n_options):
            return None
        return f"has {n_options} options, but its `gt`, which counts from 0, is {right!r}."
    points = annotation.get("test_info")
    if not points:
        return "has an empty test_info, so it is never asked."
    if annotation["task"] in YES_NO:
        for point in points:
            if point.get("type") not in (0, 1):
                kind = point.get("type")
                return f"has a point of type {kind!r}. Types must be 0 (No) or 1 (Yes)."
    return None


def not_theirs(path: Path, error: Exception) -> DataError:
    return DataError(
        f"{path} is JSON, but not in the format of OVO-Bench's annotations: {error!r}. "
        "Check that the file is the right one."
    )


def to_sample(
    row: Row, root: Path, cut: Literal["ceil", "exact"], videos: Literal["source", "chunks"]
) -> Sample:
    task, index = row["task"], row.get("index")
    name = str(row["id"]) if index is None else f"{row['id']}_{index}"
    seconds = float(row["realtime"])
    return Sample(
        id=name,
        question=question(row),
        choices=choices(row),
        media=(
            chunk(root, name)
            if videos == "chunks"
            else video(root, row["video"], seen_until(seconds, cut)),
        ),
        target=target(row),
        tags={"group": GROUP_OF[task], "task": task, "question": str(row["id"])},
        data={"video": row["video"], "realtime": row["realtime"]},
    )


def question(row: Row) -> str:
    if row["task"] == "REC":
        return f"How many times did they {row['activity']}?"
    return str(row["step" if row["task"] == "SSR" else "question"])


def choices(row: Row) -> tuple[str, ...]:
    if row["task"] == "REC":
        return ()
    return ("Yes", "No") if row["task"] in YES_NO else tuple(row["options"])


def target(row: Row) -> str:
    if row["task"] == "REC":
        return str(row["count"])
    if row["task"] in YES_NO:
        return {0: "no", 1: "yes"}[row["type"]]
    # In only two thirds of the questions, `answer` is the text of options[gt].
    return LETTERS[row["gt"]]


def seen_until(seconds: float, cut: Literal["ceil", "exact"]) -> float:
    """The time before which frames are visible to the model, in seconds."""
    # chunk_videos.py cuts out [0, ceil(t)). With cut=exact, the frame at t itself is visible.
    return math.ceil(seconds) if cut == "ceil" else math.nextafter(seconds, math.inf)


def rooted(folder: Path, places: Sequence[str]) -> Path:
    """The first of these subfolders of `folder` that exists. If none exists, `folder` itself."""
    return next((folder / name for name in places if (folder / name).is_dir()), folder)


def video(root: Path, name: str, end: float) -> Video:
    return Video(root / name, end=end, label=name, within=root)


def chunk(root: Path, name: str) -> Video:
    return Video(root / f"{name}.mp4", label=f"{name}.mp4", within=root)


def video_of(sample: Sample) -> str:
    return str(sample.data["video"])


def window_end(sample: Sample) -> float:
    """The time in the stream at which a point is asked, which is the time at which the sample's
    video is cut."""
    (video,) = sample.media
    assert isinstance(video, Video) and video.end is not None
    return video.end


SESSIONS: Mapping[str, Callable[[Sample], str]] = {
    "video": video_of,
    "question": lambda sample: sample.tags["question"],
    "point": lambda sample: sample.id,
}
"""For each scope, a function that returns the key of a sample's session."""


# -- prompts

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# From constant.py, with its spelling and its trailing spaces.
BACKWARD_REALTIME = """
Question: {}
Options:
{}

Respond only with the letter corresponding to your chosen option (e.g., A, B, C).\x20
Do not include any additional text or explanation in your response.
"""
REC = """
You're watching a video in which people may perform a certain type of action repetively.\x20
The person performing this kind of action are referred to as 'they' in the following statement.
You're task is to count how many times have different people in the video perform this kind of \
action in total.
One complete motion counts as one.\x20
Now, answer the following question: {}
Provide your answer as a single number (e.g., 0, 1, 2, 3…) indicating the total count.
Do not include any additional text or explanation in your response.
"""
SSR = """
You're watching a tutorial video which contain a sequential of steps.\x20
The following is one step from the whole procedures:\x20
{}
Your task is to determine if the man or woman in the video is currently performing this step.
Answer only with \u201cYes\u201d or \u201cNo\u201d.
Do not include any additional text or explanation in your response.
"""
CRR = """
You're responsible of answering questions based on the video content.\x20
The following question are relevant to the latest frames, i.e. the end of the video.
{}
Decide whether existing visual content, especially latest frames, i.e. frames that near the end of \
the video, provide enough information for answering the question.
Answer only with \u201cYes\u201d or \u201cNo\u201d.
Do not include any additional text or explanation in your response.
"""
TEMPLATES = {"REC": REC, "SSR": SSR, "CRR": CRR}


def prompt(sample: Sample) -> str:
    if template := TEMPLATES.get(sample.tags["task"]):
        return template.format(sample.question)
    pairs = zip(LETTERS, sample.choices, strict=False)
    options = "; ".join(f"{letter}. {option}" for letter, option in pairs) + ";"
    return BACKWARD_REALTIME.format(sample.question, options)


# -- scoring


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the letters or words that appear anywhere in a reply. For REC, parse all digits in the
    reply, joined."""
    text, task = reply.text, sample.tags["task"]
    if task == "REC":
        digits = "".join(re.findall(r"\d+", text))
        return Reading(answer=digits or None, rule="all digits" if digits else "no digit")
    if task in YES_NO:
        if text in ("N", "Y"):
            return Reading(answer="no" if text == "N" else "yes", rule="its first letter alone")
        return reading_of_matches([word.lower() for word in ("No", "Yes") if word in text])
    return reading_of_matches(
        [letter for letter in LETTERS[: len(sample.choices)] if letter in text]
    )


def reading_of_matches(matches: Sequence[str]) -> Reading:
    if len(matches) == 1:
        return Reading(answer=matches[0], rule="stands in it")
    rule = "several stand in it" if matches else "none stands in it"
    return Reading(answer=tuple(matches) or None, rule=rule, candidates=tuple(matches))


def answer_of_list(reply: Reply, sample: Sample) -> Reading:
    """Take the whole reply as the answer. For a reply that is a list, the authors' script looks for
    the answer among the items of the list."""
    if sample.tags["task"] == "REC":
        return Reading(answer=reply.text or None, rule="the script ends here")
    words = {"No": "no", "Yes": "yes"} if sample.tags["task"] in YES_NO else {}
    answer = words.get(reply.text, reply.text if not words else None)
    return Reading(answer=answer or None, rule="the whole reply")


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    if sample.tags["task"] == "REC":
        return parse_count(reply, sample)
    return (parse_yes_no if sample.tags["task"] in YES_NO else parse_letter)(reply, sample)


def score(reading: Reading, sample: Sample) -> float | None:
    if reading.rule == "the script ends here":
        return None
    if isinstance(reading.answer, tuple):
        return float(sample.target in reading.answer)
    return is_target(reading, sample)


# -- metrics


def average(tasks: Sequence[str], without: Sequence[str] = ()) -> Metric:
    """The mean over groups. The value of a group is the mean over its tasks, and the value of a
    task is the mean over its points.

        A = 1/3 Σ_g 1/|g| Σ_{t in g} 1/n_t Σ_i score

    In [0, 1]; higher is better. A task without replies is left out of its group's mean. There is no
    value if a group has no replies, or if there are replies to a task in `without`. In both cases,
    the authors' script ends with an error. If there is only one group or task, the value is the
    mean of this group or task. The bootstrap for the interval resamples videos, across all tasks.
    For a single task, the interval is the same as for a plain mean.
    """
    wanted = {GROUP_OF[task] for task in tasks}

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        if columns.score is None:
            raise ValueError("an average needs a score for each sample")
        task = columns.tags["task"]
        codes = np.unique(task.codes)
        names = [task.names[code] for code in codes]
        if len(names) == 1:
            return mean(columns)
        groups = sorted({GROUP_OF[name] for name in names})
        ends = [name for name in without if name in tasks and GROUP_OF[name] in groups]
        if ends:
            reason = f"the authors' script ends with an error at {', '.join(ends)}"
            return Estimate(value=None, n=columns.n, reason=reason)
        alone = len(groups) == 1 and len(set(columns.tags["group"].names)) > 1
        if not alone and (absent := sorted(wanted - set(groups))):
            reason = f"no replies to {', '.join(absent)} tasks: the authors' script ends there"
            return Estimate(value=None, n=columns.n, reason=reason)
        sums = by_cluster(columns, np.searchsorted(codes, task.codes), len(codes))
        group = np.array([groups.index(GROUP_OF[name]) for name in names])

        def value(totals: NDArray[np.float64]) -> NDArray[np.float64]:
            right, rows = np.split(totals, 2, axis=1)
            means = right / rows
            of_groups = [means[:, group == code].mean(axis=1) for code in range(len(groups))]
            group_mean: NDArray[np.float64] = np.mean(of_groups, axis=0)
            return group_mean

        return stats.bootstrap_sums(sums, value, n=columns.n, clusters=np.unique(columns.cluster))

    return Metric(metric, better="higher", unit="fraction", name="average")


def where_scored(metric: Metric) -> Metric:
    """Make a metric that has no value if the authors' script scores no point. For example, the
    script scores no point if the only task is REC and the replies are lists."""

    def of_scores(columns: Columns) -> Estimate:
        if columns.score is None:
            return Estimate(value=None, n=0, reason="the authors' script ends with an error at REC")
        return metric(columns)

    return replace(metric, compute=of_scores)


def by_cluster(columns: Columns, code: NDArray[np.intp], n_codes: int) -> NDArray[np.float64]:
    """For each video and each value of `code`, the sum of the scores, and the number of points. The
    shape is (G, 2 C) for G videos and C values: first the sums, then the numbers."""
    import numpy as np

    assert columns.score is not None
    _, cluster = np.unique(columns.cluster, return_inverse=True)
    cell, shape = cluster * n_codes + code, (int(cluster.max()) + 1, n_codes)
    sums = [
        np.bincount(cell, weights=what, minlength=shape[0] * shape[1]).reshape(shape)
        for what in (columns.score, np.ones(columns.n))
    ]
    return np.concatenate(sums, axis=1)


def by_question(metric: Metric) -> Metric:
    """Make a metric over questions instead of points. The score of a question is the mean over the
    question's points. `n` counts questions. For the nine tasks that ask each question once, the
    result is the same as over points."""

    def of_questions(columns: Columns) -> Estimate:
        import numpy as np

        if columns.score is None:
            raise ValueError("a mean over questions needs a score for each sample")
        _, first, number = np.unique(
            columns.tags["question"].codes, return_index=True, return_inverse=True
        )
        share = np.bincount(number, weights=columns.score) / np.bincount(number)
        return metric(replace(columns.where(first), score=share))

    return replace(metric, compute=of_questions)


def of_yes_no(metric: Metric) -> Metric:
    """Make a metric over only the points whose answers are Yes or No."""

    def part(columns: Columns) -> Estimate:
        kept = columns.tagged("task", YES_NO)
        if not kept.n:
            return Estimate(value=None, n=0, reason="of SSR and CRR alone")
        return metric(kept)

    return replace(metric, compute=part)


@metric(better="higher", unit="fraction")
def balanced_accuracy(columns: Columns) -> Estimate:
    """The mean of the accuracy on points where yes is right and the accuracy on points where no is
    right. In [0, 1]; any constant reply gets 0.5; higher is better. The bootstrap for the interval
    resamples videos."""
    import numpy as np

    sums = by_cluster(columns, (columns.target == "yes").astype(np.intp), 2)

    def value(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        right, rows = np.split(totals, 2, axis=1)
        class_mean: NDArray[np.float64] = (right / rows).mean(axis=1)
        return class_mean

    return stats.bootstrap_sums(sums, value, n=columns.n, clusters=np.unique(columns.cluster))


# -- published results


def results(path: Path, samples: Iterator[Sample]) -> Published | None:
    """Read the replies in the authors' results, which are a folder or a file. Returns None for
    anything else."""
    ends = ("*.json", "*.json.gz")
    paths = sorted(file for end in ends for file in path.glob(end)) if path.is_dir() else [path]
    parts = {part.name: _results.of_json(part) for part in paths}
    known = {name: part for name, part in parts.items() if is_results(part)}
    if not known:
        return None
    reading = _ResultRows(str(path), {sample.id: sample for sample in samples})
    for name, part in known.items():
        for row in (*part["backward"], *part["realtime"], *part["forward"]):
            reading.add(name, row)
    others = [name for name in parts if name not in known]
    return reading.published(len(known), others)


def is_results(content: Any) -> bool:
    return isinstance(content, dict) and all(isinstance(content.get(name), list) for name in GROUPS)


class _ResultRows:
    """Collects the content of result rows, keyed by point id."""

    def __init__(self, where: str, samples: Mapping[str, Sample]) -> None:
        self._where = where
        self._samples = samples
        self._responses: dict[str, list[tuple[str | None, str | None]]] = {}
        """The replies to each point. Each reply is stored with the right answer that the reply's
        row states."""
        self._lists = 0
        self._failed = 0
        self._unread: list[str] = []
        """The rows and points that cannot be read, each with its position and the reason."""

    def add(self, name: str, row: Any) -> None:
        """Add a row of a file. Points that cannot be read are recorded and skipped."""
        try:
            if row["task"] in GROUPS["forward"]:
                for index, point in enumerate(row["test_info"]):
                    self._add_point(name, row, point, f"{row['id']}_{index}")
            else:
                self._take(str(row["id"]), row["response"], str(row["ground_truth"]))
        except (KeyError, TypeError, ValueError) as error:
            self._unread.append(f"{name}, {_label(row)}: {_reason(error)}")

    def _add_point(self, name: str, row: Mapping[str, Any], point: Any, label: str) -> None:
        try:
            right = str(point["count"] if row["task"] == "REC" else point["type"])
            self._take(label, point["response"], right)
        except (KeyError, TypeError, ValueError) as error:
            self._unread.append(f"{name}, point {label}: {_reason(error)}")

    def _take(self, point: str, response: Any, right: str) -> None:
        if isinstance(response, list) and len(response) == 1:
            (response,) = response
            self._lists += 1
        if response is not None and not isinstance(response, str):
            shown = str(response)[:60]
            raise ValueError(f"its response is {shown}, not text, null, or a list with one text")
        right = {"0": "no", "1": "yes"}[right] if self._is_yes_no(point) else right
        if response is not None and response.startswith(FAILED):
            response = None
            self._failed += 1
        self._responses.setdefault(point, []).append((response, right))

    def _is_yes_no(self, point: str) -> bool:
        sample = self._samples.get(point)
        return sample is not None and sample.tags["task"] in YES_NO

    def published(self, n_files: int, others: Sequence[str]) -> Published:
        """The replies and notes from all rows that were added. `n_files` is the number of files of
        results, and `others` lists the names of files that are not results.

        Raises:
            DataError: no row can be read.
        """
        if self._unread and not self._responses:
            raise DataError(
                f"{self._where}: no row has the format of OVO-Bench's results. "
                f"The first problem: {self._unread[0]}."
            )
        moved = self._move_doubled()
        replies = {point: responses[0][0] for point, responses in self._responses.items()}
        again = {
            point: tuple(text for text, _ in responses[1:])
            for point, responses in self._responses.items()
            if len(responses) > 1
        }
        return Published(
            replies=replies,
            again=again,
            only_these=True,
            unread=tuple(self._lacking(n_files, others)),
            notes=tuple(self._notes(n_files, moved, replies, again)),
        )

    def _move_doubled(self) -> list[str]:
        """If a question has two rows, move the second row to a question that has the same text but
        no row. The authors looked up ids by the text, so some rows have a wrong id. The right
        answer in the row shows which question the row belongs to."""
        moved = []
        words = {
            (sample.tags["task"], sample.question, sample.target): name
            for name, sample in self._samples.items()
            if name not in self._responses
        }
        for point in [point for point, responses in self._responses.items() if len(responses) > 1]:
            sample = self._samples.get(point)
            if sample is None:
                continue
            # Rows with this sample's right answer come first.
            responses = sorted(self._responses[point], key=lambda entry: entry[1] != sample.target)
            kept = responses[:1]
            for reply in responses[1:]:
                other = words.pop((sample.tags["task"], sample.question, reply[1]), None)
                if other is None:
                    kept.append(reply)
                else:
                    self._responses[other] = [reply]
                    moved.append(f"{point} is {other}")
            self._responses[point] = kept
        return moved

    def _lacking(self, n_files: int, others: Sequence[str]) -> Iterator[str]:
        if others:
            yield (
                f"files that are not complete results: {len(others):,} of "
                f"{n_files + len(others):,} ({_first(others)}). A result is one object with the "
                "lists backward, realtime, and forward. Only the complete files are scored"
            )
        if self._unread:
            yield (
                f"rows or points that cannot be read: {len(self._unread):,}. They are left out "
                f"of every mean. The first problem: {self._unread[0]}"
            )

    def _notes(
        self,
        n_files: int,
        moved: Sequence[str],
        replies: Mapping[str, str | None],
        again: Mapping[str, Sequence[str | None]],
    ) -> Iterator[str]:
        yield f"{n_files} files of results"
        if self._lists:
            yield (
                f"{self._lists:,} responses are lists of one text, and are read as that text. The "
                "scoring as-lists treats lists as the authors' script does"
            )
        if moved:
            yield (
                f"rows with the id of another question that has the same text: {len(moved):,} "
                f"({_first(moved)})"
            )
        if again:
            yield (
                f"points that appear more than once: {len(again):,} "
                f"({_first(list(again))}); every row counts, as in the authors' script"
            )
        if self._failed:
            yield (
                f"{self._failed:,} responses are the text that VLMEvalKit or lmms-eval writes when "
                "a model gives no reply. They are read as null"
            )
        absent = Counter(
            sample.tags["task"] for name, sample in self._samples.items() if name not in replies
        )
        if absent:
            tasks = ", ".join(f"{n:,} of {task}" for task, n in sorted(absent.items()))
            yield (
                "points without a row, which are left out of all means, as in the authors' "
                f"script: {tasks}"
            )
        if empty := sum(text is not None and not text.strip() for text in replies.values()):
            yield f"{empty:,} responses are empty"
        failed = [name for name, text in replies.items() if text and ERROR.match(text)]
        if failed:
            yield (
                f"{len(failed):,} responses look like errors, such as {failed[0]}. They are scored"
            )
        others = sum(
            right is not None and right != self._samples[point].target
            for point, responses in self._responses.items()
            if point in self._samples
            for _, right in responses
        )
        if others:
            yield (
                f"{others:,} rows have a different right answer than the annotations. Snellen uses "
                "the annotations; the authors' script uses the rows"
            )


ERROR = re.compile(
    r"\s{0,5}[<\[(]?(?:(?:api|http|inference|openai|runtime|server)[ _]?)?"
    r"(?:error|exception|traceback|failed to (?:call|generate|get|obtain))\b",
    re.IGNORECASE,
)
"""Matches the beginning of a program's error message. After an error, the authors' own scripts
write null: utils/OVOBench.py#L40-L42, models/FlashVStream.py#L98-L100, models/Gemini.py#L55-L57.
The scripts also write null when a model stays silent, models/VideoLLM_Online.py#L72."""
MOST_NAMES = 5
"""The maximum number of names that a note lists. The note states how many more there are."""


def _first(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    shown = ", ".join(names[:MOST_NAMES])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _label(row: Any) -> str:
    return f"question {row['id']}" if isinstance(row, dict) and "id" in row else str(row)[:60]


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it has no {error}"
    return str(error)


# -- dummies


def in_words(sample: Sample, answer: str) -> str:
    return answer.capitalize() if sample.tags["task"] in YES_NO else answer


def wrong_answer(sample: Sample) -> str:
    if sample.tags["task"] == "REC":
        return str(int(sample.target or 0) + 1)
    if sample.tags["task"] in YES_NO:
        return "no" if sample.target == "yes" else "yes"
    return "B" if sample.target == "A" else "A"


EXPECT: Mapping[str, Mapping[str, float | None]] = {
    # A reply with all letters is right for every task with letters. For REC, the joined digits are
    # a wrong count. "Yes and no" says Yes, which is right for 2 of 4 points of SSR and for 3 of 5
    # points of CRR.
    "official": {
        "oracle": 1.0,
        "wrong": 0.0,
        "silent": 0.0,
        "hedging": (1 + 1 + (0 + 2 / 4 + 3 / 5) / 3) / 3,
    },
    # as-lists has no value if there are questions of REC.
    "as-lists": {"oracle": None, "wrong": None, "silent": None, "hedging": None},
    "robust": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0},
}

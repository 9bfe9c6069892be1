"""Charades-STA: when what a sentence describes happens in a video.

Paper    Gao et al. 2017, TALL: Temporal Activity Localization via Language Query,
         https://arxiv.org/abs/1705.02101 (ICCV).
Data     jiyanggao/TALL links charades_sta_test.txt with 3,720 lines such as "3MSZA 24.3 30.4##
         person turn a light on." The videos are those of Charades, Charades_v1_480/{id}.mp4. The
         parquet file of lmms-lab/charades_sta on the Hugging Face hub can also be read (video,
         caption, and timestamp in seconds).
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/charades_sta/charades.yaml#L36-L39. Replies are limited to 50 tokens. The frames
         depend on the model there. Here, they are uniform:32.
Scoring  The authors' data has no scorer for texts. `miou` is the mean of the intersection over
         union, and `recall@0.3`, `recall@0.5`, and `recall@0.7` are the shares that reach it.
         `lmms-eval`: lmms_eval/tasks/charades_sta/utils.py#L84-L199. Every "to" becomes "-", even
         in "Tomorrow". "Starts at 3 and ends at 9" in one sentence, or "2 seconds to 8 seconds",
         has no interval. lmms-eval counts repeated questions once; here, each row counts.
         `lmms-eval-script`: the older eval_tvg.py#L20-L116, which reads only sentences with start,
         end, or happen. A reply "3.0 - 9.0" scores 0, and "00:03 - 00:09" in it is read as 3 to 0.
         `robust`: Snellen's own rule: the only interval, or the only two times, of a reply.
         A missing or unparsed reply scores 0.
Proof    For 900 generated replies, every interval, overlap, and mean of the two lmms-eval scorings
         equals that of lmms-eval's code (tests/parity). `robust` is checked on examples worked out
         by hand.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from snellen.benchmarks.families import authors_files, intervals, pins
from snellen.benchmarks.families.choice_sets import Parse
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.video_choices import clip
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    IntervalAnswer,
    Presentation,
    Procedure,
    Reading,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, file_content, find, jsonl
from snellen.errors import DataError
from snellen.media.content import user
from snellen.metrics import Metric, mean

KIND = "span"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 3720
TASK = f"{pins.LMMS_EVAL}:lmms_eval/tasks/charades_sta"
ALIASES: dict[str, dict[str, object]] = {"temporal_grounding_charades": {}}
NAMES = ("charades_sta_test.txt", "charades_sta_test.jsonl", "test-00000-of-00001.parquet")
FOLDERS = ("Charades_v1_480", "Charades_v1", "videos", "")
LINE = re.compile(r"(\S+) ([\d.]+) ([\d.]+)##(.*)")
PAIR = re.compile(r"[\[(]?\s*([\d.]+)\s*,\s*([\d.]+)\s*[\])]?")
BEFORE = (
    "Please find the visual event described by a sentence in the video, determining its starting "
    "and ending times. The format should be: 'The event happens in the start time - end time'. For "
    "example, The event 'person turn a light on' happens in the 24.3 - 30.4 seonds. Now I will "
    "give you the textual sentence: "
)
AFTER = "Please return its start time and end time."


def charades_sta(data: Path | None = None) -> Benchmark:
    data_file = find(data, "charades-sta", NAMES)
    table, file = authors_files.table(data_file, lines)
    return Benchmark(
        name="charades-sta",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, f"{BEFORE}{sample.question}. {AFTER}"),),
        scorings={
            "lmms-eval": scoring(f"{TASK}/utils.py#L84-L199", intervals.by_lmms_eval),
            "lmms-eval-script": scoring(f"{TASK}/eval_tvg.py#L20-L116", intervals.by_script),
            "robust": scoring("ours", intervals.settled),
        },
        max_answer_tokens=50,
        cluster_by=video_of,
        check=Check(
            says=lambda _, answer: f"The event happens in {answer} seconds",
            wrong=lambda _: "900 - 901",
            expect=dict.fromkeys(("lmms-eval", "lmms-eval-script", "robust"), PERFECT),
        ),
        procedure=Procedure(group_by=video_of, frames="uniform:32"),
        presentation=Presentation(
            target_answer=target,
            capabilities=Capabilities(
                tag="",
                leaves={"": "reasoning/temporal"},
                source="https://arxiv.org/abs/1705.02101, section 1",
            ),
        ),
        interop=Interop(files=file),
    )


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of the authors' file, or of a JSONL file with the fields of the hub."""
    if ".jsonl" in path.suffixes:
        yield from jsonl(path)
        return
    text = file_content(path).decode(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.fullmatch(line.strip())
        if match is None:
            raise DataError(
                f'{path}: line {number} is not of the form "VIDEO START END##SENTENCE": '
                f"{line[:80]!r}. Download the file again."
            )
        video, start, end, caption = match.groups()
        yield {"video": f"{video}.mp4", "caption": caption, "timestamp": [start, end]}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    times = row["timestamp"]
    if isinstance(times, str):
        match = PAIR.fullmatch(times.strip())
        times = match.groups() if match else ()
    start, end = map(float, times)
    return Sample(
        id=str(row.get("id", row.position)),
        question=row["caption"],
        media=(clip(data_file, row["video"], FOLDERS),),
        target=f"{start} - {end}",
        data={"video": row["video"]},
    )


def target(sample: Sample) -> IntervalAnswer:
    """The interval as an object."""
    start, _, end = (sample.target or "").partition(" - ")
    return IntervalAnswer(start=float(start), end=float(end))


def video_of(sample: Sample) -> str:
    return str(sample.data["video"])


def scoring(source: str, parse: Parse) -> Scoring:
    return Scoring(
        version=1,
        source=source,
        parse=parse,
        score=score,
        metrics={
            "miou": Metric(mean, better="higher"),
            **{f"recall@{least}": intervals.reaching(least) for least in (0.3, 0.5, 0.7)},
        },
        missing="wrong",
        partial=True,
    )


def score(reading: Reading, sample: Sample) -> float:
    start, end = map(float, str(sample.target).split(" - "))
    if not isinstance(reading.answer, IntervalAnswer):
        return 0.0
    return intervals.overlap(reading.answer, (start, end))

"""Vibe-Eval: 269 open requests about pictures, of which 100 are hard, rated from 1 to 5 by a judge.

Paper    Padlewski et al. 2024, Vibe-Eval: A hard evaluation suite for measuring progress of
         multimodal language models, https://arxiv.org/abs/2405.02287.
Data     reka-ai/reka-vibe-eval@e098274ea33bc00a8e1dc406f71fea95db47570c:data/vibe-eval.v1.jsonl,
         under Apache-2.0. The pictures are in an archive on the repository's releases page, tag
         v1.0.0: put them in images/ beside the file. The parquet files of RekaAI/VibeEval on the
         Hugging Face hub, which contain the pictures, can also be read (pass their folder).
Prompt   `official`: the picture, then the bare prompt, models/claude_models.py#L27-L45 (Reka, GPT,
         and Claude alike). Replies are limited to 1,024 tokens, as there (#L29).
Scoring  `official`: Reka Core rates a reply from 1 to 5, from the prompt, the reply, and the
         reference alone, at temperature 0.4, evaluate.py#L121-L180. The rating is the first match
         of `Rating:\\s*([1-5])`, so "Rating: 3.5" is 3, "Rating: 10" is 1, and "**Rating:** 4" has
         no rating. The score is 25 * (rating - 1) percent, and a mean is over the replies that have
         a rating, not over all 269 (#L288-L310). If there is no rating, the authors ask again, up
         to ten times, and then stop. Here, such a reply stays unjudged. lmms-eval gives it a rating
         of 0, which is -25 percent (EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d
         38295af3:lmms_eval/tasks/vibe_eval/utils.py#L136-L142).
         If a file has several replies to an example, the last one counts (#L258-L262).
Proof    The published ratings of the authors' repository: every rating and every mean, by
         difficulty and over all (tests/parity). The README's row of Claude Opus is not what the
         stored ratings give.
"""

import re
from pathlib import Path

from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.judged import check, judge_of_all, judged, presentation, prompts
from snellen.benchmarks.families.questions import picture
from snellen.core import UNMAPPED, Benchmark, Interop, Published, Reading, Reply, Sample
from snellen.data import DataFile, Row, find, jsonl
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import user
from snellen.metrics import Metric, mean

KIND = "chat"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "published outputs"
SIZE = 269
REVISION = "e098274ea33bc00a8e1dc406f71fea95db47570c"
NAME = "vibe-eval.v1.jsonl"
FILE = File(
    name=NAME,
    url=f"https://raw.githubusercontent.com/reka-ai/reka-vibe-eval/{REVISION}/data/{NAME}",
    sha256="12940867484471206458ca3d0b0aeb3267b8bb1b24550590efa0d096613833b0",
    size=201_559,
    note="the requests; the pictures are on the repository's releases page, tag v1.0.0",
)
RATING = re.compile(r"Rating:\s*([1-5])")


def vibe_eval(data: Path | None = None) -> Benchmark:
    data_file = find(data, "vibe-eval", [NAME, f"data/{NAME}", f"annotations/{NAME}"], (FILE,))
    table, file = authors_files.table(data_file, lambda path: iter(jsonl(path)), REVISION)
    rates = judge_of_all(
        "reka-core-20240501", rating_prompt, rating, temperature=0.4, max_answer_tokens=1024
    )
    return Benchmark(
        name="vibe-eval",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, sample.question),),
        scorings={
            "official": judged(
                f"reka-ai/reka-vibe-eval@{REVISION}:evaluate.py#L149-L180",
                rates,
                lambda reading, _: (float(str(reading.answer)) - 1) / 4,
                {"score": Metric(mean, better="higher")},
                partial=True,
            )
        },
        max_answer_tokens=1024,
        check=check(
            lambda sample, reply: f"Rating: {5 if reply.text == sample.target else 1}",
            ("official",),
        ),
        presentation=presentation(
            ("category",),
            dict.fromkeys(("difficulty-normal", "difficulty-hard"), UNMAPPED),
            "https://arxiv.org/abs/2405.02287, section 2",
        ),
        interop=Interop(files=file, layout=layout),
    )


def published(**_: object) -> tuple[File, ...]:
    """The authors' file of requests, which has no pictures."""
    return (FILE,)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    name = row["media_filename"]
    image, _ = picture(row, data_file, [f"images/{name}", f"data/images/{name}"])
    return Sample(
        id=row["example_id"],
        question=row["prompt"],
        media=(image,),
        target=row["reference"],
        tags={"category": row["category"]},
    )


def rating_prompt(sample: Sample, reply: Reply) -> str:
    rate: str = prompts("vibe_eval")["rate"]
    return rate.format(prompt=sample.question, generation=reply.text, reference=sample.target)


def rating(words: str, _: Sample) -> Reading:
    match = RATING.search(words)
    return Reading(answer=match and float(match[1]), rule="rating" if match else "no rating")


def layout(path: Path) -> Published | None:
    """Read the authors' generations, or their results, which also have the judge's words."""
    if path.is_dir() or ".jsonl" not in path.suffixes:
        return None
    rows = list(jsonl(path))
    if not rows or not all({"example_id", "generation"} <= row.keys() for row in rows):
        return None
    last = {row["example_id"]: row for row in rows}
    return Published(
        replies={name: row["generation"] for name, row in last.items()},
        verdicts={
            "official": {
                name: (words_of(row, f"{path}, row {row.position + 1}"),)
                for name, row in last.items()
                if row.get("score") is not None
            }
        },
    )


def words_of(row: Row, where: str) -> str:
    """The judge's words, or the stored rating if the words do not give it."""
    words, score = str(row.get("evaluator_explanation") or ""), row["score"]
    if score not in range(1, 6):
        raise DataError(f"{where}: the score is {score!r}. It must be a whole number from 1 to 5.")
    match = RATING.search(words)
    return words if match and int(match[1]) == score else f"Rating: {score}"

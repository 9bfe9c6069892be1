"""Humanity's Last Exam: 2,500 expert questions, of which 14 percent have a picture.

Paper    Phan et al. 2025, Humanity's Last Exam, https://arxiv.org/abs/2501.14249.
Data     cais/hle on the Hugging Face hub: the split test as parquet, behind a form to accept (pass
         the folder with the parquet file). `part` selects the questions with a picture (`image`),
         those without (`text`), or all.
Prompt   `official`: a system message with the form of an answer, then the question and its picture,
         centerforaisafety/hle@67b325111a0c3678eeb563eb30f98344f06846ad:hle_eval/
         run_model_predictions.py#L11-L28. The temperature is the model's own (#L36). Replies are
         limited to 8,192 tokens, the least that the README recommends.
Scoring  `official`: o3-mini compares a reply with the answer and extracts the confidence that the
         reply states, hle_eval/run_judge_results.py#L16-L64. The authors request a JSON object with
         the fields of `Verdict` (families/confidence.py). A judge without this request writes the
         fields as lines, which are read, too.
         `accuracy`: the authors divide by all questions, so a reply without a verdict counts as
         wrong (#L148). Here, it is left out, and the bounds cover it.
         `calibration_error`: the root mean square difference between mean confidence and accuracy,
         in bins of 100 replies, of which the last is left out (#L97-L127). With fewer than 200
         replies there is no value; the authors' script stops, or prints 0. Replies with the same
         confidence stay in the order of the data; in the authors' script, their order depends on
         numpy and the processor. The script prints whole percents.
         VLMEvalKit's set `hle` has another prompt, and another judge without confidences.
Proof    Prompts, verdicts, and figures of generated replies equal those of the authors' code
         (tests/parity), with numpy's stable sort. No outputs are published.
"""

from base64 import b64decode
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.confidence import calibration_error, score, verdict, written
from snellen.benchmarks.families.judged import check, judge_of_all, judged, presentation, prompts
from snellen.benchmarks.families.results import of_json
from snellen.core import UNMAPPED, Benchmark, Interop, Procedure, Published, Reply, Sample
from snellen.data import Filtered, Row, find, jsonl
from snellen.data.published import File
from snellen.media.content import Image, system, user
from snellen.metrics import mean

REVISION = "67b325111a0c3678eeb563eb30f98344f06846ad"
NAME = "test-00000-of-00001.parquet"
FILE = File(
    name=NAME,
    url=f"hf://datasets/cais/hle@5a81a4c7271a2a2a312b9a690f0c2fde837e4c29/data/{NAME}",
    note="needs a token of an account that has accepted the conditions on the data set's page",
)
KIND = "mixed"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "authors' code"
SIZE = 2500
ALIASES: dict[str, dict[str, str]] = {"HLE": {}}
STORED = ("correct", "confidence", "model_answer", "reasoning")
"""The fields of a stored verdict."""
Part = Literal["all", "image", "text"]
LEAVES = {
    "Math": "reasoning/mathematical",
    "Other": UNMAPPED,
    **dict.fromkeys(
        (
            *("Biology/Medicine", "Chemistry", "Computer Science/AI", "Engineering", "Physics"),
            "Humanities/Social Science",
        ),
        "knowledge/domain",
    ),
}


def hle(part: Part = "all", data: Path | None = None) -> Benchmark:
    data_file = find(data, "hle", [NAME, f"data/{NAME}", "test.jsonl"], (FILE,))
    table, file = authors_files.table(data_file, lambda path: iter(jsonl(path)), REVISION)
    judge = judge_of_all(
        "o3-mini-2025-01-31", judge_prompt, verdict, temperature=None, max_answer_tokens=4096
    )
    return Benchmark(
        name="hle",
        asks=1,
        data=table if part == "all" else Filtered(table, lambda row: kind(row) == part),
        sample=lambda _, row: to_sample(row),
        prompt=lambda sample, _: (
            system(prompts("hle")["system"]),
            user(sample.question, *sample.media),
        ),
        scorings={
            "official": judged(
                f"centerforaisafety/hle@{REVISION}:hle_eval/run_judge_results.py#L16-L158",
                judge,
                score,
                {"accuracy": mean, "calibration_error": calibration_error},
                missing="wrong",
            )
        },
        max_answer_tokens=8192,
        check=check(
            lambda sample, reply: written("yes" if reply.text == sample.target else "no", 100),
            ("official",),
        ),
        procedure=Procedure(temperature=None),
        presentation=presentation(
            ("category", "answer_type", "part"),
            LEAVES,
            "https://arxiv.org/abs/2501.14249, figure 3",
        ),
        interop=Interop(files=file, layout=layout),
    )


def published(**_: object) -> tuple[File, ...]:
    """The authors' parquet file, which includes the pictures."""
    return (FILE,)


def kind(row: Row) -> str:
    return "image" if row["image"] else "text"


def to_sample(row: Row) -> Sample:
    picture = row["image"]  # a data URL; empty if there is none
    if picture and not picture.startswith("data:image/"):
        raise ValueError("`image` is neither empty nor a data URL")
    where = f"row {row.position + 1}, image"
    return Sample(
        id=row["id"],
        question=row["question"],
        media=(Image(b64decode(picture.partition(",")[2]), where),) if picture else (),
        target=row["answer"],
        tags={"category": row["category"], "answer_type": row["answer_type"], "part": kind(row)},
    )


def judge_prompt(sample: Sample, reply: Reply) -> str:
    words: str = prompts("hle")["judge"]
    return words.format(question=sample.question, correct_answer=sample.target, response=reply.text)


def layout(path: Path) -> Published | None:
    """Read the authors' predictions, or their judged predictions, which also have verdicts."""
    rows = of_json(path)
    if not rows or not isinstance(rows, dict) or not all(map(is_prediction, rows.values())):
        return None
    verdicts = {
        name: (written(*map(row["judge_response"].get, STORED)),)
        for name, row in rows.items()
        if isinstance(row.get("judge_response"), dict)
    }
    replies = {name: row["response"] for name, row in rows.items()}
    return Published(replies=replies, verdicts={"official": verdicts})


def is_prediction(row: Any) -> bool:
    return isinstance(row, dict) and "model" in row and isinstance(row.get("response"), str)

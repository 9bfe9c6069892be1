"""Shared by DocVQA and InfographicVQA: file readers, prompts, and ANLS scorings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families.authors_files import of_json, picture, picture_key, texts
from snellen.benchmarks.families.tasks import parse_phrase, parse_verbatim
from snellen.core import Check, Reading, Sample, Scoring, Submission
from snellen.core.scoring import Missing
from snellen.data import DataFile, Row
from snellen.media.content import Image, Message, user
from snellen.metrics import Columns, Metric, mean, metric
from snellen.metrics.anls import anls, anls_m4c, anls_mmpretrain, anls_pix2struct
from snellen.metrics.vqa import stvqa_accuracy
from snellen.stats import Estimate

Split = Literal["val", "test"]
Preset = Literal["lmms-eval", "vlmevalkit", "qwen-vl"]

QWEN = "QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599"
MMPRETRAIN = "open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90"
PIX2STRUCT = "google-research/pix2struct@945f27e936c9464d9d7c133f1bd1f4f383be9e99"
LLAVA = "haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd"
SHORT = "{question}\nAnswer the question using a single word or phrase."
PROMPTS: Mapping[Preset, str] = {
    "lmms-eval": SHORT,
    "vlmevalkit": SHORT,
    "qwen-vl": "{question} Answer:",
}
SUBMISSION = ("questionId", "answer")


# -- rows


def questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions in the organizers' file, a JSON object with a list `data`."""
    for row in of_json(path)["data"]:
        yield {**row}


def id_of(row: Row) -> str:
    """Return the id of a row. A row with VLMEvalKit's `index` has that index as its id, because
    VLMEvalKit's prediction files have no other id."""
    return str(row["index"] if "index" in row else row["questionId"])


def answers_of(row: Row) -> tuple[str, ...]:
    """Return the right answers, or an empty tuple if the answers are hidden."""
    return texts(row["answer"] if "answer" in row else row.get("answers"))


def picture_of(
    row: Row, data_file: DataFile, name: str, folders: Sequence[str]
) -> tuple[Image, str]:
    """Return a row's picture and the picture's key. The picture is in one of the folders, or in the
    row itself."""
    if name:
        last = Path(name).name
        paths = [*(f"{folder}{last}" for folder in folders), name]
        there = (path for path in paths if (data_file.folder / path).is_file())
        return data_file.image(next(there, paths[0]), name), name
    image = picture(row)
    return image, str(row.get("image_url") or row.get("ucsf_document_id") or picture_key(image))


def kinds(names: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    """Return one tag for each kind of question, since a question may be of several kinds at once.
    The tag of a kind that does not apply is an empty string.

    `known` maps each kind that has published results to its label. The tag `unlisted` lists the
    question's kinds that are not in `known`. The tag `last` contains the label of the question's
    last known kind.
    """
    other = ", ".join(dict.fromkeys(name for name in names if name not in known))
    tags = {label: label if name in names else "" for name, label in known.items()}
    last = next((known[name] for name in reversed(names) if name in known), "")
    return {**tags, "unlisted": other, "last": last}


# -- prompt and scoring


def message(sample: Sample, preset: Preset) -> tuple[Message, ...]:
    return (user(*sample.media, PROMPTS[preset].format(question=sample.question)),)


def robust_score(reading: Reading, sample: Sample) -> float:
    """Score the phrase by ANLS as the paper defines it, ignoring case and repeated spaces."""
    if reading.answer is None:
        return 0.0
    answer = " ".join(str(reading.answer).casefold().split())
    return anls(answer, [" ".join(right.casefold().split()) for right in sample.references])


@metric(better="higher", unit="fraction")
def m4c_accuracy(columns: Columns) -> Estimate:
    """The mean of `stvqa_accuracy`. The stored score of each question is ANLS, not
    `stvqa_accuracy`."""
    import numpy as np

    rows = zip(columns.answer, columns.references, strict=True)
    right = [stvqa_accuracy(str(answer or ""), references) for answer, references in rows]
    return mean(replace(columns, score=np.array(right, dtype=np.float64)))


Rule = Callable[[str, Sequence[str]], float]
METRICS: Mapping[str, Metric] = {"anls": Metric(mean, better="higher")}


def verbatim_scoring(
    source: str,
    rule: Rule,
    missing: Missing = "excluded",
    metrics: Mapping[str, Metric] = METRICS,
) -> Scoring:
    return Scoring(
        version=1,
        source=source,
        parse=parse_verbatim,  # keeps all spaces, since they count toward the length
        score=lambda reading, sample: rule(str(reading.answer or ""), sample.references),
        metrics=metrics,
        missing=missing,
        partial=True,
    )


def scorings() -> dict[str, Scoring]:
    return {
        "official": verbatim_scoring(
            f"{QWEN}:eval_mm/infographicsvqa_eval.py#L80-L166", anls, missing="wrong"
        ),
        "mmpretrain": verbatim_scoring(
            f"{MMPRETRAIN}:mmpretrain/evaluation/metrics/ANLS.py#L57-L86", anls_mmpretrain
        ),
        "pix2struct": verbatim_scoring(
            f"{PIX2STRUCT}:pix2struct/metrics.py#L25-L36, #L58-L78 and #L139-L143",
            anls_pix2struct,
            missing="wrong",
        ),
        "m4c": verbatim_scoring(
            f"{LLAVA}:llava/eval/m4c_evaluator.py#L260-L298",
            anls_m4c,
            metrics={**METRICS, "accuracy": m4c_accuracy},
        ),
        "robust": Scoring(
            version=2,
            source="ours",
            parse=parse_phrase,
            score=robust_score,
            metrics=METRICS,
            partial=True,
        ),
    }


def submitted(sample: Sample, reply: str) -> Sequence[object]:
    return int(str(sample.data["questionId"])), reply


def submission(name: str) -> Submission:
    return Submission(name=name, columns=SUBMISSION, row=submitted)


# -- check

PERFECT = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}


def check() -> Check:
    return Check(
        says=lambda _, answer: answer,
        wrong=lambda _: "nothing of the kind",
        expect=dict.fromkeys(scorings(), PERFECT),
    )

"""What DocVQA and InfographicVQA share: the forms of their rows, their prompts, and ANLS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from snellen.answers.phrase import final_phrase
from snellen.benchmark import Check, Reading, Scoring, Submission
from snellen.benchmarks._forms import of_json, picture, place_of, texts
from snellen.content import Image, Message, user
from snellen.datasets import Found, Row
from snellen.metrics import mean
from snellen.metrics.anls import anls
from snellen.model import Reply
from snellen.sample import Sample

Split = Literal["val", "test"]
Preset = Literal["lmms-eval", "vlmevalkit", "qwen-vl"]

QWEN = "QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599"
SHORT = "{question}\nAnswer the question using a single word or phrase."
PROMPTS: Mapping[Preset, str] = {
    "lmms-eval": SHORT,
    "vlmevalkit": SHORT,
    "qwen-vl": "{question} Answer:",
}
SUBMISSION = ("questionId", "answer")


# -- rows


def questions(path: Path) -> Iterator[dict[str, Any]]:
    """The questions of the organisers' file, one object that has them in a list, `data`."""
    for row in of_json(path)["data"]:
        yield {**row}


def id_of(row: Row) -> str:
    """VLMEvalKit's index where there is one, since its files of predictions have that alone."""
    return str(row["index"] if "index" in row else row["questionId"])


def answers_of(row: Row) -> tuple[str, ...]:
    """The right answers; none where they are hidden."""
    return texts(row["answer"] if "answer" in row else row.get("answers"))


def picture_of(row: Row, found: Found, name: str, folders: Sequence[str]) -> tuple[Image, str]:
    """A row's picture, in one of the folders or in the row, and what tells it from others."""
    if name:
        last = Path(name).name
        places = [*(f"{folder}{last}" for folder in folders), name]
        there = (place for place in places if (found.folder / place).is_file())
        return found.image(next(there, places[0]), name), name
    image = picture(row)
    return image, str(row.get("image_url") or row.get("ucsf_document_id") or place_of(image))


def kinds(names: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    """A tag for each kind of question, since one question may be of several; "" where it is not.

    `known` are the names that are published figures' names; any other is in the tag `unlisted`.
    The tag `last` has the last one's.
    """
    other = ", ".join(dict.fromkeys(name for name in names if name not in known))
    tags = {label: label if name in names else "" for name, label in known.items()}
    last = next((known[name] for name in reversed(names) if name in known), "")
    return {**tags, "unlisted": other, "last": last}


# -- prompt and scoring


def message(sample: Sample, preset: Preset) -> tuple[Message, ...]:
    return (user(*sample.media, PROMPTS[preset].format(question=sample.question)),)


def whole_reply(reply: Reply, _: Sample) -> Reading:
    """All of it, blanks too: they count for the length."""
    return Reading(answer=reply.text or None, rule="whole reply" if reply.text else "nothing said")


def phrase(reply: Reply, _: Sample) -> Reading:
    found = final_phrase(reply.text)
    return Reading(answer=found.answer, rule=found.rule, candidates=found.candidates)


def official_score(reading: Reading, sample: Sample) -> float:
    return anls(str(reading.answer or ""), sample.references)


def robust_score(reading: Reading, sample: Sample) -> float:
    """ANLS of the phrase as the paper has it: blanks and capitals count for nothing."""
    if reading.answer is None:
        return 0.0
    said = " ".join(str(reading.answer).casefold().split())
    return anls(said, [" ".join(right.casefold().split()) for right in sample.references])


def scorings() -> dict[str, Scoring]:
    metrics = {"anls": mean}
    return {
        "official": Scoring(
            version=1,
            source=f"{QWEN}:eval_mm/infographicsvqa_eval.py#L80-L166",
            parse=whole_reply,
            score=official_score,
            metrics=metrics,
            missing="wrong",
            partial=True,
        ),
        "robust": Scoring(
            version=1,
            source="ours",
            parse=phrase,
            score=robust_score,
            metrics=metrics,
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
        expect={"official": PERFECT, "robust": PERFECT},
    )

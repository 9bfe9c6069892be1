"""The labelled replies, each with its text and what was asked, read from the golden packs."""

import ast
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.core.sample import Sample
from tests.golden_data import golden

LABELS = Path(__file__).parent / "replies.jsonl"


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A reply, the sample it answers, and the answer that its readers say it commits to.

    `answer` is None where the reply gives none, settles on none of several, or names a letter that
    was not offered.
    """

    pack: str
    source: str
    kind: str
    answer: str | None
    drawn: str
    text: str
    sample: Sample


def labelled(pack: str) -> list[Labelled]:
    """The labelled replies of one pack; skips the test, visibly, where the pack is absent."""
    golden(pack)
    replies = []
    for line in LABELS.read_text().splitlines():
        label: dict[str, str] = json.loads(line)
        if label["source"].split("/")[0] != pack:
            continue
        text, sample = replies_of(label["source"], label["kind"])[label["id"]]
        answer = label["answer"]
        offered = (
            [*ascii_uppercase[: len(sample.choices)]] if label["kind"] == "letter" else [answer]
        )
        has_answer = answer not in ("none", "several") and answer in offered
        replies.append(
            Labelled(
                pack=pack,
                source=label["source"],
                kind=label["kind"],
                answer=answer if has_answer else None,
                drawn=label["drawn"],
                text=text,
                sample=sample,
            )
        )
    return replies


def packs() -> list[str]:
    """The packs that labelled replies come from."""
    lines = LABELS.read_text().splitlines()
    return sorted({json.loads(line)["source"].split("/")[0] for line in lines})


@cache
def replies_of(source: str, kind: str) -> dict[str, tuple[str, Sample]]:
    """What a published file replies, by id, and to which sample.

    An id that stands twice in a file means the first of the two: the labels were drawn so.
    """
    pack, _, name = source.partition("/")
    by_id: dict[str, tuple[str, Sample]] = {}
    for text, sample in READERS[pack](golden(pack), name, kind):
        by_id.setdefault(sample.id, (text, sample))
    return by_id


Replies = Iterator[tuple[str, Sample]]


def mathvision(pack: Path, name: str, kind: str) -> Replies:
    questions = {row["id"]: row for row in rows(pack / "annotations.jsonl")}
    for row in rows(pack / "outputs" / f"{name}.jsonl"):
        question = questions[row["id"]]
        yield row["response"], to_sample(row["id"], question, question["options"])


def mathvista(pack: Path, name: str, kind: str) -> Replies:
    for sample_id, row in load_json(pack / "outputs" / f"{name}.json").items():
        yield row["response"] or "", to_sample(sample_id, row, row["choices"] or ())


def mmmu(pack: Path, name: str, kind: str) -> Replies:
    for path in sorted((pack / "outputs" / name).glob("*/output.json")):
        for row in load_json(path):
            yield row["response"], to_sample(row["id"], row, row.get("index2ans", {}).values())


def mmmu_pro(pack: Path, name: str, kind: str) -> Replies:
    for row in rows(pack / "outputs" / f"{name}.jsonl"):
        text = row["response"] if isinstance(row["response"], str) else ""
        yield text, to_sample(row["id"], row, ast.literal_eval(row["options"]))


def scienceqa(pack: Path, name: str, kind: str) -> Replies:
    file = load_json(pack / "outputs" / f"{name}_output.jsonl")
    for row in (*file["correct"], *file["incorrect"]):
        lines = row["question"].splitlines()
        choices = [line[3:] for line in lines if line[1:3] == ". " and line[0] in "ABCDE"]
        yield row["pred"], to_sample(row["question_id"], row, choices)


def ovobench(pack: Path, name: str, kind: str) -> Replies:
    questions = {str(row["id"]): row for row in load_json(pack / "annotations.json")}
    file = load_json(pack / "outputs" / f"{name}.json")
    for row in (*file["backward"], *file["realtime"]):
        options = questions[str(row["id"])]["options"]
        yield text_of(row["response"]), to_sample(str(row["id"]), row, options)
    for row in file["forward"]:
        for index, point in enumerate(row["test_info"]):
            yield text_of(point["response"]), to_sample(f"{row['id']}:{index}", row, ())


def text_of(response: str | list[str] | None) -> str:
    """A reply; some files of OVO-Bench have each in a list of one."""
    return (response[0] if isinstance(response, list) else response) or ""


def mme(pack: Path, name: str, kind: str) -> Replies:
    for path in sorted((pack / "outputs" / name).glob("*.txt")):
        for line_number, line in enumerate(path.read_text().splitlines(), start=1):
            _, question, _, text = line.split("\t")
            yield text, to_sample(f"{path.name}:{line_number}", {"question": question}, ())


def pope(pack: Path, name: str, kind: str) -> Replies:
    for row in rows(pack / "outputs" / f"{name}.jsonl"):
        yield row["text"], to_sample(str(row["question_id"]), {"question": row["prompt"]}, ())


def hallusionbench(pack: Path, name: str, kind: str) -> Replies:
    for row in load_json(pack / "outputs" / "HallusionBench_result_sample.json"):
        keys = ("category", "subcategory", "set_id", "figure_id", "question_id")
        yield row["model_prediction"], to_sample("-".join(row[key] for key in keys), row, ())


READERS = {
    reader.__name__: reader
    for reader in (
        mathvision,
        mathvista,
        mmmu,
        mmmu_pro,
        scienceqa,
        ovobench,
        mme,
        pope,
        hallusionbench,
    )
}


def to_sample(name: str, row: dict[str, Any], choices: Any) -> Sample:
    question = row.get("question", "")
    return Sample(id=name, question=question, choices=tuple(map(str, choices)))


def raw(path: Path) -> str:
    """A file of a pack, which may be gzipped there."""
    if path.exists():
        return path.read_text()
    return gzip.decompress(Path(f"{path}.gz").read_bytes()).decode()


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in raw(path).split("\n") if line]


def load_json(path: Path) -> Any:
    return json.loads(raw(path))

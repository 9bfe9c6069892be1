"""M3CoT: the conversations of every model, and generated replies."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    expected_of,
    items_of,
    of_json,
    of_json_lines,
)

FAILED = "FAILED"
OTHER_KEY = "the leaderboard counted A as right for social-commonsense-1274, whose key is B"


def pack(folder: Path, scratch: Path) -> Pack:
    known, items = expected_of(folder), items_of(folder)
    questions = of_json(folder / "annotations" / "test_gathered.json")
    rows = [question(name, fields) for name, fields in questions.items()]
    data = write_lines(scratch / "test.jsonl", rows)
    files = outputs(folder)
    cases = [
        Case(
            model=name.removesuffix(".jsonl"),
            replies=path,
            benchmark="m3cot",
            data=data,
            expected={"official": expected(known[name], items.get(name, {}))}
            if name in known
            else {},
        )
        for name, path in files.items()
    ]
    pairs = of_json_lines(folder / "differential.jsonl")
    return Pack(
        cases=[*cases, generated(pairs, scratch)] if pairs else cases,
        without_output=[name for name in known if name not in files],
    )


def outputs(folder: Path) -> dict[str, Path]:
    """The files of replies by their names in expected.json."""
    paths = sorted((folder / "outputs").rglob("*.jsonl*"))
    return {
        path.relative_to(folder / "outputs").as_posix().removesuffix(".gz"): path for path in paths
    }


def expected(known: Mapping[str, Any], items: Mapping[str, Sequence[Any]]) -> Expected:
    return Expected(
        figures=dict(figures(known)),
        items={
            name: [Item(answer="" if letter == FAILED else letter, score=right)]
            for name, (letter, right) in items.items()
        },
    )


def figures(known: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    published = known.get("published") or {}
    total = known["all"]["total"]
    yield "accuracy", figure(total, published.get("Total"))
    parts = [*known["domain"].items()]
    parts += [pair for topics in known["topic"].values() for pair in topics.items()]
    for name, part in parts:
        yield f"accuracy/{name}", figure(part, published.get(name))


def figure(part: Mapping[str, Any], published: float | None) -> Figure:
    differs = published is not None and abs(100 * part["acc"] - published) > 0.00501
    return Figure(
        official=part["acc"],
        n=part["total"],
        published=None if published is None else published / 100,
        reason=OTHER_KEY if differs else "",
    )


def generated(pairs: Sequence[Mapping[str, Any]], scratch: Path) -> Case:
    names = [f"generated-{number}" for number in range(len(pairs))]
    topic = {"domain": "science", "topic": "natural-science"}
    rows = [question(name, {**pair, **topic}) for name, pair in zip(names, pairs, strict=True)]
    lines = [
        {"id": name, "messages": ["Which?", pair["text"]]}
        for name, pair in zip(names, pairs, strict=True)
    ]
    return Case(
        model="generated replies",
        replies=write_lines(scratch / "replies.jsonl", lines),
        benchmark="m3cot",
        data=write_lines(scratch / "generated.jsonl", rows),
        expected={
            "official": Expected(
                items={
                    name: [
                        Item(
                            answer="" if pair["letter"] == FAILED else pair["letter"],
                            score=pair["right"],
                        )
                    ]
                    for name, pair in zip(names, pairs, strict=True)
                }
            )
        },
        proof="generated pairs",
        page="",
    )


def question(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A question as the authors have it. Its text is not in the pack, and is made up."""
    keys = ("choices", "answer", "domain", "topic")
    return {
        "id": name,
        "question": "Which?",
        "context": "",
        "image": None,
        **{key: fields[key] for key in keys},
    }


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path

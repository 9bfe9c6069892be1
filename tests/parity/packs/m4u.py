"""M4U: GPT-4o's outputs by field and language, and made replies, with the letters of the authors'
parser."""

from collections.abc import Mapping, Sequence
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
    mean,
    of_json_lines,
    write_json,
)

NO_LETTER = "Z"
"""The authors' letter for a reply without a letter. With the choices as a text, it can also be the
letter of a character, so only the score is compared."""
SCORINGS = {"official": 0, "list": 2}
"""Our scorings, and the positions of their letters in the authors' items. The verdicts are next."""


def pack(folder: Path, scratch: Path) -> Pack:
    expected, items = expected_of(folder), items_of(folder)
    cases, names = [], set()
    for path in sorted((folder / "outputs").rglob("*.json*")):
        part = path.name.partition(".")[0]
        names.add(part)
        cases.append(case(path.parent.name, part, path, items.get(part, ()), expected.get(part)))
    if generated := of_json_lines(folder / "differential.jsonl"):
        part = "science_en"
        rows = [
            {"question": "?", "discipline": "", "cross_lingual": False, **row}
            | {"predict": row["response"]}
            for row in generated
        ]
        path = write_json(scratch / f"{part}.json", {"record": rows})
        letters = ("letter_string_options", "letter_list_options")
        scores = [
            [value for name in letters for value in (row[name], verdict(row[name], row["gt"]))]
            for row in generated
        ]
        cases.append(case("made replies", part, path, scores, None))
    return Pack(cases=cases, without_output=[name for name in expected if name not in names])


def verdict(letter: str, right: str) -> int:
    return int(letter.strip().lower() == right.strip().lower())


def case(
    model: str,
    part: str,
    replies: Path,
    items: Sequence[Sequence[Any]],
    known: Mapping[str, Any] | None,
) -> Case:
    field, _, language = part.partition("_")
    generated = model == "made replies"
    return Case(
        model=f"{model} {part}",
        replies=replies,
        benchmark=f"m4u:field={field},language={language}",
        data=replies,
        expected={
            scoring: Expected(
                figures=figures(scoring, [row[column + 1] for row in items], known, generated),
                items={
                    f"{part}-{index}": [
                        Item(
                            score=row[column + 1],
                            answer=None if row[column] == NO_LETTER else row[column],
                        )
                    ]
                    for index, row in enumerate(items)
                },
            )
            for scoring, column in SCORINGS.items()
        }
        if items or known
        else {},
        proof="generated pairs" if generated else "published outputs",
        page=model if generated else f"{model}, {part}",
        heading="m4u",
        notes=letters_not_compared(items),
    )


def letters_not_compared(items: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    count = sum(row[column] == NO_LETTER for row in items for column in SCORINGS.values())
    note = f"{count} letters are {NO_LETTER}, by which the authors also mean no letter"
    return (f"{note}: only the scores are compared",) * bool(count)


def figures(
    scoring: str, verdicts: Sequence[int], known: Mapping[str, Any] | None, generated: bool
) -> dict[str, Figure]:
    if known is None:
        reason = "the replies are generated" if generated else ""
        label = None if scoring == "official" else f"accuracy ({scoring})"
        accuracy = Figure(official=mean(verdicts), n=len(verdicts), reason=reason, label=label)
        return {"accuracy": accuracy} if verdicts else {}
    if scoring == "list":
        as_list = known["extra:options_parsed_as_list"]
        return {
            "accuracy": Figure(official=as_list["acc"], n=known["total"], label="accuracy (list)")
        }
    published = known.get("published", {})
    groups = {
        f"accuracy/{name}": of
        for tag in ("discipline", "cross_lingual")
        for name, of in known.get(f"extra:{tag}", {}).items()
    }
    return {
        "accuracy": Figure(official=known["acc"], n=known["total"], published=published.get("acc")),
        **{
            name: Figure(official=of["acc"], n=of["total"], label="") for name, of in groups.items()
        },
    }

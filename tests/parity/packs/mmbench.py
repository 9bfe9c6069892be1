"""MMBench: LLaVA's replies to the first release, as uploaded and as its script wrote them."""

import csv
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.parity.engine import Case, Expected, Figure, Pack, expected_of

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
PICTURE = "iVBORw0KGgo" + "A" * 93
COLUMNS = ("index", "question", "A", "B", "C", "D", "answer", "image", "split")


def pack(folder: Path, scratch: Path) -> Pack:
    expected = expected_of(folder)
    sheets = sorted((folder / "outputs").glob("*.xlsx"))
    names = {path.stem for path in sheets}
    cases = []
    for sheet in sheets:
        data = scratch / sheet.stem
        write_questions(data, sheet_rows(sheet))
        known = expected.get(sheet.stem)
        # The same replies as LLaVA's script wrote them before they were put into the sheet.
        for path in (sheet, *sorted(sheet.parent.glob(f"{sheet.stem}.jsonl*"))):
            cases.append(
                Case(
                    model=path.name.partition(".jsonl")[0].removesuffix(".xlsx")
                    + ("" if path == sheet else " (JSONL)"),
                    replies=path,
                    benchmark="mmbench:version=1.0",
                    heading="mmbench",
                    data=data,
                    expected={}
                    if known is None
                    else {"official": Expected(figures=figures(known))},
                    page=None if path == sheet else "",
                )
            )
    return Pack(cases=cases, without_output=[name for name in expected if name not in names])


def figures(model: Mapping[str, Any]) -> dict[str, Figure]:
    published = model.get("published")
    return {
        "circular": Figure(
            official=model["circular_acc"] / 100,
            n=model["n_questions"],
            published=None if published is None else published / 100,
        ),
        "vanilla": Figure(official=model["vanilla_acc"] / 100, n=model["n_questions"]),
        "vanilla_all": Figure(official=model["per_record_acc"] / 100, n=model["n"]),
    }


def sheet_rows(path: Path) -> list[dict[str, str]]:
    """The rows of an uploaded sheet, which also has questions and answers."""
    with zipfile.ZipFile(path) as book, book.open("xl/worksheets/sheet1.xml") as sheet:
        lines = [
            {cell.attrib["r"].rstrip("0123456789"): "".join(cell.itertext()) for cell in row}
            for row in ElementTree.parse(sheet).iter(f"{MAIN}row")
        ]
    header, *rows = lines
    return [{name: row.get(column, "") for column, name in header.items()} for row in rows]


def write_questions(folder: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    """The questions of a sheet as VLMEvalKit publishes them, without the pictures."""
    folder.mkdir(exist_ok=True)
    path = folder / "MMBench_DEV_EN.tsv"
    first: dict[int, str] = {}
    for row in sorted(rows, key=lambda row: int(row["index"])):
        first.setdefault(int(row["index"]) % 1_000_000, row["index"])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", delimiter="\t")
        writer.writeheader()
        for row in rows:
            own = first[int(row["index"]) % 1_000_000]
            writer.writerow({**row, "image": PICTURE if own == row["index"] else own})
    return path

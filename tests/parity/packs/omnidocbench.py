"""OmniDocBench: made texts, formulas, tables, orders, and pages, with what VLMEvalKit's copy of the
authors' code makes of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.benchmarks.families.html_tables import teds
from snellen.benchmarks.families.page_markdown import elements
from snellen.benchmarks.families.page_scores import (
    Compared,
    compared,
    order_distance,
    reading_order,
    score_page,
)
from snellen.benchmarks.families.page_texts import plain_formula, plain_table, plain_text
from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    Scores,
    expected_of,
    mean,
    of_json_lines,
    write_json,
)

NO_OUTPUTS = "no model's outputs are in the packs; the texts and pages are generated"
PLAIN = {"text": plain_text, "formula": plain_formula, "table": plain_table}
PARTS = {
    "text_block": "text",
    "display_formula": "formula",
    "table": "table",
    "reading_order": "order",
}
"""Our names of the authors' elements."""
KINDS = {"text_all": "text", "equation_isolated": "formula"}
"""Our names of the kinds of elements in a reply; tables have the same names."""
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEANl9ngAAAAABJRU5ErkJggg=="
)
Row = Mapping[str, Any]
Rows = Sequence[Row]


def pack(folder: Path, scratch: Path) -> Pack:
    rows = of_json_lines(folder / "differential.jsonl")
    known = expected_of(folder)
    pages = [row for row in rows if row["kind"] == "page"]
    others = [row for row in rows if row["kind"] != "page"]
    cases = [pages_case(pages, known, scratch), pairs_case(pages, scratch)] if pages else []
    return Pack(cases=[*cases, elements_case(others, known, scratch)] if others else cases)


# -- single elements


def elements_case(rows: Rows, known: Mapping[str, Any], scratch: Path) -> Case:
    figures = {
        f"{kind}_edit": Figure(official=known[name], n=n, label="")
        for kind in PLAIN
        if (name := f"mean_edit_dist_{kind}_rows") in known
        and (n := sum(row["kind"] == kind and row.get("edit_dist") is not None for row in rows))
    }
    items = {str(row["id"]): [element_item(row)] for row in rows}
    return own_case(rows, {"official": Expected(figures=figures, items=items)}, scratch, _elements)


def element_item(row: Row) -> Item:
    names = {"edit_dist": "edit", "teds": "teds", "teds_structure_only": "teds_s"}
    metrics = {ours: row[name] for name, ours in names.items() if row.get(name) is not None}
    if row["kind"] == "reading_order":
        # Neither order is written if there is nothing to compare.
        return Item(answer=written(row.get("gt_order"), row.get("pred_order")), metrics=metrics)
    return Item(answer=written(row["norm_gt"], row["norm_pred"]), metrics=metrics)


def _elements(rows: Rows) -> Scores:
    items = {str(row["id"]): [our_element(row)] for row in rows}
    figures = {}
    for kind in PLAIN:
        edits = [
            items[str(row["id"])][0].metrics["edit"]
            for row in rows
            if row["kind"] == kind and "edit" in items[str(row["id"])][0].metrics
        ]
        if edits:
            figures[f"{kind}_edit"] = (mean(edits), len(edits))
    return Scores(figures={"official": figures}, items={"official": items})


def our_element(row: Row) -> Item:
    if row["kind"] == "reading_order":
        order = reading_order(
            [
                (
                    () if pair["gt_position"] == [""] else pair["gt_position"],
                    None if pair["pred_position"] == "" else pair["pred_position"],
                )
                for pair in row["pairs"]
            ]
        )
        if order is None:
            return Item(answer=written(None, None))
        edits, length = order_distance(*order)
        return Item(answer=written(*order), metrics={"edit": edits / length})
    normalize = PLAIN[row["kind"]]
    pair = compared(row["gt"], row["pred"], normalize)
    metrics = {"edit": pair.share} if pair.length else {}
    if row["kind"] == "table":
        metrics["teds"] = teds(pair.prediction, pair.reference)
        metrics["teds_s"] = teds(pair.prediction, pair.reference, structure_only=True)
    return Item(answer=written(normalize(row["gt"]), normalize(row["pred"])), metrics=metrics)


# -- the elements of pages, and their pairs


def pairs_case(pages: Rows, scratch: Path) -> Case:
    items = {str(row["id"]): [pairs_item(row)] for row in pages}
    return own_case(pages, {"official": Expected(items=items)}, scratch, _pairs)


def pairs_item(row: Row) -> Item:
    extracted = {KINDS.get(kind, kind): texts for kind, texts in row["extracted"].items() if texts}
    pairs = [row.get(f"{name}_pairs") or [] for name in PARTS if name != "reading_order"]
    order = [row.get("reading_order_gt"), row.get("reading_order_pred")]
    return Item(
        answer=written(dict(sorted(extracted.items())), pairs, order),
        metrics={"teds": sum(row.get("table_teds") or [])},
    )


def _pairs(rows: Rows) -> Scores:
    return Scores(
        figures={"official": {}},
        items={"official": {str(row["id"]): [our_pairs(row)] for row in rows}},
    )


def our_pairs(row: Row) -> Item:
    extracted: dict[str, list[str]] = {}
    for part in elements(row["pred"]):
        extracted.setdefault(part.kind, []).append(part.text)
    page = score_page(annotation(row), row["pred"])
    pairs = [texts_of(part) for part in (page.texts, page.formulas, page.tables)]
    return Item(
        answer=written(dict(sorted(extracted.items())), pairs, page.order or (None, None)),
        metrics={"teds": page.parts()["teds"][0]},
    )


def texts_of(pairs: Sequence[Compared]) -> list[list[str]]:
    return [[pair.reference, pair.prediction] for pair in pairs]


# -- pages


def pages_case(pages: Rows, known: Mapping[str, Any], scratch: Path) -> Case:
    annotations = []
    replies = []
    for row in pages:
        page = annotation(row)
        page["page_info"]["image_path"] = f"{row['id']}.jpg"
        annotations.append(page)
        replies.append({"id": str(row["id"]), "prediction": row["pred"]})
    return Case(
        model="made pages",
        replies=write_json(scratch / "replies.json", replies),
        benchmark="omnidocbench",
        data=write_json(scratch / "pages" / "OmniDocBench.json", annotations).parent,
        expected={
            "official": Expected(
                figures=figures(known, pages),
                items={str(row["id"]): [page_item(row)] for row in pages},
            )
        },
        proof="generated pairs",
    )


def annotation(row: Row) -> dict[str, Any]:
    page: dict[str, Any] = json.loads(row["gt"])
    return page


def page_item(row: Row) -> Item:
    metrics = {
        f"{ours}_edit": row[f"{name}_edit"]
        for name, ours in PARTS.items()
        if row.get(f"{name}_edit") is not None
    }
    for name, ours in (("table_teds", "teds"), ("table_teds_structure_only", "teds_s")):
        if row.get(name):
            metrics[ours] = metrics[f"{ours}_by_table"] = mean(row[name])
    return Item(metrics=metrics)


def figures(known: Mapping[str, Any], pages: Rows) -> dict[str, Figure]:
    """The figures over all pages, and over those with an attribute."""
    results: dict[str, Figure] = {}
    for name, ours in PARTS.items():
        metrics = {"Edit_dist": f"{ours}_edit", "TEDS": "teds", "TEDS_structure_only": "teds_s"}
        of_element = known.get(name) or {}
        for metric, by_attribute in (of_element.get("page") or {}).items():
            for attribute, value in by_attribute.items():
                field, _, label = attribute.partition(": ")
                at = "" if attribute == "ALL" else f"/{label_of(pages, field, label)}"
                results[f"{metrics[metric]}{at}"] = Figure(official=value, reason=NO_OUTPUTS)
        for metric, ours in (("TEDS", "teds_by_table"), ("TEDS_structure_only", "teds_s_by_table")):
            value = ((of_element.get("all") or {}).get(metric) or {}).get("all")
            if value is not None:
                results[ours] = Figure(official=value, reason=NO_OUTPUTS)
    for language, tag in (("english", "en"), ("simplified_chinese", "zh")):
        values = [
            ((known.get(name) or {}).get("page") or {})
            .get("Edit_dist", {})
            .get(f"language: {language}")
            for name in PARTS
        ]
        if None not in values:
            results[f"overall_v1.0_{tag}"] = Figure(official=mean(values), reason=NO_OUTPUTS)
    return results


def label_of(pages: Rows, field: str, label: str) -> str:
    """The label of a breakdown: the value, or with its attribute if another one has it too."""
    fields = {
        name
        for row in pages
        for name, value in annotation(row)["page_info"]["page_attribute"].items()
        if value == label
    }
    return label if fields == {field} else f"{field}={label}"


def written(*parts: object) -> str:
    return json.dumps(parts, ensure_ascii=False)


def own_case(rows: Rows, expected: Mapping[str, Expected], scratch: Path, ours: Any) -> Case:
    """A case whose items are elements of pages, which `snellen score` does not show."""
    return Case(
        model="made elements" if rows[0]["kind"] != "page" else "elements of made pages",
        replies=scratch / "none",
        benchmark="omnidocbench",
        data=scratch,
        expected=expected,
        proof="generated pairs",
        page="",
        ours=lambda _: ours(rows),
    )

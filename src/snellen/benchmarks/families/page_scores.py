"""The elements of an annotated page beside those of a reply, and their scores in OmniDocBench.

The rules are those of open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
dataset/OmniDocBench/omnidocbench.py#L119-L335.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rapidfuzz.distance import Levenshtein

from snellen.benchmarks.families.html_tables import teds_and_structure
from snellen.benchmarks.families.page_markdown import PageElement, elements
from snellen.benchmarks.families.page_matching import (
    IGNORED,
    Match,
    PageLine,
    category,
    merging_pairs,
    single_pairs,
)
from snellen.benchmarks.families.page_texts import plain_formula, plain_table, plain_text

TEXTS = (
    "text_block",
    "title",
    "code_txt",
    "code_txt_caption",
    "reference",
    "equation_caption",
    "figure_caption",
    "figure_footnote",
    "table_caption",
    "table_footnote",
    "code_algorithm",
    "code_algorithm_caption",
    "header",
    "footer",
    "page_footnote",
    "page_number",
)
"""The categories of texts, in the order in which elements with the same place are compared."""


@dataclass(frozen=True)
class Compared:
    """An annotated element, or several ones, and what the reply has for them."""

    reference: str
    """The annotation, normalized. If nothing is left of it, the annotation as it is."""
    prediction: str
    """The same for the reply."""
    edits: int
    """The edit distance."""
    length: int
    """The length of the longer text."""

    @property
    def share(self) -> float:
        """The edits over the length."""
        return self.edits / self.length


@dataclass(frozen=True)
class Page:
    """A page and a reply, compared."""

    texts: Sequence[Compared] = ()
    """Texts, titles, code, and references."""
    formulas: Sequence[Compared] = ()
    """Formulas that stand by themselves."""
    tables: Sequence[Compared] = ()
    """Tables, as HTML."""
    order: tuple[tuple[int, ...], tuple[int, ...]] | None = field(default=None)
    """The places of the annotated texts, sorted, and in the order of the reply. None if there is
    nothing to compare."""

    def parts(self) -> dict[str, tuple[float, float]]:
        """The numbers of edits and characters of texts, formulas, tables, and the reading order,
        and the sum of TEDS, of TEDS-S, and the number of tables."""
        parts = {
            name: (
                float(sum(pair.edits for pair in pairs)),
                float(sum(pair.length for pair in pairs)),
            )
            for name, pairs in (
                ("text", self.texts),
                ("formula", self.formulas),
                ("table", self.tables),
            )
        }
        edits, length = order_distance(*self.order) if self.order is not None else (0, 0)
        parts["order"] = (float(edits), float(length))
        scores = [teds_and_structure(pair.prediction, pair.reference) for pair in self.tables]
        for number, name in enumerate(("teds", "teds_s")):
            parts[name] = (sum(score[number] for score in scores), float(len(scores)))
        return parts


def compared(reference: str, prediction: str, normalize: Callable[[str], str]) -> Compared:
    """An annotation and a reply, normalized unless nothing is left."""
    texts = normalize(reference) or reference, normalize(prediction) or prediction
    return Compared(*texts, Levenshtein.distance(*texts), max(map(len, texts)))


def order_distance(right: Sequence[int], order: Sequence[int]) -> tuple[int, int]:
    """The edit distance of two orders, and the length of the longer one."""
    return Levenshtein.distance(list(right), list(order)), max(len(right), len(order))


def reading_order(
    pairs: Sequence[tuple[Sequence[Any], float | None]],
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The places of annotated elements, sorted, and in the order of the reply, from pairs of such
    places and of a position in the reply. A place of 0 does not count.

    >>> reading_order([((1,), 9.0), ((2,), 3.0), ((3,), None)])
    ((1, 2, 3), (2, 1))
    """
    right = sorted(number for numbers, _ in pairs for number in numbers if number)
    matched = [
        (numbers, position) for numbers, position in pairs if numbers and position is not None
    ]
    matched.sort(key=lambda pair: pair[1])
    order = [number for numbers, _ in matched for number in numbers if number]
    return (tuple(right), tuple(order)) if right or order else None


def score_page(annotation: Mapping[str, Any], reply: str) -> Page:
    """Compare a reply with the annotation of a page."""
    annotated = annotated_elements(annotation)
    parts = elements(reply)
    texts: Sequence[Compared] = ()
    order = None
    items = in_order(annotated, TEXTS)
    if items:
        texts, order = _texts(items, [part for part in parts if part.kind == "text"])
    formulas = _merged(
        [
            PageLine(str(item["latex"]), plain_formula(str(item["latex"])))
            for item in in_order(annotated, ("equation_isolated",))
        ],
        [PageLine(part.text, plain_formula(part.text)) for part in parts if part.kind == "formula"],
    )
    tables = [str(item["html"]) for item in in_order(annotated, ("table",)) if item["html"] != ""]
    replied = [part.text for part in parts if part.kind == "html_table"]
    return Page(
        texts=texts,
        formulas=formulas,
        tables=[
            compared(
                tables[pair.references[0]],
                "".join(replied[number] for number in pair.predictions),
                plain_table,
            )
            for pair in single_pairs(tables, replied)
            if pair.references
        ],
        order=order,
    )


def _texts(
    items: Sequence[Mapping[str, Any]], parts: Sequence[PageElement]
) -> tuple[list[Compared], tuple[tuple[int, ...], tuple[int, ...]] | None]:
    lines = _kept(
        PageLine(str(item["text"]), plain_text(str(item["text"])), item["category_type"])
        for item in items
    )
    replied = _kept(PageLine(part.text, plain_text(part.text)) for part in parts)
    pairs = [
        pair
        for pair in merging_pairs([line.plain for line in lines], [line.plain for line in replied])
        if category(lines, pair) not in IGNORED
    ]
    # The authors take the places from lists that still have the elements without text.
    places = [
        (
            [items[number].get("order") for number in pair.references],
            None if pair.first is None else parts[pair.first].position,
        )
        for pair in pairs
    ]
    return _joined(pairs, lines, replied), reading_order(places)


def _merged(lines: Sequence[PageLine], replied: Sequence[PageLine]) -> list[Compared]:
    lines, replied = _kept(lines), _kept(replied)
    pairs = merging_pairs([line.plain for line in lines], [line.plain for line in replied])
    return _joined([pair for pair in pairs if pair.references], lines, replied)


def _kept(lines: Any) -> list[PageLine]:
    return [line for line in lines if line.source and line.plain]


def _joined(
    pairs: Sequence[Match], lines: Sequence[PageLine], replied: Sequence[PageLine]
) -> list[Compared]:
    results = []
    for pair in pairs:
        sides = (
            [lines[number] for number in pair.references],
            [replied[number] for number in pair.predictions],
        )
        texts = [
            "".join(line.plain for line in side) or "".join(line.source for line in side)
            for side in sides
        ]
        length = max(map(len, texts))
        if length:
            results.append(Compared(texts[0], texts[1], Levenshtein.distance(*texts), length))
    return results


# -- annotations


def annotated_elements(annotation: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The annotated elements by category. Texts that are cut in two are one element, which has the
    place and the category of its first part. A part that is in two relations is there twice."""
    groups: list[list[Any]] = []
    for relation in annotation["extra"]["relation"]:
        if relation["relation_type"] != "truncated":
            continue
        ends = [relation["source_anno_id"], relation["target_anno_id"]]
        known = [group for group in groups if ends[0] in group or ends[1] in group]
        for group in known:
            group += ends
        if not known:
            groups.append(ends)
    cut = {number for group in groups for number in group}
    by_id: dict[Any, dict[str, Any]] = {}
    categories: dict[str, list[dict[str, Any]]] = {}
    for item in annotation["layout_dets"]:
        if item["anno_id"] in cut:
            by_id[item["anno_id"]] = item
        else:
            categories.setdefault(item["category_type"], []).append(item)
    for group in groups:
        items = sorted(
            (by_id[number] for number in group if number in by_id), key=lambda item: item["order"]
        )
        if items:
            merged = {**items[0], "text": "".join(item["text"] for item in items)}
            categories.setdefault(merged["category_type"], []).append(merged)
    return categories


def in_order(
    annotated: Mapping[str, Sequence[dict[str, Any]]], categories: Sequence[str]
) -> list[dict[str, Any]]:
    """The elements of some categories by their place on the page."""
    items = [item for name in categories for item in annotated.get(name, ())]
    return sorted(items, key=lambda item: item.get("order") or 0)


def annotated_parts(annotation: Mapping[str, Any]) -> list[str]:
    """The parts of a page that have a score, even if the reply is empty. `table` is there once for
    each table."""
    page = score_page(annotation, "")
    parts = {"text": page.texts, "formula": page.formulas, "order": page.order}
    return [*(name for name, part in parts.items() if part), *("table" for _ in page.tables)]


def as_markdown(annotation: Mapping[str, Any]) -> str:
    """A page in Markdown, whose elements are separated by blank lines."""
    parts = []
    annotated = annotated_elements(annotation)
    for item in in_order(annotated, (*TEXTS, "equation_isolated", "table")):
        if item["category_type"] == "table":
            parts.append(item.get("html"))
        elif item["category_type"] == "equation_isolated":
            latex = str(item.get("latex") or "")
            is_delimited = latex.startswith(("$$", "\\["))
            parts.append(latex if is_delimited or not latex else f"$$\n{latex}\n$$")
        else:
            parts.append(item.get("text"))
    return "\n\n".join(str(part) for part in parts if part)

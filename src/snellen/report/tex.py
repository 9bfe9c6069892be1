"""Results and comparisons as LaTeX tables, ready to paste into a paper.

By hand, since pandas is a large dependency for plain tables.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from snellen import __version__
from snellen.analysis.comparing import Comparison, Comparisons, Leaderboard, Side, notes_of
from snellen.analysis.result import Result, shown
from snellen.errors import plain
from snellen.report import side_by_side, table_rows
from snellen.report._compared import Part
from snellen.report._differences import differences

SIGNS = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "{}$&#%_"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\ufffd": "?",  # what `plain` puts for signs that act
        # After \\ the one would begin an option, the other be one.
        "[": "{[}",
        "*": "{*}",
    }
)
ON_ITS_OWN = "over all samples that count in that run"
"""These can be more samples than the models of a leaderboard share."""
UNTESTED = " Differences are not tested here: that is what snellen compare does."
HEADER = f"""\
% Made by Snellen {__version__}. In the preamble: \\usepackage{{booktabs}}
"""
SHORTFALLS = ("partial:", "incomplete:")
"""How a note begins that says what a run lacks. Any other word with a colon is a name."""
UNICODE = """\
% Some names have characters that pdfLaTeX lacks: use LuaLaTeX or XeLaTeX, and a font that has them.
"""
PDFLATEX_HAS = re.compile("[\\x00-\u024f\u2010-\u203a]*")
"""Latin letters and general punctuation."""


def latex(results: Sequence[Result], compared: Comparisons | None = None) -> str:
    """Tables of the headline metrics and of each benchmark's categories; where a comparison of the
    same runs is given, its leaderboards, in which bold is what does not differ significantly from
    the best, and the differences of each benchmark's only two runs."""
    parts: list[str] = []
    if compared is not None:
        parts += [_board(board, compared.sides) for board in compared.leaderboards]
        pairs = Counter(pair.benchmark for pair in compared.comparisons)
        parts += _differences_of(
            compared, [pair for pair in compared.comparisons if pairs[pair.benchmark] == 1]
        )
    if compared is None or not compared.leaderboards:
        headings, *rows = side_by_side.overview(results)
        parts.append(
            _table(f"Headline metric of each run, {ON_ITS_OWN}.", "results", headings, rows)
        )
    if (grid := side_by_side.grid(results, intervals=False)) is not None:
        caption = f"Headline metric by benchmark, {ON_ITS_OWN}."
        for name, of in side_by_side.by_benchmark(results).items():
            caption += "".join(f" {name}: {remark}." for remark in side_by_side.remarks_on(of))
        parts.append(_table(caption, "models", *grid))
    for name, of in side_by_side.by_benchmark(results).items():
        parts += _categories(name, of)
    return _document(parts)


def compared_latex(of: Comparisons) -> str:
    """A table for each leaderboard of a comparison, and one for the differences of each pair."""
    boards = [_board(board, of.sides) for board in of.leaderboards]
    return _document([*boards, *_differences_of(of, of.comparisons)])


def parts_latex(parts: Iterable[Part]) -> str:
    """A table for each part of a report that has one. Its caption has the part's lines."""
    tables = []
    for part in parts:
        if part.table:
            headings, *rows = part.table
            caption = f"{part.title}.{_sentences([*part.above, *part.below], ())}"
            tables.append(_table(caption, part.title, headings, rows))
    return _document(tables)


def _document(tables: Sequence[str]) -> str:
    text = "\n".join(tables)
    return "\n".join([HEADER if PDFLATEX_HAS.fullmatch(text) else HEADER + UNICODE, text])


def _differences_of(compared: Comparisons, pairs: Sequence[Comparison]) -> Iterator[str]:
    adjusted = ""
    if compared.tests > 1:
        adjusted = (
            f" The first metric's p is adjusted by Holm's method over {compared.tests} comparisons."
        )
    for n, comparison in enumerate(pairs, start=1):
        headings, rows = differences("metric", comparison, comparison.metrics)
        caption = (
            f"{comparison.b} minus {comparison.a} on {comparison.benchmark} "
            f"({comparison.scoring}), paired, on the {comparison.samples:,} samples that count on "
            f"both sides.{adjusted}"
        )
        sides = [
            side
            for side in compared.sides
            if side.benchmark == comparison.benchmark and side.name in (comparison.a, comparison.b)
        ]
        left_out = (f"left out: {group.n:,} {group.why}" for group in comparison.unpaired)
        caption += _sentences([*left_out, *notes_of(sides)], (comparison.a, comparison.b))
        yield _table(caption, f"difference-{n}", headings, rows)


def _sentences(notes: Sequence[str], names: Collection[str]) -> str:
    """The notes as sentences. A note that begins with a name and a colon keeps its
    lowercase letter, because `Openai/m` is not the name of a model."""
    text = ""
    for note in (note.removesuffix(".") for note in notes):
        first_word = note.partition(" ")[0]
        has_label = first_word.endswith(":") and first_word not in SHORTFALLS
        is_name = note.startswith(tuple(names)) or has_label
        text += f" {note if is_name else note[0].upper() + note[1:]}."
    return text


def _board(board: Leaderboard, sides: Sequence[Side]) -> str:
    several = len(board.standings) > 1
    bold = set(board.standings[0].group) if several and board.is_ranked else set()
    rows = []
    for standing in board.standings:
        cells = shown(standing.value)
        value = _text(cells.value)
        if bold & set(standing.group):
            value = rf"\textbf{{{value}}}"
        rows.append(
            [_text(standing.name), value, *map(_text, (cells.interval, standing.group, cells.n))]
        )
    intervals = any(standing.value.ci95 is not None for standing in board.standings)
    caption = [
        f"{board.benchmark}: {board.metric} ({board.scoring}){' with 95 % intervals' * intervals}, "
        f"on the {board.samples:,} samples that count for all models"
    ]
    if board.is_tested and several:
        caption.append(
            "Models that share a letter do not differ significantly at 5 % (paired tests, Holm)"
        )
    if bold:
        caption.append("Bold: those that share one with the best")
    if board.direction == "lower":
        caption.append("Lower is better")
    ranked = {standing.name for standing in board.standings}
    its_sides = [
        side for side in sides if side.benchmark == board.benchmark and side.name in ranked
    ]
    notes = [*board.notes, *notes_of(its_sides)]
    text = ". ".join(caption) + "." + _sentences(notes, ranked)
    headings = ("model", board.metric, "95 % interval", "groups", "n")
    return _lines(text, board.benchmark, *table_rows.without_empty(headings, rows))


def _categories(name: str, of: dict[str, Result]) -> Iterator[str]:
    """A table for each tag: a row for each category, a column for each model."""
    scored = {model: result for model, result in of.items() if result.report.scorings}
    tags = dict.fromkeys(tag for result in scored.values() for tag in result.report.breakdown)
    for tag in tags:
        headings, rows = side_by_side.models_by_category(scored, tag, intervals=False)
        if rows:
            untested = len(headings) > 3
            caption = f"{name} by {tag}.{UNTESTED if untested else ''}"
            caption += _sentences([*side_by_side.remarks_on(scored)], scored)
            yield _table(caption, f"{name}-{tag}", headings, rows)


def _table(caption: str, label: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    headings, rows, remarks = table_rows.without_remarks(headings, rows)
    if headings[-1] == "remark":  # too wide for a page
        names = [n for n, name in enumerate(headings[:-1]) if table_rows.is_name(n, name)]
        remarks = [f"{' '.join(row[n] for n in names)}: {row[-1]}" for row in rows if row[-1]]
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    headings, rows = table_rows.without_empty(headings, rows)
    if remarks:
        caption = f"{caption} {'; '.join(remarks)}."
    return _lines(caption, label, headings, [[*map(_text, row)] for row in rows])


def _lines(caption: str, label: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells are LaTeX already."""
    columns = "".join(
        "l" if table_rows.is_name(n, name) else "r" for n, name in enumerate(headings)
    )
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_text(caption)}}}",
        rf"  \label{{tab:{_label(label)}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        rf"    {' & '.join(map(_text, headings))} \\",
        r"    \midrule",
        *(rf"    {' & '.join(row)} \\" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _label(text: str) -> str:
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in text).strip("-")


def _text(text: str) -> str:
    r"""Text that TeX prints as it is, numbers below nought with a minus.

    >>> print(_text("-50 % of a_b"))
    $-$50\,\% of a\_b
    """
    text = plain(text).translate(SIGNS).replace(r" \%", r"\,\%")
    text = re.sub("-(?=-)", "-{}", text)  # two would be a dash
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", text)

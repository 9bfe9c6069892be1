"""Results and comparisons as LaTeX tables, ready to paste into a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from snellen import __version__
from snellen.comparing import Comparisons, Leaderboard
from snellen.report import _rows
from snellen.report._differences import differences
from snellen.result import Result, plain, shown

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
UNTESTED = " Differences are not tested here: that is what snellen compare does."
HEADER = f"""\
% Made by Snellen {__version__}. In the preamble: \\usepackage{{booktabs}}
"""


def latex(results: Sequence[Result], compared: Comparisons | None = None) -> str:
    """Tables of the headline metrics and of each benchmark's categories; where a comparison of the
    same runs is at hand, its leaderboards, in which bold is what does not differ from the best."""
    boards = [] if compared is None else compared.leaderboards
    benchmarks, models = _rows.by_benchmark(results), _rows.by_model(results)
    parts = [HEADER, *map(_board, boards)]
    if not boards:
        headings, *rows = _rows.overview(results)
        parts.append(_table("Headline metric of each run.", "results", headings, rows))
    if compared is not None and not boards:
        parts += _differences_of(compared)
    if len(benchmarks) > 1 and len(models) > 1:
        parts.append(_grid([*benchmarks], models))
    for name, of in benchmarks.items():
        parts += _categories(name, of)
    return "\n".join(parts)


def compared_latex(of: Comparisons) -> str:
    """A table for each leaderboard of a comparison, and one for the differences of each pair."""
    return "\n".join([HEADER, *map(_board, of.leaderboards), *_differences_of(of)])


def _differences_of(compared: Comparisons) -> Iterator[str]:
    for n, one in enumerate(compared.comparisons, start=1):
        headings, rows = differences("metric", one, one.metrics)
        caption = f"{one.b} less {one.a} on {one.benchmark} ({one.scoring}), paired samples."
        yield _table(caption, f"difference-{n}", headings, rows)


def _board(board: Leaderboard) -> str:
    best = set(board.standings[0].group) if board.standings else set()
    rows = []
    for one in board.standings:
        cells = shown(one.value)
        value = _text(cells.value)
        if best & set(one.group):
            value = rf"\textbf{{{value}}}"
        rows.append([_text(one.name), value, *map(_text, (cells.interval, one.group, cells.n))])
    caption = (
        f"{board.benchmark}: {board.metric} ({board.scoring}) with 95 % intervals. Models that "
        "share a letter do not differ at 5 % (paired tests, Holm); bold: those that share one with "
        "the best."
    )
    headings = ("model", board.metric, "95 % interval", "groups", "n")
    return _lines(caption, board.benchmark, headings, rows)


def _grid(benchmarks: Sequence[str], models: dict[str, dict[str, Result]]) -> str:
    rows = [
        [model, *(_headline(of[name]) if name in of else "" for name in benchmarks)]
        for model, of in models.items()
    ]
    return _table("Headline metric by benchmark.", "models", ("model", *benchmarks), rows)


def _headline(result: Result) -> str:
    return shown(result.headline).value if result.report.scorings else "-"


def _categories(name: str, of: dict[str, Result]) -> Iterator[str]:
    """A table for each tag: a row for each category, a column for each model."""
    scored = {model: result for model, result in of.items() if result.report.scorings}
    tags = dict.fromkeys(tag for result in scored.values() for tag in result.report.breakdown)
    for tag in tags:
        headings, rows = _rows.beside(scored, tag, intervals=False)
        if rows:
            untested = len(headings) > 3
            caption = f"{name} by {tag}.{UNTESTED if untested else ''}"
            yield _table(caption, f"{name}-{tag}", headings, rows)


def _table(caption: str, label: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    headings, rows, remarks = _rows.without_remarks(headings, rows)
    if headings[-1] == "remark":  # too wide for a page
        remarks = [f"{row[0]}: {row[-1]}" for row in rows if row[-1]]
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    headings, rows = _rows.without_empty(headings, rows)
    said = f" {'; '.join(remarks)}." if remarks else ""
    return _lines(caption + said, label, headings, [[*map(_text, row)] for row in rows])


def _lines(caption: str, label: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells are LaTeX already."""
    columns = "".join("l" if _rows.is_name(n, name) else "r" for n, name in enumerate(headings))
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

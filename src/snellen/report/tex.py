"""Writes results and comparisons as LaTeX tables that can be pasted into a paper.

This module writes the tables itself, because pandas is a large dependency for plain tables.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from snellen import __version__
from snellen.analysis.comparing import Comparison, Comparisons, Leaderboard, Side, notes_of
from snellen.analysis.result import Result, metric_label, shown
from snellen.errors import plain
from snellen.report import side_by_side, table_rows
from snellen.report._compared import Part
from snellen.report._differences import by_label, differences

SIGNS = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "{}$&#%_"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\ufffd": "?",  # `plain` replaces control characters by U+FFFD
        # After \\, a bracket would begin an optional argument, and a star would be read as \\*.
        "[": "{[}",
        "*": "{*}",
        "↓": r"$\downarrow{}$",
    }
)
ON_ITS_OWN = "over all samples that count in that run"
"""The part of a caption that says which samples a headline metric covers. A leaderboard covers only
the samples that its models share, which can be fewer."""
UNTESTED = " Differences are not tested here. Use snellen compare to test differences."
HEADER = f"""\
% Made by Snellen {__version__}. In the preamble: \\usepackage{{booktabs}}
"""
NOT_IN_RESULTS = ("cost/question", "median time", "run")
"""The columns that are left out of the table of results so that the table fits a page."""
TEXT_WIDTH = 345
"""The width of the text, in points, in LaTeX's `article` class at 10 points."""
SIZES = (("", 5.0, 6), (r"\small", 4.6, 4), (r"\footnotesize", 4.25, 3), (r"\scriptsize", 4.0, 2))
"""The font sizes for tables, from large to small: the command, the average width of a character in
points, and the space on each side of a column in points."""
LEAST_SHARE = 0.1
"""The minimum width of a column of names, as a fraction of the text width."""
SHORTFALLS = ("partial:", "incomplete:")
"""The first words of notes that say what a run lacks. Any other word before a colon at the
beginning of a note is the name of a benchmark or model."""
UNICODE = """\
% Some names contain characters that pdfLaTeX lacks. Use LuaLaTeX or XeLaTeX with a suitable font.
"""
PDFLATEX_HAS = re.compile("[\\x00-\u024f\u2010-\u203a]*")
"""Matches text that pdfLaTeX can print: Latin letters and general punctuation."""


def latex(results: Sequence[Result], compared: Comparisons | None = None) -> str:
    """A table of each run's headline metric, then tables of each benchmark's categories.

    `compared` is a comparison of the same runs, whose leaderboards follow the first table. In a
    leaderboard, values that do not differ significantly from the best are bold. If a benchmark has
    only two runs, a table of their differences is added.
    """
    parts = [_results(results)]
    if compared is not None:
        parts += [_board(board, compared.sides) for board in compared.leaderboards]
        pairs = Counter(pair.benchmark for pair in compared.comparisons)
        parts += _differences_of(
            compared, [pair for pair in compared.comparisons if pairs[pair.benchmark] == 1]
        )
    if (grid := side_by_side.grid(results, intervals=False)) is not None:
        caption = f"Headline metric by benchmark, {ON_ITS_OWN}."
        for name, of in side_by_side.by_benchmark(results).items():
            caption += "".join(f" {name}: {remark}." for remark in side_by_side.remarks_on(of))
        parts.append(_table(caption + _replies_per_question(results), "models", *grid))
    for name, of in side_by_side.by_benchmark(results).items():
        parts += _categories(name, of)
    return _document(parts)


def _results(results: Sequence[Result]) -> str:
    """A table of each run's headline metric, with the interval, n, and the numbers of failed and
    unparsed replies."""
    headings, *rows = side_by_side.overview(results)
    kept = [n for n, name in enumerate(headings) if name not in (*NOT_IN_RESULTS, "remark")]
    names = side_by_side.distinct_names(results)
    caption = f"Headline metric of each run, {ON_ITS_OWN}."
    caption += _sentences(
        [*side_by_side.shared_remarks(results)],
        [part for name in names for part in name],
    )
    caption += _replies_per_question(results)
    table = [[row[n] for n in kept] for row in (headings, *rows)]
    return _table(caption, "results", table[0], table[1:])


def _replies_per_question(results: Sequence[Result]) -> str:
    """A sentence for captions if a result's n counts several replies to a question."""
    several = [
        repeats.most
        for result in results
        if (repeats := result.report.repeats.get(result.report.headline)) is not None
        and result.counts.n > repeats.questions
    ]
    if not several:
        return ""
    return f" Each question has up to {max(several)} replies, and n counts replies."


def compared_latex(of: Comparisons) -> str:
    """A table for each leaderboard of a comparison, and a table of the differences of each pair."""
    boards = [_board(board, of.sides) for board in of.leaderboards]
    return _document([*boards, *_differences_of(of, of.comparisons)])


def parts_latex(parts: Iterable[Part]) -> str:
    """A table for each part of a report that has a table. The part's lines become the table's
    caption."""
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
        headings, rows = differences("metric", comparison, by_label(comparison.metrics))
        headings = ("metric", "a", "b", *headings[3:])  # names would make the table too wide
        caption = (
            f"{comparison.b} (b) minus {comparison.a} (a) on {comparison.benchmark} "
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
    """The notes as sentences with capital letters. A note that begins with a name keeps its
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
    metric = metric_label(board.metric, board.direction)
    caption = [
        f"{board.benchmark}: {metric} ({board.scoring}){' with 95 % intervals' * intervals}, "
        f"on the {board.samples:,} samples that count for all models"
    ]
    if board.is_tested and several:
        caption.append(
            "Models that share a letter do not differ significantly at 5 % (paired tests, Holm)"
        )
    if bold:
        caption.append("Bold: models that share a letter with the best")
    if board.direction == "lower":
        caption.append("Lower is better")
    ranked = {standing.name for standing in board.standings}
    its_sides = [
        side for side in sides if side.benchmark == board.benchmark and side.name in ranked
    ]
    notes = [*board.notes, *notes_of(its_sides)]
    text = ". ".join(caption) + "." + _sentences(notes, ranked)
    headings = ("model", metric, "95 % interval", "groups", "n")
    return _lines(text, board.benchmark, *table_rows.without_empty(headings, rows))


def _categories(name: str, of: dict[str, Result]) -> Iterator[str]:
    """A table for each tag, with a row for each category and a column for each model."""
    scored = {model: result for model, result in of.items() if result.report.scorings}
    tags = dict.fromkeys(tag for result in scored.values() for tag in result.report.breakdown)
    for tag in tags:
        headings, rows = side_by_side.models_by_category(scored, tag, intervals=False)
        if rows:
            untested = len(headings) > 3
            metric = next(iter(scored.values())).headline_label
            caption = f"{name}: {metric} by {tag}.{UNTESTED if untested else ''}"
            cells = [[*map(_text, row)] for row in rows]
            if _fitted(headings, cells)[1] is not None:  # the names are too long for headings
                numbers = [f"({n})" for n, _ in enumerate(headings[2:], start=1)]
                columns = zip(numbers, headings[2:], strict=True)
                caption += f" {', '.join(f'{number} {model}' for number, model in columns)}."
                headings = [*headings[:2], *numbers]
            caption += _sentences([*side_by_side.remarks_on(scored)], scored)
            yield _table(caption, f"{name}-{tag}", headings, rows)


def _table(caption: str, label: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    headings, rows, remarks = table_rows.without_remarks(headings, rows)
    if headings[-1] == "remark":  # too wide for a page
        names = [n for n, name in enumerate(headings[:-1]) if table_rows.is_name(n, name)]
        remarks = [f"{' '.join(row[n] for n in names)}: {row[-1]}" for row in rows if row[-1]]
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    headings, rows = table_rows.without_empty(headings, rows)
    caption += _sentences(remarks, [row[0] for row in rows])
    return _lines(caption, label, headings, [[*map(_text, row)] for row in rows])


def _lines(caption: str, label: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The LaTeX source of a table. The cells must be LaTeX, and the caption and the headings plain
    text."""
    columns = "".join(
        "l" if table_rows.is_name(n, name) else "r" for n, name in enumerate(headings)
    )
    size, widths = _fitted(headings, rows)
    if widths:
        columns = columns.replace("l", f"p{{{widths}\\textwidth}}")
        rows = [
            [
                _breakable(cell) if table_rows.is_name(n, headings[n]) else cell
                for n, cell in enumerate(row)
            ]
            for row in rows
        ]
    lines = [
        r"\begin{table}",
        rf"  \centering{size}",
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


def _fitted(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, float | None]:
    """Fit a table to the text width of LaTeX's `article` class. Returns the command for the largest
    font size that fits, and the width of the columns of names as a fraction of the text width. The
    width is None unless the names must be broken."""
    lines = [list(map(_text, headings)), *rows]
    widths = [max(map(_characters, column)) for column in zip(*lines, strict=True)]
    are_names = [table_rows.is_name(n, name) for n, name in enumerate(headings)]
    for size, points, gap in SIZES:
        if sum(widths) * points + 2 * gap * len(widths) <= TEXT_WIDTH:
            return _size(size, gap), None
    size, points, gap = SIZES[-1]
    numbers = sum(width for width, is_name in zip(widths, are_names, strict=True) if not is_name)
    room = TEXT_WIDTH - numbers * points - 2 * gap * len(widths)
    share = room / sum(are_names) / TEXT_WIDTH
    return _size(size, gap), round(max(share, LEAST_SHARE), 3)


def _size(size: str, gap: int) -> str:
    return rf"{size}\setlength{{\tabcolsep}}{{{gap}pt}}" if size else ""


def _characters(cell: str) -> int:
    """The approximate number of characters that LaTeX prints for a cell."""
    return len(re.sub(r"\\(textbf|,|[a-z]+\{\})|[{}$\\]", "", cell))


def _breakable(cell: str) -> str:
    """A cell whose names LaTeX may break after a slash or an underscore, as well as after a
    hyphen."""
    return r"\raggedright " + re.sub(r"(/|\\_)", r"\1\\allowbreak{}", cell)


def _label(text: str) -> str:
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in text).strip("-")


def _text(text: str) -> str:
    r"""Escape text for TeX. Negative numbers get a real minus sign instead of a hyphen.

    >>> print(_text("-50 % of a_b"))
    $-$50\,\% of a\_b
    """
    text = plain(text).translate(SIGNS).replace(r" \%", r"\,\%")
    text = re.sub("-(?=-)", "-{}", text)  # TeX would print two hyphens as a dash
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", text)

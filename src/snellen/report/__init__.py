"""Results for people and for other tools: terminal, Markdown, HTML, LaTeX, CSV, plots, exports.

May import analysis and what is below it; computes no score.
Start with `table_rows.py`: the rows of one result; `side_by_side.py`: of several.
"""

from snellen.report.junit import junit
from snellen.report.pages import compared_html, html, look
from snellen.report.plots import plot, plots
from snellen.report.sheets import compared_csv, csv
from snellen.report.stories import story
from snellen.report.terminal import (
    as_text,
    compared_text,
    print_compared,
    print_contamination,
    print_overview,
    print_result,
    print_results,
    print_steering,
    print_swept,
    show,
)
from snellen.report.tex import compared_latex, latex
from snellen.report.words import compared_markdown, markdown, write_markdown

__all__ = [
    "as_text",
    "compared_csv",
    "compared_html",
    "compared_latex",
    "compared_markdown",
    "compared_text",
    "csv",
    "html",
    "junit",
    "latex",
    "look",
    "markdown",
    "plot",
    "plots",
    "print_compared",
    "print_contamination",
    "print_overview",
    "print_result",
    "print_results",
    "print_steering",
    "print_swept",
    "show",
    "story",
    "write_markdown",
]

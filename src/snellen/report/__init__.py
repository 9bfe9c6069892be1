"""Shows results in the terminal, writes them as Markdown, HTML, LaTeX, CSV, and plots, and exports
them to other tools.

This package may import analysis and every layer below it. It computes no scores. Start with
`table_rows.py`, which makes the rows for one result, and `side_by_side.py`, which makes the rows
for several results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.report.cards import (
        card_html as card_html,
        card_latex as card_latex,
        card_markdown as card_markdown,
        card_text as card_text,
        print_card as print_card,
    )
    from snellen.report.junit_file import junit as junit
    from snellen.report.pages import compared_html as compared_html, html as html, look as look
    from snellen.report.plot_files import plot as plot, plots as plots
    from snellen.report.sheets import compared_csv as compared_csv, csv as csv
    from snellen.report.stories import story as story
    from snellen.report.terminal import (
        as_text as as_text,
        check_suite as check_suite,
        compared_text as compared_text,
        print_companions as print_companions,
        print_compared as print_compared,
        print_contamination as print_contamination,
        print_overalls as print_overalls,
        print_overview as print_overview,
        print_qualification as print_qualification,
        print_result as print_result,
        print_results as print_results,
        print_steering as print_steering,
        print_swept as print_swept,
        show as show,
    )
    from snellen.report.tex import compared_latex as compared_latex, latex as latex
    from snellen.report.words import (
        compared_markdown as compared_markdown,
        markdown as markdown,
        write_markdown as write_markdown,
    )

_FILES = {
    "as_text": "terminal",
    "card_html": "cards",
    "card_latex": "cards",
    "card_markdown": "cards",
    "card_text": "cards",
    "compared_csv": "sheets",
    "compared_html": "pages",
    "compared_latex": "tex",
    "compared_markdown": "words",
    "compared_text": "terminal",
    "csv": "sheets",
    "html": "pages",
    "junit": "junit_file",
    "latex": "tex",
    "look": "pages",
    "markdown": "words",
    "plot": "plot_files",
    "plots": "plot_files",
    "print_card": "cards",
    "print_companions": "terminal",
    "print_compared": "terminal",
    "print_contamination": "terminal",
    "check_suite": "terminal",
    "print_overalls": "terminal",
    "print_overview": "terminal",
    "print_qualification": "terminal",
    "print_result": "terminal",
    "print_results": "terminal",
    "print_steering": "terminal",
    "print_swept": "terminal",
    "show": "terminal",
    "story": "stories",
    "write_markdown": "words",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)

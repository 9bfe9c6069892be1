"""Results for people and for other tools: terminal, Markdown, HTML, LaTeX, CSV, plots, exports.

May import analysis and what is below it; computes no score.
Start with `table_rows.py`: the rows of one result; `side_by_side.py`: of several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.report.junit_file import junit as junit
    from snellen.report.pages import compared_html as compared_html, html as html, look as look
    from snellen.report.plot_files import plot as plot, plots as plots
    from snellen.report.sheets import compared_csv as compared_csv, csv as csv
    from snellen.report.stories import story as story
    from snellen.report.terminal import (
        as_text as as_text,
        compared_text as compared_text,
        print_companions as print_companions,
        print_compared as print_compared,
        print_contamination as print_contamination,
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
    "print_companions": "terminal",
    "print_compared": "terminal",
    "print_contamination": "terminal",
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

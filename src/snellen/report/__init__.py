"""Results for people: in the terminal, as Markdown, as CSV."""

from snellen.report.sheets import csv
from snellen.report.stories import story
from snellen.report.terminal import (
    as_text,
    print_contamination,
    print_result,
    print_results,
    print_steering,
    show,
)
from snellen.report.words import markdown, write_markdown

__all__ = [
    "as_text",
    "csv",
    "markdown",
    "print_contamination",
    "print_result",
    "print_results",
    "print_steering",
    "show",
    "story",
    "write_markdown",
]

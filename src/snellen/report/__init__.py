"""Results for people: in the terminal, as Markdown, as CSV."""

from snellen.report.sheets import csv
from snellen.report.stories import story
from snellen.report.terminal import (
    as_text,
    compared_text,
    print_compared,
    print_result,
    print_results,
    print_steering,
    show,
)
from snellen.report.words import compared_markdown, markdown, write_markdown

__all__ = [
    "as_text",
    "compared_markdown",
    "compared_text",
    "csv",
    "markdown",
    "print_compared",
    "print_result",
    "print_results",
    "print_steering",
    "show",
    "story",
    "write_markdown",
]

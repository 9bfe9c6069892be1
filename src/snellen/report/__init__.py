"""Results for people: in the terminal, as Markdown, as CSV."""

from snellen.report.sheets import csv
from snellen.report.terminal import print_result, show
from snellen.report.words import markdown

__all__ = ["csv", "markdown", "print_result", "show"]

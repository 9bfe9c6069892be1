#!/usr/bin/env python3
"""Draw docs/assets/result.svg: what `snellen demo` shows in a terminal.

usage: python scripts/draw_result.py
"""

import contextlib
import io
import re
import tempfile
from pathlib import Path

from rich.console import Console

import snellen
from snellen import report

PICTURE = Path(__file__).parents[1] / "docs" / "assets" / "result.svg"


def draw() -> str:
    """Draw the picture, without fonts from other servers."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        result = snellen.evaluate("eyechart", model="baseline/reader")
        console = Console(file=io.StringIO(), record=True, width=84, force_terminal=True)
        report.show(result, console)
        drawn = console.export_svg(title="snellen demo")
    without_fonts = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    return without_fonts.replace("Fira Code, monospace", "monospace").rstrip() + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")

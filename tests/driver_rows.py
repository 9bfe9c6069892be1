"""Rows for tests of several drivers."""

import json
from pathlib import Path


def write_rows(folder: Path, n: int) -> Path:
    """Write n questions with two choices, of which A is right, and return the file."""
    lines = [
        {"id": f"q{number}", "question": f"[{number}]?", "A": "x", "B": "y", "answer": "A"}
        for number in range(n)
    ]
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path

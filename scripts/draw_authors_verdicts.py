"""Generate replies with the verdicts of the authors' scripts: replies to MTVQA.

usage: python scripts/draw_authors_verdicts.py FOLDER

FOLDER has a clone of bytedance/MTVQA@efc6a78, named MTVQA. Its script runs once with a file for
each reply, and once with a file for each language.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

DATA = Path(__file__).parents[1] / "tests/data"
LANGUAGES = ("AR", "DE", "FR", "IT", "JA", "KO", "RU", "TH", "VI")
COUNT = 700
WORDS = (
    "Hafen",
    "port",
    "Été",
    "İzmir",
    "東京",
    "ที่",
    "7",
    "12.5",
    "B.V.",
    " Cam ",
    "straße",
    "no.",
)
FORMS = ("{word}", "{upper}", "{word}.", "It says {word}, I think.", "{other}", "{other} {lower}",
         "{joined}", "x{word}y", "", " . ", "{dots}")  # fmt: skip


def mtvqa_rows() -> Iterator[dict[str, Any]]:
    draws = Random(24)
    for number in range(COUNT):
        words = [draws.choice(WORDS) for _ in range(draws.choice((1, 1, 2)))]
        answer = " ".join(words)
        reply = draws.choice(FORMS).format(
            word=answer, upper=answer.upper(), lower=answer.lower(), other=draws.choice(WORDS),
            joined=answer.replace(" ", ""), dots=".".join(answer),
        )  # fmt: skip
        language = LANGUAGES[number % len(LANGUAGES)]
        yield {"id": number, "language": language, "annotation": answer, "answer": reply}


def mtvqa_accuracies(script: Path, files: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    """The accuracy that the authors' script prints for each file, and their `Average`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in files.items():
            (Path(folder) / f"{name}.json").write_text(json.dumps(rows))
        command = [sys.executable, str(script), "--model_result_path", folder]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = (line.partition(" acc: ") for line in output.splitlines())
    return {name: float(value) for name, _, value in lines}


def mtvqa(script: Path) -> None:
    rows = [*mtvqa_rows()]
    verdicts = mtvqa_accuracies(script, {str(row["id"]): [row] for row in rows})
    languages = {
        language: [row for row in rows if row["language"] == language] for language in LANGUAGES
    }
    average = mtvqa_accuracies(script, languages)["Average"]
    lines = [{**row, "score": verdicts[str(row["id"])]} for row in rows]
    written(DATA / "mtvqa_replies.jsonl", [*lines, {"average": average}])


def written(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    mtvqa(Path(sys.argv[1]) / "MTVQA/scripts/acc.py")

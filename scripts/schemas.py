"""Write the JSON schemas of stored files to `docs/reference/schemas`.

usage: python scripts/schemas.py
"""

import json
from pathlib import Path

import msgspec

from snellen.scoring.document import Report
from snellen.store import schemas

FOLDER = Path(__file__).parents[1] / "docs" / "reference" / "schemas"


def documents() -> dict[str, str]:
    """The text of each schema, keyed by its file's name."""
    stored = {**schemas(), "report": msgspec.json.schema(Report)}
    return {
        f"{name}.json": json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        for name, schema in stored.items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in documents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")

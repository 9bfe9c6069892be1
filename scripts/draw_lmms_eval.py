"""Write the letters that lmms-eval's code finds in the generated replies.

usage: python scripts/draw_lmms_eval.py MCQ_EXTRACT.py DIFFERENTIAL.jsonl

MCQ_EXTRACT.py is lmms_eval/tasks/_task_utils/mcq_extract.py of EvolvingLMMs-Lab/lmms-eval@75571cf,
and DIFFERENTIAL.jsonl is the file of the golden pack mcq_parsing. The letters are in the order of
the ids 0, 1, ...; "-" means that the code finds none, and "." that there is no such id.
"""

import importlib.util
import json
import sys
from pathlib import Path

LETTERS = Path(__file__).parents[1] / "tests/data/lmms_eval_letters.txt"


def main(code: str, replies: str) -> None:
    spec = importlib.util.spec_from_file_location("mcq_extract", code)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = [json.loads(line) for line in Path(replies).read_text().splitlines()]
    letters = {
        row["id"]: module.extract_mcq_answer(row["prediction"], [*row["options"]]) or "-"
        for row in rows
    }
    every = "".join(letters.get(name, ".") for name in range(max(letters) + 1))
    lines = [every[start : start + 100] for start in range(0, len(every), 100)]
    LETTERS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Write what the code of TreeBench and VLMEvalKit makes of generated questions and replies.

usage: python scripts/tree_verdicts.py TREEVGR VLMEVALKIT

The arguments are checkouts of Haochen-Wang409/TreeVGR@4823ad8 and open-compass/VLMEvalKit@e8e78f0.
Only the functions that ask and score are run, so that the packages need not be installed. Needs
numpy and pandas. The result is tests/parity/tree_verdicts.json.gz.
"""

import ast
import gzip
import importlib
import json
import multiprocessing
import os
import re
import string
import sys
import types
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import MagicMock, patch

import pandas as pd

OUT = Path(__file__).parents[1] / "tests/parity/tree_verdicts.json.gz"
COUNT = 720
STUBS = ("tqdm", "torch", "datasets", "transformers", "qwen_vl_utils", "openai")
CATEGORIES = (
    "Perception/Attributes", "Perception/Material", "Perception/Physical State",
    "Perception/Object Retrieval", "Perception/OCR", "Reasoning/Perspective Transform",
    "Reasoning/Ordering", "Reasoning/Contact and Occlusion", "Reasoning/Spatial Containment",
    "Reasoning/Comparison",
)  # fmt: skip
CHOICES = (("red", "blue", "green", "black"), ("left", "right"), ("a dog", "a cat", "An owl"))
LETTERS = (
    "{L}", "{l}", " {L} ", "{L}.", "({L})", "{L}\n", "{L}. {c}", "{c}", "The answer is {L}",
    "Best option: {L}", "The best answer is {l}", "{L} or {M}", "", "none", "E", "I see {c}.",
    "I looked at it for a long time, but i can not say what it is, sorry",
)  # fmt: skip
FORMS = (
    "<think>{boxes}</think><answer>{words}</answer>", "<think>{boxes}</think>\n<answer>\n{words}\n"
    "</answer>", "{boxes}</think><answer>{words}</answer>", "{boxes}<answer>{words}</answer>",
    "<think>It is here.</think>{boxes}<answer>{words}</answer>", "{words}", "{boxes}{words}",
    "<think>{boxes}</think>{words}", "<answer>{words}</answer><answer>{M}</answer>{boxes}",
    "<think>{boxes}</think><answer>{words}",
)  # fmt: skip
SHAPES = (
    "<box>[{},{},{},{}]</box>", "<box> [{},{},{},{}] </box>", "<box>[{},{},{},{}], a dog</box>",
    "<box>[{}, {}, {}, {}]</box>", "<box>[{}.5,{},{},{}]</box>", "<box>{},{},{},{}</box>",
    "<box>dog [{},{},{},{}]</box>", "[{},{},{},{}]", "<box>[{},{},{},{}]",
    "<box>[-{},{},{},{}]</box>",
)  # fmt: skip


def box(draw: Random) -> list[int]:
    left, top = draw.randint(0, 400), draw.randint(0, 400)
    return [left, top, left + draw.randint(1, 200), top + draw.randint(1, 200)]


def moved(draw: Random, edges: list[int]) -> list[int]:
    return [edge + draw.randint(-15, 15) if draw.random() < 0.5 else edge for edge in edges]


def row_of(draw: Random, number: int) -> dict[str, Any]:
    choices = draw.choice(CHOICES)
    targets = [box(draw) for _ in range(draw.choice((0, 1, 1, 1, 2, 3)))]
    letters = draw.sample("ABCD"[: len(choices)], 2)
    words = draw.choice(LETTERS[:1] if draw.random() < 0.3 else LETTERS).format(
        L=letters[0], l=letters[0].lower(), M=letters[1], c=choices["ABCD".index(letters[0])]
    )
    answers = [moved(draw, edges) for edges in targets if draw.random() < 0.8]
    answers += [box(draw) for _ in range(draw.choice((0, 0, 1)))]
    answers += [edges[2:] + edges[:2] for edges in answers if draw.random() < 0.1]
    boxes = "".join(
        draw.choice(SHAPES[:1] if draw.random() < 0.6 else SHAPES).format(*map(abs, edges))
        for edges in answers
    )
    reply = draw.choice(FORMS).format(boxes=boxes, words=words, M=letters[1])
    return {
        "index": number,
        "image": "",
        "question": draw.choice(("Which?", "Where is it? Look.", "{x} 是什么？")),
        "multi-choice options": "\n".join(
            f"{letter}. {choice}" for letter, choice in zip("ABCD", choices, strict=False)
        ),
        **dict(zip("ABCD", [*choices, "", ""], strict=False)),
        "answer": letters[0] if draw.random() < 0.6 else letters[1],
        "category": CATEGORIES[number % len(CATEGORIES)],
        "target_instances": str(targets),
        "reply": reply,
    }


def official(folder: Path, rows: list[dict[str, Any]]) -> list[Any]:
    """The messages, the accuracy, and the overlap of each row."""
    sys.modules.update({stub: MagicMock() for stub in STUBS})
    sys.path.insert(0, str(folder))
    with patch.object(multiprocessing, "set_start_method"):
        module = importlib.import_module("inference_treebench")
    module.process_vision_info.return_value = (None, None)
    module.processor.apply_chat_template.return_value = ""
    results = []
    for row in rows:
        module.processor.batch_decode.return_value = [row["reply"]]
        item = module.eval_model_row(dict(row))
        (messages,) = module.processor.apply_chat_template.call_args.args
        texts = [
            [message["role"], [part.get("text") for part in message["content"]]]
            for message in messages
        ]
        # As in the script, #L203.
        is_right = item["prediction"].upper() == item["answer"].upper()
        results.append([texts, float(is_right), float(item["iou"])])
    return results


def vlmevalkit(folder: Path, rows: list[dict[str, Any]]) -> tuple[list[Any], Any]:
    """The text of the prompt, the score, and the overlap of each row, and VLMEvalKit's rating."""
    source = folder / "vlmeval/dataset"
    table = pd.DataFrame(rows).drop(columns="reply").replace("", float("nan"))
    table["prediction"] = [row["reply"] for row in rows]
    # The code writes True and numbers into one column, which pandas 3 allows only for objects.
    table["iou"] = pd.Series([None] * len(rows), dtype=object)
    files: dict[str, Any] = {"m.xlsx": table}
    smp = types.ModuleType("vlmeval.smp")
    smp.load = lambda path: files[path]  # type: ignore[attr-defined]
    packages = ("vlmeval", "vlmeval.dataset", "vlmeval.dataset.utils")
    sys.modules.update({name: types.ModuleType(name) for name in packages})
    sys.modules["vlmeval.smp"] = smp
    multiple = types.ModuleType("vlmeval.dataset.utils.multiple_choice")
    multiple.re = re  # type: ignore[attr-defined]
    define(source / "utils/multiple_choice.py", "extract_characters_regex", vars(multiple))
    rating = types.ModuleType("vlmeval.dataset.utils.treebench")
    path = source / "utils/treebench.py"
    exec(compile(path.read_text(), str(path), "exec"), vars(rating))
    sys.modules.update({multiple.__name__: multiple, rating.__name__: rating})
    space: dict[str, Any] = {
        "__name__": "vlmeval.dataset.image_mcq",
        "__package__": "vlmeval.dataset",
        "ImageMCQDataset": type("ImageMCQDataset", (), {}),
        "load": smp.load,  # type: ignore[attr-defined]
        "dump": lambda content, path: files.update({path: content}),
        "toliststr": lambda cell: [cell],
        **{"osp": os.path, "re": re, "pd": pd, "string": string},
    }
    define(source / "image_mcq.py", "TreeBench", space)
    data_set = space["TreeBench"]()
    data_set.meta_only, data_set.data = True, table.assign(image_path="1.jpg")
    prompts = [data_set.build_prompt(number)[-1]["value"] for number in range(len(rows))]
    with redirect_stdout(StringIO()):
        figures = space["TreeBench"].evaluate("m.xlsx")
    scored = files["m_score.xlsx"]
    columns = (prompts, scored["score"].astype(float), scored["iou"].astype(float))
    return [*map(list, zip(*columns, strict=True))], figures


def define(path: Path, name: str, space: dict[str, Any]) -> None:
    """Run the definition of a function or class in a file, with its line numbers."""
    (node,) = (
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
    )
    exec(compile(ast.Module([node], []), str(path), "exec"), space)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw = Random("treebench")
    rows = [row_of(draw, number) for number in range(COUNT)]
    theirs = official(Path(sys.argv[1]), rows)
    kit, figures = vlmevalkit(Path(sys.argv[2]), rows)
    content = {"rows": rows, "official": theirs, "vlmevalkit": kit, "rating": figures}
    raw = json.dumps(content, ensure_ascii=False).encode()
    OUT.write_bytes(gzip.compress(raw, mtime=0))


if __name__ == "__main__":
    main()

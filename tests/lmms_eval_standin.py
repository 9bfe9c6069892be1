"""A stand-in for an installed lmms-eval, for tests without its packages: the classes, attributes,
and arguments that Snellen uses, in the shapes of lmms-eval 0.7.3, and a small task `colors`.

`tests/exchange/test_lmms_eval_tasks.py` runs the same code of Snellen with the real package.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

N = 6
"""The number of questions of `colors`. Its answers are red and blue in turn."""
FILES = {
    "lmms_eval-0.7.3.dist-info/METADATA": "Metadata-Version: 2.1\nName: lmms-eval\nVersion: 0.7.3",
    "loguru.py": r"""
class Logger:
    def __init__(self):
        self.sinks = []

    def add(self, sink, level, format):
        self.sinks.append(sink)
        return sink

    def remove(self, sink):
        self.sinks.remove(sink)

    def error(self, text):
        for sink in self.sinks:
            sink(f"{text}\n")


logger = Logger()
""",
    "lmms_eval/__init__.py": "",
    "lmms_eval/api/__init__.py": "",
    "lmms_eval/api/instance.py": """
class Instance:
    def __init__(self, request_type, arguments, idx, metadata):
        self.doc_id, self.resps, self.filtered_resps = metadata["doc_id"], [], {}
""",
    "lmms_eval/api/reasoning.py": """
import json


def parse_reasoning_tags_config(cli_value=None, task_value=None):
    value = cli_value if task_value is None else task_value
    return None if value == "none" else json.loads(value)


def strip_reasoning_tags(text, tag_pairs):
    for start, end in tag_pairs:
        if start in text and end in text:
            text = text[: text.find(start)] + text[text.find(end) + len(end) :]
    return text.strip()
""",
    "lmms_eval/api/registry.py": """
def mean(arr):
    return sum(arr) / len(arr)


def get_aggregation(name):
    return {"mean": mean}[name]
""",
    "lmms_eval/tasks/__init__.py": r"""
import random
from pathlib import Path
from types import SimpleNamespace

from loguru import logger
from PIL import Image

from lmms_eval.api.registry import get_aggregation

POINTS = {"all": 0}


class Docs(list):
    def select(self, indices):
        return Docs(self[index] for index in indices)


class TakeFirst:
    name = "none"

    def __init__(self):
        self.filters = []

    def apply(self, instances, docs):
        assert len(instances) == len(docs)
        for instance in instances:
            instance.filtered_resps[self.name] = instance.resps[0]


def process_results(doc, results):
    [reply] = results
    with open("processed.txt", "a") as file:
        file.write(f"{doc['number']} {reply}\n")
    if reply == "guess":
        reply = random.choice(["red", "blue"])
    if reply == "boom":
        raise ValueError("no such color")
    if reply == "no judge":
        logger.error("All 5 attempts failed")
    review = "Failed to Get a Proper Review." if reply == "no review" else "fine"
    score = float(reply == doc["answer"])
    item = {"pair": doc["number"] // 2, "score": score, "review": review}
    return {"acc": score, "pairs": item, "points": score, "by_color": (doc["answer"], score)}


def pairs(items):
    scores = {}
    for item in items:
        scores.setdefault(item["pair"], []).append(item["score"])
    assert all(len(of_pair) == 2 for of_pair in scores.values()), "pairs only"
    return sum(sum(of_pair) == 2 for of_pair in scores.values()) / len(scores)


def points(items, args):
    Path(args.output_path, "points.txt").write_text("for a test server")
    POINTS["all"] += sum(items)
    return POINTS["all"]


def by_color(items):
    colors = {color for color, _ in items}
    return {c: sum(score for color, score in items if color == c) for c in sorted(colors)}


class Colors:
    OUTPUT_TYPE = "generate_until"

    def __init__(self, **changes):
        self.config = SimpleNamespace(
            task="colors",
            num_fewshot=None,
            repeats=1,
            generation_kwargs={"max_new_tokens": 16, "temperature": 0, "until": ["."]},
            reasoning_tags=None,
            score_key="score",
            process_results=process_results,
        )
        vars(self.config).update(changes)
        self.OUTPUT_TYPE = changes.get("output_type", self.OUTPUT_TYPE)
        self._filters = [TakeFirst()]
        self.eval_docs = Docs(
            {
                "number": number,
                "question": f"[{number}] Which color?",
                "answer": ("red", "blue")[number % 2],
                "image": Image.new("RGB", (8, 6), ("red", "blue")[number % 2]),
            }
            for number in range(6)
        )
        self.eval_docs_no_media = Docs(
            {name: cell for name, cell in doc.items() if name != "image"} for doc in self.eval_docs
        )

    def set_fewshot_seed(self, seed):
        pass

    def doc_to_messages(self, doc):
        picture = {"type": "image", "url": doc["image"]}
        text = {"type": "text", "text": doc["question"]}
        return [{"role": "user", "content": [picture, text]}]

    def doc_to_target(self, doc):
        return doc["answer"]

    def process_results(self, doc, results):
        return process_results(doc, results)

    def aggregation(self):
        mean = get_aggregation("mean")
        return {"acc": mean, "pairs": pairs, "points": points, "by_color": by_color}

    def higher_is_better(self):
        return dict.fromkeys(self.aggregation(), True)


class TaskManager:
    def __init__(self, verbosity, include_path=None, include_defaults=True):
        here = str(Path(__file__).with_name("colors.yaml"))
        self.task_index = {
            "colors": {"type": "task", "yaml_path": here},
            "ranked": {"type": "task", "yaml_path": here},
            "many": {"type": "task", "yaml_path": here},
            "broken": {"type": "task", "yaml_path": here},
            "all_colors": {"type": "tag", "task": ["colors", "ranked"], "yaml_path": -1},
        }

    def load_task_or_group(self, names, task_type):
        [name] = names
        if name == "broken":
            raise ConnectionError("the data are not in the cache")
        changes = {"ranked": {"output_type": "multiple_choice"}, "many": {"repeats": 64}}
        return {name: Colors(**changes.get(name, {}))}
""",
    "lmms_eval/tasks/colors.yaml": "task: colors\n",
}


def write(folder: Path) -> Path:
    """Write the package into a folder, from which Python can import it."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@contextmanager
def installed(folder: Path) -> Iterator[None]:
    """Make the package importable, and forget it afterwards."""
    forget()
    sys.path.insert(0, str(write(folder)))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        forget()


def forget() -> None:
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("lmms_eval", "loguru"):
            del sys.modules[name]

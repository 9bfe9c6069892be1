"""Write what the code of TIR-Bench makes of generated replies and of generated texts of its judge.

usage: python scripts/tir_verdicts.py TIR_BENCH

The argument is a checkout of agents-x-project/TIR-Bench@f79c756. Needs the packages math-verify
0.9.0 and Levenshtein. No model is asked. The result, tests/parity/tir_verdicts.json.gz, has 1,215
rows, which is the number that the authors' script demands, with the score of each, the accuracies
that the script prints, and a digest of all messages to the judge for each task.
"""

import gzip
import hashlib
import importlib
import json
import re
import sys
import tempfile
from collections import defaultdict
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, patch

OUT = Path(__file__).parents[1] / "tests/parity/tir_verdicts.json.gz"
COUNT = 1215
PATIENCE = 100
"""How often the authors' script asks (extract_answer.py#L39)."""
STUBS = ("openai", "matplotlib", "matplotlib.pyplot", "matplotlib.gridspec", "numpy", "PIL", "tqdm")
NUMBERS = (
    "{a}", "{a}.", "{a}.0", "{a}.00", "{a} yen", "{a}元", "{a}°", "{a}°F", "{a}%", "{a} percent",
    "${a}", "${a}$", "¥{a}", "**{a}**", "({a})", "[{a}]", "~{a}", "-{a}", "+{a}", "00{a}", "{a}:00",
    "Extracted answer: {a}", "extracted answer: {a}°", "Extracted answer: {a}.", "x = {a}",
    "The answer is {a}", "Answer: {a} or {b}", "answer {b} = {a}", "The final answer is {a}.",
    "The final answer is: ${a}$", "\\boxed{{{a}}}", "$\\boxed{{{a}}}$", "$x={a}$", "\\({a}\\)",
    "\\[{a}\\]", "$${a}$$", "${a} \\text{{ cm}}$", "${a}^\\circ$", "{a}, {b}", "{b}, {a}",
    "{b}; {a}", "{b} and {a}", "{a}\n{b}", "{a} of {b}", "{b} of {a}", "{a}/1", "{twice}/2",
    "{twice}/4", "\\frac{{{twice}}}{{2}}", "$\\frac{{{twice}}}{{2}}$", "${twice}/2$", "{a} - 0",
    "{a} + {b}", "{twice} / 2 = {a}", "{b} = {a}", "a={b}, b={a}", "about {a}", "{a} cm",
    "{a}cm", "{a}²", "none", "", "null", "no number", "{a},000", "{a}.5", "{a}th", "(five) {a}",
    "${b}$ and ${a}$", "{a} {b}", "$x$ is {a}", "{hundred}%", "v{a}", "{a})", "= {a}", "{a} ~ {b}",
)  # fmt: skip
LETTERS = (
    "{a}", "{a}.", "({a})", "{a}. {text}", "{text}", "Extracted answer: {a}",
    "Extracted answer: {text}", "**{a}**", "{small}", "none of them", "", "A B C D", "{a}{b}",
    "{b} or {a}", "答案是{a}", "Z", "K", "{text}.", "option {a}", "null", "{a}) {text}", "I", "{b}",
)  # fmt: skip
STYLES = ("{letter}. {text}", "{letter}: {text}", "{letter}) {text}", "{letter} {text}",
          "({letter}) {text}", "{letter}.{text}", "{letter}{text}")  # fmt: skip
TEXTS = ("red", "blue", "13%", "40°", "#E50444", "5-6", "no answer", "6.7", "DDRR", "A cat", "HH")
INTEGERS = ("0", "3", "7", "13", "72", "168", "970", "1200")
DECIMALS = ("0.6", "4.45", "11.1", "3.0", "0.25", "12.50")
OTHERS = ("1/2", "A,B", "3:15", "[2, 3]")
LISTS = ("[2, 6, 7, 11]", "[1]", "3, 4", "[]", "[2, 3]")
CODE = ("mobi", "aires", "HELLO", "café")


def attempts(draw: Random, forms: tuple[str, ...], right: str, other: str) -> str:
    """A text of the judge with the right number or another one."""
    number, second = (right, other) if draw.random() < 0.75 else (other, right)
    double = float(number) * 2
    return draw.choice(forms).format(
        a=number,
        b=second,
        twice=f"{double:g}",
        hundred=f"{float(number) * 100:g}",
    )


def of_number(draw: Random, rights: tuple[str, ...]) -> tuple[str, str]:
    right = draw.choice(rights)
    other = draw.choice([number for number in rights if number != right])
    return right, attempts(draw, NUMBERS, right, other)


def of_choice(draw: Random, row: dict[str, Any]) -> tuple[str, str]:
    """A question with choices in its prompt, its right letter, and a text of the judge."""
    texts = draw.sample(TEXTS, 5)
    style = draw.choice(STYLES)
    options = [
        style.format(letter=letter, text=text) for letter, text in zip("ABCDE", texts, strict=True)
    ]
    row["prompt"] += "\n" + "\n".join(options)
    right = draw.choice("ABCDE" if draw.random() < 0.9 else ("F", "K", "b", "是"))
    letter = right if right in "ABCDE" and draw.random() < 0.6 else draw.choice("ABCDE")
    words = draw.choice(LETTERS).format(
        a=letter, b=draw.choice("ABCDE"), small=letter.lower(), text=texts["ABCDE".index(letter)]
    )
    return right, words


def of_letters(draw: Random) -> tuple[str, str]:
    right = draw.choice(("AC", "BCD", "red", "ABCE"))
    forms = (
        right,
        right[::-1],
        ", ".join(right),
        right[:-1],
        right + right[0],
        f"**{right}**",
        right.lower(),
        "",
    )
    return right, draw.choice(forms)


def of_pair(draw: Random) -> tuple[str, str]:
    first, second = draw.randint(1, 40), draw.randint(1, 40)
    right = f"[{first}, {second}]"
    forms = (
        right, f"{first},{second}", f"({first} , {second})", f"[{second}, {first}]",
        f"{first} {second}", f"row {first}, column {second}", f"{right} or [{second}, {first}]",
        f"{first}，{second}", "", f"**[{first}, {second}]**", f"[{first}, {second}, 5]",
        f"x{first}, {second}", "none",
    )  # fmt: skip
    return draw.choice((right, right, right, "no pair")), draw.choice(forms)


def of_list(draw: Random) -> tuple[str, str]:
    right = draw.choice(LISTS)
    kept = [number for number in re.findall(r"\d+", right) if draw.random() < 0.7]
    more = [str(draw.randint(1, 12)) for _ in range(draw.randint(0, 2))]
    numbers = kept + more
    forms = (
        right, f"[{', '.join(numbers)}]", " ".join(numbers), f"Patches {'; '.join(numbers)}.",
        "", "none", json.dumps({"different_patches": [*map(int, numbers)]}), "9" * 5000,
    )  # fmt: skip
    return right, draw.choice(forms)


def of_jigsaw(draw: Random, row: dict[str, Any]) -> tuple[str, str]:
    size = draw.choice((2, 3, 4))
    row["meta_data"] = {"difficulty": size}
    order = draw.sample(range(1, size * size + 1), size * size)
    places = order[:]
    if draw.random() < 0.7:
        first, second = draw.sample(range(size * size), 2)
        places[first], places[second] = places[second], places[first]
    texts = [*map(str, places)]
    lines = [", ".join(texts[start : start + size]) for start in range(0, size * size, size)]
    forms = (
        ", ".join(texts), f"[{','.join(texts)}]", ",\n".join(lines), "，".join(texts),
        " ".join(texts), f"Row 1: {lines[0]}. All: {', '.join(texts)}", ", ".join(texts[:-1]),
        "", "; ".join(texts), f"{size} x {size}: {', '.join(texts)}",
        ", ".join(["9" * 5000, *texts[1:]]),
    )  # fmt: skip
    right = ", ".join(map(str, order))
    return draw.choice((right, f"[{right}]", right, right, right[3:])), draw.choice(forms)


def of_text(draw: Random, row: dict[str, Any]) -> str:
    """A picture with a text, and a reply with or without it. No judge is asked."""
    right = draw.choice(CODE)
    row["image_1"] = f"data/ocr/{draw.choice(('60', '62', '7', '8'))}.jpg"
    reply = draw.choice(("It says {}.", "{}", "I see “{}”", "No text.", "")).format(
        draw.choice((right, right, right.lower(), right.upper(), "mobi", "aires"))
    )
    row["model_response"] = [reply, "mobi"] if draw.random() < 0.2 else reply
    return right


def row_of(draw: Random, number: int) -> dict[str, Any]:
    tasks = (
        "instrument", "color", "refcoco", "rotation_game", "math", "word_search",
        "visual_search", "ocr", "symbolic", "spot_difference", "contrast", "jigsaw", "maze",
    )  # fmt: skip
    task = tasks[number % len(tasks)]
    row: dict[str, Any] = {
        "id": number,
        "task": task,
        "image_1": f"data/{task}/{number}.jpg",
        "image_2": None,
        "prompt": draw.choice(("Which?", "图中有多少？", "How many {x} are there? Answer A, B.")),
        "meta_data": {},
        "model_response": draw.choice(("It is B.", "", "**72**\n\\boxed{72}", "{answer} 13")),
        "question_id": number,
    }
    words: str | None = None
    if task == "ocr":
        row["answer"] = of_text(draw, row)
        return row
    if task == "jigsaw":
        row["answer"], words = of_jigsaw(draw, row)
    elif task in ("word_search", "spot_difference") and draw.random() < 0.6:
        row["answer"], words = of_pair(draw) if task == "word_search" else of_list(draw)
    elif task in ("word_search", "spot_difference", "contrast"):
        row["answer"], words = of_number(draw, INTEGERS)
    elif task in ("instrument", "math", "visual_search"):
        kind = draw.random()
        row["answer"], words = of_number(draw, INTEGERS if kind < 0.4 else DECIMALS)
        if kind > 0.9:
            row["answer"] = draw.choice(OTHERS)
        elif kind > 0.5 and draw.random() < 0.5:
            row["answer"] = float(row["answer"])
    elif task == "symbolic" and draw.random() < 0.6:
        row["answer"], words = of_letters(draw)
    else:
        row["answer"], words = of_choice(draw, row)
    row["words"] = None if number % 50 == 0 else words
    return row


class Judge:
    """A stand-in for a client of OpenAI's API, whose replies are the given texts. The first request
    for a text fails. If the text is None, all requests fail."""

    def __init__(self, texts: list[str | None]) -> None:
        self.sent: list[Any] = []
        self._texts = iter(texts)
        self._text: str | None = None
        self._requests = 0
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))

    def create(self, model: str, messages: list[Any]) -> Any:
        if self._requests == 0:
            self.sent.append([[part["role"], part["content"][0]["text"]] for part in messages])
            self._text = next(self._texts)
        self._requests += 1
        if self._text is None or self._requests == 1:
            self._requests %= PATIENCE
            raise RuntimeError("busy")
        self._requests = 0
        message = SimpleNamespace(content=self._text)
        return SimpleNamespace(choices=[SimpleNamespace(message=message)])


def extracted(module: Any, rows: list[dict[str, Any]], path: Path) -> list[Any]:
    """Extract answers into a file, as extract_answer.py does. Returns what the judge was sent."""
    judge = Judge([row["words"] for row in rows if row["task"] != "ocr"])
    module.OpenAI = lambda **_: judge
    content: dict[str, Any] = {}
    for row in rows:
        fields = {name: value for name, value in row.items() if name != "words"}
        if row["id"] % 3 == 0:  # older files have other names
            fields["category"], fields["metadata"] = fields.pop("task"), fields.pop("meta_data")
        content[str(row["id"])] = fields
    path.write_text(json.dumps(content), encoding="utf-8")
    config = path.with_name("config.json")
    config.write_text('{"api_key": "", "base_url": ""}')
    module.process_file(path, "gpt-4.1", config)
    with suppress(Exception):  # a task that the script does not know
        path.with_name("other.json").write_text(
            json.dumps({key: {**row, "task": "other"} for key, row in content.items()})
        )
        module.process_file(path.with_name("other.json"), "gpt-4.1", config)
    return judge.sent


def scores(module: Any, path: Path) -> tuple[list[float], dict[str, float]]:
    """Score a file as calculate_score.py does, and read the accuracies that it prints."""
    content = json.loads(path.read_text(encoding="utf-8"))
    for row in content.values():
        # Without this field, which the first script does not write here, the script stops.
        if row.get("task", row.get("category")) == "ocr":
            row["extracted_answer"] = None
    path.write_text(json.dumps(content), encoding="utf-8")
    printed = StringIO()
    for files in (f"{path.name}, missing.json", ""):
        words = ["calculate_score.py", "--lists", files, "--data-dir", str(path.parent)]
        with patch.object(sys, "argv", words), redirect_stdout(printed):
            module.main()
    lines = re.findall(r"^(\S+?)(?:\(number: \d+\))?: ([\d.]+)$", printed.getvalue(), re.M)
    accuracies = {name.replace(path.name, "all"): float(value) for name, value in lines}
    results = json.loads(path.read_text(encoding="utf-8"))
    return [float(row["true_false"]) for row in results.values()], accuracies


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.modules.update({stub: MagicMock() for stub in STUBS})
    sys.path.insert(0, sys.argv[1])
    extract, calculate = map(importlib.import_module, ("extract_answer", "calculate_score"))
    draw = Random("tir-bench")
    rows = [row_of(draw, number) for number in range(COUNT)]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "made.json")
        with redirect_stdout(StringIO()):
            sent = extracted(extract, rows, path)
        values, accuracies = scores(calculate, path)
    messages: dict[str, list[Any]] = defaultdict(list)
    for row, message in zip((row for row in rows if row["task"] != "ocr"), sent, strict=True):
        messages[row["task"]].append(message)
    for row, value in zip(rows, values, strict=True):
        row["score"] = value
    content = {
        "rows": rows,
        "accuracies": accuracies,
        "prompts": {
            task: hashlib.sha256(json.dumps(parts).encode()).hexdigest()
            for task, parts in messages.items()
        },
    }
    raw = json.dumps(content, ensure_ascii=False).encode()
    OUT.write_bytes(gzip.compress(raw, mtime=0))


if __name__ == "__main__":
    main()

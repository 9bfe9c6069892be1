"""Make tests/parity/page_tests.jsonl.gz: 1,000 tests of generated pages, and whether the pages pass
by the code of olmOCR-Bench's authors.

usage: python scripts/draw_page_tests.py OLMOCR

OLMOCR is a clone of allenai/olmocr at f7cfe4c22098. Its tests need the packages beautifulsoup4,
fuzzysearch, rapidfuzz, and tqdm; KaTeX is left out. Each test runs in two processes with other
hashes: the library fuzzysearch chooses between equal matches by their hashes, and tests whose
results depend on it are left out.
"""

import gzip
import importlib
import json
import os
import random
import subprocess
import sys
import types
from pathlib import Path

PATH = Path(__file__).parents[1] / "tests/parity/page_tests.jsonl.gz"
COUNT = 1000
KINDS = ("present", "absent", "order", "table", "baseline")
WORDS = (
    *(
        "alpha",
        "beta",
        "**gamma**",
        "_delta_",
        "*eps*",
        "rate",
        "flow",
        "\u201cx\u201d",
        "don\u2019t",
    ),
    *("5\u20136", "_a_b", "**c", "d**", "e__f__", "quick", "brown", "__fox__", "e\u0301", "\u00e9"),
    *("\u00b5", "<b>q</b>", "<br>", "a*b*c", "\u8868", "1.", "#", "!", "(see)", "[9]"),
)
CELLS = ("a", "12", "3.5", "**b**", "x y", "Total", "", "A &amp; B", "z<br>w", "50 %", "<i>k</i>")
RULES = ("|---|---|", "| :-: | - |", "---|---", "\t|--|\t", "")
SPANS = (' colspan="2"', ' rowspan="2"', ' rowspan="0"', ' colspan="x"', ' rowspan="3" colspan="2"')
NEIGHBORS = ("up", "down", "left", "right", "top_heading", "left_heading")


def sentence(draw: random.Random, most: int) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(1, most)))


def markdown_table(draw: random.Random) -> str:
    width = draw.randint(1, 4)
    lines = []
    for number in range(draw.randint(1, 4)):
        cells = draw.choices(CELLS, k=width + (draw.random() < 0.1))
        ends = draw.choice(("| ", "|", "")), draw.choice((" |", "|", ""))
        lines.append(f"{ends[0]}{' | '.join(cells)}{ends[1]}")
        if number == 0:
            lines.append(draw.choice(RULES))
    return "\n".join(lines)


def html_table(draw: random.Random) -> str:
    text = "<table>" + draw.choice(("<thead>", "", "", ""))
    for number in range(draw.randint(1, 4)):
        text += "<tr>"
        for _ in range(draw.randint(1, 4)):
            tag = draw.choice(("td", "td", "td", "th"))
            span = draw.choice(SPANS) if draw.random() < 0.4 else ""
            text += f"<{tag}{span}>{draw.choice(CELLS)}"
            text += f"</{tag}>" if draw.random() < 0.95 else ""
        text += "</tr>" if draw.random() < 0.95 else ""
        text += "</thead>" if number == 0 and draw.random() < 0.3 else ""
    return text + ("</table>" if draw.random() < 0.97 else "")


def draw_page(draw: random.Random, kind: str) -> str:
    makers = (lambda: sentence(draw, 12), lambda: sentence(draw, 12),
              lambda: markdown_table(draw), lambda: html_table(draw))  # fmt: skip
    parts = [draw.choice(makers)() for _ in range(draw.randint(0, 6))]
    # In repeated texts, many matches are equal.
    endings = ("", "", " abc" * draw.choice((5, 40)), "." * 40) if kind == "baseline" else ("",)
    ending = draw.choice(endings)
    return draw.choice(("\n", "\n\n")).join(parts) + ending


def excerpt(draw: random.Random, page: str) -> str:
    """A part of a page with some other characters, or other words."""
    if not page.strip() or draw.random() < 0.2:
        return sentence(draw, 5)
    start, share = draw.randrange(len(page)), draw.choice((0, 0.03, 0.1))
    return "".join(
        draw.choice(("", sign, f"{sign}x", "q")) if draw.random() < share else sign
        for sign in page[start : start + draw.randint(3, 40)]
    )


def draw_test(draw: random.Random, kind: str, page: str) -> dict[str, object]:
    test: dict[str, object] = {"type": kind}
    if kind == "baseline":
        if draw.random() < 0.2:
            test["max_length"] = draw.choice((0, 20, 500))
        if draw.random() < 0.3:
            test["check_disallowed_characters"] = False
        return test
    test["max_diffs"] = draw.choice((0, 0, 1, 2, 3))
    if kind in ("present", "absent"):
        test["text"] = excerpt(draw, page)
        for field, value in (("case_sensitive", False), ("first_n", 50), ("last_n", 50)):
            if draw.random() < 0.25:
                test[field] = value
    elif kind == "order":
        test |= {"before": excerpt(draw, page), "after": excerpt(draw, page)}
    else:
        test["cell"] = draw.choice(CELLS)
        for field in NEIGHBORS:
            if draw.random() < 0.25:
                test[field] = draw.choice(CELLS)
    return test


def run_all(clone: Path) -> None:
    """Run tests with the authors' code, and print the results; null for a test that it rejects."""
    for name, folder in (("olmocr", "olmocr"), ("olmocr.bench", "olmocr/bench")):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(clone / folder)]
    render = types.ModuleType("olmocr.bench.katex.render")
    render.__dict__.update(compare_rendered_equations=None, render_equation=None)
    sys.modules |= {"olmocr.bench.katex": types.ModuleType("x"), render.__name__: render}
    module = importlib.import_module("olmocr.bench.tests")
    results = []
    for test, page in json.load(sys.stdin):
        try:
            prepared = module.load_single_test({**test, "pdf": "a/b.pdf", "page": 1, "id": "x"})
        except module.ValidationError:
            results.append(None)
            continue
        try:
            results.append(prepared.run(page)[0])
        except Exception:
            results.append(False)  # as in benchmark.py#L86-L89
    print(json.dumps(results))


def main() -> None:
    clone = Path(sys.argv[1])
    if len(sys.argv) > 2:
        run_all(clone)
        return
    draw = random.Random(9)
    pairs = []
    for number in range(2 * COUNT):
        kind = KINDS[number % len(KINDS)]
        page = draw_page(draw, kind)
        pairs.append((draw_test(draw, kind, page), page))
    outputs = []
    for seed in ("1", "2", "3"):
        process = subprocess.run(
            [sys.executable, __file__, str(clone), "run"],
            input=json.dumps(pairs),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        )
        outputs.append(json.loads(process.stdout.splitlines()[-1]))
    rows = [
        [test, page, results[0]]
        for (test, page), results in zip(pairs, zip(*outputs, strict=True), strict=True)
        if results[0] is not None and len({*results}) == 1
    ]
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows[:COUNT])
    PATH.write_bytes(gzip.compress(lines.encode(), mtime=0))


if __name__ == "__main__":
    main()

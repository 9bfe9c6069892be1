"""CPU seconds and memory from replies to OmniDocBench's figures, for 1,000 drawn pages, beside the
authors' code.

    python perf/omnidocbench.py [--pages 1000]
        [--authors VLMEvalKit/vlmeval/dataset/OmniDocBench --python PYTHON]

A page has 6 to 14 paragraphs of 30 to 90 words (half of the pages: 60 to 200 Chinese characters),
up to 4 formulas, and in every second page a table of up to 12 rows and 6 columns. A reply has 2 %
wrong characters, and some paragraphs are missing, merged, or split. `--authors` names the folder of
VLMEvalKit's copy of the authors' code, and `--python` an interpreter that has its packages: apted,
beautifulsoup4, func_timeout, Levenshtein, lxml, matplotlib, pandas, pylatexenc, scipy, tqdm. Its
packages `evaluate` and `tabulate`, and VLMEvalKit itself, are left out: they take memory and do not
score. Both results must be equal. Snellen's cache of outlines is in a folder of its own, since that
of a machine with many checkouts takes memory too.
"""

import argparse
import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
import types
from pathlib import Path

ALLOWED = 1 / 3
ELEMENTS = {"text_block": "text", "display_formula": "formula", "table": "table"}
WORDS = "rate of the model is not in a flow and energy at low states when we keep its mean value"
CHARACTERS = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"
FORMULAS = (
    "\\frac{{\\partial u_{0}}}{{\\partial t}} = \\alpha \\nabla^2 u_{0}",
    "\\sum_{{i=1}}^{{{0}}} x_i y_i \\leq \\mathbf{{C}}",
    "E_{0} = m c^2 + \\int_0^1 f(x) \\, dx",
)


# -- pages


def draw_page(draw: random.Random, number: int) -> tuple[dict, str]:
    chinese = number % 2 == 1
    items = []
    for _ in range(draw.randint(6, 14)):
        if chinese:
            text = "".join(draw.choices(CHARACTERS, k=draw.randint(60, 200)))
        else:
            words = draw.choices(WORDS.split(), k=draw.randint(30, 90))
            text = " ".join(f"{word}{draw.randint(0, 99) or ''}" for word in words)
        if draw.random() < 0.3:
            text += f" where $\\beta_{{{draw.randint(1, 9)}}}$ holds."
        items.append({"category_type": "text_block", "text": text})
    for _ in range(draw.randint(0, 4)):
        latex = draw.choice(FORMULAS).format(draw.randint(1, 99))
        items.append({"category_type": "equation_isolated", "latex": f"\\[{latex}\\]"})
    if number % 4 < 2:
        items.append({"category_type": "table", "html": draw_table(draw), "latex": ""})
    draw.shuffle(items)
    for order, item in enumerate(items, 1):
        item |= {"order": order, "anno_id": order, "attribute": {}}
    attributes = {"language": "simplified_chinese" if chinese else "english", "layout": "x"}
    page = {
        "layout_dets": items,
        "extra": {"relation": []},
        "page_info": {"image_path": f"{number}.jpg", "page_attribute": attributes},
    }
    return page, draw_reply(draw, items)


def draw_table(draw: random.Random) -> str:
    columns = draw.randint(3, 6)
    rows = [
        "".join(f"<td>{draw.randint(0, 9999) / 100}</td>" for _ in range(columns))
        for _ in range(draw.randint(4, 12))
    ]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def draw_reply(draw: random.Random, items: list[dict]) -> str:
    parts: list[str] = []
    for item in items:
        source = item.get("text") or item.get("latex") or item["html"]
        text = "".join(
            draw.choice("xyz0") if sign.isalnum() and draw.random() < 0.02 else sign
            for sign in source
        )
        if "html" in item:
            text = item["html"].replace("1", "7", draw.randint(0, 3))
        chance = draw.random()
        if "text" not in item or chance > 0.2:
            parts.append(text)
        elif chance > 0.13 and parts and "<table" not in parts[-1]:
            parts[-1] += f"\n{text}"
        elif chance > 0.06:
            middle = len(text) // 2
            parts += [text[:middle], text[middle:]]
    return "\n\n".join(parts)


# -- scoring, each in a process of its own


def score_here(folder: Path) -> dict[str, float | None]:
    from dataclasses import replace

    import snellen
    from snellen import registry

    benchmark = registry.benchmark("omnidocbench", data=folder)
    result = snellen.score(folder / "replies.json", replace(benchmark, check=None))
    metrics = result.report.scorings["official"].metrics
    names = ("text_edit", "formula_edit", "table_edit", "order_edit", "teds", "teds_s")
    return {name: metrics[name].value for name in names}


def score_as_authors(folder: Path, code: Path) -> dict[str, float]:
    def module(name: str, **contents: object) -> types.ModuleType:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(contents)
        return sys.modules[name]

    def nothing(*_: object, **__: object) -> str:
        return ""

    module("evaluate")
    module("tabulate", tabulate=nothing)
    module("torch").distributed = module("torch.distributed")  # type: ignore[attr-defined]
    module("vlmeval")
    module("vlmeval.smp", dump=nothing, get_intermediate_file_path=nothing, load=None)
    module("vlmeval.dataset")
    module("vlmeval.dataset.image_base", ImageBaseDataset=object)
    module("vlmeval.dataset.OmniDocBench").__path__ = [str(code)]
    omnidocbench = importlib.import_module("vlmeval.dataset.OmniDocBench.omnidocbench")
    metrics = importlib.import_module("vlmeval.dataset.OmniDocBench.metrics")
    for file in (omnidocbench, metrics):
        file.print = nothing
    results: dict = {}
    omnidocbench.dump = lambda content, _: results.update(content) if "table" in content else None
    pages = json.loads((folder / "OmniDocBench.json").read_text(encoding="utf-8"))
    replies = json.loads((folder / "replies.json").read_text(encoding="utf-8"))
    evaluator = omnidocbench.end2end_evaluator.__new__(omnidocbench.end2end_evaluator)
    evaluator.references = pages
    evaluator.predictions = [row["prediction"] for row in replies]
    evaluator.match_method, evaluator.eval_file = "quick_match", ""
    evaluator.dafault_metircs_dict = {
        name: {"metric": ["TEDS", "Edit_dist"] if name == "table" else ["Edit_dist"]}
        for name in (*ELEMENTS, "reading_order")
    }
    evaluator.score()
    figures = {
        f"{ours}_edit": results[name]["page"]["Edit_dist"]["ALL"] for name, ours in ELEMENTS.items()
    }
    figures["order_edit"] = results["reading_order"]["page"]["Edit_dist"]["ALL"]
    figures["teds"] = results["table"]["page"]["TEDS"]["ALL"]
    figures["teds_s"] = results["table"]["page"]["TEDS_structure_only"]["ALL"]
    return figures


def measured(python: str, *arguments: str) -> tuple[dict, dict]:
    """The figures that a process printed, and what the process took."""
    launch = Path(__file__).with_name("_launch.py")
    with tempfile.NamedTemporaryFile() as file:
        command = [sys.executable, "-I", "-S", str(launch), file.name, python, __file__, *arguments]
        output = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
        cost = json.loads(Path(file.name).read_text())
    return json.loads(output.splitlines()[-1]), cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--authors", type=Path, default=None)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--score", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.score is not None:
        folder, code = options.score, options.authors
        print(json.dumps(score_here(folder) if code is None else score_as_authors(folder, code)))
        return
    draw = random.Random(7)
    pages, replies = zip(*(draw_page(draw, number) for number in range(options.pages)), strict=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [{"id": str(n), "prediction": text} for n, text in enumerate(replies)]
        (folder / "OmniDocBench.json").write_text(json.dumps(pages), encoding="utf-8")
        (folder / "replies.json").write_text(json.dumps(rows), encoding="utf-8")
        os.environ["SNELLEN_HOME"] = str(folder / "home")
        figures, cost = measured(sys.executable, "--score", name)
        print({name: round(value, 6) for name, value in figures.items()})
        print(f"{options.pages:,} pages: {cost['cpu']:.1f} CPU s, {cost['memory']:.0f} MB")
        if options.authors is None:
            return
        theirs, others = measured(
            options.python, "--score", name, "--authors", str(options.authors.resolve())
        )
    for metric, value in theirs.items():
        if abs(value - figures[metric]) > 1e-9:
            print(f"{metric} differs: {value} by the authors' code")
    ratios = cost["cpu"] / others["cpu"], cost["memory"] / others["memory"]
    print(f"the authors' code: {others['cpu']:.1f} CPU s, {others['memory']:.0f} MB")
    print(f"{ratios[0]:.2f} × its CPU, {ratios[1]:.2f} × its memory; allowed {ALLOWED:.2f}")


if __name__ == "__main__":
    main()

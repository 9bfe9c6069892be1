"""The CPU time of parsing a reply, for each form of reply and each kind of answer.

usage: python perf/parsing.py [--base CHECKOUT] [--reps 3] [--n 2000] [--reply FORM] [--kind KIND]

Measures the parser of each kind of answer on replies of `_replies.py`: letters of choices
(`option_letter`), numbers (`final_value`), phrases (`final_phrase`), and yes or no (`yes_or_no`).
No two samples have the same reply or choices, and each reply is parsed once per process, so that a
cache cannot make parsing look fast. Only `prepared` has the choices of 100 questions in turn, as a
run with `--repeats` does. --base measures another checkout in the same rounds, each
checkout in a process of its own, and compares what both read: the answer, the rule, and the
candidates. Prints medians over the rounds, and medians of the ratios in one round. Exits with 1 if
the two checkouts read a reply differently.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from _commands import (
    Checkout,
    Figures,
    add_options,
    checkouts,
    in_rounds,
    loads,
    middle,
    ratio,
    shown,
    table,
)
from _replies import ALL_FORMS, WRONG, question, reply

PARSERS = {
    "choices": ("choice", "option_letter"),
    "prepared": ("choice", "option_letter"),
    "numbers": ("value", "final_value"),
    "open": ("phrase", "final_phrase"),
    "yes-no": ("yes_no", "yes_or_no"),
}
"""The module in `snellen.answers` and the function, by kind of answer."""
ALLOWED = {"sentence": 8.0, "reasoning": 4.0, "long": 4.0, "untagged": 4.0}
"""How many times faster than --base the parser of choices should be."""
LONG = ("long", "untagged")
PREPARED = 100
"""The number of questions whose choices are used in turn."""
Sample = tuple[str, Any]
"""A reply, and the parser's other argument: choices, a question, or None."""


def samples(kind: str, form: str, n: int) -> list[Sample]:
    start = 1_000_000 * ALL_FORMS.index(form)  # the forms share no question
    numbers = range(start, start + n)
    if kind == "prepared":
        few = [question("choices", number).choices for number in numbers[:PREPARED]]
        questions = [
            replace(question("choices", start + WRONG + number), choices=few[number % len(few)])
            for number in range(n)
        ]
    else:
        questions = [question(kind, number) for number in numbers]
    further = {"choices": "choices", "prepared": "choices", "yes-no": "text"}.get(kind)
    return [(reply(item, form), further and getattr(item, further)) for item in questions]


def parse_all(path: Path) -> dict[str, Any]:
    """Parse the samples of a file with the `snellen` that this process imports."""
    from importlib import import_module

    results = {}
    for cell, items in json.loads(path.read_bytes()).items():
        module, function = PARSERS[cell.partition(" ")[0]]
        parse = getattr(import_module(f"snellen.answers.{module}"), function)
        # The first calls compile patterns and fill caches of the process.
        for text, further in items[: len(items) // 10]:
            parse(*arguments(text, further))
        calls = [arguments(text, further) for text, further in items[len(items) // 10 :]]
        gc.collect()
        gc.freeze()  # so that no collection looks at the samples
        started = time.process_time()
        readings = [parse(*call) for call in calls]
        took = time.process_time() - started
        results[cell] = {"cpu": 1e6 * took / len(calls), "readings": readings}
    return results


def arguments(text: str, further: Any) -> tuple[Any, ...]:
    return (text,) if further is None else (text, further)


def measured(checkout: Checkout, path: Path, work: Path) -> Figures:
    command = [sys.executable, __file__, "--samples", str(path)]
    environment = checkout.environment(work)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    cells = json.loads(done.stdout)
    return {"cells": cells, "load": os.getloadavg()[0]}


def differences(base: Figures, this: Figures, cells: dict[str, list[Sample]]) -> int:
    """Print the first reply of each cell that is read differently, and count all such replies."""
    count = 0
    for cell, items in cells.items():
        pairs = zip(base["cells"][cell]["readings"], this["cells"][cell]["readings"], strict=True)
        items = items[len(items) // 10 :]
        differing = [number for number, (before, now) in enumerate(pairs) if before != now]
        count += len(differing)
        for number in differing[:1]:
            before, now = (run["cells"][cell]["readings"][number] for run in (base, this))
            print(f"{cell}: {len(differing)} differ, such as {items[number]}:\n  {before}\n  {now}")
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_options(parser, "/tmp/snellen-perf")
    parser.add_argument("--n", type=int, default=2000, help="replies per cell; a tenth if long")
    parser.add_argument("--reply", default="all", choices=(*ALL_FORMS, "all"))
    parser.add_argument("--kind", default="all", choices=(*PARSERS, "all"))
    parser.add_argument("--samples", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.samples:
        print(json.dumps(parse_all(args.samples)))
        return 0
    forms = ALL_FORMS if args.reply == "all" else (args.reply,)
    kinds = list(PARSERS) if args.kind == "all" else [args.kind]
    args.work.mkdir(parents=True, exist_ok=True)
    cells = {
        f"{kind} {form}": samples(kind, form, args.n // 10 if form in LONG else args.n)
        for kind in kinds
        for form in forms
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=args.work) as file:
        json.dump(cells, file)
        file.flush()
        cases = {
            checkout.name: partial(measured, checkout, Path(file.name), args.work)
            for checkout in checkouts(args.base)
        }
        rounds = in_rounds(args.reps, cases, ())
    actual = {
        name: {cell: [item["cells"][cell] for item in figures] for cell in cells}
        for name, figures in rounds.items()
    }
    rows = []
    for cell in cells:
        kind, form = cell.split(" ")
        lengths = [len(text) for text, _ in cells[cell]]
        row = [kind, form, f"{sum(lengths) / len(lengths):,.0f}"]
        row += [shown(middle(actual[name][cell], "cpu")) for name in actual]
        if args.base:
            times = ratio(actual["base"][cell], actual["this"][cell], "cpu")
            allowed = ALLOWED.get(form) if PARSERS[kind] == PARSERS["choices"] else None
            row += [f"{times:.1f} ×", f"≥ {allowed:g} ×" if allowed else ""]
        rows.append(row)
    head = ["answers", "reply", "characters", *(f"{name}, µs" for name in actual)]
    print(f"\n{table(head + ['faster', 'wanted'] * bool(args.base), rows)}\n{loads(rounds)}")
    if not args.base:
        return 0
    differing = differences(rounds["base"][0], rounds["this"][0], cells)
    total = sum(len(items) for items in cells.values())
    print(f"Both checkouts read {total - differing:,} of {total:,} replies the same.")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

"""The CPU time of `snellen score` for N worded predictions, compared with another checkout.

usage: python perf/scoring.py [--n 10000] [--reply all] [--kind choices,numbers] [--base CHECKOUT]
[--reps 3] [--work DIR]

Scores files of predictions in the forms of `_replies.py`, to questions with choices (rows of our
own), with numbers as answers (MathVision's scorings, rows of our own), or with phrases (`open`).
CPU is user + system time of the process and its children, from its start to its end. Prints medians
over the rounds and medians of the ratios in one round. Each scoring that has the same version in
both checkouts must give the same accuracy; otherwise, the exit status is 1.
"""

import argparse
import json
import sys
from functools import partial

from _commands import (
    PEERS,
    Checkout,
    Figures,
    add_options,
    checkouts,
    in_rounds,
    loads,
    measured,
    middle,
    ratio,
    shown,
    table,
)
from _replies import FORMS
from _workload import NO_PICTURE, SCORING, predictions, workload

KINDS = ("choices", "numbers", "open")
ALLOWED = 3.0
"""How many times less CPU than --base the scoring of 100,000 worded predictions should take."""


def scored(checkout: Checkout, args: argparse.Namespace, kind: str, form: str) -> Figures:
    words = workload(args.work, PEERS, kind, args.n, NO_PICTURE)
    file = predictions(args.work, kind, form, args.n)
    log = args.work / "log.txt"
    command = checkout.command("score", str(file), *words, "--json")
    actual = measured(command, log, environment=checkout.environment(args.work))
    text = log.read_text()
    document = json.loads(text[text.index("{") :])
    scorings = document["scorings"]
    accuracy = scorings[SCORING[kind]]["metrics"]["accuracy"]["value"]
    if document["n"] != args.n:
        sys.exit(f"{checkout.name} scored {document['n']} of {args.n} predictions")
    if kind == "choices" and abs(accuracy - 0.7) > 1e-9:
        sys.exit(f"{checkout.name}: the accuracy is {accuracy}, not 0.7")
    actual["scores"] = {
        (name, scoring["version"]): scoring["metrics"]["accuracy"]["value"]
        for name, scoring in scorings.items()
    }
    return actual


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_options(parser, "/tmp/snellen-perf")
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--reply", default="all", choices=(*FORMS, "all"))
    parser.add_argument("--kind", default="choices,numbers", help=", ".join(KINDS))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    forms = FORMS if args.reply == "all" else (args.reply,)
    every = checkouts(args.base)
    measured_rounds: dict[str, list[Figures]] = {}
    rows, agree = [], True
    for kind in args.kind.split(","):
        for form in forms:
            cases = {
                f"{kind} {form} {checkout.name}": partial(scored, checkout, args, kind, form)
                for checkout in every
            }
            rounds = in_rounds(args.reps, cases, ("cpu", "wall", "memory"))
            figures = list(rounds.values())
            row = [kind, form, *(shown(middle(actual, "cpu")) for actual in figures)]
            if args.base:
                row.append(f"{ratio(figures[0], figures[-1], 'cpu'):.2f} ×")
                row.append(f"≥ {ALLOWED:g} ×" if form != "letter" else "")
                agree &= same_scores(kind, form, figures[0][0], figures[-1][0])
            rows.append([*row, shown(middle(figures[-1], "memory"))])
            measured_rounds |= rounds
    head = ["answers", "reply", *(f"{checkout.name}, CPU s" for checkout in every)]
    head += ["less", "wanted"] * bool(args.base) + ["MB"]
    print(f"\n{args.n:,} predictions, {loads(measured_rounds)}\n\n{table(head, rows)}")
    return 0 if agree else 1


def same_scores(kind: str, form: str, base: Figures, this: Figures) -> bool:
    """Whether scorings with the same version give the same accuracy. Print those that do not, and
    those with another version."""
    agree = True
    for (name, version), accuracy in this["scores"].items():
        before = base["scores"].get((name, version))
        if before is None:
            print(f"{kind} {form}: {name} has another version than in base, {version}: {accuracy}")
        elif before != accuracy:
            print(f"{kind} {form}: {name} gives {accuracy}, and in base {before}")
            agree = False
    return agree


if __name__ == "__main__":
    sys.exit(main())

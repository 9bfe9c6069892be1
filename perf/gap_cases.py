"""Measures how often `snellen card --explain-gap` finds the fields that cause a gap.

usage: python perf/gap_cases.py [--cases 20] [--first-seed 1] [--budget 3000]

Each case runs everything that the command does: a recipe, runs, journals, scores, and the search.
The requests go to a local server whose replies follow a rule that `tests/gap_cases.py` describes. A
case is right if the command names all fields that matter, and no others. With `--cases N`, there
are N cases in which no field matters, N in which a single field matters, and N in which two fields
matter. These two add up, act only together, or are each enough alone.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.gap_cases import Kind, drawn, explained

TWO: tuple[Kind, ...] = ("added", "joint", "either")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--budget", type=int, default=3_000)
    arguments = parser.parse_args()
    seed = arguments.first_seed
    for group, kinds in (("none", ("none",)), ("single", ("single",)), ("two", TWO)):
        right, ways, requests = 0, Counter[str](), 0
        started = time.monotonic()
        for n in range(arguments.cases):
            case = drawn(seed, kinds[n % len(kinds)])
            seed += 1
            with tempfile.TemporaryDirectory() as folder:
                gap = explained(case, Path(folder), arguments.budget)
            is_right = set(gap.matters) == set(case.effects)
            right += is_right
            ways[f"{case.kind}: {gap.kind}"] += 1
            requests += len(gap.runs) * gap.questions
            effects = ", ".join(f"{name} {effect:.2f}" for name, effect in case.effects.items())
            print(
                f"seed {case.seed}  {case.kind:<7}{len(case.fields)} fields  [{effects}]  "
                f"{'right' if is_right else 'wrong'}: {gap.kind} {gap.matters}",
                flush=True,
            )
        seconds = time.monotonic() - started
        print(
            f"{group}: {right} of {arguments.cases} right; {dict(ways)}; {requests:,} requests in "
            f"{seconds:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()

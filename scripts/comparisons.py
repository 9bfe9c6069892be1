"""Write docs/comparisons.md: published results of several models on one split, compared.

usage: python scripts/comparisons.py [--check]

Reads the published outputs where `SNELLEN_GOLDEN` names them (else beside the checkout). `--check`
writes nothing, and says whether the page is as it would be written.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/comparisons.md"
INTRO = """\
# Which differences are real

`snellen compare A B` takes runs, folders of runs, or anybody's predictions (`-b BENCH`), and says
which is better, by how much, and whether that could be chance. This page, made by
`python scripts/comparisons.py`, does it for results that benchmarks' authors published, and so
shows how to read it. How the numbers are found: [decisions/comparing.md](decisions/comparing.md).

```sh
snellen compare runs/mmbench/A/… runs/mmbench/B/…    # two runs: metrics, categories, capabilities
snellen compare runs                                  # all runs: standings, pairs, benchmarks
snellen compare a.json b.json -b mathvista            # anybody's predictions
snellen compare runs -o compared.md                   # every pair whole; .json has all numbers
```

From Python:

```python
import snellen

before = snellen.evaluate("eyechart", model="baseline/first", limit=60)
after = snellen.evaluate("eyechart", model="baseline/reader", limit=60)
print(snellen.compare(before, after))
```

`snellen.compare(a, b, ...)` takes what `evaluate` and `load_run` give, and paths: of a run, of a
folder of runs, of predictions (`benchmark="mathvista"`). The numbers are in `.comparisons`. What
you can mend, such as two that share no sample, is raised as `snellen.SnellenError`.

- A *difference* is taken on the samples that both sides have, by the metric that the benchmark
  publishes (an average of averages too), scored again by the authors' rule; pp are percentage
  points. What one side lacks is left out, and said. If the headline and `robust` score more than 5 %
  of a side's replies differently, a note says so: compare by `--scoring robust` too.
- Its *95 % interval* and *p* are of paired samples, clustered where samples share a video or an
  image. *Adjusted p* is Holm's over all pairs of the table: below 0.05 a difference is significant.
- *Ranks* are those that a model has in 95 % of resamples. Models that share a *group* letter do not
  differ significantly.
"""
HEAD = ("rank", "model", "value", "95 % interval", "ranks", "group")
PAIRS = ("model", "against", "difference", "95 % interval", "p", "adjusted p", "significant")
OVO = ("Gemini", "GPT", "QWen2VL_72B_", "LLaVA_Video", "InternVL2", "QWen2VL_7B_")
NOT = ("template", "_result", "scores_")
"""Parts of names of files that are no model's replies."""


def golden() -> Path:
    return Path(os.environ.get("SNELLEN_GOLDEN") or ROOT.parent / "shared/golden")


def label(name: str) -> str:
    """A side's name without what file names add."""
    return re.sub(r"\.jsonl?(\.gz)?$", "", name).removeprefix("output_").rstrip("_")


def replies_in(folder: Path, pattern: str) -> list[Path]:
    """The files of models' replies below a folder."""
    ordered = sorted(folder.rglob(pattern))
    return [path for path in ordered if not any(part in path.name for part in NOT)]


def page() -> str:
    sys.path[:0] = [str(ROOT / "src")]
    import snellen

    ovo, vision, vista = (golden() / name for name in ("ovobench", "mathvision", "mathvista"))
    parts = [INTRO]
    paths = [ovo / "outputs" / name for name in OVO]
    comparisons = snellen.compare(*paths, benchmark="ovo-bench", data=ovo).comparisons
    rest = snellen.compare(
        *(path for path in paths if path.name != "GPT"),
        benchmark="ovo-bench",
        data=ovo,
        details=False,
    ).comparisons
    parts += [
        "## OVO-Bench\n",
        "The six models whose replies the authors published. Of GPT-4o two tasks (REC, SSR) are "
        "not published: against it, and in the first table, only the other ten tasks count. "
        "Samples are clustered by video.\n",
        *standings(comparisons),
        "The five that have all twelve tasks:\n",
        *standings(rest),
        "All pairs, each on the samples that both have:\n",
        *pairs(comparisons),
        "By scene and by task: difference in pp with its 95 % interval, of the model named first; "
        "* is significant at 5 %, by Holm's method over the scenes, or tasks, of that pair.\n",
        *categories(comparisons, "group"),
        *categories(comparisons, "task"),
    ]
    replies = replies_in(vision / "outputs", "*.jsonl*")
    second = snellen.compare(
        *replies, benchmark="mathvision", data=vision, details=False
    ).comparisons
    parts += [
        "## MathVision\n",
        "Every model with published replies.\n",
        *standings(second),
        "All pairs:\n",
        *pairs(second),
    ]
    replies = replies_in(vista / "outputs", "output_*.json*")
    third = snellen.compare(*replies, benchmark="mathvista", data=vista, details=False).comparisons
    parts += [
        "## MathVista\n",
        "Every model with published replies; some are baselines that look at no picture.\n",
        *standings(third),
    ]
    alike, n = map(sum, zip(*map(orders, (comparisons, second, third)), strict=True))
    parts[0] += (
        f"\nOf the {n} orders of two models that the first tables of the three benchmarks below "
        f"state, **{alike} are not significant**: the published replies do not tell which of the "
        "two is better.\n"
    )
    return "\n".join(parts)


def standings(document: Any) -> Iterator[str]:
    """The leaderboard, and how much of its order is known."""
    from snellen.analysis.result import shown

    (board,) = document.leaderboards
    rows = []
    for standing in board.standings:
        cells = shown(standing.value)
        ranks = "-".join(dict.fromkeys(map(str, standing.ranks)))
        rows.append(
            (
                str(standing.rank),
                label(standing.name),
                cells.value,
                cells.interval,
                ranks,
                standing.group,
            )
        )
    yield table(HEAD, rows)
    alike, n = orders(document)
    groups = [{*standing.group} for standing in board.standings]
    neighbor = sum(bool(standing & other) for standing, other in pairwise(groups))
    yield (
        f"On {board.samples:,} samples in {board.clusters:,} clusters. Orders of two models that "
        f"this table states and that are **not significant: {alike} of {n}**; of neighbours "
        f"{neighbor} of {len(groups) - 1}.\n"
    )


def orders(document: Any) -> tuple[int, int]:
    """How many orders of two sides a leaderboard states that are not significant, and of how
    many."""
    (board,) = document.leaderboards
    every = [*combinations([{*standing.group} for standing in board.standings], 2)]
    return sum(bool(standing & other) for standing, other in every), len(every)


def pairs(document: Any) -> Iterator[str]:
    from snellen.analysis.comparing import p_value, shown_difference, significant

    rows = []
    for comparison in document.comparisons:
        first = next(iter(comparison.metrics.values()))
        cells = shown_difference(first.difference)
        sure = "yes" if significant(first) else "no"
        ps = p_value(first.p), p_value(first.adjusted)
        rows.append((label(comparison.b), label(comparison.a), *cells[:2], *ps, sure))
    yield table(PAIRS, rows)


def categories(document: Any, tag: str) -> Iterator[str]:
    """A row for each pair, a column for each category."""
    names = sorted(
        {name for comparison in document.comparisons for name in comparison.breakdown[tag]}
    )
    rows = []
    for comparison in document.comparisons:
        row = comparison.breakdown[tag]
        cells = [cell(row[name]) if name in row else "" for name in names]
        rows.append((f"{label(comparison.b)} against {label(comparison.a)}", *cells))
    yield table((tag, *names), rows)


def cell(value: Any) -> str:
    from snellen.analysis.comparing import significant

    difference = value.difference
    if difference.ci95 is None:
        return f"{100 * difference.value:+.1f}"
    low, high = difference.ci95
    sign = " *" if significant(value) else ""
    return f"{100 * difference.value:+.1f} [{100 * low:.1f}, {100 * high:.1f}]{sign}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(escaped, row))} |" for row in lines) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown's tables do not act on."""
    return re.sub(r"([\\|*_<])", r"\\\1", text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
    print(f"{PAGE} is {'as it is written' if same else 'not what it would be'}")
    return not same


if __name__ == "__main__":
    sys.exit(main())

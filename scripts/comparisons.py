"""Write docs/comparisons.md: published results of several models on one split, compared.

usage: python scripts/comparisons.py [--check]

Reads the published outputs from the folder that `SNELLEN_GOLDEN` names (default:
`../shared/golden`). `--check` writes nothing and says whether the page is up to date.
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
INTRO = (
    "# Which differences are real\n\n"
    "`snellen compare A B` compares runs, folders of runs, or anybody's predictions (`-b BENCH`). "
    "The command reports which side is better, by how much, and whether the difference could be "
    "chance. As an example, this page compares results that benchmarks' authors published. `python "
    "scripts/comparisons.py` generates the page. [decisions/comparing.md](decisions/comparing.md) "
    "explains how the numbers are computed.\n"
    """
```sh
snellen compare runs/mmbench/A/… runs/mmbench/B/…    # two runs: metrics, categories, capabilities
snellen compare runs                                  # all runs: standings, pairs, benchmarks
snellen compare a.json b.json -b mathvista            # anybody's predictions
snellen compare runs -o compared.md                   # details of every pair; .json has all numbers
```

From Python:

```python
import snellen

before = snellen.evaluate("eyechart", model="baseline/first", limit=60)
after = snellen.evaluate("eyechart", model="baseline/reader", limit=60)
print(snellen.compare(before, after))
```

"""
    "`snellen.compare(a, b, ...)` takes results of `evaluate` and `load_run`, and paths of runs, "
    'folders of runs, or predictions (`benchmark="mathvista"`). The runs of a folder are in the '
    "order in which they started. The result's `.first` is the comparison of the first two sides, "
    "and `.first.metrics` has a difference for each metric. The result's `.comparisons` contains "
    "everything: the pairs are in `.comparisons.comparisons`, and the leaderboards are in "
    "`.comparisons.leaderboards`. An error that you can fix, such as two sides that share no "
    "sample, raises `snellen.SnellenError`.\n\n"
    "```python\n"
    'difference = snellen.compare(before, after).first.metrics["accuracy"].difference\n'
    "print(difference.value, difference.ci95)\n"
    "```\n\n"
    "- A *difference* is computed on the samples that both sides have, with the metric that the "
    "benchmark publishes (even if it is an average of averages). The replies are scored again by "
    "the authors' rule. In the tables, pp stands for percentage points. Samples that one side "
    "lacks are left out, and the output reports how many. If the headline and `robust` score more "
    "than 5 % of a side's replies differently, a note recommends a second comparison with "
    "`--scoring robust`.\n"
    "- The *95 % interval* and *p* of a difference are computed for paired samples, and "
    "account for samples that share a video or an image. *Adjusted p* is adjusted by Holm's method "
    "over all pairs of the table. If the adjusted p is below 0.05, the difference is "
    "significant.\n"
    "- *Ranks* is the range of ranks that a model has in 95 % of resamples. Models that share a "
    "*group* letter do not differ significantly.\n"
)
HEAD = ("rank", "model", "value", "95 % interval", "ranks", "group")
PAIRS = ("model", "against", "difference", "95 % interval", "p", "adjusted p", "significant")
OVO = ("Gemini", "GPT", "QWen2VL_72B_", "LLaVA_Video", "InternVL2", "QWen2VL_7B_")
NOT = ("template", "_result", "scores_")
"""A file whose name contains one of these does not have a model's replies."""


def golden() -> Path:
    return Path(os.environ.get("SNELLEN_GOLDEN") or ROOT.parent / "shared/golden")


def label(name: str) -> str:
    """A side's name, without the prefix and suffix of its file name."""
    return re.sub(r"\.jsonl?(\.gz)?$", "", name).removeprefix("output_").rstrip("_")


def replies_in(folder: Path, pattern: str) -> list[Path]:
    """The files with models' replies in a folder and its subfolders."""
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
        "This section compares the six models whose replies the authors published. GPT-4o's "
        "replies to two tasks (REC, SSR) are not published, so only the other ten tasks count in "
        "GPT-4o's comparisons and in the first table. Samples are clustered by video.\n",
        *standings(comparisons),
        "The next table covers the five models with all twelve tasks:\n",
        *standings(rest),
        "The next table has all pairs, each on the samples that both models have:\n",
        *pairs(comparisons),
        "The next tables give the differences by scene and by task: the first model minus the "
        "second, in pp, with the 95 % interval. An asterisk marks a difference that is significant "
        "at 5 %, adjusted by Holm's method over the scenes, or tasks, of that pair.\n",
        *categories(comparisons, "group"),
        *categories(comparisons, "task"),
    ]
    replies = replies_in(vision / "outputs", "*.jsonl*")
    second = snellen.compare(
        *replies, benchmark="mathvision", data=vision, details=False
    ).comparisons
    parts += [
        "## MathVision\n",
        "This section compares all models with published replies.\n",
        *standings(second),
        "All pairs:\n",
        *pairs(second),
    ]
    replies = replies_in(vista / "outputs", "output_*.json*")
    third = snellen.compare(*replies, benchmark="mathvista", data=vista, details=False).comparisons
    parts += [
        "## MathVista\n",
        "This section compares all models with published replies. Some of the models are "
        "baselines that see no pictures.\n",
        *standings(third),
    ]
    alike, n = map(sum, zip(*map(orders, (comparisons, second, third)), strict=True))
    parts[0] += (
        f"\nThe first tables of the three benchmarks below rank {n} pairs of models. For **{alike} "
        "of these pairs, the difference is not significant**: the published replies do not show "
        "which model is better.\n"
    )
    return "\n".join(parts)


def standings(document: Any) -> Iterator[str]:
    """The leaderboard, and how much of its order is significant."""
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
        f"The table covers {board.samples:,} samples in {board.clusters:,} clusters. The "
        f"difference is **not significant for {alike} of {n}** pairs of models, and for {neighbor} "
        f"of {len(groups) - 1} pairs with adjacent ranks.\n"
    )


def orders(document: Any) -> tuple[int, int]:
    """The number of pairs on a leaderboard whose difference is not significant, and of all
    pairs."""
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
    """The differences, with a row for each pair and a column for each category."""
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
    """Escape the characters that have a meaning in Markdown tables."""
    return re.sub(r"([\\|*_<])", r"\\\1", text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
    print(f"{PAGE} {'is up to date' if same else 'is out of date: run scripts/comparisons.py'}")
    return not same


if __name__ == "__main__":
    sys.exit(main())

"""Compare our scores of published outputs with those of the authors' code.

usage: python scripts/parity.py [--check]
       python scripts/parity.py --golden DIR [PACK...]

Without arguments it writes docs/parity.md, from the packs in the folder that `SNELLEN_GOLDEN` names
(else `../shared/golden`). `--check` writes nothing and says whether the page is up to date.

`--golden` scores every file of replies in the packs of DIR, and prints how many figures and items
equal those of the authors' code. It writes nothing. Exit status: 0 all are equal, 1 something
differs, 2 wrong usage.
"""

import argparse
import importlib
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/parity.md"
INTRO = """\
# Parity with the authors' scorers

Made by `python scripts/parity.py` from outputs that benchmarks' authors published; `tests/parity`
holds every line to 1e-9 and every single item to the authors' verdict.

`published` is what the paper or leaderboard says, `official` what the authors' own code gives for
the outputs that they published, `ours` what `snellen score` gives for the same files. Only
*published outputs* are proof of a scorer; *generated pairs* are replies made to try its rules, with
what the authors' code says of each; *by hand* is what it says.
"""
PUBLISHED = """
## Beside what is published

Every published figure of a whole benchmark, or of what a model has published instead, and every
part (a level, a subject) that differs by more than its printed decimals. Where the last cell is
empty, the official figure is as printed. So are {rest} more published parts, which stand with
[all figures](#all-figures).
"""
HEADINGS = ("model", "metric", "n", "published", "official", "ours", "difference", "proof", "")


def lines() -> list:
    """The lines of every golden pack, and of the parity tests that have lines of their own."""
    from tests.golden_data import FOLDER
    from tests.parity import engine

    actual = [*engine.lines(FOLDER)]
    for path in sorted((ROOT / "tests/parity").glob("test_*.py")):
        module = importlib.import_module(f"tests.parity.{path.stem}")
        if hasattr(module, "parity"):
            actual += module.parity()
    return actual


def page(actual: Sequence) -> str:
    by_benchmark = defaultdict(list)
    for line in sorted(actual, key=lambda line: line.benchmark.partition(":")):
        by_benchmark[line.benchmark].append(line)
    first = [line for group in by_benchmark.values() for line in with_published(group)]
    rest = sum(line.published is not None for line in actual) - len(first)
    head = (
        "benchmark",
        "model",
        "metric",
        "n",
        "published",
        "official",
        "ours",
        "where it differs",
    )
    rows = [(line.benchmark, *cells(line)[:6], differs(line)) for line in first]
    parts = [INTRO + PUBLISHED.format(rest=rest), table(head, rows), "\n## In one look\n"]
    head = ("benchmark", "models", "figures", "largest difference", "proof")
    rows = []
    for name, group in by_benchmark.items():
        gaps = [gap for line in group if (gap := difference(line)) is not None]
        proofs = sorted({line.proof for line in group}, reverse=True)
        models = len({line.model for line in group})
        largest = small(max(gaps)) if gaps else "-"
        rows.append(
            (f"[{name}](#{anchor(name)})", str(models), str(len(group)), largest, ", ".join(proofs))
        )
    parts.append(table(head, rows))
    parts.append("\n## All figures")
    for name, group in by_benchmark.items():
        parts.append(f"\n### {name}\n")
        parts.append(table(HEADINGS, [cells(line) for line in group]))
    return "\n".join(parts) + "\n"


def with_published(group: Sequence) -> list:
    """Of a benchmark's lines with a published figure all but the parts that are as printed."""
    published = [line for line in group if line.published is not None]
    full = {line.model for line in published if "/" not in line.metric}
    return [
        line
        for line in published
        if "/" not in line.metric or line.model not in full or not as_printed(line)
    ]


def as_printed(line) -> bool:
    """Whether the official figure is the published one, by the decimals that this needs."""
    if line.official is None:
        return False
    decimals = len(shown(line.published).partition(".")[2])
    return abs(line.official - line.published) <= 0.5 * 10**-decimals + 1e-9


def differs(line) -> str:
    return "" if as_printed(line) else line.reason


def difference(line) -> float | None:
    if line.ours is None or line.official is None:
        return None
    return abs(line.ours - line.official)


def cells(line) -> tuple[str, ...]:
    gap = difference(line)
    return (
        line.model,
        line.metric,
        f"{line.n:,}",
        shown(line.published),
        shown(line.official),
        shown(line.ours),
        "" if gap is None else small(gap),
        line.proof,
        line.reason,
    )


def small(gap: float) -> str:
    """A difference; what rounding makes of it is not the same everywhere."""
    return "≤ 1e-12" if gap <= 1e-12 else f"{gap:.1g}"


def anchor(heading: str) -> str:
    """What a link to a heading is, as Markdown's readers make it."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:.8g}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
    )


def compare(folder: Path, wanted: Sequence[str]) -> int:
    """Print how our scores of the packs in a folder compare with the authors'."""
    from tests.parity import engine, summary

    adapters = engine.adapters()
    every = []
    names = wanted or engine.pack_names(folder)
    known = [name for name in names if name in adapters]
    for name in known:
        pack, comparisons = engine.comparisons(folder, name)
        print("\n".join(summary.of_pack(name, pack, comparisons)), flush=True)
        every += comparisons
    for name in names:
        if name not in adapters:
            print(f"{name}: no benchmark yet")
    print(summary.total(known, every))
    return int(any(comparison.differs for comparison in every))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="say whether the page is up to date")
    parser.add_argument("--golden", type=Path, metavar="DIR", help="compare the packs in DIR")
    parser.add_argument("packs", nargs="*", metavar="PACK", help="compare only these")
    arguments = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    if arguments.golden is not None:
        if arguments.check:
            parser.error("--check is about docs/parity.md: leave it out with --golden.")
        if not arguments.golden.is_dir():
            parser.error(f"{arguments.golden} is not a folder. Name the folder that has the packs.")
        for name in arguments.packs:
            if not (arguments.golden / name).is_dir():
                parser.error(f"{arguments.golden} has no pack {name!r}.")
        return compare(arguments.golden, arguments.packs)
    if arguments.packs:
        parser.error("Name the folder of the packs: --golden DIR.")
    text = page(lines())
    if not arguments.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
    print(f"{PAGE} is {'as it is written' if same else 'not what it would be'}")
    return not same


if __name__ == "__main__":
    sys.exit(main())

"""MMMU: the authors' example outputs, as responses and as answers that were read out of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.benchmarks._mmmu import DOMAINS
from tests.parity.engine import Case, Expected, Figure, Item, Pack, expected_of, items_of
from tests.parity.packs.mathvision import in_order


def pack(folder: Path, scratch: Path) -> Pack:
    expected, items = expected_of(folder), items_of(folder)
    files = outputs(folder / "outputs")
    cases = []
    for model, path in in_order(files, expected):
        # The one script reads folders of responses, the other files of answers.
        scoring = "official" if path.is_dir() else "eval-only"
        known = expected.get(model)
        cases.append(
            Case(
                model=model,
                replies=path,
                benchmark="mmmu",
                heading="mmmu:split=val",
                data=folder,
                expected={}
                if known is None
                else {
                    scoring: Expected(figures=figures(known), items=verdicts(items.get(model, {})))
                },
                page="",  # test_mmmu.py has its lines
            )
        )
    return Pack(cases=cases, without_output=[name for name in expected if name not in files])


def outputs(root: Path) -> dict[str, Path]:
    """Folders of responses by subject, and files of answers beside and in them."""
    folders = sorted({path.parent.parent for path in root.glob("*/*/output.json*")})
    files = sorted([*root.glob("*.json*"), *root.glob("*/*.json*")])
    return {
        **{folder.name: folder for folder in folders},
        **{str(path.relative_to(root)).removesuffix(".gz"): path for path in files},
    }


def figures(known: Mapping[str, Any]) -> dict[str, Figure]:
    return {
        metric_of(name): Figure(official=of["acc"], n=of["total"])
        for name, of in known["scores"].items()
    }


def metric_of(name: str) -> str:
    domain = name.removeprefix("Overall-")
    return "accuracy" if name == "Overall" else f"accuracy/{domain if domain in DOMAINS else name}"


def verdicts(items: Mapping[str, Any]) -> dict[str, list[Item]]:
    """Of answers to open questions, which are lists of what could be meant, only the verdicts."""
    return {
        name: [
            Item(score=one)
            if not isinstance(one, list)
            else Item(score=one[1], answer=one[0] if isinstance(one[0], str) else None)
        ]
        for name, one in items.items()
    }

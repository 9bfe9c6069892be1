"""MMMU: the authors' example outputs, as responses and as answers that were read out of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.benchmarks.families.mmmu import DOMAINS
from tests.parity.engine import Case, Expected, Figure, Item, Pack, expected_of, items_of
from tests.parity.packs.mathvision import in_order

OTHER_RUN = "the outputs in the repository are not from the paper's run"


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
                    scoring: Expected(
                        figures=figures(known, scoring), items=verdicts(items.get(model, {}))
                    )
                },
            )
        )
    return Pack(cases=cases, without_output=[name for name in expected if name not in files])


def models(folder: Path) -> list[str]:
    """The models whose replies lie here, of those in expected.json and in its order."""
    files = outputs(folder / "outputs")
    return [model for model in expected_of(folder) if model in files]


def outputs(root: Path) -> dict[str, Path]:
    """Folders of responses by subject, and files of answers beside and in them."""
    folders = sorted({path.parent.parent for path in root.glob("*/*/output.json*")})
    files = sorted([*root.glob("*.json*"), *root.glob("*/*.json*")])
    return {
        **{folder.name: folder for folder in folders},
        **{str(path.relative_to(root)).removesuffix(".gz"): path for path in files},
    }


def figures(known: Mapping[str, Any], scoring: str) -> dict[str, Figure]:
    published = known.get("published")
    return {
        metric_of(name): Figure(
            official=of["acc"],
            n=of["total"],
            published=published["value_percent"] / 100 if published and name == "Overall" else None,
            reason=OTHER_RUN if published and name == "Overall" else "",
            label=f"{name} ({scoring})",
        )
        for name, of in known["scores"].items()
    }


def metric_of(name: str) -> str:
    domain = name.removeprefix("Overall-")
    return "accuracy" if name == "Overall" else f"accuracy/{domain if domain in DOMAINS else name}"


def verdicts(items: Mapping[str, Any]) -> dict[str, list[Item]]:
    """Of answers to open questions, which are lists of what could be meant, only the verdicts."""
    return {
        name: [
            Item(score=item)
            if not isinstance(item, list)
            else Item(score=item[1], answer=item[0] if isinstance(item[0], str) else None)
        ]
        for name, item in items.items()
    }

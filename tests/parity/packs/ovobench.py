"""OVO-Bench: the authors' folders of results, with the score of every row."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.benchmarks.ovo_bench import GROUPS, TASKS
from tests.parity.engine import Case, Expected, Figure, Item, Pack, expected_of, items_of
from tests.parity.packs.mathvision import in_order

SUMS = {"total_avg": "accuracy", **{f"{group}_avg": f"accuracy/{group}" for group in GROUPS}}
NAMES = {**SUMS, **{task: f"accuracy/{task}" for task in TASKS}}
"""Our name of a figure by the script's."""
NOT_PUBLISHED = "its REC and SSR are printed, but its files do not have them"
MISPRINT = "misprinted: the printed averages fit only our value"
SWAPPED = "the printed ASI and HLD are swapped"
REASONS = {
    ("GPT", "REC"): NOT_PUBLISHED,
    ("GPT", "SSR"): NOT_PUBLISHED,
    ("GPT", "CRR"): "printed from a different run than the file's",
    ("GPT", "forward_avg"): NOT_PUBLISHED,
    ("GPT", "total_avg"): NOT_PUBLISHED,
    ("Gemini", "HLD"): MISPRINT,
    ("LLaVA_Video", "ATR"): MISPRINT,
    ("InternVL2", "CRR"): MISPRINT,
    ("QWen2VL_7B_", "ASI"): SWAPPED,
    ("QWen2VL_7B_", "HLD"): SWAPPED,
    **dict.fromkeys(
        [("QWen2VL_72B_", name) for name in ("EPM", "HLD", "backward_avg")],
        "printed from responses that are lists, of which only the letter counts",
    ),
}


def pack(folder: Path, scratch: Path) -> Pack:
    models = {name: of for name, of in expected_of(folder).items() if not name.startswith("_")}
    items = items_of(folder)
    files = {path.name: path for path in sorted((folder / "outputs").iterdir()) if path.is_dir()}
    cases = []
    for model, path in in_order(files, models):
        of = models.get(model, {})
        # Of responses that are lists the script gives both: as they are, and as texts.
        ways = {"official": of.get("unwrapped", of)}
        if "unwrapped" in of:
            ways["as-lists"] = of
        rows = "as-lists" if "unwrapped" in of else "official"
        for scoring, known in ways.items():
            cases.append(
                Case(
                    model=model if scoring == "official" else f"{model}, {scoring}",
                    replies=path,
                    benchmark="ovo-bench",
                    data=folder,
                    expected={
                        scoring: Expected(
                            figures=figures(model, scoring, known, of.get("published") or {}),
                            items=scores(items.get(model, [])) if scoring == rows else {},
                            ids_move=True,
                        )
                    }
                    if of
                    else {},
                )
            )
    return Pack(cases=cases, without_output=[name for name in models if name not in files])


def figures(
    model: str, scoring: str, known: Mapping[str, Any], published: Mapping[str, Any]
) -> dict[str, Figure]:
    figures_by_name = {}
    for theirs, ours in NAMES.items():
        if theirs in known or theirs in published:
            value, printed = known.get(theirs), published.get(theirs)
            figures_by_name[ours] = Figure(
                official=None if value is None else value / 100,
                n=known.get("n_per_task", {}).get(theirs) if value is not None else None,
                published=None if printed is None else printed / 100,
                reason=reason(model, theirs, scoring, theirs in published),
            )
    return figures_by_name


def reason(model: str, theirs: str, scoring: str, is_published: bool) -> str:
    if scoring == "as-lists" and theirs in ("REC", "forward_avg", "total_avg"):
        return "the script fails at REC"
    # What is not published of a folder of lists is so of the folder of the same texts.
    return REASONS.get(
        (model, theirs), "" if is_published else f"printed for the texts of {model}_"
    )


def scores(rows: Sequence[tuple[int, int | None, float | None]]) -> dict[str, list[Item]]:
    items: dict[str, list[Item]] = {}
    for number, index, score in rows:
        if score is not None:  # where the script ends
            name = str(number) if index is None else f"{number}_{index}"
            items.setdefault(name, []).append(Item(score=score))
    return items

"""HallusionBench: made sets of verdicts with the official script's figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Pack,
    expected_of,
    of_json,
    of_json_lines,
    write_json,
)

PERCENT = {
    "aacc": "aAcc",
    "aacc/VD": "aAcc_VD",
    "aacc/VS": "aAcc_VS",
    "facc": "fAcc",
    "qacc": "qAcc",
    "easy_aacc": "easy_aAcc",
    "hard_aacc": "hard_aAcc",
    "figure_inconsistent": "fig_inconsistent",
    "figure_wrong": "fig_wrong",
    "lh": "LH",
    "vi": "VI",
    "mixed": "Mixed",
}
"""Ours, in [0, 1], and the script's in percent."""
SHARES = {"figure_score": "fig_score", "yes_diff": "yes_diff", "yes_fp": "yes_fp"}
COUNTS = {
    "aacc": "n_questions",
    "qacc": "n_pairs",
    "facc": "n_figures",
    "easy_aacc": "n_easy",
    "hard_aacc": "n_hard",
}
UNPUBLISHED = "the verdicts are generated; no judged file is published"


def pack(folder: Path, scratch: Path) -> Pack:
    models = expected_of(folder).get("differential", {})
    rows = of_json_lines(folder / "differential.jsonl")
    questions = of_json(folder / "annotations.json")
    cases = [
        Case(
            model=row["model"],
            replies=write_json(
                scratch / f"{row['model']}.json", with_verdicts(questions, row["judgements"])
            ),
            benchmark="hallusionbench",
            data=folder,
            expected={"official": Expected(figures=figures(models[row["model"]]))}
            if row["model"] in models
            else {},
            proof="generated pairs",
        )
        for row in rows
    ]
    cases += [
        Case(model=path.stem, replies=path, benchmark="hallusionbench", data=folder, expected={})
        for path in sorted((folder / "outputs").glob("*.json"))
    ]
    names = {case.model for case in cases}
    missing = [
        name
        for name, figures_of_model in models.items()
        if isinstance(figures_of_model, dict) and name not in names
    ]
    return Pack(cases=cases, without_output=missing)


def with_verdicts(questions: Sequence[Mapping[str, Any]], judgements: str) -> list[dict[str, Any]]:
    """A file of judged replies as evaluation.py writes it."""
    return [
        {**row, "model_prediction": "so it is", "gpt4v_output_gpt_check": verdict}
        for row, verdict in zip(questions, judgements, strict=True)
    ]


def figures(model: Mapping[str, Any]) -> dict[str, Figure]:
    figures_by_name = {}
    for ours, theirs in (PERCENT | SHARES).items():
        value = model.get(theirs)
        figures_by_name[ours] = Figure(
            official=value / 100 if value is not None and ours in PERCENT else value,
            n=model.get(COUNTS.get(ours, "")),
            reason=model.get("error") or UNPUBLISHED,
        )
    return figures_by_name

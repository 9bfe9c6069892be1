"""LLaVA-Bench against the reviews that its authors published of LLaVA-1.5: six of 60 questions.

The reviews themselves are not part of this repository. `llava_bench_reviews.json` has the two
scores of each, and the digests of the files that they are from. A folder `llava_bench` with these
files in `reviews/`, beside the other published outputs, is read instead where there is one.
"""

import json
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import snellen
from tests.golden_data import FOLDER
from tests.parity.lines import Line

DERIVED: Mapping[str, Any] = json.loads(
    Path(__file__).with_name("llava_bench_reviews.json").read_bytes()
)
FILES: Mapping[str, Mapping[str, Any]] = DERIVED["files"]
PUBLISHED = {"llava-v1.5-13b": 72.5, "llava-v1.5-7b": 65.4}
"""LLaVA-Bench-Wild in docs/MODEL_ZOO.md: the mean of what is printed of three reviews. It is taken
after rounding: of the figures before it, the smaller model's would be 65.5."""
PRINTED = {
    "llava-v1.5-13b-eval1.jsonl": (72.8, 86.5, 63.0),
    "llava-v1.5-13b-eval2.jsonl": (72.7, 86.5, 62.9),
    "llava-v1.5-13b-eval3.jsonl": (72.1, 86.8, 62.6),
    "llava-v1.5-7b-eval1.jsonl": (64.7, 87.0, 56.3),
    "llava-v1.5-7b-eval2.jsonl": (65.3, 87.0, 56.8),
    "llava-v1.5-7b-eval3.jsonl": (66.3, 86.7, 57.5),
}
"""What llava/eval/summarize_gpt_review.py prints of each: relative, references, model."""
PRINTED_BY_CATEGORY = {
    "llava-v1.5-13b-eval1.jsonl": {"conv": 74.7, "detail": 52.6, "complex": 82.8},
    "llava-v1.5-7b-eval3.jsonl": {"conv": 59.0, "detail": 50.8, "complex": 79.6},
}


def reviews(name: str) -> bytes:
    """A file of reviews: as published where it is at hand, else with nothing but its scores."""
    path = FOLDER / "llava_bench" / "reviews" / name
    if path.is_file():
        raw = path.read_bytes()
        assert sha256(raw).hexdigest() == FILES[name]["sha256"], path
        published = [json.loads(row) for row in raw.decode().split("\n") if row]
        assert [row["tuple"] for row in published] == FILES[name]["scores"]
        categories = [row["category"].removeprefix("llava_bench_") for row in published]
        assert categories == DERIVED["categories"]
        return raw
    rows = (
        {
            "id": number + 1,
            "question_id": number,
            "category": f"llava_bench_{category}",
            "content": f"{reference} {model}\n",
            "tuple": [float(reference), float(model)],
        }
        for number, (category, (reference, model)) in enumerate(
            zip(DERIVED["categories"], FILES[name]["scores"], strict=True)
        )
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@cache
def metrics(name: str) -> Mapping[str, float | None]:
    """What `snellen.score` gives for a file of reviews; the questions stand in for the data set's,
    of which reviews need the number and the category alone."""
    with TemporaryDirectory() as folder:
        data = Path(folder)
        tables = {
            "questions.jsonl": [
                {"question_id": n, "image": "001.jpg", "text": f"Question {n}?", "category": kind}
                for n, kind in enumerate(DERIVED["categories"])
            ],
            "context.jsonl": [{"image": "001.jpg", "caption": "A thing."}],
            "answers_gpt4.jsonl": [{"question_id": n, "text": "It is."} for n in range(60)],
        }
        for table, rows in tables.items():
            (data / table).write_text("".join(json.dumps(row) + "\n" for row in rows))
        path = data / "reviews" / name
        path.parent.mkdir()
        path.write_bytes(reviews(name))
        report = snellen.score(path, "llava-bench", data=data).report
    return {key: metric.value for key, metric in report.scorings["official"].metrics.items()}


def by_script(name: str, category: str = "") -> float:
    """summarize_gpt_review.py#L55-L59 written out: both means are rounded to three decimals."""
    pairs = [
        scores
        for kind, scores in zip(DERIVED["categories"], FILES[name]["scores"], strict=True)
        if category in ("", kind)
    ]
    reference, model = (round(fmean(column), 3) for column in zip(*pairs, strict=True))
    return model / reference * 100


def of_model(model: str) -> list[str]:
    return [name for name in FILES if name.startswith(f"{model}-eval")]


def parity() -> list[Line]:
    lines = []
    for model, published in PUBLISHED.items():
        names = of_model(model)
        for number, name in enumerate(names, 1):
            for category in ("", "/conv", "/detail", "/complex"):
                lines.append(
                    line(
                        f"{model}, review {number}",
                        f"relative_score{category}",
                        DERIVED["categories"].count(category[1:]) if category else 60,
                        None,
                        by_script(name, category[1:]),
                        metrics(name)[f"relative_score{category}"],
                        "only the mean of three reviews is published",
                    )
                )
        ours = [metrics(name)["relative_score"] for name in names]
        lines.append(
            line(
                f"{model}, mean of 3 reviews",
                "relative_score",
                180,
                published,
                fmean(PRINTED[name][0] for name in names),
                fmean(round(value, 1) for value in ours if value is not None),
                "published with one decimal",
            )
        )
    return lines


def line(
    model: str,
    metric: str,
    n: int,
    published: float | None,
    official: float,
    ours: float | None,
    reason: str,
) -> Line:
    return Line(
        benchmark="llava-bench",
        model=model,
        metric=metric,
        n=n,
        published=published,
        official=official,
        ours=ours,
        proof="published outputs",
        reason=reason,
    )


def test_every_figure_is_the_authors_summary_and_the_means_are_as_published() -> None:
    lines = parity()
    assert len(lines) == 2 * (3 * 4 + 1)
    for item in lines:
        assert item.ours == pytest.approx(item.official, abs=1e-9), (item.model, item.metric)
        if item.published is not None:
            assert item.ours is not None
            assert round(item.ours, 1) == item.published


@pytest.mark.parametrize("name", PRINTED)
def test_each_file_scores_what_the_authors_script_prints_of_it(name: str) -> None:
    values = metrics(name)
    keys = ("relative_score", "reference_score", "model_score")
    assert tuple(round(values[key] or 0, 1) for key in keys) == PRINTED[name]
    for category, value in PRINTED_BY_CATEGORY.get(name, {}).items():
        assert round(values[f"relative_score/{category}"] or 0, 1) == value

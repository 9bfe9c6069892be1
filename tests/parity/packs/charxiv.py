"""CharXiv: the digests of prompts, made outputs of a judge, and the statistics of made scores."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge
from snellen.scoring.judge import graded, judge_of, replies_in
from tests.parity.engine import (
    Case,
    Expected,
    Figure,
    Item,
    Pack,
    Scores,
    expected_of,
    of_json_lines,
    scores,
    write_json,
)

Rows = Sequence[Mapping[str, Any]]
Ours = Callable[[Benchmark], Iterator[tuple[str, object]]]
SCORING = "official"
FAILED = "Failed to parse response"
UNPUBLISHED = "no outputs are in the authors' repository; the scores are generated"
ONCE = "the numbers of tokens: our judge is asked once, with the most tokens"
FIGURE = {
    "num_subplots": 1,
    "subplot_loc": [0, 0],
    "qids": [],
    "answers": [],
    "query": "What?",
    "answer": "that",
    "inst_category": 1,
    "qa_source": 1,
    "category": "cs",
    "year": "20",
}
"""What the questions of a figure do not depend on in a comparison."""


def pack(folder: Path, scratch: Path) -> Pack:
    rows: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in of_json_lines(folder / "differential.jsonl"):
        rows[row["kind"]].append(row)
    cases = []
    if part := rows["descriptive_question"]:
        cases.append(descriptive_questions(part, scratch / "descriptive_questions"))
    if part := rows["reasoning_question"]:
        cases.append(reasoning_questions(part, scratch / "reasoning_questions"))
    if part := rows["reasoning_judge"]:
        cases.append(judge_outputs(part, "reasoning", scratch / "reasoning_judge"))
    if part := rows["descriptive_judge"]:
        cases.append(judge_outputs(part, "descriptive", scratch / "descriptive_judge"))
    if part := rows["scores"]:
        cases += statistics(part, expected_of(folder), scratch / "scores")
    return Pack(cases=cases)


# -- prompts


def descriptive_questions(rows: Rows, folder: Path) -> Case:
    figures = {
        str(row["id"]): {
            "qids": [row["qid"]],
            "answers": ["that"],
            "subplot_loc": row["subplot_loc"],
        }
        for row in rows
    }

    def ours(benchmark: Benchmark) -> Iterator[tuple[str, object]]:
        for sample in samples(benchmark):
            text = question_text(benchmark, sample)
            yield sample.id.partition("_")[0], (text.partition("\n")[0], *digest(text))

    theirs = {
        str(row["id"]): (row["first_line"], row["question_chars"], row["question_sha256"])
        for row in rows
    }
    return texts("descriptive questions", "descriptive", figures, folder, ours, theirs)


def reasoning_questions(rows: Rows, folder: Path) -> Case:
    by_id = {str(row["id"]): row for row in rows}
    fields = ("query", "answer", "inst_category")
    figures = {name: {field: row[field] for field in fields} for name, row in by_id.items()}

    def ours(benchmark: Benchmark) -> Iterator[tuple[str, object]]:
        judge = judge_of(benchmark, SCORING)
        for sample in samples(benchmark):
            row = by_id[sample.id]
            text = question_text(benchmark, sample)
            grading = judge.prompt(sample, Reply(text=row["response"]))[0].text
            number = text[len(row["query"]) :].strip() if row["inst_category"] == 4 else None
            yield sample.id, (number, *digest(text), *digest(grading))

    columns = (
        *("number_instruction", "question_chars", "question_sha256"),
        *("grading_chars", "grading_sha256"),
    )
    theirs = {name: tuple(row[column] for column in columns) for name, row in by_id.items()}
    return texts("reasoning questions", "reasoning", figures, folder, ours, theirs)


def texts(
    model: str,
    kind: str,
    figures: Mapping[str, Mapping[str, Any]],
    folder: Path,
    ours: Ours,
    theirs: Mapping[str, object],
) -> Case:
    """A case whose items are answers that no file of replies gives."""
    write_figures(folder, figures)

    def of_case(case: Case) -> Scores:
        pairs = ours(registry.benchmark(case.benchmark, data=case.data))
        return Scores(
            figures={}, items={SCORING: {name: [Item(answer=answer)] for name, answer in pairs}}
        )

    return Case(
        model=model,
        replies=folder,
        benchmark=f"charxiv:questions={kind}",
        data=folder,
        expected={
            SCORING: Expected(
                items={name: [Item(answer=answer)] for name, answer in theirs.items()}
            )
        },
        proof="generated pairs",
        ours=of_case,
    )


def samples(benchmark: Benchmark) -> Iterator[Sample]:
    """The samples, whose pictures nobody opens here."""
    return (benchmark.sample(row.position, row) for row in benchmark.data)


def question_text(benchmark: Benchmark, sample: Sample) -> str:
    return benchmark.prompt(sample, ())[0].text


def digest(text: str) -> tuple[int, str]:
    return len(text), sha256(text.encode()).hexdigest()


# -- the judge


def judge_outputs(rows: Rows, kind: str, folder: Path) -> Case:
    """Which of the successive outputs of a judge is read, and what is read from it."""

    def ours(benchmark: Benchmark) -> Iterator[tuple[str, object]]:
        judge = judge_of(benchmark, SCORING)
        for row in rows:
            yield str(row["id"]), first_read(row, judge, next(samples(benchmark)))

    theirs = {str(row["id"]): (row["calls"], *stored(row)) for row in rows}
    figures = {"1": {"qids": [1], "answers": ["that"]}}
    case = texts(f"made {kind} verdicts", kind, figures, folder, ours, theirs)
    return replace(case, notes=(ONCE,))


def first_read(row: Mapping[str, Any], judge: Judge, sample: Sample) -> tuple[object, ...]:
    outputs = row["judge_outputs"]
    n = row.get("length", 1)
    for call in range(row["calls"]):
        words = outputs[min(call, len(outputs) - 1)]
        parts = [words] if judge.batches is None else judge.batches.split(words, n)
        answers = [judge.parse(part, sample).answer for part in parts]
        if answers and None not in answers:
            extracted = [json.loads(part)["extracted_answer"] for part in parts]
            return call + 1, extracted, answers
    return row["calls"], [FAILED] * n, [-1.0] * n


def stored(row: Mapping[str, Any]) -> tuple[object, object]:
    """The extracted answers and the scores that the authors store; -1 for a score that their
    statistics do not count."""
    result = row.get("result")
    if result is None:
        extracted, verdicts = [row["extracted_answer"]], [row["score"]]
    else:
        numbers = range(1, row["length"] + 1)
        extracted = [result[f"extract_answer_T{number}"] for number in numbers]
        verdicts = [result[f"score_T{number}"] for number in numbers]
    return extracted, [counted(score) for score in verdicts]


def counted(score: object) -> float:
    return float(score) if score in [0, 1] else -1.0


# -- scores


def statistics(rows: Rows, expected: Mapping[str, Any], folder: Path) -> Iterator[Case]:
    figures = {
        str(row["figure_id"]): {
            **{name: row[name] for name in FIGURE.keys() & row.keys()},
            "answers": ["that"] * len(row["qids"]),
        }
        for row in rows
    }
    reasoning = {str(row["figure_id"]): row["reasoning_score"] for row in rows}
    descriptive = {
        f"{row['figure_id']}_{index}": score
        for row in rows
        for index, score in enumerate(row["descriptive_scores"])
    }
    for kind, stored_scores in (("reasoning", reasoning), ("descriptive", descriptive)):
        write_figures(folder, figures)
        content = {
            name: {"resp_id": name, "extracted_answer": "this", "score": score}
            for name, score in stored_scores.items()
        }
        yield Case(
            model=f"made {kind} scores",
            replies=write_json(folder / f"scores-made-{kind}_val.json", content),
            benchmark=f"charxiv:questions={kind}",
            data=folder,
            expected={
                SCORING: Expected(
                    figures=figures_of(expected.get(kind, {})),
                    items={
                        name: [Item(score=max(0.0, counted(score)))]
                        for name, score in stored_scores.items()
                    },
                )
            },
            proof="generated pairs",
            ours=printed,
        )
    if sizes := expected.get("descriptive_grading_queries", {}).get("batch_sizes"):
        theirs = {"sizes": sizes}
        yield texts("batches", "descriptive", figures, folder / "batches", batch_sizes, theirs)


def figures_of(statistics: Mapping[str, Any]) -> dict[str, Figure]:
    n = statistics.get("N_valid")
    if not n:
        return {}
    figures = {
        "accuracy": Figure(official=statistics["Overall Score"] / 100, n=n, reason=UNPUBLISHED),
        "invalid": Figure(official=statistics["N_invalid"] / n, n=n, reason=UNPUBLISHED),
    }
    for part in statistics.values():
        if isinstance(part, dict):
            for name, value in part.items():
                figures[f"accuracy/{name}"] = Figure(official=value / 100, reason=UNPUBLISHED)
    return figures


def printed(case: Case) -> Scores:
    """Our figures as the authors' script prints them: percentages with two decimals, and 0 for a
    class without questions."""
    ours = scores(case)
    figures = dict(ours.figures[SCORING])
    for name, figure in case.expected[SCORING].figures.items():
        if name.partition("/")[0] != "accuracy":
            continue
        value, n = figures.get(name, (None, 0))
        if value is not None:
            figures[name] = round(100 * round(value * n) / n, 2) / 100, n
        elif figure.official == 0:
            figures[name] = 0.0, 0
    return replace(ours, figures={SCORING: figures})


def batch_sizes(benchmark: Benchmark) -> Iterator[tuple[str, object]]:
    """The numbers of replies in the prompts of the judge, by template."""
    read = [*samples(benchmark)]
    questions = graded(
        benchmark,
        SCORING,
        lambda: ((number, sample, Reply(text="this")) for number, sample in enumerate(read)),
        of="made replies",
        digest="",
    )
    batches = [replies_in(row["sample"]) for row in questions.data]
    batches.sort(key=lambda batch: batch[0][0].data["qid"])  # type: ignore[arg-type, return-value]
    yield "sizes", [len(batch) for batch in batches]


def write_figures(folder: Path, figures: Mapping[str, Mapping[str, Any]]) -> None:
    """The authors' three files, with all fields of a figure in each."""
    content = {name: {**FIGURE, **figure} for name, figure in figures.items()}
    for name in ("reasoning", "descriptive", "image_metadata"):
        write_json(folder / f"{name}_val.json", content)

"""CharXiv's figures, in the authors' files or the hub's parquet, as samples for their questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.charxiv_judge import question
from snellen.benchmarks.families.judged import prompts
from snellen.benchmarks.families.questions import picture
from snellen.core import Sample
from snellen.data import DataFile, Facts, Row, Table, facts_of, unreadable
from snellen.errors import DataError

Questions = Literal["reasoning", "descriptive"]
BATCH_SIZE = 5
"""The number of replies in a prompt of the judge, src/descriptive_utils.py#L113."""
# src/score_utils.py
SUBJECTS = {
    "cs": "Computer Science",
    "econ": "Economics",
    "eess": "Electrical Engineering and Systems Science",
    "math": "Mathematics",
    "physics": "Physics",
    "q-bio": "Quantitative Biology",
    "q-fin": "Quantitative Finance",
    "stat": "Statistics",
}
CATEGORIES = {
    **dict.fromkeys((1, 2, 3, 4, 5, 6, 7), "Information Extraction"),
    **dict.fromkeys((8, 9, 13, 14, 15), "Enumeration"),
    **dict.fromkeys((11, 16, 18), "Pattern Recognition"),
    **dict.fromkeys((10, 12, 19), "Counting"),
    17: "Compositionality",
}
"""The category of each template of descriptive questions."""
ANSWER_TYPES = {
    1: "Text-in-Chart",
    2: "Text-in-General",
    3: "Number-in-Chart",
    4: "Number-in-General",
}
SOURCES = {1: "GPT-Sourced", 2: "GPT-Inspired", 3: "Completely Human"}
TAGS: Mapping[Questions, tuple[str, ...]] = {
    "reasoning": ("answer type", "source", "subplots", "subject", "year"),
    "descriptive": ("category", "question", "subplots", "subject", "year"),
}


def table(data_file: DataFile, kind: Questions) -> tuple[Table, DataFile | None]:
    """Return the questions of a kind, and the file that contains them."""
    figures, file = authors_files.table(data_file, of_authors)
    return ChartQuestions(figures, kind), file


def of_authors(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the figures in three files of the authors, which are in one folder.

    Raises:
        DataError: one of the files is missing or cannot be read.
    """
    files = [
        path.with_name(f"{n}_val.json") for n in ("descriptive", "reasoning", "image_metadata")
    ]
    if missing := [file.name for file in files if not file.exists()]:
        raise DataError(
            f"{path.parent} has no {' and no '.join(missing)}. CharXiv's questions are in three "
            "files. Download the missing ones with `snellen data get charxiv`."
        )
    descriptive, reasoning, metadata = map(authors_files.of_json, files)
    for name, figure in descriptive.items():
        yield {**metadata[name], **reasoning[name], **figure, "id": name}


def of_hub(row: Mapping[str, Any]) -> dict[str, Any]:
    """A figure of the hub's parquet file, with the names of the authors' fields."""
    return {
        **row,
        "id": PurePosixPath(row["figure_path"]).stem,
        "subplot_loc": row["subplot_loc"] or [row["subplot_row"], row["subplot_col"]],
        "qids": [row[f"descriptive_q{number}"] for number in range(1, 5)],
        "answers": [row[f"descriptive_a{number}"] for number in range(1, 5)],
        "query": row["reasoning_q"],
        "answer": row["reasoning_a"],
        "inst_category": row["reasoning_a_type"],
        "qa_source": row["reasoning_q_source"],
    }


def questions(figure: Mapping[str, Any], kind: Questions) -> Iterator[dict[str, Any]]:
    """Yield the questions of a kind about a figure."""
    if "qids" not in figure:
        figure = of_hub(figure)
    if kind == "reasoning":
        yield {**figure, "name": str(figure["id"])}
        return
    for index, (qid, answer) in enumerate(zip(figure["qids"], figure["answers"], strict=True)):
        yield {**figure, "name": f"{figure['id']}_{index}", "qid": qid, "answer": answer}


class ChartQuestions:
    """The questions about the figures of a table. `batch` names the replies that the authors' judge
    reads in one prompt: five replies to questions of one template, in the order of the data."""

    def __init__(self, figures: Table, kind: Questions) -> None:
        self.where = figures.where
        self.revision = figures.revision
        self._figures = figures
        self._kind = kind

    def __iter__(self) -> Iterator[Row]:
        counts: Counter[int] = Counter()
        position = 0
        for figure in self._figures:
            try:
                rows = [*questions(figure, self._kind)]
            except (KeyError, TypeError, ValueError) as error:
                where = f"row {figure.position + 1} of {self.where}"
                raise unreadable(where, figure, error) from error
            for fields in rows:
                qid = fields.get("qid", 0)
                batch = f"{qid}.{counts[qid] // BATCH_SIZE}"
                counts[qid] += 1
                name = f"{figure.digest} {fields['name']}"
                digest = blake2b(name.encode(errors="surrogatepass"), digest_size=16).hexdigest()
                yield Row({**fields, "batch": batch}, position, digest)
                position += 1

    def facts(self) -> Facts:
        return facts_of(iter(self))


def to_sample(row: Row, data_file: DataFile) -> Sample:
    figure, qid, subplots = row["id"], row.get("qid"), row["num_subplots"]
    image, _ = picture(row, data_file, [f"images/{figure}.jpg", f"{figure}.jpg"])
    tags = {
        "subplots": "1 Subplot" if subplots == 1 else f"{'2-4' if subplots < 5 else '5+'} Subplots",
        "subject": SUBJECTS[row["category"]],
        "year": f"20{row['year']}",
    }
    if qid is None:
        words = row["query"]
        tags["answer type"] = ANSWER_TYPES[row["inst_category"]]
        tags["source"] = SOURCES[row["qa_source"]]
    else:
        words = prompts("charxiv")["overarching_questions"][str(qid)]
        tags["category"] = CATEGORIES[qid]
        tags["question"] = f"Q{qid}"
    sample = Sample(
        id=row["name"],
        question=words,
        media=(image,),
        target=row["answer"],
        tags=tags,
        data={
            "figure": figure,
            "qid": qid,
            "inst_category": row["inst_category"],
            "subplot_loc": row["subplot_loc"],
            "batch": row["batch"],
            # The names that a recipe of lmms-eval uses.
            "reasoning_q_source": row["qa_source"],
            "reasoning_a": row["answer"],
        },
    )
    return replace(sample, data={**sample.data, "query": question(sample)})

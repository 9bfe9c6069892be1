"""EMMA: mathematics, physics, chemistry, and chart code that need reasoning over pictures.

Paper    Hao et al. 2025, Can MLLMs Reason in Multimodality? EMMA: An Enhanced MultiModal ReAsoning
         Benchmark, https://arxiv.org/abs/2501.05444 (ICML).
Data     luckychao/EMMA (2,788 questions) and luckychao/EMMA-mini (100 of each subject) on the
         Hugging Face hub: a parquet file for each subject, {subject}/test-00000-of-00001.parquet.
         A file of the authors' results can be read too, but only to score replies. VLMEvalKit's
         EMMA.tsv cannot be read.
Prompt   `official`: EMMA-Bench/EMMA@50609fd4d7e4ce03124092b3862e10654b3b7cda:configs/gpt.yaml and
         data_utils.py#L25-L56. Each picture replaces its mark, models/gpt.py#L17-L49. `mode` is the
         paper's CoT or Direct. Replies have at most 4,096 tokens (generate_response.py#L27).
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/emma.py#L12-L60, without the box. lmms-eval has the official prompt.
Scoring  `official`: the authors' rules ("fast"), evaluation/evaluate.py#L11-L51 and
         utils.py#L22-L80. Comments in families/emma_rules.py describe the quirks. latex2sympy2 and
         word2number are written anew (`evaluated_value`, `word2number`). latex2sympy2 keeps state
         from question to question; here is none. A text for which word2number would stop the
         authors' script ("thousand one") is no number here.
         `judged`: chatgpt-4o-latest compares the reply with the answer, evaluate.py#L54-L131. In a
         file of the authors' results, the verdicts count, whether a judge or rules gave them.
         In both, only the questions in such a file count, and a missing or empty reply is wrong.
         The categories of chart code overlap, calculate_acc.py#L27-L33.
         `robust`: Snellen's own rule, which takes the letter or value that a reply settles on.
Proof    For the published outputs of several models and of the random baseline, every extraction,
         verdict, and accuracy equals the authors', and so do generated replies, the judge's prompt,
         and generated verdicts (tests/parity).
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, mmmu, results
from snellen.benchmarks.families.emma_rules import (
    JUDGE,
    for_judge,
    judged_score,
    official_answer,
    official_score,
)
from snellen.benchmarks.families.mathematics import robust, wrong_letter_or_value
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Published,
    Sample,
    Scoring,
)
from snellen.core.prompts import interleaved, lettered
from snellen.data import DataFile, Filtered, Row, Table
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Message, user
from snellen.metrics import Columns, mean
from snellen.stats import Estimate

SOURCE = "EMMA-Bench/EMMA@50609fd4d7e4ce03124092b3862e10654b3b7cda:evaluation/evaluate.py"
KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "published outputs"
SIZE = 2788
OTHER_SIZES = {"subset=mini": 400}
ALIASES = {
    "EMMA": {"prompt": "vlmevalkit", "mode": "direct"},
    "EMMA_COT": {"prompt": "vlmevalkit", "mode": "cot"},
    "emma-mini": {"subset": "mini"},
}
HUB = {
    "full": ("EMMA", "6c87aec9048c489108170088e50b768646b5bcf9"),
    "mini": ("EMMA-mini", "6b9ae9a74733bb57f0b741213f8d0ec9ebae067a"),
}
LEAVES = {
    "Math": "reasoning/mathematical",
    **dict.fromkeys(("Physics", "Chemistry"), "knowledge/domain"),
    "Coding": UNMAPPED,
}
Subset = Literal["full", "mini"]
Subject = Literal["all", "Math", "Physics", "Chemistry", "Coding"]
Mode = Literal["cot", "direct"]
Preset = Literal["official", "vlmevalkit"]
MARK = re.compile(r"<image_(\d+)>")
LETTER = "Answer with the option's letter from the given choices"
PHRASE = "Answer the question using a single word or phrase"
FORMS: Mapping[Preset, tuple[str, str]] = {
    "official": (
        f'{{context}}\n{{question}}\n{PHRASE} and put the answer in one "\\boxed{{{{}}}}". ',
        "{context}\n{question}\n{options}\n\n"
        f'{LETTER} and put the letter in one "\\boxed{{{{}}}}". ',
    ),
    "vlmevalkit": (
        f"{{context}}\n\n{{question}}\n\n{PHRASE}. ",
        f"{{context}}\n\n{{question}}\n\n{{options}}\n\n\n{LETTER}. ",
    ),
}
"""The forms of an open question, and of one with choices."""
ASK: Mapping[Mode, str] = {
    "cot": "Please solve the problem step by step.",
    "direct": "Please ensure that your output only contains the final answer without any "
    "additional content (such as intermediate reasoning steps).",
}


def emma(
    subset: Subset = "full",
    subject: Subject = "all",
    prompt: Preset = "official",
    mode: Mode = "cot",
    data: Path | None = None,
) -> Benchmark:
    files, (folder, _) = published(subset, subject), HUB[subset]
    part = "*" if subject == "all" else subject
    patterns = (f"{folder}/{part}/test-*.parquet", f"{part}/test-*.parquet")
    names = (f"{folder}.json", *(file.name for file in files))
    spec = f"emma:subset={subset}"
    data_file = mmmu.looked_for(data, "emma", patterns, names, files, spec)
    rules = Scoring(
        version=1,
        source=f"{SOURCE}#L11-L51",
        parse=official_answer,
        score=official_score,
        metrics={"accuracy": mean},
        missing="wrong",
        extra_metrics=by_category,
    )
    perfect = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="emma",
        asks=1,
        data=mmmu.Late(str(data_file), lambda: rows(data_file, subject)),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: messages(sample, prompt, mode),
        scorings={
            "official": rules,
            "judged": replace(
                rules,
                source=f"{SOURCE}#L54-L131",
                parse=for_judge,
                score=judged_score,
                judge=JUDGE,
            ),
            "robust": robust(version=1),
        },
        max_answer_tokens=4096,
        check=Check(
            says=lambda _, answer: f"\\boxed{{{answer}}}",
            wrong=wrong_letter_or_value,
            verdict=lambda sample, reply: (
                "Correct"
                if reply.text.removeprefix("\\boxed{").removesuffix("}") == sample.target
                else "Incorrect"
            ),
            expect={"official": perfect, "judged": perfect, "robust": perfect},
        ),
        presentation=Presentation(
            break_down_by=("subject", "question_type", "task"),
            metric_tags=("category",),
            capabilities=Capabilities(
                tag="subject", leaves=LEAVES, source="https://arxiv.org/abs/2501.05444, section 3"
            ),
        ),
        interop=Interop(files=data_file, layout=layout),
    )


def published(subset: Subset = "full", subject: Subject = "all", **_: object) -> tuple[File, ...]:
    folder, revision = HUB[subset]
    hub = f"hf://datasets/luckychao/{folder}@{revision}"
    paths = [f"{part}/test-00000-of-00001.parquet" for part in LEAVES if subject in ("all", part)]
    return tuple(File(name=f"{folder}/{path}", url=f"{hub}/{path}") for path in paths)


# -- rows


def rows(data_file: DataFile, subject: Subject) -> Table:
    if data_file.path.suffix == ".parquet":
        table: Table = mmmu.of_parquet(data_file, mmmu.parquet_files(data_file))
    else:
        table, _ = authors_files.table(
            data_file, lambda path: iter(authors_files.by_id(path).values())
        )
    return table if subject == "all" else Filtered(table, lambda row: row["subject"] == subject)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    images = {n: image for n in range(1, 6) if (image := row.get(f"image_{n}"))}
    tags, answer = tags_of(row), row["answer"]
    choices = tuple(row["options"]) if tags["question_type"] == "multiple choice" else ()
    content = choices[ascii_uppercase.index(answer.upper())] if choices else answer
    return Sample(
        id=row["pid"],
        question=row["question"],
        choices=choices,
        media=tuple(
            data_file.image(image) if isinstance(image, str) else image for image in images.values()
        ),
        target=answer.upper() if choices else answer,
        tags=tags,
        data={
            "context": row["context"],
            "answer": answer,
            "content": row.get("gt_content", content),
            "numbers": [*images],
        },
    )


def tags_of(row: Mapping[str, Any]) -> dict[str, str]:
    subject, category = row["subject"], row["category"] or ""
    categories = [category]
    if subject == "Coding":
        categories = [name.strip() for name in category.split(";")]
    return {
        "subject": subject,
        "question_type": row["type"].lower(),
        "task": f"{subject}_{row['task']}" if row["task"] else "",
        "category": "\n".join(f"{subject}_{name}" for name in categories) if category else "",
    }


def by_category(columns: Columns) -> dict[str, Estimate]:
    """The accuracy of each category. A question about chart code can have several categories."""
    members: dict[str, list[str]] = {}
    for name in filter(None, columns.tags["category"].names):
        for category in name.split("\n"):
            members.setdefault(category, []).append(name)
    parts = {name: columns.tagged("category", names) for name, names in sorted(members.items())}
    return {f"accuracy/{name}": mean(part) for name, part in parts.items() if part.n}


def messages(sample: Sample, prompt: Preset, mode: Mode) -> tuple[Message, ...]:
    form, context = FORMS[prompt][bool(sample.choices)], sample.data["context"]
    if prompt == "vlmevalkit":
        form = form if context else form.removeprefix("{context}\n\n")
    options = lettered(sample.choices, "{letter}: {choice}")
    query = form.format(context=context, question=sample.question, options=options) + ASK[mode]
    query += " " if (prompt, mode) == ("vlmevalkit", "cot") else ""
    parts = interleaved(query, MARK, lambda number: mmmu.shown(sample, int(number or 0)))
    return (user(*(part for part in parts if not isinstance(part, str) or part.strip())),)


# -- published results


def layout(path: Path) -> Published | None:
    """Read a file of the authors' results: an object that maps ids to questions, each with its
    response and, once it is scored, the judge's words or the verdict of the authors' rules."""
    held = results.of_json(path)
    if not isinstance(held, dict) or not held:
        return None
    keys = {"subject", "type", "category", "task"}
    if not all(isinstance(row, dict) and keys <= row.keys() for row in held.values()):
        return None
    words: dict[str, tuple[str]] = {}
    for name, row in held.items():
        if not isinstance(row.get("response"), str | None):
            what = type(row["response"]).__name__
            raise DataError(
                f"{path.name}: question {name!r} has a response of type {what}. It must be text."
            )
        if isinstance(row.get("gpt_eval"), str):
            words[name] = (row["gpt_eval"],)
        elif row.get("true_false") is not None:
            words[name] = ("Correct" if row["true_false"] else "Incorrect",)
    return Published(
        replies={name: row.get("response") for name, row in held.items()},
        verdicts={"judged": words},
        tags={name: tags_of(row) for name, row in held.items()},
        only_these=True,
    )

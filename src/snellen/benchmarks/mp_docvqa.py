"""MP-DocVQA: questions about documents of up to 20 pages, and the page with the answer.

Paper    Tito et al. 2023, Hierarchical multimodal transformers for Multi-Page DocVQA,
         https://arxiv.org/abs/2212.05935 (Pattern Recognition).
Data     The organizers publish {val,test}.json and images/ after registration:
         https://rrc.cvc.uab.es/?ch=17, task 4. The answers of `test` are hidden. The parquet files
         of lmms-lab-encoder/MP-DocVQA on the Hugging Face hub have the pages in the rows. A page's
         number counts from 0 in the files, and from 1 in replies.
Prompt   The organizers prescribe no prompt. All pages come first, in order.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/multidocvqa/multidocvqa_val.yaml. 32 tokens.
         `page`: Snellen's own, which also requests a last line "Page: N". 64 tokens.
         `pages=oracle` shows only the page with the answer, as a setting of the authors does.
         `pages=first:N` shows the first N pages.
Scoring  `official`: rubenpt91/MP-DocVQA-Framework@7939f521fe5a82a442f54831b1c0e96daab331d9:
         metrics.py#L20-L85. Texts are in lowercase and without blanks at their ends; inner blanks
         count. A similarity of exactly 1/2 is kept. An empty reply has ANLS 0, and so has "none",
         even if "none" is the answer. If a question has no answer, "none" is right, and an empty
         reply is right for accuracy only. lmms-eval has the same rule.
         `case-sensitive`: the same without lowercase. "NA" is then right, too, where there is no
         answer.
         `robust`: ANLS as in the paper, of the phrase that a reply settles on.
Proof    For the 700 generated pairs of the golden pack, all values of `official` and
         `case-sensitive` equal those of the authors' code (tests/parity).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import eq
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files, choice_sets, documents
from snellen.benchmarks.families.edit_distance import plain_similarity
from snellen.benchmarks.families.page_policy import PagePolicy
from snellen.benchmarks.families.results import replies_of, rows_with
from snellen.benchmarks.families.tasks import parse_phrase
from snellen.core import (
    Benchmark,
    Capabilities,
    Interop,
    NamedAnswers,
    Presentation,
    Procedure,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
    Submission,
)
from snellen.data import DataFile, Row, find
from snellen.errors import DataError
from snellen.media.content import user
from snellen.metrics import Columns, Metric, mean, metric
from snellen.stats import Estimate

KIND = "words"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 5187
OTHER_SIZES = {"split=test": 5019}
AUTHORS = "rubenpt91/MP-DocVQA-Framework@7939f521fe5a82a442f54831b1c0e96daab331d9"
ALIASES = {
    "multidocvqa_val": {"split": "val", "prompt": "lmms-eval"},
    "multidocvqa_test": {"split": "test", "prompt": "lmms-eval"},
}
PAGE = re.compile(r"(.*)\nPage: (-?\d{1,9})\s*", re.DOTALL)
UNANSWERABLE = "not-answerable"
MOST_PAGES = 20
NO_ANSWER = ("", "none", "NA")

Preset = Literal["lmms-eval", "page"]
PROMPTS = {
    "lmms-eval": documents.SHORT,
    "page": documents.SHORT + " Then add a line with the number of the page that has the answer, "
    'such as "Page: 1".',
}


def mp_docvqa(
    split: documents.Split = "val",
    prompt: Preset = "lmms-eval",
    pages: str = "all",
    data: Path | None = None,
) -> Benchmark:
    names = (f"{split}.json", f"question_answers/{split}.json", f"{split}.parquet")
    policy = PagePolicy.of(pages, "mp-docvqa", "oracle")
    data_file = find(data, "mp-docvqa", names)
    table, file = authors_files.table(data_file, documents.questions)
    rules = scorings()
    perfect = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="mp-docvqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file, policy),
        prompt=lambda sample, _: (
            user(*sample.media, PROMPTS[prompt].format(question=sample.question)),
        ),
        scorings=rules,
        max_answer_tokens=64 if prompt == "page" else 32,
        cluster_by=lambda sample: str(sample.data["document"]),
        check=replace(documents.check(), expect=dict.fromkeys(rules, perfect)),
        procedure=Procedure(group_by=lambda sample: str(sample.data["document"])),
        presentation=Presentation(
            break_down_by=("pages",),
            notes=policy.notes,
            metric_tags=("answer_type", "answer_page"),
            capabilities=Capabilities(
                tag="", leaves={"": "OCR/document"}, source="https://arxiv.org/abs/2212.05935"
            ),
        ),
        interop=Interop(
            files=file,
            layout=layout,
            submission=Submission(
                name=f"mp-docvqa_{split}.json",
                columns=("questionId", "answer", "answer_page"),
                row=submitted,
            ),
        ),
    )


def to_sample(row: Row, data_file: DataFile, policy: PagePolicy) -> Sample:
    names = authors_files.texts(row.get("page_ids"))
    cells = [row.get(f"image_{number}") for number in range(1, MOST_PAGES + 1)]
    in_row = [cell for cell in cells if cell is not None]
    every = in_row or [f"{name}.jpg" for name in names]
    if not every:
        raise ValueError("the fields page_ids and image_1 have no page")
    page, kind = row.get("answer_page_idx"), str(row.get("answer_type") or "string")
    count = len(every)
    shown = every[: policy.most]
    if policy.name == "oracle":
        if page is None or not 0 <= int(page) < count:
            raise ValueError(f"answer_page_idx is {page!r}, which is not one of {count} pages")
        shown = [every[int(page)]]
    media = choice_sets.pictures(shown, data_file, "" if in_row else "images/")
    references = documents.answers_of(row)
    return Sample(
        id=documents.id_of(row),
        question=row["question"],
        media=media,
        references=references or (("",) if kind == UNANSWERABLE else ()),
        tags={
            "pages": "1" if count == 1 else "2-5" if count <= 5 else "6-20",
            "answer_type": kind,
            "answer_page": "" if page is None else str(page),
        },
        data={"document": str(row.get("doc_id") or documents.id_of(row))},
    )


# -- the organizers' file of replies


def layout(path: Path) -> Published | None:
    """Read replies in the form of the test server, with the field `answer_page` or without it."""
    rows = rows_with(path, "questionId", "answer")
    if rows is None:
        return None
    replies = replies_of(path, rows, "questionId", "answer")
    for number, row in enumerate(rows, 1):
        page, name = row.get("answer_page"), str(row["questionId"])
        if page is None or replies[name] is None:
            continue
        if not isinstance(page, int):
            raise DataError(
                f"{path.name}: row {number} has {page!r:.40} as answer_page. It must be a number."
            )
        replies[name] = f"{replies[name]}\nPage: {page + 1}"
    return Published(replies=replies)


def submitted(sample: Sample, reply: str) -> Sequence[object]:
    answer, page = parts_of(reply)
    return int(sample.id), answer, int(page) if page else -1


def parts_of(text: str) -> tuple[str, str]:
    """The answer in a reply, and the number of its page, which counts from 0 and may be empty."""
    match = PAGE.fullmatch(text)
    return (match[1], str(int(match[2]) - 1)) if match else (text, "")


# -- scoring


def parse(reply: Reply, _: Sample) -> Reading:
    answer, page = parts_of(reply.text)
    if not answer and not page:
        return Reading(answer=None, rule="nothing said")
    rule = "reply and page" if page else "whole reply"
    return Reading(answer=NamedAnswers(answers={"answer": answer, "page": page}), rule=rule)


def text_and_page(answer: object) -> tuple[str, str]:
    """The text and the page in a parsed answer."""
    if isinstance(answer, NamedAnswers):
        return str(answer.answers["answer"]), str(answer.answers["page"])
    return str(answer or ""), ""


def anls_of(text: str, kind: str, rights: Sequence[str]) -> float:
    if not text or (text == "none" and kind != UNANSWERABLE):
        return 0.0
    if kind == UNANSWERABLE:
        return float(text in NO_ANSWER)
    score = max(plain_similarity(text, right) for right in rights)
    return score if score >= 0.5 else 0.0


def equals(text: str, kind: str, rights: Sequence[str]) -> float:
    if kind == UNANSWERABLE:
        return float(text in NO_ANSWER)
    return float(text != "none" and text in rights)


def rule_of(
    value: Callable[[str, str, Sequence[str]], float], *, lower: bool
) -> Callable[..., float]:
    """A function of a parsed answer, a kind, and references, whose texts it cleans first."""

    def cleaned(text: str) -> str:
        return (text.lower() if lower else text).strip()

    def rule(answer: object, kind: str, rights: Sequence[str]) -> float:
        return value(cleaned(text_and_page(answer)[0]), kind, [cleaned(right) for right in rights])

    return rule


def accuracy_metric(*, lower: bool) -> Metric:
    """The mean of `equals`. The stored score of each question is its ANLS."""
    rule = rule_of(equals, lower=lower)

    def accuracy(columns: Columns) -> Estimate:
        import numpy as np

        rows = zip(columns.answer, kinds(columns, "answer_type"), columns.references, strict=True)
        return mean(replace(columns, score=np.array([rule(*row) for row in rows], dtype=float)))

    return Metric(accuracy, better="higher", unit="fraction")


@metric(better="higher", unit="fraction")
def page_accuracy(columns: Columns) -> Estimate:
    """The share of replies with the right page."""
    import numpy as np

    pages = [text_and_page(answer)[1] for answer in columns.answer]
    if not any(pages):
        return Estimate(value=None, n=0, reason="no reply has a last line with a page")
    right = map(eq, pages, kinds(columns, "answer_page"))
    return mean(replace(columns, score=np.array([*right], dtype=float)))


def kinds(columns: Columns, tag: str) -> list[str]:
    category = columns.tags[tag]
    return [category.names[code] for code in category.codes]


def scoring(*, lower: bool) -> Scoring:
    rule = rule_of(anls_of, lower=lower)
    return Scoring(
        version=1,
        source=f"{AUTHORS}:metrics.py#L20-L85",
        parse=parse,
        score=lambda reading, sample: rule(
            reading.answer, sample.tags["answer_type"], sample.references
        ),
        metrics={
            "anls": Metric(mean, better="higher"),
            "accuracy": accuracy_metric(lower=lower),
            "page_accuracy": page_accuracy,
        },
        missing="wrong",
        partial=True,
    )


def scorings() -> dict[str, Scoring]:
    return {
        "official": scoring(lower=True),
        "case-sensitive": scoring(lower=False),
        "robust": Scoring(
            version=1,
            source="ours",
            parse=lambda reply, sample: parse_phrase(
                replace(reply, text=parts_of(reply.text)[0]), sample
            ),
            score=documents.robust_score,
            metrics=documents.METRICS,
            partial=True,
        ),
    }

"""MMLongBench-Doc: questions about long PDF documents, a fifth of them without an answer.

Paper    Ma et al. 2024, MMLongBench-Doc: Benchmarking Long-context Document Understanding with
         Visualizations, https://arxiv.org/abs/2407.01523 (NeurIPS).
Data     mayubo2333/MMLongBench-Doc@d73f0dc0be7e0a2ff6a403d5fe65fcd96461f384:data/samples.json has
         1,082 questions (the README counts 1,091) about the 135 files in data/documents/. The data
         are under CC BY-NC 4.0.
         Snellen does not render PDF files. It reads the pages that the authors' run_api.py writes
         at 144 dpi: tmp/DOCUMENT_1.png, and so on. The id is the position in samples.json.
Prompt   `official`: the question, then the first 120 pages, run_api.py#L29-L63. 1,024 tokens.
         `lmms-eval`: the pages, then the question with a line on the form of the answer,
         EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/
         mmlongbench_doc/mmlongbench_doc.yaml. There, only the pages with the evidence are shown,
         which is `pages=evidence` here. `pages=first:N` shows the first N pages.
Scoring  `official`: GPT-4o extracts the answer and its format (eval/extract_answer.py), and rules
         score it by the format of the right answer (eval/eval_score.py#L6-L157). If nothing can be
         extracted, or the rules stop with an exception, the score is 0 (run_lvlm.py#L101-L108). The
         authors send the question and the reply as a last turn of the assistant. Here, these are
         part of the user's turn, since many servers reject such a turn.
         `accuracy` is the mean. In `f1`, recall is over the questions that have an answer, and
         precision over the replies that are not exactly "Not answerable".
         `vlmevalkit`: another text for the judge, and another F1, open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/
         mmlongbenchdoc.py#L309-L432.
         `lmms-eval`: rules of its own on the reply itself, utils.py#L29-L346.
         families/long_documents.py has the rules of all three. The authors evaluate extracted lists
         as Python code. Here, only lists of literals are read.
Proof    For the 1,300 generated pairs of the golden pack, the scores, and all figures, equal those
         of the code of the authors, VLMEvalKit, and lmms-eval (tests/parity).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets, documents, pins
from snellen.benchmarks.families.judged import judged, prompts
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.long_documents import (
    UNANSWERABLE,
    NotScored,
    cut,
    lmms_cleaned,
    lmms_eval,
    official,
    vlmevalkit,
)
from snellen.benchmarks.families.page_policy import PagePolicy
from snellen.benchmarks.families.results import rows_with
from snellen.benchmarks.families.tasks import parse_verbatim
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Judge,
    Presentation,
    Procedure,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import Message, user
from snellen.metrics import Metric, mean
from snellen.metrics.abstention import abstention_f1

KIND = "words"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-4.0"
PROOF = "authors' code"
SIZE = 1082
REVISION = "d73f0dc0be7e0a2ff6a403d5fe65fcd96461f384"
AUTHORS = f"mayubo2333/MMLongBench-Doc@{REVISION}"
KIT = f"{pins.VLMEVALKIT}:vlmeval/dataset"
LMMS = f"{pins.LMMS_EVAL}:lmms_eval/tasks"
ALIASES = {"MMLongBench_DOC": {"prompt": "official"}}
FILES_PUBLISHED = (
    File(
        name="data/samples.json",
        url=f"https://raw.githubusercontent.com/mayubo2333/MMLongBench-Doc/{REVISION}/data/samples.json",
        note="the questions alone: the documents are PDF files of the repository",
    ),
)
MOST_PAGES = 120
FAILED = "Failed to extract"
SOURCES = {
    "Pure-text (Plain-text)": "text",
    "Generalized-text (Layout)": "layout",
    "Table": "table",
    "Chart": "chart",
    "Figure": "figure",
}
KINDS = ("single-page", "multi-page", "cross-page", "no page", "unanswerable")
LINE = "\nAnswer with a single word or phrase. If the answer is not in the document, answer "
LEAVES = {
    **dict.fromkeys(("text", "layout", "figure"), "OCR/document"),
    **dict.fromkeys(("table", "chart"), "OCR/table"),
}

Preset = Literal["official", "lmms-eval"]


def mmlongbench_doc(
    prompt: Preset = "official", pages: str = "all", data: Path | None = None
) -> Benchmark:
    policy = PagePolicy.of(pages, "mmlongbench-doc", "evidence")
    data_file = find(
        data, "mmlongbench-doc", ("data/samples.json", "samples.json"), FILES_PUBLISHED
    )
    table, file = authors_files.table(data_file, authors_files.objects, REVISION)
    rules = choice_sets.headline(SCORINGS, prompt)
    return Benchmark(
        name="mmlongbench-doc",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file, policy),
        prompt=lambda sample, _: message(sample, prompt),
        scorings=rules,
        max_answer_tokens=1024,
        cluster_by=lambda sample: str(sample.data["document"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            expect=dict.fromkeys(rules, PERFECT),
            verdict=lambda _, reply: f"Extracted answer: {reply.text}\nAnswer format: String",
        ),
        procedure=Procedure(group_by=lambda sample: str(sample.data["document"])),
        presentation=Presentation(
            break_down_by=(*KINDS, *SOURCES.values(), "doc_type"),
            metric_tags=("answerable",),
            notes=policy.notes,
            capabilities=Capabilities(
                tag="last", leaves=LEAVES, source="https://arxiv.org/abs/2407.01523, section 3.1"
            ),
        ),
        interop=Interop(files=file, layout=layout),
    )


def published(**_: object) -> tuple[File, ...]:
    """The authors' questions."""
    return FILES_PUBLISHED


def to_sample(row: Row, data_file: DataFile, policy: PagePolicy) -> Sample:
    numbers, sources = (
        authors_files.texts(row[name]) for name in ("evidence_pages", "evidence_sources")
    )
    stem = str(row["doc_id"]).rpartition("/")[2].removesuffix(".pdf")
    by_evidence = policy.name == "evidence"
    first = range(1, (policy.most or MOST_PAGES) + 1)
    shown = dict.fromkeys(map(int, numbers)) if by_evidence else first
    names = (f"tmp/{stem}_{number}.png" for number in shown)
    existing = [name for name in names if (data_file.folder / name).is_file()]
    if not existing and (numbers or not by_evidence):
        raise ValueError(
            f"there is no page {data_file.folder}/tmp/{stem}_1.png. Render {row['doc_id']} at "
            "144 dpi with the authors' run_api.py, or with pdftoppm"
        )
    answerable = row["answer"] != UNANSWERABLE
    flags = {
        "single-page": len(numbers) == 1,
        "multi-page": len(numbers) > 1,
        "cross-page": len(numbers) != 1 and answerable,
        "no page": not numbers,
        "unanswerable": not answerable,
    }
    return Sample(
        id=str(row.position),
        question=row["question"],
        media=choice_sets.pictures(existing, data_file),
        target=str(row["answer"]),
        tags={
            **{name: name if flag else "" for name, flag in flags.items()},
            **documents.kinds(sources, SOURCES),
            "doc_type": row["doc_type"],
            "answerable": str(answerable),
            "format": row["answer_format"],
        },
        data={"document": stem},
    )


def message(sample: Sample, prompt: Preset) -> tuple[Message, ...]:
    if prompt == "official":
        return (user(sample.question, *sample.media),)
    return (user(*sample.media, f"{sample.question.strip()}{LINE}'Not answerable'."),)


def layout(path: Path) -> Published | None:
    """Read the authors' list of questions, in the order of samples.json, with a model's replies and
    the extractor's; or VLMEvalKit's, whose fields have other names."""
    for scoring, reply, verdict in (
        ("official", "response", "extracted_res"),
        ("vlmevalkit", "prediction", "res"),
    ):
        rows = rows_with(path, reply, verdict)
        if rows is not None:
            names = [str(row.get("index", number)) for number, row in enumerate(rows)]
            return Published(
                replies={
                    name: row[reply] if isinstance(row[reply], str) else None
                    for name, row in zip(names, rows, strict=True)
                },
                verdicts={
                    scoring: {
                        name: (row[verdict],)
                        for name, row in zip(names, rows, strict=True)
                        if isinstance(row[verdict], str)
                    }
                },
            )
    return None


# -- scoring


def official_reading(text: str, sample: Sample) -> Reading:
    """The extracted answer, or the authors' text for a failure."""
    answer = cut(text)
    if answer is not None:
        try:
            official(answer, sample.target or "", sample.tags["format"])
        except NotScored as error:
            return Reading(answer=FAILED, rule=f"not scored: {error}")
        return Reading(answer=answer, rule="extracted answer")
    return Reading(answer=FAILED, rule="no extracted answer")


def kit_reading(text: str, _: Sample) -> Reading:
    answer = cut(text)
    return Reading(answer=answer or "", rule="no extracted answer" if answer is None else "cut")


Rule = Callable[[str, str, str], float]


def score_by(rule: Rule) -> Callable[[Reading, Sample], float]:
    """`Scoring.score` from a rule of families/long_documents.py."""

    def score(reading: Reading, sample: Sample) -> float:
        answer = str(reading.answer or "")
        return 0.0 if answer == FAILED else rule(answer, sample.target or "", sample.tags["format"])

    return score


def metrics(
    is_answer: Callable[[str], bool], *, only_answerable: bool = False
) -> dict[str, Metric]:
    return {
        "accuracy": Metric(mean, better="higher"),
        "f1": abstention_f1("answerable", is_answer, only_answerable=only_answerable),
    }


def is_answer(text: str) -> bool:
    return text != UNANSWERABLE


def judge(name: str, prompt: Callable[[Sample, Reply], tuple[Message, ...]], **more: Any) -> Judge:
    return Judge(name=name, authors_model="gpt-4o", prompt=prompt, when=lambda _: True, **more)


def official_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    words = f"\n\nQuestion:{sample.question}\nAnalysis:{reply.text}\n"
    return (user(prompts("mmlongbench_doc")["official"], words),)


def kit_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    words: str = prompts("mmlongbench_doc")["vlmevalkit"]
    return (user(words.replace("{question}", sample.question).replace("{reply}", reply.text)),)


SCORINGS = {
    "official": judged(
        f"{AUTHORS}:eval/eval_score.py#L6-L173",
        judge("official", official_prompt, parse=official_reading, max_answer_tokens=256),
        score_by(official),
        metrics(is_answer, only_answerable=True),
        missing="wrong",
        partial=True,
    ),
    "vlmevalkit": judged(
        f"{KIT}/mmlongbenchdoc.py#L309-L432",
        judge("vlmevalkit", kit_prompt, parse=kit_reading, max_answer_tokens=128, on_request=True),
        score_by(vlmevalkit),
        metrics(is_answer),
        missing="wrong",
        partial=True,
    ),
    "lmms-eval": Scoring(
        version=1,
        source=f"{LMMS}/mmlongbench_doc/utils.py#L29-L346",
        parse=parse_verbatim,
        score=lambda reading, sample: lmms_eval(
            str(reading.answer or "").strip(), sample.target or "", sample.tags["format"]
        ),
        metrics=metrics(lambda text: lmms_cleaned(text) != UNANSWERABLE.lower()),
        missing="wrong",
        partial=True,
    ),
}

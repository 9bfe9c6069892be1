"""olmOCR-Bench: pages of PDFs, converted to Markdown and checked by unit tests.

Paper    Poznanski et al. 2025, olmOCR: Unlocking Trillions of Tokens in PDFs with Vision Language
         Models, https://arxiv.org/abs/2502.18443; the benchmark came with olmOCR 0.1.75.
Data     VLMEvalKit's olmOCRBench.tsv: a row for each page, with its picture and, in the field
         `answer`, the list of its tests. The authors publish PDFs, allenai/olmOCR-bench on the
         Hugging Face hub. The id is the row's `index`.
Prompt   The picture, then the text of allenai/olmocr@f7cfe4c22098b154c76b6ec950d1c0a464eecf8d:
         olmocr/bench/prompts.py#L1-L2. The limit of 16,384 tokens is Snellen's.
Scoring  `official`: allenai/olmocr@f7cfe4c22098b154c76b6ec950d1c0a464eecf8d:olmocr/bench/tests.py
         (families/page_tests.py) for tests of texts that are present, absent, or in order, of
         tables, and of the whole page (`baseline`; a page without such a test gets one).
         Not run: tests of formulas, as the authors compare what KaTeX draws in a browser. The
         metric `math` has their number and no value. So the authors' score, the mean of the pass
         rates of all sources and of `baseline`, is here `score_without_math`: the same without the
         tests of formulas, which are all those of arxiv_math and old_scans_math.
         A page's score is the share of its tests that pass.
         The library fuzzysearch, which finds near matches for `order`, chooses one of several
         equally good matches by a random hash. Here, the first one is chosen.
Proof    For 1,000 generated tests and pages, all results equal those of the authors' code
         (tests/parity/test_page_tests.py). No model outputs are published.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.benchmarks.families import choice_sets
from snellen.benchmarks.families.authors_files import picture_key
from snellen.benchmarks.families.page_metrics import pass_rate, unrun_formulas
from snellen.benchmarks.families.page_tests import SKIPPED, TESTS, passes, passing_page
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    NamedAnswers,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find
from snellen.media.content import user

KIND = "text"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 1403
AUTHORS = "allenai/olmocr@f7cfe4c22098b154c76b6ec950d1c0a464eecf8d:olmocr/bench"
ALIASES: Mapping[str, Mapping[str, str]] = {"olmOCRBench": {}, "olmOCR-bench": {}}
FILES_PUBLISHED = (own_sheet("olmOCRBench", md5="25fe250887fee675f887a2a2d24df185"),)
LEAVES = {
    **dict.fromkeys(("headers_footers", "multi_column", "old_scans"), "OCR/document"),
    **{"long_tiny_text": "OCR/document", "tables": "OCR/table"},
    **dict.fromkeys(("arxiv_math", "old_scans_math"), "unmapped"),
}
SILENT, HEDGING = 1 / 6, 2 / 6
"""The bundled rows have five sources, and `baseline`. An empty page has only absent texts; a page
of digits also passes `baseline`."""
PROMPT = (
    "Please provide a natural, plain text representation of the document, formatted in Markdown. "
    "Skip any headers and footers. For ALL mathematical expressions, use LaTeX notation with \\( "
    "and \\) for inline equations and \\[ and \\] for display equations. Convert any tables into "
    "Markdown format."
)


WITHOUT_BASELINE = tuple(kind for kind in TESTS if kind != "baseline")
METRICS = {
    "score_without_math": pass_rate(*WITHOUT_BASELINE, by_source=True),
    **{kind: pass_rate(kind) for kind in TESTS},
    "math": unrun_formulas,
}


def olmocr_bench(data: Path | None = None) -> Benchmark:
    data_file = find(data, "olmocr-bench", ("olmOCRBench.tsv",), FILES_PUBLISHED)
    table, file = choice_sets.table_of(data_file)
    official = Scoring(
        version=1,
        source=f"{AUTHORS}/tests.py#L44-L539",
        parse=parse,
        score=score,
        metrics=METRICS,
        partial=True,
    )
    return Benchmark(
        name="olmocr-bench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, PROMPT),),
        scorings={"official": official},
        max_answer_tokens=16384,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda sample: "\n".join([*texts(sample, "absent"), "ha " * 50]),
            expect={
                "official": {"oracle": 1.0, "wrong": 0.0, "silent": SILENT, "hedging": HEDGING}
            },
        ),
        presentation=Presentation(
            break_down_by=("source",),
            capabilities=Capabilities(
                tag="source", leaves=LEAVES, source="arXiv:2502.18443, section 4"
            ),
            notes=("The tests of formulas are not run, so published scores are not comparable.",),
        ),
        interop=Interop(files=file),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    tests = json.loads(row["answer"])
    for test in tests:
        if test["type"] not in (*TESTS, SKIPPED):
            raise ValueError(f"no test of the kind {test['type']!r}")
    if not any(test["type"] == "baseline" for test in tests):
        tests.append({"type": "baseline"})
    (image,) = choice_sets.pictures(row["image"], data_file)
    return Sample(
        id=choice_sets.id_of(row),
        question="Convert the page to Markdown.",
        media=(image,),
        target=passing_page(tests),
        tags={"source": tests[0]["pdf"].partition("/")[0]},
        data={"tests": tests, "image": picture_key(image)},
    )


def texts(sample: Sample, kind: str) -> list[str]:
    tests: Any = sample.data["tests"]
    return [test["text"] for test in tests if test["type"] == kind]


def parse(reply: Reply, sample: Sample) -> Reading:
    """The number of tests of each kind, and of those that pass. An empty page has only tests that
    fail, and texts that must be absent."""
    tests: Any = sample.data["tests"]
    counts: dict[str, float] = {}
    for test in tests:
        kind = test["type"]
        counts[f"{kind} tests"] = counts.get(f"{kind} tests", 0.0) + 1
        if kind != SKIPPED:
            counts[kind] = counts.get(kind, 0.0) + passes(test, reply.text)
    return Reading(answer=NamedAnswers(answers=dict(counts)), rule="tests")


def score(reading: Reading, sample: Sample) -> float:
    """The share of the page's tests that pass."""
    assert isinstance(reading.answer, NamedAnswers)
    counts: Mapping[str, Any] = reading.answer.answers
    passed = sum(counts.get(kind, 0.0) for kind in TESTS)
    return float(passed / sum(counts.get(f"{kind} tests", 0.0) for kind in TESTS))

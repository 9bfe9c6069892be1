"""OmniDocBench: pages of nine kinds of documents, converted to Markdown.

Paper    Ouyang et al. 2024, OmniDocBench: Benchmarking Diverse PDF Document Parsing with
         Comprehensive Annotations, https://arxiv.org/abs/2412.07626 (CVPR 2025).
Data     VLMEvalKit's OmniDocBench.tsv: the 981 pages of version 1.0 with their annotations.
         The authors' OmniDocBench.json beside the folder images (opendatalab/OmniDocBench on the
         Hugging Face hub) can be passed too, also that of later versions. The id is the row's
         `index` or, in the authors' file, the name of the picture without its suffix.
Prompt   The picture, then the text in families/prompts/omnidocbench.toml. `vlmevalkit` is that of
         the paper without its line on inline formulas. Its limit of 16,384 tokens is Snellen's.
         `lmms-eval`: 4,096 tokens.
Scoring  `official`: version 1.0, quick_match, as in open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/OmniDocBench/
         omnidocbench.py, utils.py, and metrics.py, a copy of the authors' code.
         The reply is split into texts, formulas, and tables (families/page_markdown.py), which are
         matched with the annotated ones (families/page_matching.py), normalized
         (families/page_texts.py), and compared (families/page_scores.py).
         `text_edit`, `formula_edit`, `table_edit`, and `order_edit` are normalized edit distances;
         lower is better. A page's distance is the sum of edits over the sum of lengths, and the
         figure is the mean over pages. `overall_v1.0_en` and `overall_v1.0_zh` are the means of
         the four for English and for Chinese pages. `teds` and `teds_s` are means over pages of the
         mean over tables, and `teds_by_table` and `teds_s_by_table` those over tables. The score of
         a page is 1 minus the mean of its distances.
         Not computed: CDM, for which the authors render formulas with TeX, and so the overall of
         versions 1.5 and 1.6; BLEU; METEOR. LaTeX tables in a reply count as no table.
         The authors' code stops the matching of texts after 30 seconds and takes that of
         simple_match; here, this happens after 200,000 comparisons.
Proof    All elements, pairs, scores, and figures of the 650 generated texts, formulas, tables,
         orders, and pages of the golden pack equal those of VLMEvalKit's copy (tests/parity).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import choice_sets, pins
from snellen.benchmarks.families.judged import prompts
from snellen.benchmarks.families.page_metrics import EDITS, page_answer, page_mean
from snellen.benchmarks.families.page_scores import annotated_parts, as_markdown, score_page
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    NamedAnswers,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, file_content, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import user

KIND = "text"
LANGUAGES = ("en", "zh")
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 981
SOURCE = f"{pins.VLMEVALKIT}:vlmeval/dataset/OmniDocBench"
ALIASES = {"OmniDocBench": {"prompt": "vlmevalkit"}}
FILES_PUBLISHED = (
    File(
        name="OmniDocBench.tsv",
        url="https://huggingface.co/datasets/ouyanglinke/OmniDocBench_tsv/resolve/main/"
        "OmniDocBench.tsv",
        md5="0fa5ccf31e682e219cb9ca83da741a59",
    ),
)
ATTRIBUTES = ("language", "data_source", "layout")
FIELDS = ("category_type", "order", "anno_id", "text", "latex", "html")
HEDGING = ((4 + 86 / 87) / 5 + 1 + 1 + (2 / 3 + 1 / 2 + 1 + 1 + 3 / 4) / 5) / 4
"""What the authors' code gives "1 2 3" on the English pages: texts, formulas, tables, order."""
METRICS = {
    "overall_v1.0_en": page_mean(*EDITS, language="english"),
    "overall_v1.0_zh": page_mean(*EDITS, language="simplified_chinese"),
    **{f"{part}_edit": page_mean(part) for part in EDITS},
    **{name: page_mean(name, better="higher") for name in ("teds", "teds_s")},
    **{
        f"{name}_by_table": page_mean(name, weight="tables", better="higher")
        for name in ("teds", "teds_s")
    },
}

Prompt = Literal["vlmevalkit", "lmms-eval"]


def omnidocbench(prompt: Prompt = "vlmevalkit", data: Path | None = None) -> Benchmark:
    names = ("OmniDocBench.tsv", "OmniDocBench.json")
    data_file = find(data, "omnidocbench", names, FILES_PUBLISHED)
    table, file = choice_sets.table_of(data_file)
    text = prompts("omnidocbench")[prompt]
    return Benchmark(
        name="omnidocbench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, text),),
        scorings={
            "official": Scoring(
                version=1,
                source=f"{SOURCE}/omnidocbench.py#L87-L454",
                parse=parse,
                score=score,
                metrics=METRICS,
                partial=True,
            )
        },
        max_answer_tokens=4096 if prompt == "lmms-eval" else 16384,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "?",
            expect={"official": {"oracle": 0.0, "wrong": 1.0, "silent": 1.0, "hedging": HEDGING}},
        ),
        presentation=Presentation(
            break_down_by=ATTRIBUTES,
            metric_tags=("parts",),
            capabilities=Capabilities(
                tag="", leaves={"": "OCR/document"}, source="arXiv:2412.07626, section 3"
            ),
            notes=(
                "The overall of versions 1.5 and 1.6 needs the metric CDM, which renders formulas "
                "with TeX. Neither is computed.",
            ),
        ),
        interop=Interop(files=file, layout=markdown_files),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    page = json.loads(row["answer"]) if "answer" in row else row
    info = page["page_info"]
    name = Path(info["image_path"]).name
    image = row.get("image", f"images/{name}")
    kept = {
        "layout_dets": [
            {field: item[field] for field in FIELDS if field in item}
            for item in page["layout_dets"]
        ],
        "extra": {"relation": page["extra"]["relation"]},
    }
    attributes = info["page_attribute"]
    return Sample(
        id=choice_sets.id_of(row) if "index" in row else Path(name).stem,
        question="Convert the page to Markdown.",
        media=choice_sets.pictures(image, data_file),
        target=as_markdown(kept),
        tags={
            **{tag: str(attributes.get(tag) or "") for tag in ATTRIBUTES},
            "parts": " ".join(annotated_parts(kept)),
        },
        data={"page": kept},
    )


def parse(reply: Reply, sample: Sample) -> Reading:
    """The scores of the parts of the page. There is no smaller answer than the full reply."""
    if not reply.text:
        return Reading(answer=None, rule="nothing said")
    page: Any = sample.data["page"]
    parts = score_page(page, reply.text).parts()
    return Reading(answer=page_answer(parts), rule="quick_match")


def score(reading: Reading, sample: Sample) -> float:
    """1 minus the mean of the page's edit distances; 1 for a page without any element."""
    if not isinstance(reading.answer, NamedAnswers):
        return 0.0 if sample.tags["parts"] else 1.0
    answers: Mapping[str, Any] = reading.answer.answers
    scores = [answers[part] for part in EDITS if part in answers]
    return 1 - sum(scores) / len(scores) if scores else 1.0


def markdown_files(path: Path) -> Published | None:
    """Read the authors' folder of predictions, which has a Markdown file for each page. Pages
    without a file are not scored, as in the authors' code.

    Raises:
        DataError: a file cannot be read or is not UTF-8, or two files are for the same page.
    """
    files: dict[str, Path] = {}
    for file in sorted(path.iterdir()) if path.is_dir() else ():
        if file.suffix.lower() != ".md" or file.name.startswith("."):
            continue
        if file.stem in files:
            raise DataError(
                f"{path} has two files for the page {file.stem!r}: {files[file.stem].name} and "
                f"{file.name}. Remove one of them."
            )
        files[file.stem] = file
    if not files:
        return None
    return Published(
        replies={name: markdown_text(file) for name, file in files.items()}, only_these=True
    )


def markdown_text(file: Path) -> str:
    """The text of a Markdown file, with its byte-order mark, which the authors' code keeps too.

    Raises:
        DataError: the file cannot be read or is not UTF-8.
    """
    file_content(file)
    return file.read_text(encoding="utf-8")

"""OCRBench v2: 30 tasks about text in pictures, in English and Chinese.

Paper    Fu et al. 2024, OCRBench v2: An Improved Benchmark for Evaluating Large Multimodal Models
         on Visual Text Localization and Reasoning, https://arxiv.org/abs/2501.00321.
Data     The authors' OCRBench_v2.json with the folders EN_part and CN_part is on Google Drive:
         Yuliang-Liu/MultimodalOCR@794c36d6423cf1d5764081128bcaeb46b240def6:OCRBench_v2/README.md.
         VLMEvalKit's OCRBench_v2.tsv and ling99/OCRBench_v2 on the Hugging Face hub (parquet; pass
         the file or its folder) have the pictures in the rows. An id is the row's own `id`, or the
         `index` of a TSV. The authors' files of replies, pred_folder/*.json, are read.
Prompt   The picture, then the question, as in VLMEvalKit and lmms-eval. The authors do not publish
         their requests. Replies are limited to 2,048 tokens here, and to 128 in lmms-eval.
Scoring  `official`: OCRBench_v2/eval_scripts/eval.py#L33-L366 and get_score.py#L35-L116; the rules
         are in families/ocrbench_v2_rules.py. `english` and `chinese` are the authors' overall
         scores: the mean over abilities of the mean over their questions. `score` is the mean over
         all questions. Where the authors' script stops at a reply, the reply has the score 0.
         Translations without a reference, and tables whose question names no form, are left out.
         `vlmevalkit`, `lmms-eval`, `evalscope`: their copies of the rules. They differ for answers
         that are a plain text instead of a list, and `evalscope` ignores case in counting. In
         lmms-eval, the overall scores are means over questions. Their handling of errors differs.
         Full-page OCR, fine-grained recognition, translation, and handwritten short answers need
         BLEU and METEOR, and so the packages jieba and nltk (the extra `ocr`) and nltk's WordNet
         (`python -m nltk.downloader wordnet`). Without them, a run needs --no-score. If such
         replies are scored without the packages, these types have no score, and there are no
         overall scores. Without WordNet, scoring stops at a reply that needs it.
Proof    For 735 generated replies to all types, every score equals that of the authors' code, and
         so do 657 of the copies (tests/parity). No word of these has synonyms in WordNet. For 300
         generated pairs of English words with synonyms, and for 1,440 further replies about tables,
         charts, pages, key information, and boxes, all scores are equal, too. No test repeats
         this comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families import ocrbench_v2_rules as rules
from snellen.benchmarks.families.ocrbench_v2_boxes import bounds
from snellen.benchmarks.families.results import by_row
from snellen.benchmarks.families.tasks import parse_verbatim
from snellen.benchmarks.families.text_overlap import check_installation, missing_packages
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.errors import install
from snellen.media.content import Image, user
from snellen.metrics import Metric, macro_average, mean
from snellen.metrics.only_tagged import only_tagged
from snellen.text.literals import literal

KIND = "mixed"
LANGUAGES = ("en", "zh")
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 10000
AUTHORS = "Yuliang-Liu/MultimodalOCR@794c36d6423cf1d5764081128bcaeb46b240def6:OCRBench_v2"
LMMS = f"{pins.LMMS_EVAL}:lmms_eval/tasks"
SOURCES: Mapping[rules.Tool, str] = {
    "official": f"{AUTHORS}/eval_scripts/eval.py#L33-L366",
    "vlmevalkit": f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/Ocrbench_v2/vqa_metric.py",
    "lmms-eval": f"{LMMS}/ocrbench_v2/utils.py#L93-L452",
    "evalscope": (
        "modelscope/evalscope@fde259d2a32ab8a4cdb3af44dc8b18f504f1e277:evalscope/benchmarks/"
        "ocr_bench/ocr_bench_v2/vqa_metric.py"
    ),
}
ALIASES: Mapping[str, Mapping[str, str]] = {"OCRBench_v2": {}, "ocr_bench_v2": {}}
FILES_PUBLISHED = (
    File(
        name="OCRBench_v2.tsv",
        # The digest is that of VLMEvalKit, vlmeval/dataset/image_vqa.py#L3926-L3932.
        url="https://huggingface.co/datasets/QYWH/ocrbench_v2/resolve/main/OCRBench_v2.tsv",
        md5="65d04fe07b4d4ee33e73fc8e7d4d46b0",
    ),
)
NAMES = ("OCRBench_v2.json", "OCRBench_v2/OCRBench_v2.json", "OCRBench_v2.tsv")
NONE = (None, "", "None", "without eval", "without bbox", "without content")
LEAVES = {
    **dict.fromkeys(rules.RULES, "OCR/text"),
    **{name: "OCR/document" for name in rules.RULES if "key information" in name},
    **{name: "OCR/document" for name in rules.RULES if "document" in name or "full-page" in name},
    **{name: "OCR/table" for name in rules.RULES if "table" in name or "chart" in name},
    **{name: "OCR/formula" for name in rules.RULES if "formula" in name},
    **{"math QA en": "reasoning/mathematical", "science QA en": "knowledge/domain"},
    **{"ASCII art classification en": "perception/object", "diagram QA en": "OCR/document"},
}


def ocrbench_v2(data: Path | None = None) -> Benchmark:
    data_file = find(data, "ocrbench-v2", NAMES, FILES_PUBLISHED)
    table, file = authors_files.table(data_file, authors_files.objects)
    lacking = missing_packages()
    note = (
        f"Types of questions that need {' and '.join(lacking)} are not scored, so there are no "
        f"overall scores. Run `{install('ocr')}`, then score again."
    )
    return Benchmark(
        name="ocrbench-v2",
        asks=1,
        data=table,
        sample=lambda index, row: to_sample(index, row, data_file, bool(lacking)),
        prompt=lambda sample, _: (user(*sample.media, sample.question),),
        scorings={tool: scoring(tool, bool(lacking)) for tool in SOURCES},
        max_answer_tokens=2048,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(says=says, wrong=lambda _: "~", expect=expectations(bool(lacking))),
        presentation=Presentation(
            break_down_by=("language", "ability", "type"),
            capabilities=Capabilities(
                tag="type", leaves=LEAVES, source="https://arxiv.org/abs/2501.00321, section 3"
            ),
            notes=(note,) if lacking else (),
        ),
        interop=Interop(files=file, layout=by_row("id", "predict")),
    )


def scoring(tool: rules.Tool, lacking: bool) -> Scoring:
    average = mean if tool == "lmms-eval" else macro_average("ability")
    overall = {
        name: Metric(only_tagged(average, "language", [language]), better="higher")
        for name, language in (("english", "en"), ("chinese", "cn"))
    }
    return Scoring(
        version=1,
        source=SOURCES[tool],
        parse=parse_verbatim,
        score=partial(rules.score, tool=tool),
        metrics={**({} if lacking else overall), "score": Metric(mean, better="higher")},
        missing="wrong",
        partial=True,
        check_installation=check_installation,
    )


def to_sample(index: int, row: Row, data_file: DataFile, lacking: bool) -> Sample:
    kind = str(row.get("type") or row["category"])
    if kind not in rules.RULES:
        raise ValueError(f"{kind!r} is no type of OCRBench v2's questions")
    fields = {name: cell(row, name) for name in ("eval", "bbox", "content")}
    fields["bbox"] = cell(row, "bbox_list") or fields["bbox"]
    answers = literal(row["answer"]) if "answers" not in row else row["answers"] or []
    answers = [*answers] if isinstance(answers, tuple) else answers
    if fields["eval"] == "regression":
        [int(answer) for answer in rules.texts_of(answers)]  # numbers, or the row is wrong
    if row.get("image_path") and not row.get("image"):
        name, folder = row["image_path"], data_file.path.parent
        picture = Image(folder / name, label=name, within=folder)
    else:
        picture = authors_files.picture(row)
    sample = Sample(
        id=str(row.get("id", row.get("index", index))),
        question=row["question"],
        media=(picture,),
        references=tuple(rules.texts_of(answers or fields["content"] or [])),
        tags={"language": kind[-2:], "ability": rules.ABILITY_OF[kind], "type": kind},
        data={
            **{"type": kind, "question": row["question"], "answers": answers, **fields},
            "image": row.get("image_path") or authors_files.picture_key(picture),
        },
    )
    return sample if rules.is_scored(sample.data, lacking) else rules.without_answer(sample)


def cell(row: Row, name: str) -> Any:
    """The value of a cell that may be empty. In a TSV, a list is a Python literal."""
    value = row.get(name)
    if isinstance(value, str) and value in NONE:
        return None
    return literal(value) if isinstance(value, str) and name != "eval" else value


def says(sample: Sample, answer: str) -> str:
    """A right reply in the form that the rule of the sample's type reads."""
    kind, data = sample.tags["type"], cast(dict[str, Any], sample.data)
    if answer not in sample.references:
        return answer
    if kind == "text grounding en":
        return str(data["answers"])
    if kind == "text spotting en":
        words = zip(data["bbox"], data["content"], strict=True)
        return str([[*bounds(corners), word] for corners, word in words])
    if "key information" in kind:
        rights = rules.rights_of(answer, split_text=False)
        return str({key: values[0] for key, values in rights.items()})
    if kind == "VQA with position en":
        return str({"answer": answer, "bbox": data["bbox"]})
    return answer


def expectations(lacking: bool) -> Mapping[str, Mapping[str, float]]:
    """What dummy models must have. A wrong reply has 0 for all questions but two: a page is one
    line as the reply is, and a Markdown table with 6 nodes has a row in common with any reply."""
    wrong, silent = 3 / 5 + 1 / 6, 2 / 5 + 1 / 6
    expect: dict[str, Mapping[str, float]] = {}
    for tool in SOURCES:
        # 5 of the 21 questions in English are of this ability, one of 8. 6 in Chinese are no texts.
        questions = 27 if lacking else 21 if tool == "lmms-eval" else 5 * 8
        expect[tool] = {
            **{"oracle": 1.0, "wrong": wrong / questions},
            **{"silent": silent / questions, "hedging": wrong / questions},
        }
    return expect

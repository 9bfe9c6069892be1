"""CC-OCR: text in scenes and ten languages, document parsing, and key information, in 39 data sets.

Paper    Yang et al. 2024, CC-OCR: A Comprehensive and Challenging OCR Benchmark for Evaluating
         Large Multimodal Models in Literacy, https://arxiv.org/abs/2412.02210 (ICCV 2025).
Data     VLMEvalKit's CCOCR.tsv has all 7,058 pictures with their questions. Each of the authors'
         data sets is also a TSV file in Qwen/CC-OCR on ModelScope and wulipc/CC-OCR on the Hugging
         Face hub, which can be passed. The id is the row's `index`.
Prompt   The picture, then the question of its row. 2,048 tokens, as in VLMEvalKit.
Scoring  `official`: AlibabaResearch/AdvancedLiterateMachinery@fb6187ebe5374d5682ac0bc05f31e3639ab6f
         b15:Benchmarks/CC-OCR/evaluation/evaluator/{ocr,doc_parsing,kie}_evaluator.py.
         Text: F1 of words, or of characters in Chinese, Japanese, Korean, and Arabic. In the track
         multi_scene_ocr, only A-Z, a-z, and 0-9 of a word count. The authors add 1e-9 to each
         denominator: a perfect reply has 0.999999999, and two empty texts have 0.
         Documents, formulas, molecules: 1 minus the edit distance over the longer length. Tables:
         TEDS (families/html_tables.py). Key information: accuracy by tree edit distance and F1
         (families/key_values.py). A ```json fence must be closed.
         `score` is the mean of the tracks, each the mean of its data sets: macro F1, similarity,
         or accuracy. `micro_f1` is that of all words, and `kie_f1` that of all fields.
         VLMEvalKit's copy differs: it repairs broken JSON, and does not clean tables.
Proof    For the 1,300 generated pairs of the golden pack, all scores and figures equal those of the
         authors' code (tests/parity). No model outputs are published.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from snellen import stats
from snellen.benchmarks.families import choice_sets, key_values
from snellen.benchmarks.families.edit_distance import plain_similarity
from snellen.benchmarks.families.html_tables import page_of, teds
from snellen.benchmarks.families.tasks import parse_verbatim
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Filtered, Row, find
from snellen.media.content import user
from snellen.metrics import Columns, Metric, mean, metric
from snellen.stats import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

KIND = "mixed"
LANGUAGES = ("en", "zh", "ar", "de", "es", "fr", "it", "ja", "ko", "pt", "ru", "vi")
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 7058
OTHER_SIZES = {
    "track=multi_scene_ocr": 2750,
    "track=multi_lan_ocr": 1500,
    "track=doc_parsing": 800,
    "track=kie": 2008,
}
SOURCE = (
    "AlibabaResearch/AdvancedLiterateMachinery@fb6187ebe5374d5682ac0bc05f31e3639ab6fb15:"
    "Benchmarks/CC-OCR/evaluation/evaluator"
)
ALIASES = {"CCOCR": {"track": "all"}}
FILES_PUBLISHED = (own_sheet("CCOCR", md5="f8927b76510ffe04e59d45e3f8e8b620"),)
SMALL = {"kie": 1e-6, "doc_parsing": 0.0}
"""What the authors add to the number of pictures, if it is not 1e-9."""
BY_CHARACTER = ("Arabic", "Japanese", "Korean")
LATEX = re.compile(
    r"\\documentclass\{.*?\}|\\usepackage\[.*?\]\{.*?\}|\\usepackage\{.*?\}|\\geometry\{.*?\}"
    r"|\\begin\{document\}|\\end\{document\}|\\noindent"
)
WIDE = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
LEAVES = {
    **dict.fromkeys(("multi_scene_ocr", "multi_lan_ocr"), "OCR/text"),
    **dict.fromkeys(("doc", "kie"), "OCR/document"),
    **{"table": "OCR/table", "formula": "OCR/formula", "molecular": "OCR/formula"},
}

Track = Literal["all", "multi_scene_ocr", "multi_lan_ocr", "doc_parsing", "kie"]


def cc_ocr(track: Track = "all", data: Path | None = None) -> Benchmark:
    data_file = find(data, "cc-ocr", ("CCOCR.tsv",), FILES_PUBLISHED)
    table, file = choice_sets.table_of(data_file)
    # The small numbers in denominators: 1e-6 in a quarter of the mean, and about 1e-9 elsewhere.
    right = {"oracle": 1 - 1e-6 / 4 - 1e-9, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="cc-ocr",
        asks=1,
        data=table if track == "all" else Filtered(table, lambda row: row["category"] == track),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, sample.question),),
        scorings={
            "official": Scoring(
                version=1,
                source=SOURCE,
                parse=parse,
                score=score,
                metrics=METRICS,
                missing="wrong",
                partial=True,
            )
        },
        max_answer_tokens=2048,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(says=lambda _, answer: answer, wrong=lambda _: "?", expect={"official": right}),
        presentation=Presentation(
            break_down_by=("track", "dataset"),
            capabilities=Capabilities(
                tag="kind", leaves=LEAVES, source="https://arxiv.org/abs/2412.02210, section 3"
            ),
        ),
        interop=Interop(files=file),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    media = choice_sets.pictures(row["image"], data_file)
    track, kind = row["category"], row["l2-category"]
    if track == "kie":
        try:
            json.loads(row["answer"])
        except ValueError as error:
            raise ValueError(f"the answer is not valid JSON: {error}") from error
    return Sample(
        id=choice_sets.id_of(row),
        question=row["question"],
        media=media,
        target=row["answer"],
        tags={
            "track": track,
            "dataset": f"{track}/{row['split']}",
            "kind": kind if track == "doc_parsing" else track,
        },
        data={"image": row.get("image_name") or choice_sets.id_of(row)},
    )


# -- scoring


def parse(reply: Reply, sample: Sample) -> Reading:
    if sample.tags["track"] != "kie":
        return parse_verbatim(reply, sample)
    value = key_values.of_reply(reply.text)
    if value is None:
        return Reading(answer=None, rule="no JSON")
    return Reading(answer=json.dumps(value, ensure_ascii=False), rule="JSON")


def score(reading: Reading, sample: Sample) -> float:
    text, right = str(reading.answer or ""), sample.target or ""
    kind = sample.tags["kind"]
    if kind == "kie":
        return key_values.accuracy(json.loads(text or "{}"), json.loads(right))
    if kind == "table":
        return teds(page_of(clean_tables(fenced(text, "html"))), page_of(clean_tables(right)))
    if kind not in ("doc", "formula", "molecular"):
        return harmonic(*overlap(text, right, sample.tags["dataset"]))
    if kind == "doc":
        text, right = fenced(LATEX.sub("", text), "latex"), right.replace("\n", "")
    drops = {
        "doc": "\n",
        "formula": ("```latex", "```", "\n", "\t"),
        "molecular": ("\n", " ", "<smiles>", "</smiles>"),
    }[kind]
    for part in drops:
        text = text.replace(part, "")
    text, right = text.replace(" ", ""), right.replace(" ", "")
    return plain_similarity(text, right) if text and right else 0.0


def fenced(text: str, name: str) -> str:
    """The text in the first fence of this name, or after it if it is not closed."""
    match = re.search(rf"```{name}(.+?)```", text, re.DOTALL)
    return match[1] if match else text.split(f"```{name}")[1] if f"```{name}" in text else text


def clean_tables(text: str) -> str:
    """All tables of a text without attributes of `table`, and without blanks between tags."""
    if "</table>" not in text:
        text += "</table>"
    tables = []
    for table in tables_in(text):
        bare = re.sub(r">\s+<", "><", "\n".join(map(without_attributes, table.split("\n"))))
        bare = re.sub(r">.*?<", lambda match: re.sub("[\n ]", "", match[0]), bare, flags=re.DOTALL)
        tables.append(bare.replace("\n", "").strip())
    return "".join(tables).translate(WIDE)


def tables_in(text: str) -> Iterator[str]:
    """The matches of `<table.*?>.*?</table>`, in linear time."""
    position = 0
    while (start := text.find("<table", position)) >= 0:
        tag_end = text.find(">", start + len("<table"))
        end = text.find("</table>", tag_end + 1) if tag_end >= 0 else -1
        if end < 0:
            return
        position = end + len("</table>")
        yield text[start:position]


def without_attributes(line: str) -> str:
    """Remove the attributes of the `table` tags in a line. A tag that begins after the last ">" of
    the line is not closed, so it stays as it is."""
    end = line.rfind(">") + 1
    return re.sub(r"<table.*?>", "<table>", line[:end]) + line[end:]


def tokens(text: str, dataset: str) -> list[str]:
    """The words of a text, or its characters, in lowercase."""
    track, _, name = dataset.partition("/")
    by_word = name not in BY_CHARACTER and "zh" not in name
    text = text.strip().replace("\t", " ").replace("\n", " ").replace("###", "").replace("***", "")
    text = re.sub(r"\s+", " ", text)
    parts = [part.lower() for part in (text.split(" ") if by_word else text.replace(" ", ""))]
    if by_word and "multi_scene_ocr" in track:
        parts = [re.sub("[^A-Za-z0-9]+", "", part) for part in parts]
    return [part for part in parts if part]


def overlap(text: str, right: str, dataset: str) -> tuple[int, int, int]:
    """The numbers of right tokens, of tokens in the reference, and of tokens in the reply."""
    replied, wanted = tokens(text, dataset), tokens(right, dataset)
    return (Counter(replied) & Counter(wanted)).total(), len(wanted), len(replied)


def harmonic(hits: float, wanted: float, replied: float) -> float:
    recall, precision = hits / (wanted + 1e-9), hits / (replied + 1e-9)
    return 2 * recall * precision / (recall + precision + 1e-9)


# -- metrics


def names(columns: Columns, tag: str) -> list[str]:
    category = columns.tags[tag]
    return [category.names[code] for code in category.codes]


def mean_of_tracks(columns: Columns) -> Estimate:
    """The mean over tracks of the mean over data sets of the mean score. The authors add a small
    number to the number of a data set's pictures."""
    import numpy as np

    if columns.score is None:
        raise ValueError("a mean needs a score for each sample")
    sets, code = np.unique(np.array(names(columns, "dataset"), dtype=str), return_inverse=True)
    tracks = [str(name).partition("/")[0] for name in sets]
    small = np.array([SMALL.get(track, 1e-9) for track in tracks])
    share = np.array([1 / tracks.count(track) for track in tracks]) / max(len({*tracks}), 1)
    clusters, cluster = np.unique(columns.cluster, return_inverse=True)
    weight = np.ones(columns.n) if columns.weight is None else columns.weight
    shape = len(clusters), len(sets)
    sums = np.concatenate(
        [
            np.bincount(cluster * len(sets) + code, part, shape[0] * shape[1]).reshape(shape)
            for part in (weight * columns.score, weight)
        ],
        axis=1,
    )

    def average(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        scores, counts = np.split(totals, 2, axis=1)
        # A resample without any picture of a data set has no value.
        means = np.where(counts > 0, scores / np.maximum(counts + small, 1e-12), np.nan)
        value: NDArray[np.float64] = means @ share
        return value

    return stats.bootstrap_sums(sums, average, n=columns.n, clusters=clusters)


def of_sums(
    tracks: Sequence[str],
    count: Callable[[str, str, str], tuple[int, ...]],
    value: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Metric:
    """A metric of the sums of counts over the samples of some tracks. `count` gets an answer, the
    right one, and the data set."""

    def compute(columns: Columns) -> Estimate:
        import numpy as np

        rows = columns.where(np.array([name in tracks for name in names(columns, "track")], bool))
        if not rows.n:
            return Estimate(value=None, n=0, reason=f"no sample of {' or '.join(tracks)}")
        triples = zip(rows.answer, rows.target, names(rows, "dataset"), strict=True)
        counts = np.array(
            [count(str(text or ""), str(right or ""), name) for text, right, name in triples]
        )
        clusters, cluster = np.unique(rows.cluster, return_inverse=True)
        weight = np.ones(rows.n) if rows.weight is None else rows.weight
        sums = np.stack(
            [np.bincount(cluster, weight * part, len(clusters)) for part in counts.T], 1
        )
        return stats.bootstrap_sums(sums.astype(np.float64), value, n=rows.n, clusters=clusters)

    return Metric(compute, better="higher", unit="fraction")


@metric(better="higher", unit="fraction")
def response_success_ratio(columns: Columns) -> Estimate:
    """The share of samples with a reply, whether or not the reply can be parsed."""
    import numpy as np

    replied = np.array([name != "no-reply" for name in columns.state.names], dtype=np.float64)
    return mean(replace(columns, score=replied[columns.state.codes]))


def micro(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    hits, wanted, replied = totals.T
    recall, precision = hits / (wanted + 1e-9), hits / (replied + 1e-9)
    value: NDArray[np.float64] = 2 * recall * precision / (recall + precision + 1e-9)
    return value


def donut(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    hits, others = totals.T
    value: NDArray[np.float64] = hits / (hits + others / 2 + 1e-6)
    return value


METRICS = {
    "score": Metric(mean_of_tracks, better="higher", unit="fraction"),
    "micro_f1": of_sums(("multi_scene_ocr", "multi_lan_ocr"), overlap, micro),
    "kie_f1": of_sums(
        ("kie",),
        lambda text, right, _: key_values.counts(json.loads(text or "{}"), json.loads(right)),
        donut,
    ),
    "response_success_ratio": response_success_ratio,
}

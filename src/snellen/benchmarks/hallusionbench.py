"""HallusionBench: yes/no questions about figures that are original, edited, or absent.

Paper    Guan et al. 2024, HallusionBench: An Advanced Diagnostic Suite for Entangled Language
         Hallucination and Visual Illusion in Large Vision-Language Models,
         https://arxiv.org/abs/2310.14566 (CVPR).
Data     The questions are in tianyi-lab/HallusionBench@744007c232c292942c7f80eb61edb2465482da31:
         HallusionBench.json, under BSD-3-Clause. The pictures are on Google Drive (see the README).
         Unpack hallusion_bench.zip next to HallusionBench.json.
         There are 1,129 questions on 346 figures. 178 questions have no picture.
         VD questions depend on the picture, which is original or edited. VS questions can be
         answered without a picture, and are asked with no picture, the original picture, or an
         edited picture.
         VLMEvalKit's HallusionBench.tsv can also be read. This file has the 951 rows with a
         picture.
         An id consists of category, subcategory, set, figure, and question, joined by _. For the
         TSV, the id is the row's index.
Prompt   `official`, `vlmevalkit`, `lmms-eval`: the picture, then the bare question.
         Replies are limited to 512 tokens. The authors state no limit, and a judge reads the whole
         reply. With prompt=lmms-eval, replies are limited to 128 tokens: EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/hallusion_bench/
         hallusion_bench_image.yaml#L18.
Scoring  `official`: a judge (GPT-4) compares the reply with the reference, utils.py#L26-L73. The
         judge's verdict is correct, incorrect, or unclear. An unclear reply counts as correct if
         there is no figure (VS, figure 0), #L404-L411.
         The metrics are those of evaluation.py. `aacc` is the share of questions answered
         correctly. `facc` is the share of figures with all questions answered correctly. `qacc` is
         the share of questions answered correctly for every figure that they are asked about.
         `easy_aacc` is like qacc but without the edited figures, and `hard_aacc` is like qacc but
         with only the edited figures.
         `figure_score`, `figure_inconsistent`, and `figure_wrong` are the shares of figures with
         all, only some, and none of their questions answered correctly. `yes_diff` and `yes_fp`
         measure the bias toward yes. Both metrics infer the answer from whether the reply is
         correct.
         `lh`, `vi`, and `mixed` are the shares of errors by cause, #L205-L338. The cause of a wrong
         reply depends on whether the reply is the same as the reply to the original figure. The
         authors ask the judge about this (`same`). Snellen does not ask: it takes the judge's
         answer from published files and otherwise assumes that the two replies are the same.
         `vlmevalkit`: the answer is yes or no if the reply contains exactly one of these two words.
         Only 951 questions are scored.
         `robust`: Snellen's own rule. A reply such as "I don't know" is unclear.
Proof    On seven generated sets of verdicts, every metric equals that of the official script
         (tests/parity).
         We do not have a judged file from the leaderboard.
         `vlmevalkit` and `robust` are checked on examples worked out by hand from the rules' code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from snellen import stats
from snellen.answers.yes_no import UNKNOWN
from snellen.benchmarks.families.yes_no import (
    KIT_RULE,
    YES_NO,
    robust_answer,
    vlmevalkit_answer,
    wrong_answer,
)
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
from snellen.data import DataFile, Filtered, Row, Table, find, json_list, vlmevalkit_tsv
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, Message, user
from snellen.metrics import Columns, Metric, mean, metric
from snellen.metrics.groups import NONE_COMPLETE, groups, share_of_groups
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REVISION = "744007c232c292942c7f80eb61edb2465482da31"
SOURCE = f"tianyi-lab/HallusionBench@{REVISION}:utils.py#L26-L426"
KIND = "yes-no"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "BSD-3-Clause"
PROOF = "authors' code"
SIZE = 1129
OTHER_SIZES = {"questions=image": 951}
ALIASES = {
    "HallusionBench": {"questions": "image", "prompt": "vlmevalkit"},
    "hallusion_bench_image": {"questions": "image", "prompt": "lmms-eval"},
}
KEYS = ("category", "subcategory", "set_id", "figure_id", "question_id")
LEAVES = {
    "VD_illusion": "hallucination/attribute",
    "VD_figure": "perception/attribute",
    "VD_math": "reasoning/mathematical",
    "VD_ocr": "OCR/text",
    "VD_video": "reasoning/temporal",
    "VS_chart": "OCR/table",
    "VS_table": "OCR/table",
    "VS_map": "perception/spatial",
    "VS_ocr": "OCR/text",
}
INPUT = {"0": "none", "1": "original", "2": "edited"}
"""The meaning of each value of `visual_input`."""
PUBLISHED = {
    "all": File(
        name="HallusionBench.json",
        url=f"https://raw.githubusercontent.com/tianyi-lab/HallusionBench/{REVISION}/HallusionBench.json",
        sha256="ca6e0fb677dd56e5fb0e2700d06c58d01f8a6ae66e0f1773b2ac48c0a095d051",
        note="the questions; the pictures are on Google Drive: see the README beside it",
    ),
    "image": File(
        name="HallusionBench.tsv",
        url="https://opencompass.openxlab.space/utils/VLMEval/HallusionBench.tsv",
        md5="0c23ac0dc9ef46832d7a24504f2a0c7c",
        note="951 questions with their pictures, as VLMEvalKit publishes them",
    ),
}
FILES = {
    "all": ("HallusionBench.json", "annotations.json"),
    "image": ("HallusionBench.tsv", "HallusionBench.json", "annotations.json"),
}

Questions = Literal["all", "image"]
Preset = Literal["official", "vlmevalkit", "lmms-eval"]


def hallusionbench(
    questions: Questions = "all", prompt: Preset = "official", data: Path | None = None
) -> Benchmark:
    files = published(questions)
    data_file = find(
        data, "hallusionbench", FILES[questions], files, f"hallusionbench:questions={questions}"
    )
    table: Table
    if str(data_file).endswith(".tsv"):
        table, sample = vlmevalkit_tsv(data_file), of_sheet
    else:
        table, sample = json_list(data_file, revision=REVISION), partial(to_sample, data_file)
        if questions == "image":
            table = Filtered(table, lambda row: row["visual_input"] != "0")
    return Benchmark(
        name="hallusionbench",
        asks=1,
        data=table,
        sample=lambda _, row: sample(row),
        prompt=lambda sample, _: (user(*sample.media, sample.question),),
        scorings=scorings(),
        max_answer_tokens=128 if prompt == "lmms-eval" else 512,
        cluster_by=set_of,
        check=Check(
            says=lambda _, answer: answer,
            wrong=wrong_answer,
            expect=EXPECT,
            verdict=right_verdict,
        ),
        procedure=Procedure(
            group_by=set_of,
            together=set_of,
        ),
        presentation=Presentation(
            break_down_by=("category", "subcategory", "input"),
            metric_tags=("figure", "question"),
            capabilities=Capabilities(
                tag="subcategory",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2310.14566, section 3.1",
            ),
        ),
        interop=Interop(
            files=data_file,
            layout=results,
        ),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    return {
        "official": Scoring(
            version=1,
            source=SOURCE,
            parse=for_the_judge,
            score=score,
            metrics=OFFICIAL,
            judge=Judge(
                name="official",
                # utils.py#L26: gpt_model="gpt-4"
                authors_model="gpt-4",
                prompt=judge_prompt,
                parse=verdict,
                when=lambda reading: reading.answer is None,
                temperature=None,
            ),
        ),
        "vlmevalkit": Scoring(
            version=1,
            source=KIT_RULE,
            parse=vlmevalkit_answer,
            score=vlmevalkit_score,
            metrics=SHARES,
        ),
        "robust": Scoring(
            version=1,
            source="ours",
            parse=robust_or_unclear,
            score=score,
            metrics={**SHARES, **LEVELS},
        ),
    }


def published(questions: Questions = "all", **_: object) -> tuple[File, ...]:
    """The published file with the questions."""
    return (PUBLISHED[questions],)


def to_sample(data_file: DataFile, row: Row) -> Sample:
    media: tuple[Image, ...] = ()
    if row["filename"]:
        inside = "hallusion_bench/" if (data_file.folder / "hallusion_bench").is_dir() else ""
        media = (data_file.image(inside + row["filename"].removeprefix("./")),)
    return sample_of(name_of(row), row, f"{row['category']}_{row['subcategory']}", media)


def name_of(row: Mapping[str, Any]) -> str:
    """The name by which the authors' script refers to a question."""
    return "_".join(str(row[key]) for key in KEYS)


def of_sheet(row: Row) -> Sample:
    """Make a sample from a row of VLMEvalKit's TSV. The last three parts of the row's index are
    set, figure, and question (vlmeval/dataset/utils/yorn.py#L116-L119). The part before these three
    is the authors' `visual_input`."""
    parts = row["index"].split("_")
    fields = {
        **row,
        "set_id": parts[3],
        "figure_id": parts[4],
        "question_id": parts[5],
        "gt_answer": {"yes": "1", "no": "0"}[row["answer"].strip().lower()],
        "visual_input": parts[2],
    }
    return sample_of(row["index"], fields, row["l2-category"], tuple(row["image"]))


def sample_of(
    name: str, row: Mapping[str, Any], subcategory: str, media: tuple[Image, ...]
) -> Sample:
    return Sample(
        id=name,
        question=row["question"],
        choices=YES_NO,
        media=media,
        target=YES_NO[1 - int(row["gt_answer"])],
        tags={
            "category": row["category"],
            "subcategory": subcategory,
            "input": INPUT.get(row["visual_input"], ""),
            "figure": f"figure {row['figure_id']}",
            "question": f"question {row['question_id']}",
        },
        data={"set": row["set_id"], "reference": row.get("gt_answer_details", "")},
    )


def set_of(sample: Sample) -> str:
    """The key of the sample's set, as numbered in the data. Samples with the same figure, and
    samples with the same question, are always in the same set."""
    return f"{sample.tags['subcategory']}_{sample.data['set']}"


# -- scoring

JUDGE = (
    "Imagine you are an intelligent teacher. Thoroughly read the question, reference answer and "
    "the prediction answer to ensure a clear understanding of the information provided. Assess the "
    "correctness of the predictions. If the prediction answer does not conflict with the reference "
    "answer, please generate “correct”. If the prediction answer conflict with the reference "
    "answer, please generate “incorrect”. If the prediction answer is unclear about the answer, "
    'please generate "unclear". \n\n Question:{question}\nReference answer: {reference}\n'
    "Prediction answer:{reply}\nOutput:"
)
OTHERWISE = "incorrect, different"
"""A verdict in published files. It means that the reply is wrong, and that it differs from the
model's reply about the original figure."""


def for_the_judge(reply: Reply, sample: Sample) -> Reading:
    return Reading(answer=None, rule="for the judge")


def judge_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    """Make the judge's prompt.

    Raises:
        DataError: the rows have no references, as in VLMEvalKit's TSV.
    """
    if not sample.data["reference"]:
        raise DataError(
            f"hallusionbench: the judge compares replies with gt_answer_details, which question "
            f"{sample.id} lacks. Ask the questions of the authors' HallusionBench.json instead."
        )
    parts = {"question": sample.question, "reference": str(sample.data["reference"])}
    return (user(JUDGE.format(**parts, reply=reply.text)),)


def verdict(words: str, sample: Sample) -> Reading:
    """Parse the judge's verdict: "incorrect" if the text contains this word, "correct" if it
    contains only this word, and otherwise "unclear". An empty text is unparsed."""
    if not words.strip():
        return Reading(answer=None, rule="nothing said")
    if words == OTHERWISE:
        return Reading(answer=OTHERWISE, rule="incorrect")
    answer = next((word for word in ("incorrect", "correct") if word in words.lower()), "unclear")
    return Reading(answer=answer, rule=answer)


def robust_or_unclear(reply: Reply, sample: Sample) -> Reading:
    """Parse yes or no. The answer is "unclear" for a reply such as "I don't know"."""
    reading = robust_answer(reply, sample)
    if reading.rule == UNKNOWN:
        return Reading(answer="unclear", rule=UNKNOWN)
    return reading


def score(reading: Reading, sample: Sample) -> float:
    """1 if the answer is right, or if the answer is unclear and there is no figure, else 0."""
    if reading.answer == "unclear":
        return float(sample.tags["category"] == "VS" and sample.tags["figure"] == "figure 0")
    return float(reading.answer in ("correct", sample.target))


def vlmevalkit_score(reading: Reading, sample: Sample) -> float | None:
    """1 if the answer is right, else 0. None for a question without a picture, since VLMEvalKit
    does not ask such questions."""
    return float(reading.answer == sample.target) if sample.media else None


# -- figures


@metric(better="higher", unit="fraction")
def average(columns: Columns) -> Estimate:
    """The mean of aacc, facc, and qacc, which many tables report. In [0, 1]; higher is better. The
    bootstrap for the interval resamples sets of questions."""
    import numpy as np

    if not columns.n or columns.score is None:
        return Estimate(value=None, n=0, reason="no scores")
    clusters, cluster = np.unique(columns.cluster, return_inverse=True)
    n_clusters = len(clusters)
    shown = columns.tagged("input", FIGURE["input"])
    sums = []
    for of, right in (
        (cluster, columns.score),
        of_groups(shown, columns, "figure", "question"),
        of_groups(columns, columns, "question", "figure"),
    ):
        if not len(of):
            return Estimate(value=None, n=0, reason=NONE_COMPLETE)
        for what in (right, np.ones(len(of))):
            sums.append(np.bincount(of, weights=what, minlength=n_clusters).astype(np.float64))

    def mean_of_three(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        value: NDArray[np.float64] = (totals[:, ::2] / totals[:, 1::2]).mean(axis=1)
        return value

    return stats.bootstrap_sums(
        np.stack(sums, axis=1), mean_of_three, n=columns.n, clusters=clusters
    )


def of_groups(
    columns: Columns, all_columns: Columns, by: str, across: str
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Two arrays with an element for each group: the index of the group's cluster among the
    clusters of `all_columns`, and 1 if all replies in the group are right, else 0."""
    import numpy as np

    grouping = groups(columns, by, across)
    return np.searchsorted(np.unique(all_columns.cluster), grouping.cluster), grouping.all_right


@metric(better=None, unit="difference")
def yes_diff(columns: Columns) -> Estimate:
    """The share of yes among the replies minus the share of yes among the right answers, in [-1,
    1]; 0 is best. As in evaluation.py, a correct reply is taken to give the right answer, and any
    other reply is taken to give the opposite answer."""
    import numpy as np

    right = (columns.target == "yes").astype(np.float64)
    implied_yes = 1 - np.abs(scores(columns) - right)
    return ratio(columns, implied_yes - right, np.ones(columns.n), unit="difference")


@metric(better=None, unit="fraction")
def yes_fp(columns: Columns) -> Estimate:
    """Among the wrong replies, the share of those to questions whose right answer is no. In [0, 1];
    1/2 is unbiased. There is no value if no reply is wrong, a case in which evaluation.py divides
    by zero."""
    import numpy as np

    wrong = 1 - scores(columns)
    return ratio(columns, wrong * (columns.target != "yes").astype(np.float64), wrong)


def blame(kind: Literal["lh", "vi", "mixed"]) -> Metric:
    """The share of wrong or unclear replies with this cause: language hallucination (lh), visual
    illusion (vi), or both (mixed). In [0, 1]; utils.py#L231-L287. There is no value if no reply is
    wrong or unclear."""

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        kinds = np.array(blamed(columns), dtype=object)
        is_kind = (kinds == kind).astype(np.float64)
        return ratio(columns, is_kind, (kinds != "").astype(np.float64))

    return Metric(metric, unit="fraction", name=kind)


def blamed(columns: Columns) -> list[str]:
    """The cause of the error in each row: lh, vi, or mixed. For a row without a cause, "".

    The cause is inferred from the reply about figure 0, which is the original figure for VD, and no
    figure for VS. The reply about figure 0 shows whether vision or language failed. If this reply
    is missing, a wrong or unclear VD row counts as vi, and a VS row has no cause.
    """
    category, shown, figure, question = (
        [columns.tags[tag].names[code] for code in columns.tags[tag].codes]
        for tag in ("category", "input", "figure", "question")
    )
    keys = list(zip(columns.cluster.tolist(), question, strict=True))
    first: dict[tuple[int, str], object] = {}
    for key, name, answer in zip(keys, figure, columns.answer, strict=True):
        if name == "figure 0":
            first.setdefault(key, answer)
    kinds = []
    for index, answer in enumerate(columns.answer):
        same = answer != OTHERWISE
        wrong, unclear = answer in ("incorrect", OTHERWISE), answer == "unclear"
        before = first.get(keys[index])
        before_wrong = before in ("incorrect", OTHERWISE)
        if not wrong and not unclear:
            kinds.append("")
        elif category[index] == "VD":
            mixed = figure[index] != "figure 0" and before == "correct" and wrong and same
            kinds.append("mixed" if mixed else "vi")
        elif figure[index] == "figure 0":
            kinds.append("lh" if wrong else "")
        elif before_wrong:
            kinds.append("lh" if wrong and same else "mixed")
        elif before == "correct" and wrong and shown[index] == "edited":
            kinds.append("lh" if same else "vi")
        else:
            kinds.append("vi" if before is not None else "")
    return kinds


def scores(columns: Columns) -> NDArray[np.float64]:
    if columns.score is None:
        raise ValueError("a bias needs a score for each sample, and this scoring gives none")
    return columns.score


def ratio(
    columns: Columns,
    part: NDArray[np.float64],
    total: NDArray[np.float64],
    unit: str = "fraction",
) -> Estimate:
    """The sum of `part` divided by the sum of `total`, with an interval from a bootstrap that
    resamples clusters. Both arrays have the shape (n,)."""
    import numpy as np

    clusters, cluster = np.unique(columns.cluster, return_inverse=True)
    sums = np.stack(
        [np.bincount(cluster, weights=what).astype(np.float64) for what in (part, total)], axis=1
    )
    return stats.bootstrap_sums(sums, stats.ratio, n=columns.n, unit=unit, clusters=clusters)


FIGURE = {"input": ("original", "edited", "")}
SHARES: Mapping[str, Metric] = {
    "aacc": Metric(mean, better="higher"),
    "facc": share_of_groups("figure", "question", where=FIGURE),
    "qacc": share_of_groups("question", "figure"),
    "average": average,
}
LEVELS: Mapping[str, Metric] = {
    "easy_aacc": share_of_groups("question", "figure", where={"input": ("none", "original")}),
    "hard_aacc": share_of_groups("question", "figure", where={"input": ("edited",)}),
}
OFFICIAL: Mapping[str, Metric] = {
    **SHARES,
    **LEVELS,
    "figure_inconsistent": share_of_groups("figure", "question", "some right", FIGURE),
    "figure_wrong": share_of_groups("figure", "question", "none right", FIGURE),
    "figure_score": share_of_groups("figure", "question", "right", FIGURE),
    "yes_diff": yes_diff,
    "yes_fp": yes_fp,
    "lh": blame("lh"),
    "vi": blame("vi"),
    "mixed": blame("mixed"),
}


# -- the authors' files of results

REPLIES = ("model_prediction", "gpt4v_output", "llava_1_5_output")
CHECKS = ("gpt4v_output_gpt_check", "llava_1_5_output_gpt_check")
WORDS = {"0": "incorrect", "1": "correct", "2": "unclear"}


def results(path: Path) -> Published | None:
    """Read the authors' results: HallusionBench_result.json, or the files with the judge's
    verdicts. The authors' evaluation.py writes one such file, hallusion_output_*.json, for VD and
    another for VS. `path` is a file, or a folder with such files."""
    replies: dict[str, str | None] = {}
    verdicts: dict[str, tuple[str, ...]] = {}
    for file in sorted(path.glob("*.json*")) if path.is_dir() else [path]:
        for row in rows_of(file):
            where = f"{file}, row {row.position + 1}"
            name = name_of(row)
            if name in replies:
                raise DataError(f"{where} is a second reply to {name}. Remove one of them.")
            reply = next((row[key] for key in REPLIES if key in row), None)
            if reply is not None and not isinstance(reply, str):
                raise DataError(f"{where}: the reply to {name} is {reply!r}. It must be text.")
            replies[name] = reply
            check = next((str(row[key]) for key in CHECKS if key in row), None)
            if check is None:
                continue
            if check not in WORDS:
                raise DataError(
                    f"{where}: the verdict on {name} is {check!r}. Verdicts must be 0, 1, or 2."
                )
            different = check == "0" and str(row.get("same", "1")) == "0"
            verdicts[name] = (OTHERWISE if different else WORDS[check],)
    if not replies:
        return None
    notes = ["verdicts are the published ones of a judge"] if verdicts else []
    return Published(
        replies=replies,
        verdicts={"official": verdicts} if verdicts else {},
        notes=tuple(notes),
    )


def rows_of(file: Path) -> list[Row]:
    """The rows of a file of results. The list is empty for any other file."""
    try:
        rows = list(json_list(file))
    except DataError:
        return []
    fields = {*KEYS, "question"}
    known = rows and all(
        fields <= row.keys() and not row.keys().isdisjoint(REPLIES) for row in rows
    )
    return rows if known else []


# -- check


def right_verdict(sample: Sample, reply: Reply) -> str:
    answer = robust_answer(reply, sample).answer
    if answer is None:
        return "unclear"
    return "correct" if answer == sample.target else "incorrect"


PERFECT = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
UNCLEAR = 2 / 14
"""The share of the bundled questions that have no figure. For these questions, the answer "unclear"
is right."""
EXPECT = {
    "official": {**PERFECT, "silent": UNCLEAR, "hedging": UNCLEAR},
    "vlmevalkit": PERFECT,
    "robust": PERFECT,
}

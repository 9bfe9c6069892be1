"""POPE: is an object in the image? Half of the answers are yes, in three sets of questions.

Paper    Li et al. 2023, Evaluating Object Hallucination in Large Vision-Language Models,
         https://arxiv.org/abs/2305.10355 (EMNLP).
Data     RUCAIBox/POPE@3df3ba1b110ecce25696989577fad583b67d4239:output/, under MIT. Each set has
         3,000 questions about 500 images.
         Questions with the answer no ask about absent objects: random objects (set random),
         frequent objects (popular), or objects that often appear together with the objects in the
         image (adversarial).
         `images=coco` uses COCO val2014. `images=aokvqa` and `images=gqa` use images that were
         labeled by SEEM.
         `release=e3e3926` is the older COCO set, which LLaVA's and many other published figures
         use. In this older release, the set random has 2,910 questions.
         Ids are the same as in LLaVA: question_id, plus 10,000,000 in random and 20,000,000 in
         popular.
Prompt   `official`: the picture, then the question. The authors' files contain only the question.
         `vlmevalkit`: the same as official.
         `llava`, `lmms-eval`: like official, followed by LLaVA's sentence about a single word or
         phrase, haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:docs/
         Evaluation.md#L16-L17, EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
         lmms_eval/tasks/pope/pope.yaml#L33-L36.
         Replies are limited to 128 tokens, as in LLaVA and lmms-eval.
Scoring  `official`: evaluate.py#L9-L34. The answer is no if the first sentence contains the word
         No, not, or no. Otherwise, the answer is yes, whatever the reply contains. LLaVA's
         llava/eval/eval_pope.py has the same code.
         The authors' script pairs answers with labels by their order, while Snellen pairs them by
         id or question. If the two ways of pairing differ for a file, a note in the result says so.
         `vlmevalkit`: the answer is yes or no if the reply contains exactly one of these two words.
         Any other reply is wrong, since VLMEvalKit's judge is not used, and does not count as yes.
         `lmms-eval`: the answer is yes or no if the reply is exactly this word, in any case. Under
         this scoring, `precision` and `recall` count only such replies. `yes_ratio` is the share of
         yes among the right answers, not among the replies.
         `robust`: Snellen's own rule.
         `mean_f1` is the mean of F1 over the sets. Tables of LLaVA and later models call this
         metric "POPE". If there are no true positives, F1 is 0 here, while the official script
         divides by 0.
Proof    For the published outputs of LLaVA-1.5-13B, every count and metric of the three sets is
         reproduced, and so is the published mean of 85.9 (tests/parity).
         On 1,500 generated replies, the answers equal those of the official rule's code
         (tests/parity).
         The other rules are checked on examples worked out by hand from their code.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from snellen import stats
from snellen.benchmarks.families import pins
from snellen.benchmarks.families.tasks import is_target
from snellen.benchmarks.families.yes_no import (
    KIT_RULE,
    SHORT,
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
    Presentation,
    Procedure,
    Published,
    Reading,
    Reply,
    ReplyTable,
    Resolution,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Drawn, Row, find, json_list, jsonl
from snellen.data.published import File
from snellen.errors import DataError, UsageError
from snellen.media.content import Image, user
from snellen.metrics import Columns, Metric, mean, metric
from snellen.metrics.yes_no import f1, mean_over, precision, recall, yes_ratio
from snellen.stats import Estimate

REVISION = "3df3ba1b110ecce25696989577fad583b67d4239"
OLDER = "e3e39262c85a6a83f26cf5094022a782cb0df58d"
RAW = "https://raw.githubusercontent.com/RUCAIBox/POPE"
SOURCE = f"RUCAIBox/POPE@{REVISION}:evaluate.py#L9-L34"
SETS = ("adversarial", "popular", "random")
"""The sets, in the same order as in LLaVA and lmms-eval."""
OFFSET = {"adversarial": 0, "random": 10_000_000, "popular": 20_000_000}
"""For each set, the number that LLaVA's llava_pope_test.jsonl adds to each question_id, since
question ids restart in each set."""
KIND = "yes-no"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "published outputs"
SIZE = 9000
OTHER_SIZES = {"sets=adversarial": 3000, "sets=popular": 3000, "sets=random": 3000}
ALIASES = {
    "POPE": {"images": "coco", "sets": "all", "prompt": "vlmevalkit"},
    "pope_adv": {"sets": "adversarial", "prompt": "lmms-eval"},
    "pope_pop": {"sets": "popular", "prompt": "lmms-eval"},
    "pope_random": {"sets": "random", "prompt": "lmms-eval"},
    "pope_full": {"sets": "all", "prompt": "lmms-eval"},
}
SHA256 = {
    "coco/coco_pope_": {
        "adversarial": "420b3407db1fa9f1187a805dca41cb7b97fd91504e6c2179706188c107fb8ef8",
        "popular": "72c1a8ad45d0c13514f5f22598261df41d3b533854d29682e924db50ed8aa753",
        "random": "ac25245170b975a5bdf9080b23fd431dfe6be458bc038259c1f4f09a6bef7994",
    },
    "coco_e3e3926/coco_pope_": {
        "adversarial": "1d8f0906a9b50c05640f6f23abfac97523be2a1bed28f7eadc63b811699b2d26",
        "popular": "5b16653023bf4f64d57eb0d168259de6627f5cde7538b85ebed3cc33034aa6cc",
        "random": "c16b65d2df6d70bb0814c8a4375833d39cdb09928fd936d3fc546491efa37f35",
    },
    "seem/aokvqa/aokvqa_pope_seem_": {
        "adversarial": "2ddd3bdfa0df7a77a2cb1765ed06ac5ed190b5a093aa405b96986e862e8cdac1",
        "popular": "2ae5bedee3450cda52f9b033942c7b04a3917a86a110e859a66c1e41934c6ffd",
        "random": "f06eecde6d6ef4a00b95a7bbb510490708a09a6a67d952b59b8bdd33ac2c7200",
    },
    "seem/gqa/gqa_pope_seem_": {
        "adversarial": "74e01b41d8308e2392e3b8d961167496ff3901c01100265d931a7a392f138a7a",
        "popular": "dd03f06a458dd216e83233160fbf6628af9c63c84b11e99599f4fc0304b3361d",
        "random": "6ce488eade3770185034939fabfe742fa32ed369011c8d9c3ac77bc0c85abd94",
    },
}
"""The digest of each set's file, keyed by the beginning of the file's name."""
PICTURES = {
    "coco": "http://images.cocodataset.org/zips/val2014.zip",
    "aokvqa": "http://images.cocodataset.org/zips/val2014.zip",
    "gqa": "https://downloads.cs.stanford.edu/nlp/data/gqa/images.zip",
}

Images = Literal["coco", "aokvqa", "gqa"]
Sets = Literal["all", "adversarial", "popular", "random"]
Release = Literal["current", "e3e3926"]
Preset = Literal["official", "vlmevalkit", "llava", "lmms-eval"]
PROMPTS: Mapping[Preset, str] = {
    "official": "",
    "vlmevalkit": "",
    "llava": f"\n{SHORT}",
    "lmms-eval": f"\n{SHORT}",
}


def pope(
    images: Images = "coco",
    sets: Sets = "all",
    release: Release = "current",
    prompt: Preset = "official",
    data: Path | None = None,
) -> Benchmark:
    files = published(images, sets, release)
    spec = f"pope:images={images},sets={sets},release={release}"
    data_files = {
        name: find(data, "pope", names_of(form_of(images, release), name), files, spec)
        for name in chosen(sets)
    }
    table = Drawn(
        ", ".join(map(str, data_files.values())),
        lambda: questions(data_files, data),
        OLDER if release == "e3e3926" else REVISION,
    )
    return Benchmark(
        name="pope",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_files[row["set"]]),
        prompt=lambda sample, _: (user(*sample.media, sample.question + PROMPTS[prompt]),),
        scorings={
            "official": replace(
                scoring(SOURCE, official_answer), resolve=question_order, on_missing=ON_MISSING
            ),
            "vlmevalkit": scoring(KIT_RULE, vlmevalkit_answer, otherwise=0.0),
            "lmms-eval": scoring(
                f"{pins.LMMS_EVAL}:lmms_eval/tasks/pope/utils.py#L17-L84",
                lmms_answer,
                otherwise=0.0,
                answered_only=True,
                ratio=gold_ratio,
            ),
            "robust": scoring("ours", robust_answer),
        },
        max_answer_tokens=128,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(says=lambda _, answer: answer, wrong=wrong_answer, expect=EXPECT),
        procedure=Procedure(group_by=lambda sample: str(sample.data["image"])),
        presentation=Presentation(
            break_down_by=("set",),
            capabilities=Capabilities(
                tag="",
                leaves={"": "hallucination/object"},
                source="https://arxiv.org/abs/2305.10355",
            ),
        ),
        interop=Interop(
            files=next(iter(data_files.values())),
            layout=lambda path: answers_in_order(path, table),
        ),
    )


def scoring(
    source: str,
    parse: Callable[[Reply, Sample], Reading],
    *,
    otherwise: float = math.nan,
    answered_only: bool = False,
    ratio: Metric = yes_ratio,
) -> Scoring:
    return Scoring(
        version=1,
        source=source,
        parse=parse,
        score=is_target,
        metrics={
            "mean_f1": mean_over("set", "f1", otherwise=otherwise, answered_only=answered_only),
            "mean_accuracy": mean_over("set", "accuracy"),
            "accuracy": mean,
            "precision": precision.with_arguments(otherwise=otherwise),
            "recall": recall.with_arguments(otherwise=otherwise, answered_only=answered_only),
            "f1": f1.with_arguments(otherwise=otherwise, answered_only=answered_only),
            "yes_ratio": ratio,
        },
    )


def form_of(images: Images, release: Release) -> str:
    """The beginning of the names of the published files."""
    if images == "coco":
        return "coco/coco_pope_" if release == "current" else "coco_e3e3926/coco_pope_"
    if release != "current":
        raise UsageError(f"pope: release={release} exists only for images=coco.")
    return f"seem/{images}/{images}_pope_seem_"


def names_of(form: str, name: str) -> Sequence[str]:
    """The possible paths of a set's file: the path that `data get` uses, the path in the authors'
    repository, and the file name alone."""
    file = f"{form}{name}.json"
    return file, f"output/{file}", f"annotations/{file}", Path(file).name


def published(
    images: Images = "coco", sets: Sets = "all", release: Release = "current", **_: object
) -> tuple[File, ...]:
    """The published files: the questions for these options, and the pictures."""
    revision = REVISION if release == "current" else OLDER
    form = form_of(images, release)
    folder = form.replace("coco_e3e3926/", "coco/")
    questions = (
        File(
            name=f"{form}{name}.json",
            url=f"{RAW}/{revision}/output/{folder}{name}.json",
            sha256=SHA256[form][name],
        )
        for name in chosen(sets)
    )
    note = "6.6 GB; val2014/" if images != "gqa" else "20.3 GB; images/"
    url = PICTURES[images]
    return (*questions, File(name=Path(url).name, url=url, unpack=True, note=note))


def chosen(sets: Sets) -> Sequence[str]:
    return SETS if sets == "all" else (sets,)


def questions(data_files: Mapping[str, DataFile], data: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the rows of all sets. The files for COCO are JSON lines, and the other files are JSON
    lists."""
    if len(data_files) > 1 and data is not None and data.is_file():
        raise DataError(
            f"pope: {data} is one file, but each of the three sets has a file of its own. Pass "
            "the folder of the three files with --data, or choose a set: `-b pope:sets=random`."
        )
    for name, data_file in data_files.items():
        with data_file.path.open("rb") as file:
            is_list = file.read(64).lstrip().startswith(b"[")
        for row in json_list(data_file) if is_list else jsonl(data_file):
            yield {**row, "set": name}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    return Sample(
        id=str(OFFSET[row["set"]] + row["question_id"]),
        question=row["text"],
        choices=YES_NO,
        media=(picture(row["image"], data_file),),
        target="no" if row["label"] == "no" else "yes",
        tags={"set": row["set"]},
        data={"image": row["image"]},
    )


def picture(name: str, data_file: DataFile) -> Image:
    """A picture in COCO's folder, in GQA's folder, or directly in the data folder."""
    inside = next((f for f in ("val2014", "images") if (data_file.folder / f).is_dir()), "")
    return data_file.image(f"{inside}/{name}" if inside else name)


# -- scoring


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """The answer is no if a word of the first sentence is No, not, or no. Otherwise, the answer is
    yes, whatever the reply contains."""
    # Only spaces separate words: "No\\nThe" is one word, and so is "No!". The words NO and Not do
    # not count as no.
    words = reply.text.split(".")[0].replace(",", "").split(" ")
    for word in ("No", "not", "no"):
        if word in words:
            return Reading(answer="no", rule=f"has {word}")
    return Reading(answer="yes", rule="has no No, not, no")


ON_MISSING = (
    "The authors' script, evaluate.py, leaves out no rows: it compares each answer with the label "
    "on the same line, so every answer after a missing one is compared with the wrong label"
)


def question_order(table: ReplyTable) -> Resolution:
    """Add a note if a file's answers to a set are not in the order of the labels. The authors'
    script pairs answers with labels by line (evaluate.py#L41)."""
    rows: dict[str, list[int]] = {}
    for line in table.lines:
        rows.setdefault(line.sample.tags["set"], []).append(line.row_index)
    other = [name for name, indices in rows.items() if indices != sorted(indices)]
    if table.order == "data" or not other:
        return Resolution()
    note = (
        f"this file's answers are not in the order of the questions ({', '.join(sorted(other))}). "
        "Snellen pairs answers with labels by id. The authors' script pairs answers with "
        "labels by line, so its figures differ from Snellen's."
    )
    return Resolution(notes=(note,))


def lmms_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the reply if it is exactly yes or no, in any case."""
    text = reply.text.lower().strip()
    known = text in YES_NO
    return Reading(answer=text if known else None, rule="the word" if known else "not the word")


@metric(better=None, unit="fraction")
def gold_ratio(columns: Columns) -> Estimate:
    """The share of rows whose right answer is yes. Since half of the right answers are yes, the
    value is 0.5 whatever the replies are. In lmms-eval, the name of this metric is
    pope_yes_ratio."""
    import numpy as np

    return stats.mean((columns.target == "yes").astype(np.float64), columns.cluster, columns.weight)


# -- the authors' files of answers


def answers_in_order(path: Path, table: Drawn) -> Published | None:
    """Read answers in the format that the authors' evaluate.py reads. Each set has a file with
    `question` and `answer` in the order of the set's questions. If there are several sets, each
    file's name contains the name of the file's set."""
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    answers = {file: rows for file in files if (rows := pairs(file)) is not None}
    if not answers:
        return None
    rows_by_set: dict[str, list[Row]] = {}
    for row in table:
        rows_by_set.setdefault(row["set"], []).append(row)
    replies: dict[str, str | None] = {}
    for file, rows in answers.items():
        matches = (
            [name for name in rows_by_set if name in file.name]
            if len(rows_by_set) > 1
            else list(rows_by_set)
        )
        if len(matches) != 1:
            raise DataError(
                f"{file}: the set of these answers is not known, since the rows have no ids. "
                f"Choose the set, as in `-b pope:sets=random`, or put {', '.join(rows_by_set)} "
                "into the files' names."
            )
        of_set = rows_by_set[matches[0]]
        if len(rows) > len(of_set):
            raise DataError(
                f"{file} has {len(rows):,} answers to the {len(of_set):,} questions of "
                f"{matches[0]}. The file may belong to the older release: "
                "`-b pope:release=e3e3926`."
            )
        for number, ((question, answer), row) in enumerate(zip(rows, of_set, strict=False), 1):
            if question.strip().casefold() != row["text"].strip().casefold():
                raise DataError(
                    f"{file}: row {number} answers {question!r}, but row {number} of {matches[0]} "
                    f"asks {row['text']!r}. Sort the answers into the order of the questions."
                )
            replies[str(OFFSET[row["set"]] + row["question_id"])] = answer
    return Published(
        replies=replies, notes=("answers have no ids: read in the order of the questions",)
    )


def pairs(file: Path) -> list[tuple[str, str]] | None:
    """The questions and answers of a file that has only these two fields. None for other files."""
    rows = []
    try:
        for row in jsonl(file):
            if set(row) != {"question", "answer"}:
                return None
            rows.append((str(row["question"]), str(row["answer"])))
    except DataError:
        return None
    return rows


# -- check

# Half of the bundled questions of each set are about objects in the image. The oracle's F1 is 1. A
# model that always says yes has a recall of 1 and a precision of a half, so its F1 is 2/3.
YES_ALWAYS = 2 / 3
PERFECT = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
EXPECT = {
    "official": {**PERFECT, "silent": YES_ALWAYS},  # "Yes and no" contains "no"
    "vlmevalkit": PERFECT,
    "lmms-eval": PERFECT,
    "robust": PERFECT,
}

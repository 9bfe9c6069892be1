"""MME-RealWorld: five-choice questions about details in large photographs, scans, and maps.

Paper    Zhang et al. 2024, MME-RealWorld: Could Your Multimodal LLM Challenge High-Resolution
         Real-World Scenarios that are Difficult for Humans?, https://arxiv.org/abs/2408.13257 (ICLR
         2025).
Data     yifanzhang114/MME-RealWorld on the Hugging Face hub, for research only: MME_RealWorld.json,
         MME_RealWorld_CN.json (`version=cn`: other pictures, in Chinese), and archives of pictures.
         Of the 29,429 questions, 5,917 are in Chinese. `version=lite` has up to 50 questions of
         each task (yifanzhang114/MME-RealWorld-Lite).
         VLMEvalKit's TSV files and the parquet files for lmms-eval have the pictures in the rows.
Prompt   The picture comes first.
         `official`: MME-Benchmarks/MME-RealWorld@bee58edb82c883843ae93be61c2ae3b452c781d1:
         README.md#L94-L107, which VLMEvalKit uses too. In Chinese: open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_mcq.py#L902-L918.
         Replies are limited to 64 tokens, evaluation/model_vqa_mme_real_world.py#L152.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
         lmms_eval/tasks/mme_realworld/utils.py#L40-L60. Replies are limited to 16 tokens.
Scoring  `official`: evaluation/eval_your_results.py#L23-L46. The answer is the first capital letter
         A to E after some phrases are deleted. The authors' list lacks two commas, so four of its
         phrases are never deleted: "Best answer: C" is read as B. A reply without such a letter is
         sought in the choices, so an empty reply is read as A.
         The accuracies by task, domain, and category are those of the report, #L62-L126. `e_share`
         is the share of replies that are read as E, which the report counts.
         `lmms-eval`: the same rule with the commas and without the texts of the choices,
         utils.py#L80-L105.
         `vlmevalkit`: like lmms-eval, but applied to the text between <answer> tags if there are
         any, image_mcq.py#L1053-L1090.
         `robust`: the letter that the reply settles on.
Proof    For 600 generated replies, the letters of `official`, `lmms-eval`, and `vlmevalkit` equal
         those of the others' code, and so do the figures of the report (tests/parity). No model
         outputs are published.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from snellen import stats
from snellen.benchmarks.families import authors_files, choice_sets, pins, results
from snellen.benchmarks.families.capital_letters import (
    BARE,
    MORE_PHRASES,
    PHRASES,
    first_capital,
    in_tags,
)
from snellen.core import Benchmark, Capabilities, Interop, Presentation, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics import Columns, metric
from snellen.stats import Estimate

REVISION = "bee58edb82c883843ae93be61c2ae3b452c781d1"
SCORER = f"MME-Benchmarks/MME-RealWorld@{REVISION}:evaluation/eval_your_results.py"
KIND = "choice"
LANGUAGES = ("en", "zh")
LICENSE = "research only"
PROOF = "authors' code"
SIZE = 23_512
OTHER_SIZES = {"version=cn": 5917}
ALIASES = {
    "MME-RealWorld": {"version": "en"},
    "MME-RealWorld-CN": {"version": "cn"},
    "MME-RealWorld-Lite": {"version": "lite"},
    "mmerealworld": {"version": "en", "prompt": "lmms-eval"},
    "mmerealworld_cn": {"version": "cn", "prompt": "lmms-eval"},
    "mmerealworld_lite": {"version": "lite", "prompt": "lmms-eval"},
}
HUB = "https://huggingface.co/datasets/yifanzhang114"
NOTE = "no digest is published. The pictures are archives beside it: unpack them into this folder"
FILES = {
    "en": ("MME_RealWorld.json", "MME-RealWorld.tsv"),
    "cn": ("MME_RealWorld_CN.json", "MME-RealWorld-CN.tsv"),
    "lite": ("MME-RealWorld-Lite.json", "data/MME-RealWorld-Lite.json", "mme_realworld_lite.tsv"),
}
LEAVES = {
    "Perception/OCR with Complex Context": "OCR/text",
    "Perception/Diagram and Table": "OCR/table",
    "Perception/Remote Sensing": "perception/object",
    "Perception/Monitoring": "perception/object",
    "Perception/Autonomous_Driving": "perception/object",
    "Reasoning/OCR with Complex Context": "OCR/text",
    "Reasoning/Diagram and Table": "OCR/table",
    "Reasoning/Monitoring": "reasoning/commonsense",
    "Reasoning/Autonomous_Driving": "reasoning/causal",
}
SELECT = (
    "Select the best answer to the above multiple-choice question based on the image. Respond with "
    "only the letter (A, B, C, D, or E) of the correct option."
)
FORM = {
    "en": "{question} The choices are listed below:\n{lines}\n" + SELECT,
    "cn": "{question} 选项如下所示:\n{lines}\n根据图像选择上述多项选择题的最佳答案。"
    "只需回答正确选项的字母（A, B, C, D 或 E）。\n最佳答案为：",
}
ENDS = {
    "official": {"en": " \nThe best answer is:", "cn": ""},
    "lmms-eval": {"en": "\nThe best answer is: ", "cn": " "},
}
# In the authors' list, two commas are missing.
JOINED = ("The best option isThe correct option is", "Best answer:Best option:")
HEAD = re.compile(r"[(（][A-E][)）]\s*")

Version = Literal["en", "cn", "lite"]
Preset = Literal["official", "lmms-eval"]


def mme_realworld(
    version: Version = "en", prompt: Preset = "official", data: Path | None = None
) -> Benchmark:
    files = published(version)
    spec = f"mme-realworld:version={version}"
    data_file = find(data, "mme-realworld", FILES[version], files, spec)
    table, file = authors_files.table(data_file, questions)
    language = "cn" if version == "cn" else "en"
    form = FORM[language] + ENDS[prompt][language]
    scorings = choice_sets.scorings(RULES, METRICS)
    return Benchmark(
        name="mme-realworld",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, text_of(sample, form)),),
        scorings=scorings,
        max_answer_tokens=16 if prompt == "lmms-eval" else 64,
        cluster_by=lambda sample: str(sample.data["image"]),
        # A quarter of the bundled rows have the answer A, as which silence and "A B C D" are read.
        check=choice_sets.check(
            scorings,
            silent=dict.fromkeys(RULES, 0.25),
            official=0.25,
            lmms_eval=0.25,
            vlmevalkit=0.25,
        ),
        presentation=Presentation(
            break_down_by=("task", "domain", "category"),
            capabilities=Capabilities(tag="domain", leaves=LEAVES, source=f"{SCORER}#L10-L21"),
        ),
        interop=Interop(files=file, layout=results.by_row("Question_id", "Output")),
    )


def published(version: Version = "en", **_: object) -> tuple[File, ...]:
    """The authors' file without the pictures or, for the lite version, VLMEvalKit's TSV file."""
    if version == "lite":
        url = f"{HUB}/MME-RealWorld-Base64/resolve/main/mme_realworld_lite.tsv"
        md5 = "4c17057d7d3b6c4a0d4397c3dae0881c"
        return (File(name="mme_realworld_lite.tsv", url=url, md5=md5),)
    name = FILES[version][0]
    return (File(name=name, url=f"{HUB}/MME-RealWorld/resolve/main/{name}", note=NOTE),)


def questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of the authors' file, with the names of the fields in VLMEvalKit's TSV."""
    for row in authors_files.of_json(path):
        yield {
            "index": row["Question_id"],
            "image": row["Image"],
            "question": row["Text"],
            "multi-choice options": row["Answer choices"],
            "answer": row["Ground truth"],
            "category": f"{row['Task']}/{row['Subtask']}",
            "l2-category": row["Category"],
        }


def to_sample(row: Row, data_file: DataFile) -> Sample:
    cell = row["multi-choice options"]
    # In the TSV files that VLMEvalKit writes, the choices follow a line of the prompt.
    written = isinstance(cell, str) and not cell.startswith("[")
    options = cell.split("\n")[1:] if written else authors_files.texts(cell)
    heads = [match[0] if (match := HEAD.match(option)) else "" for option in options]
    image = row["image"] if "image" in row else row["bytes"].encode()
    if isinstance(image, str):
        # The archive of the lite version has the pictures in data/imgs/.
        names = [f"{folder}{image}" for folder in ("", "imgs/", "data/imgs/")]
        image = next((name for name in names if (data_file.folder / name).is_file()), image)
    sample = choice_sets.sample_of(
        Row({**row, "image": image}, row.position),
        data_file,
        choices=[option.removeprefix(head) for option, head in zip(options, heads, strict=True)],
    )
    kind = row["l2-category"].lower()
    if "attribute" in kind:
        kind = f"{kind.split('/')[0]}/attribute"
    domain = row["category"]
    tags = {"task": domain.split("/")[0], "domain": domain, "category": f"{domain}/{kind}"}
    return replace(sample, tags=tags, data={**sample.data, "heads": heads})


def lines(sample: Sample) -> list[str]:
    """The choices as the data set has them, such as "(A) a red car"."""
    heads = sample.data["heads"]
    assert isinstance(heads, list)
    return [head + choice for head, choice in zip(heads, sample.choices, strict=True)]


def text_of(sample: Sample, form: str) -> str:
    return form.format(question=sample.question, lines="\n".join(lines(sample)))


# -- scoring


@metric(better=None, unit="fraction")
def e_share(columns: Columns) -> Estimate:
    """The share of replies that are read as E, the choice for what the picture does not show."""
    is_e = (columns.answer == "E").astype(float)
    return stats.mean(is_e, columns.cluster, columns.weight)


METRICS = {**choice_sets.ACCURACY, "e_share": e_share}
RULES = {
    "official": choice_sets.rule(
        f"{SCORER}#L23-L46",
        lambda reply, sample: first_capital(reply.text, (*PHRASES, *JOINED), lines(sample)),
        METRICS,
    ),
    "lmms-eval": choice_sets.rule(
        f"{pins.LMMS_EVAL}:lmms_eval/tasks/mme_realworld/utils.py#L80-L105",
        lambda reply, _: first_capital(reply.text, (*PHRASES, *MORE_PHRASES), BARE),
        METRICS,
    ),
    "vlmevalkit": choice_sets.rule(
        f"{pins.VLMEVALKIT}:vlmeval/dataset/image_mcq.py#L1053-L1090",
        lambda reply, _: first_capital(in_tags(reply.text), (*PHRASES, *MORE_PHRASES), BARE),
        METRICS,
    ),
}

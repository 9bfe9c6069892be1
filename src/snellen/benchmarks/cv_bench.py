"""CV-Bench: counting, spatial relations, depth, and distance, made from annotated photographs.

Paper    Tong et al. 2024, Cambrian-1, https://arxiv.org/abs/2406.16860 (NeurIPS), appendix C.
Data     nyu-visionx/CV-Bench on the Hugging Face hub: test_2d.jsonl and test_3d.jsonl with img/
         (build_img.py writes it), or test_2d.parquet and test_3d.parquet. VLMEvalKit's
         CV-Bench-2D.tsv and CV-Bench-3D.tsv have the same rows. There are 1,438 questions about
         ADE20K and COCO (2D), and 1,200 about Omni3D (3D). The license is Apache-2.0.
         The id is the field idx or, in a TSV, the index. With both parts, it begins with 2D or 3D.
Prompt   `official` (1,024 tokens): the field `prompt`, which has the question and its choices.
         `vlmevalkit` (2,048 tokens): the same, open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_mcq.py#L1207-
         L1222.
         `lmms-eval` (1,024 tokens): EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/cv_bench/
         utils.py#L27-L34, with a line before it that asks for a letter.
Scoring  The authors' score is ((ADE20K + COCO) / 2 + Omni3D) / 2 (paper, appendix C; lmms_eval/
         tasks/cv_bench/utils.py#L67-L84). They published no parser.
         `lmms-eval`: lmms_eval/tasks/cv_bench/utils.py#L6-L52. The answer is the first letter of
         the stripped reply, in any case, after any "(" and blanks. It may begin a word: "Because"
         is B. The task's own figure, cv_bench_acc, is the mean over all questions.
         `vlmevalkit`: VLMEvalKit's rules without its judge. Its figure for 2D is the mean of
         ADE20K and COCO (vlmeval/dataset/image_mcq.py#L1279-L1298).
         `robust`: the letter that the reply settles on.
         The scoring with the name of the prompt is the headline. With official, it is lmms-eval.
Proof    `lmms-eval` with both figures, and `vlmevalkit` with its figure for 2D, equal the code of
         lmms-eval and VLMEvalKit on 720 generated replies (tests/parity/test_choice_rules.py). No
         model outputs are published.
"""

import re
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.benchmarks.families import choice_sets, pins
from snellen.benchmarks.families.authors_files import Joined
from snellen.core import Benchmark, Interop, Reading, Reply, Sample, Scoring
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.metrics import Metric, macro_average, mean

LMMS_EVAL = f"{pins.LMMS_EVAL}:lmms_eval/tasks/cv_bench/utils.py#L6-L52"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "toolkit's code"
SIZE = 2638
OTHER_SIZES = {"part=2d": 1438, "part=3d": 1200}
ALIASES = {
    "CV-Bench-2D": {"part": "2d", "prompt": "vlmevalkit"},
    "CV-Bench-3D": {"part": "3d", "prompt": "vlmevalkit"},
    "cv_bench_2d": {"part": "2d", "prompt": "lmms-eval"},
    "cv_bench_3d": {"part": "3d", "prompt": "lmms-eval"},
}
TAGS = ("task", "source", "type")
LEAVES = {
    "Count": "perception/counting",
    "Relation": "perception/spatial",
    "Depth": "perception/spatial",
    "Distance": "perception/spatial",
}
WEIGHTS = {"ADE20K": 1, "COCO": 1, "Omni3D": 2}

Part = Literal["all", "2d", "3d"]
Preset = Literal["official", "vlmevalkit", "lmms-eval"]
PROMPTS = {
    "official": "{prompt}",
    "vlmevalkit": "{prompt}",
    "lmms-eval": "Note: You only need to respond with {letters} without providing any additional "
    "information.\n\n{prompt}",
}


def cv_bench(
    part: Part = "all", prompt: Preset = "official", data: Path | None = None
) -> Benchmark:
    is_file = data is not None and data.is_file()
    parts = ("2d", "3d") if part == "all" and not is_file else (part.replace("all", "2d"),)
    data_files = [file_of(name, data) for name in parts]
    tables = [choice_sets.table_of(data_file) for data_file in data_files]
    table = Joined(" and ".join(map(str, data_files)), [rows for rows, _ in tables])
    rules = scorings()
    return Benchmark(
        name="cv-bench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_files[0], in_both=len(parts) == 2),
        prompt=lambda sample, _: choice_sets.message(sample, PROMPTS[prompt]),
        scorings=choice_sets.headline(rules, prompt),
        max_answer_tokens=2048 if prompt == "vlmevalkit" else 1024,
        cluster_by=lambda sample: str(sample.data["image"]),
        # "A B C D" is A, the right answer of two of the ten bundled rows, one of each part: one of
        # the three about ADE20K, none of the two about COCO, one of the five about Omni3D.
        check=choice_sets.check(rules, lmms_eval=((1 / 3 + 0) / 2 + 1 / 5) / 2),
        presentation=choice_sets.presentation(
            LEAVES, "https://arxiv.org/abs/2406.16860, appendix C", "task", by=TAGS
        ),
        interop=Interop(files=tables[0][1]),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name."""
    accuracy = {"accuracy": macro_average("source", WEIGHTS)}
    plain = {**accuracy, "cv_bench_acc": Metric(mean, better="higher")}
    return choice_sets.scorings(
        {"lmms-eval": choice_sets.rule(LMMS_EVAL, first_letter, plain)}, accuracy
    )


def published(part: Part = "all", **_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV files. For the authors' files, no digests are published."""
    names = ("2D", "3D") if part == "all" else (part.upper(),)
    return tuple(choice_sets.sheet(f"CV-Bench-{name}") for name in names)


def file_of(part: str, data: Path | None) -> DataFile:
    """The file with the rows of one part."""
    names = [f"test_{part}.jsonl", f"test_{part}.parquet", f"CV-Bench-{part.upper()}.tsv"]
    sheet = choice_sets.sheet(f"CV-Bench-{part.upper()}")
    return find(data, "cv-bench", names, (sheet,), f"cv-bench:part={part}")


def to_sample(row: Row, data_file: DataFile, *, in_both: bool) -> Sample:
    """Make a sample. In the authors' JSONL, `filename` is the picture's path in img/."""
    kind = row.get("type") or row["split"]
    fields = {**row, "type": kind}
    if "image" not in row:
        fields["image"] = f"img/{row['filename']}"
    sample = choice_sets.sample_of(Row(fields, row.position, row.digest), data_file, tags=TAGS)
    return replace(
        sample,
        id=f"{kind}-{sample.id}" if in_both else sample.id,
        data={
            **sample.data,
            "prompt": row["prompt"],
            "letters": ", ".join(ascii_uppercase[: len(sample.choices)]),
        },
    )


def first_letter(reply: Reply, sample: Sample) -> Reading:
    match = re.match(r"[(\s]*([A-Za-z])", reply.text.strip())
    letter = match[1].upper() if match else ""
    known = letter in [*ascii_uppercase[: len(sample.choices)]]
    return Reading(answer=letter if known else None, rule="first letter" if match else "no letter")

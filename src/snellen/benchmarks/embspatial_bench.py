"""EmbSpatial-Bench: where objects are in indoor scenes, from the viewer's position.

Paper    Du et al. 2024, EmbSpatial-Bench: Benchmarking Spatial Understanding for Embodied Tasks
         with Large Vision-Language Models, https://arxiv.org/abs/2406.05756 (ACL 2024).
Data     Phineas476/EmbSpatial-Bench@e2733cacf0f20371518c687176e881d79644e61e on the Hugging Face
         hub has embspatial_bench.json: 3,640 questions of four choices with their pictures, under
         CC BY 4.0. The parquet files of FlagEval/EmbSpatial-Bench have the same fields.
         VLMEvalKit's EmbSpatialBench.tsv is also read. The id is `question_id` or, in a TSV that
         has none, `index`. The right answer is an index from 0, or a letter in the TSV.
Prompt   The authors published no prompt. In both prompts, the picture comes first.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/embspatialbench.py#L35-L74, with 2,048 tokens.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/embspatial/utils.py#L44-L59 and _default_template_yaml, with 1,024 tokens.
Scoring  The authors published no scorer: the README states accuracy only.
         `vlmevalkit`, `lmms-eval`: families/spatial_letters.py. A missing question is wrong.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
         The scoring with the name of the prompt is the headline.
Proof    `vlmevalkit` and `lmms-eval` equal VLMEvalKit's and lmms-eval's code on generated replies
         (tests/parity). No model outputs are published.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families.spatial_letters import VLMEVALKIT, first_letter, settled_letter
from snellen.core import Benchmark, Capabilities, Interop, Presentation, Sample
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, find, json_list, jsonl
from snellen.data.published import File
from snellen.media.content import Message, user

LMMS_EVAL = f"{pins.LMMS_EVAL}:lmms_eval/tasks/embspatial/utils.py#L23-L41"
REVISION = "e2733cacf0f20371518c687176e881d79644e61e"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-4.0"
PROOF = "toolkit's code"
SIZE = 3640
ALIASES = {
    "EmbSpatialBench": {"prompt": "vlmevalkit"},
    "embspatial": {"prompt": "lmms-eval"},
}
FILES_PUBLISHED = (
    File(
        name="embspatial_bench.json",
        url=f"hf://datasets/Phineas476/EmbSpatial-Bench@{REVISION}/embspatial_bench.json",
        note="254 MB",
    ),
)

Preset = Literal["vlmevalkit", "lmms-eval"]
NOTE = (
    "Note: You only need to respond with A, B, C, D without providing any additional information.\n"
)


def embspatial_bench(prompt: Preset = "vlmevalkit", data: Path | None = None) -> Benchmark:
    names = ("embspatial_bench.json", "EmbSpatialBench.tsv")
    data_file = find(data, "embspatial-bench", names, FILES_PUBLISHED)
    table, file = authors_files.table(data_file, questions)
    scorings = choice_sets.scorings(
        {
            "vlmevalkit": choice_sets.rule(VLMEVALKIT, settled_letter),
            "lmms-eval": choice_sets.rule(LMMS_EVAL, first_letter),
        }
    )
    return Benchmark(
        name="embspatial-bench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: message(sample, prompt),
        scorings=choice_sets.headline(scorings, prompt),
        max_answer_tokens=1024 if prompt == "lmms-eval" else 2048,
        cluster_by=lambda sample: str(sample.data["image"]),
        # "A B C D" begins with A, the right answer of two of the eight bundled rows.
        check=choice_sets.check(scorings, lmms_eval=2 / 8),
        presentation=Presentation(
            break_down_by=("relation", "data_source"),
            capabilities=Capabilities(
                tag="",
                leaves={"": "perception/spatial"},
                source="https://arxiv.org/abs/2406.05756, abstract",
            ),
        ),
        interop=Interop(files=file),
    )


def questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of the authors' file, which is one list, or has one object in a line. A
    picture is base64 text."""
    with path.open("rb") as file:
        rows = json_list(path) if file.read(1) == b"[" else jsonl(path)
    for row in rows:
        yield {**row, "image": row["image"].encode()}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    choices = authors_files.texts(row.get("answer_options")) or choice_sets.choices_of(row)
    answer = row["answer"]
    return choice_sets.sample_of(
        row,
        data_file,
        sample_id=str(row.get("question_id") or row.get("index", "")),
        tags=("relation", "data_source"),
        choices=choices,
        letter=answer if isinstance(answer, str) else choice_sets.letter_at(answer, choices),
    )


def message(sample: Sample, prompt: Preset) -> tuple[Message, ...]:
    if prompt == "lmms-eval":
        lines = lettered(sample.choices, "{letter}) {choice}")
        return (user(*sample.media, f"{NOTE}{sample.question}\n{lines}"),)
    lines = lettered(sample.choices, "{letter}: {choice}")
    ask = "Give me the answer letter directly. The best answer is:"
    return (user(*sample.media, f"Question: {sample.question}\nOptions:\n{lines}\n{ask}"),)

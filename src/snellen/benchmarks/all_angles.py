"""All-Angles Bench: questions about a scene that several cameras show at the same time.

Paper    Yeh et al. 2025, Seeing from Another Perspective: Evaluating Multi-View Understanding in
         MLLMs, https://arxiv.org/abs/2504.15280 (AAAI 2026).
Data     ch-chenyu/All-Angles-Bench on the Hugging Face hub: data.json with the pictures that its
         field `image_path` names (those from Ego-Exo4D must be prepared with the authors' scripts),
         or the TSV that the authors' scripts write, all_angles_bench_huggingface.tsv. There are
         2,132 questions about 90 scenes, with three choices each. The license is MIT.
Prompt   The authors' code is a copy of VLMEvalKit, Chenyu-Wang567/
         All-Angles-Bench@0e1d2101259884f2baf17a373ac26150344697f5:VLMEvalkit/vlmeval/dataset/
         image_mcq.py#L167-L206. All pictures come first. Replies are limited to 2,048 tokens.
Scoring  `official`: VLMEvalkit/vlmeval/utils/matching_util.py, VLMEvalKit's rules of 2024 without a
         judge. The answer is the only letter in the reply, or the only choice whose text occurs.
         `vlmevalkit`: the rules of 2026, which read a letter only near the reply's end.
         `robust`: the letter that the reply settles on.
         Questions about the same scene and kind form pairs (pair_idx). The authors analyze how
         consistent the answers to a pair are; this is not computed here.
Proof    Both rules equal VLMEvalKit's code of that time on 3,000 generated replies (tests/parity,
         mcq_parsing). No model outputs are published.
"""

from dataclasses import replace
from pathlib import Path

from snellen.answers.others import VLMEVALKIT_2024, vlmevalkit_2024_letter
from snellen.benchmarks.families import choice_sets
from snellen.benchmarks.families.tasks import as_reading
from snellen.core import Benchmark, Interop, Reading, Reply, Sample, Scoring
from snellen.data import DataFile, Row, find

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "toolkit's code"
SIZE = 2132
LEAVES = {
    "counting": "perception/counting",
    "attribute_identification": "perception/attribute",
    "relative_distance": "perception/spatial",
    "relative_direction": "perception/spatial",
    "manipulation": "perception/spatial",
    "camera_pose_estimation": "perception/spatial",
}


def all_angles(data: Path | None = None) -> Benchmark:
    data_file = find(data, "all-angles", ["data.json", "all_angles_bench_huggingface.tsv"])
    table, file = choice_sets.table_of(data_file)
    rules = scorings()
    return Benchmark(
        name="all-angles",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: choice_sets.message(sample, choice_sets.PROMPTS["vlmevalkit"]),
        scorings=rules,
        max_answer_tokens=2048,
        cluster_by=lambda sample: sample.tags["folder"],
        check=choice_sets.check(rules),
        presentation=replace(
            choice_sets.presentation(
                LEAVES,
                "https://arxiv.org/abs/2504.15280, section 3",
                "category",
                by=("category", "sourced_dataset"),
            ),
            metric_tags=("folder",),
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    return choice_sets.scorings({"official": choice_sets.rule(VLMEVALKIT_2024, official_answer)})


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample. In data.json, the pictures are files that the row names."""
    if not row["folder"] or "pair_idx" not in row:
        raise ValueError("no folder of a scene, or no pair_idx")
    shown = row["image"] if "image" in row else row["image_path"]
    fields = {**row, "image": shown, "category": row["category"].lower().replace(" ", "_")}
    tags = ("category", "sourced_dataset", "folder")
    return choice_sets.sample_of(Row(fields, row.position, row.digest), data_file, tags=tags)


def official_answer(reply: Reply, sample: Sample) -> Reading:
    return as_reading(vlmevalkit_2024_letter(reply.text.strip(), sample.choices))

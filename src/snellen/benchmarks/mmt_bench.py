"""MMT-Bench: choices on 162 subtasks of 32 meta-tasks, from driving to medicine.

Paper    Ying et al. 2024, MMT-Bench: A Comprehensive Multimodal Benchmark for Evaluating Large
         Vision-Language Models Towards Multitask AGI, https://arxiv.org/abs/2404.16006 (ICML).
Data     VLMEvalKit's TSV files, which the authors recommend (OpenGVLab/
         MMT-Bench@84012c95e31c2986521ea5b7c16a88e36e9958c2:Quickstart.md). `val` has a tenth of the
         31,325 questions. The answers of the others, in `all`, are hidden (EvalAI).
         `images=joined` has several pictures of a question in a single picture, and
         `images=separate` (VLMEvalKit's _MI) has them apart. An id is the row's index.
Prompt   `vlmevalkit`: the pictures, then hint, question, and choices, open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_mcq.py#L212-L249.
         Replies are limited to 512 tokens, our own choice.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
         lmms_eval/tasks/mmt/utils.py#L64-L82. Replies are limited to 8 tokens.
Scoring  `official`: the authors' copy of VLMEvalKit without a judge, VLMEvalKit-main/vlmeval/utils/
         matching_util.py#L7-L69. The answer is the only letter that occurs as a word, or the only
         choice whose text occurs. Other replies are wrong. `accuracy` is the share of right
         replies. `subtasks` is the mean over subtasks of their accuracy, which the authors report
         for each meta-task, VLMEvalKit-main/vlmeval/evaluate/multiple_choice.py#L98-L155.
         `vlmevalkit`: VLMEvalKit's newer rule, without its judge.
         `robust`: Snellen's own rule, which takes the letter or choice that a reply settles on.
Proof    For 800 generated replies, the letters of `official` equal those of the authors' code
         (tests/parity/test_option_letters.py). No model outputs are published. `vlmevalkit` is the
         rule that tests/parity compares on 3,000 replies. `subtasks` is checked by hand.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.benchmarks.families import authors_files, choice_sets
from snellen.benchmarks.families.tasks import parse_letter_as_vlmevalkit_2024
from snellen.core import Benchmark, Capabilities, Interop, Presentation, Sample
from snellen.data import find
from snellen.data.published import File
from snellen.media.content import Message, user
from snellen.metrics import Metric, macro_average

SOURCE = (
    "OpenGVLab/MMT-Bench@84012c95e31c2986521ea5b7c16a88e36e9958c2:"
    "VLMEvalKit-main/vlmeval/utils/matching_util.py#L7-L69"
)
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = None
OTHER_SIZES = {"split=all": 31_325}
ALIASES = {
    "MMT-Bench_VAL": {"split": "val"},
    "MMT-Bench_VAL_MI": {"split": "val", "images": "separate"},
    "MMT-Bench_ALL": {"split": "all"},
    "MMT-Bench_ALL_MI": {"split": "all", "images": "separate"},
    "mmt_val": {"prompt": "lmms-eval"},
    "mmt_mi_val": {"images": "separate", "prompt": "lmms-eval"},
}
LEAVES = {
    **dict.fromkeys(("visual_recognition", "keypoint_detection"), "perception/object"),
    **dict.fromkeys(("localization", "threed", "visual_grounding"), "perception/spatial"),
    **dict.fromkeys(("pixel_level_perception", "gui_navigation"), "perception/spatial"),
    **dict.fromkeys(("visual_captioning", "image_retrieval"), "perception/scene"),
    **dict.fromkeys(("image_evaluation_judgement", "anomaly_detection"), "perception/attribute"),
    **dict.fromkeys(("emotion", "visual_prompt_understanding"), "perception/attribute"),
    **dict.fromkeys(("multiple_image_analysis", "cross_image_matching"), "perception/attribute"),
    **dict.fromkeys(("action_recognition", "temporal_understanding"), "reasoning/temporal"),
    **dict.fromkeys(("visual_commonsense_reasoning", "embodied_ai"), "reasoning/commonsense"),
    **dict.fromkeys(("meme_understanding", "autonomous_driving"), "reasoning/commonsense"),
    **dict.fromkeys(("intelligence_quotient_test", "visual_code"), "reasoning/logic"),
    **dict.fromkeys(("relation_reasoning", "image-to-image_translation"), "reasoning/logic"),
    **dict.fromkeys(("medical_understanding",), "knowledge/domain"),
    **dict.fromkeys(("discipline_knowledge_reasoning",), "knowledge/domain"),
    **dict.fromkeys(("hallucination", "visual_illusion"), "hallucination/object"),
    "ocr": "OCR/text",
    "doc_understanding": "OCR/document",
    "counting": "perception/counting",
}
Split = Literal["val", "all"]
Images = Literal["joined", "separate"]
Preset = Literal["vlmevalkit", "lmms-eval"]
METRICS = {
    **choice_sets.ACCURACY,
    "subtasks": Metric(macro_average("category"), better="higher"),
}


def mmt_bench(
    split: Split = "val",
    images: Images = "joined",
    prompt: Preset = "vlmevalkit",
    data: Path | None = None,
) -> Benchmark:
    files = published(split, images)
    spec = f"mmt-bench:split={split},images={images}"
    data_file = find(data, "mmt-bench", [files[0].name], files, spec)
    table, file = authors_files.table(data_file, authors_files.objects)
    first = {"official": choice_sets.rule(SOURCE, parse_letter_as_vlmevalkit_2024, METRICS)}
    scorings = choice_sets.scorings(first, METRICS)
    return Benchmark(
        name="mmt-bench",
        asks=1,
        data=table,
        sample=lambda _, row: choice_sets.sample_of(
            row, data_file, tags=("l2-category", "category")
        ),
        prompt=lambda sample, _: PROMPTS[prompt](sample),
        scorings=scorings,
        max_answer_tokens=8 if prompt == "lmms-eval" else 512,
        check=choice_sets.check(scorings),
        presentation=Presentation(
            break_down_by=("l2-category", "category"),
            capabilities=Capabilities(
                tag="l2-category",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2404.16006, section 3.1",
            ),
        ),
        interop=Interop(files=file),
    )


def published(split: Split = "val", images: Images = "joined", **_: object) -> tuple[File, ...]:
    return (choice_sets.sheet(f"MMT-Bench_{split.upper()}{'_MI' * (images == 'separate')}"),)


def lmms_eval(sample: Sample) -> tuple[Message, ...]:
    pairs = zip(ascii_uppercase, map(str.strip, sample.choices), strict=False)
    listed = "\n".join(f"{letter}: {choice}" for letter, choice in pairs if choice)
    ending = "Answer the question using a single character from the given options."
    text = f"Question: <image>\n{sample.question.strip()}\n{listed}\n{ending}"
    return (user(*sample.media, text),)


PROMPTS: Mapping[Preset, Callable[[Sample], tuple[Message, ...]]] = {
    "vlmevalkit": lambda sample: choice_sets.message(sample, choice_sets.PROMPTS["vlmevalkit"]),
    "lmms-eval": lmms_eval,
}

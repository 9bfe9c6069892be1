"""MVBench: twenty tasks about what changes over time in short videos.

Paper    Li et al. 2023, MVBench: A Comprehensive Multi-modal Video Understanding Benchmark,
         https://arxiv.org/abs/2311.17005 (CVPR 2024).
Data     OpenGVLab/MVBench on the Hugging Face hub: json/{task}.json with 200 questions each, and
         video/*.zip. A video is {folder}/{name} in video/, where the folder depends on the task.
         The videos of NTU RGB+D must be obtained from their authors. episodic_reasoning has folders
         of frames instead of videos; convert them to videos.
         If a row has `start` and `end`, a model sees only this part of the video.
Prompt   `official`: OpenGVLab/Ask-Anything@4dd8210b:video_chat2/mvbench.ipynb, without the
         beginning of the answer that the authors give, "Best option:(".
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/mvbench/utils.py#L85-L94. Frames are uniform:16, as in the authors' notebook.
Scoring  `official`: the same notebook, check_ans. The reply's first word, without periods, must be
         a part of "(a)" or contain it. **An empty reply is right for every question**, and so are
         "(" and "."; "**A**" and "Answer: A" are wrong; "a dog" is A. See `robust`.
         `internvl`: OpenGVLab/InternVL@2410d1db:internvl_chat/eval/mvbench/evaluate_mvbench.py
         #L246-L262, which deletes "Answer: " first.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/utils/mvbench.py#L36-L51, which strips first. `vlmevalkit-advanced`: #L74-L109,
         where a choice's text anywhere in the reply also counts.
         `lmms-eval`: lmms_eval/tasks/mvbench/utils.py#L97-L146: the first letter from A to E that
         stands alone, which may be the article "a".
         `robust`: Snellen's own rule. An empty reply is wrong.
Proof    For 1,200 generated replies, every verdict of the five rules equals that of their code
         (tests/parity). `robust` is checked on examples worked out by hand.
"""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.choice_sets import Parse
from snellen.core import Benchmark, Capabilities, Presentation, Sample, Scoring
from snellen.data import DataFile, Row, find

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "MIT"
PROOF = "authors' code"
SIZE = 4000
ALIASES = {"MVBench": {"prompt": "official"}, "MVBench_MP4": {"prompt": "official"}}
PERCEPTION, CLEVRER = "perception/videos", "clevrer/video_validation"
FOLDERS = {
    **dict.fromkeys(("object_interaction", "action_sequence", "action_prediction"),
                    "star/Charades_v1_480"),
    **dict.fromkeys(("character_order", "object_shuffle", "state_change", "action_count"),
                    PERCEPTION),
    **dict.fromkeys(("moving_count", "moving_direction", "moving_attribute", "object_existence",
                     "counterfactual_inference"), CLEVRER),
    **{"action_localization": "sta/sta_video", "fine_grained_pose": "nturgbd"},
    **{"egocentric_navigation": "vlnqa", "episodic_reasoning": "tvqa/frames_fps3_hq"},
    **{"fine_grained_action": "Moments_in_Time_Raw/videos", "scene_transition": "scene_qa/video"},
    **{"action_antonym": "ssv2_video", "unexpected_action": "FunQA_test/test"},
}  # fmt: skip
LEAVES = {
    **dict.fromkeys(FOLDERS, "reasoning/temporal"),
    **dict.fromkeys(("action_count", "moving_count"), "perception/counting"),
    **dict.fromkeys(("egocentric_navigation", "object_shuffle"), "perception/spatial"),
    **{"object_existence": "perception/object", "moving_attribute": "perception/attribute"},
    **{"scene_transition": "perception/scene", "counterfactual_inference": "reasoning/causal"},
}

BY_FIRST_WORD = ("official", "internvl", "vlmevalkit", "vlmevalkit-advanced")
"""The scorings for which an empty reply is right."""

Preset = Literal["official", "lmms-eval"]


def mvbench(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "mvbench", ("json/action_sequence.json", "action_sequence.json"))
    rules_by_name = scorings()
    return videos.choice_benchmark(
        "mvbench",
        authors_files.table(data_file, videos.files_by_task),
        lambda row: to_sample(row, data_file),
        lambda sample: text_of(sample, prompt),
        choice_sets.headline(rules_by_name, prompt),
        choice_sets.check(
            rules_by_name,
            silent=dict.fromkeys(BY_FIRST_WORD, 1.0),
            # "A B C D" begins with A, the answer to a quarter of the bundled questions.
            official=1 / 4,
            internvl=1 / 4,
            vlmevalkit=1 / 4,
            vlmevalkit_advanced=1 / 4,
            lmms_eval=1 / 4,
        ),
        frames="uniform:16",
        max_answer_tokens=100 if prompt == "official" else 16,
        presentation=Presentation(
            break_down_by=("task",),
            capabilities=Capabilities(
                tag="task", leaves=LEAVES, source="https://arxiv.org/abs/2311.17005, section 3"
            ),
        ),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    return videos.task_question(row, data_file, FOLDERS[row["task"]])


def text_of(sample: Sample, prompt: Preset) -> str:
    ask = "Only give the best option."
    if prompt == "official":
        return f"{videos.CAREFULLY}{videos.in_parentheses(sample)}\n{ask}"
    body = videos.in_parentheses(sample)
    body = body.replace("Question: ", "Question:", 1).replace("\nOptions:\n", "\nOption:\n", 1)
    return f"{body}\n{ask}\n"


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""

    def rule(source: str, parse: Parse) -> Scoring:
        return replace(choice_sets.rule(source, parse), score=rules.fits_target)

    own = {
        "official": rule(
            "OpenGVLab/Ask-Anything@4dd8210b:video_chat2/mvbench.ipynb, check_ans", rules.mvbench
        ),
        "internvl": rule(
            "OpenGVLab/InternVL@2410d1db:internvl_chat/eval/mvbench/evaluate_mvbench.py#L246-L262",
            rules.mvbench_internvl,
        ),
        "vlmevalkit": rule(
            f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/mvbench.py#L36-L51", rules.mvbench_vlmevalkit
        ),
        "vlmevalkit-advanced": rule(
            f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/mvbench.py#L74-L109",
            rules.mvbench_vlmevalkit_advanced,
        ),
        "lmms-eval": rule(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/mvbench/utils.py#L97-L146", rules.mvbench_lmms_eval
        ),
    }
    return videos.with_robust(own)

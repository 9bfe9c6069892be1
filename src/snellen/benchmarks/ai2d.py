"""AI2D: questions about diagrams from science textbooks of grade school, with four choices.

Paper    Kembhavi et al. 2016, A Diagram Is Worth A Dozen Images, https://arxiv.org/abs/1603.07396
         (ECCV).
Data     The authors publish diagrams, labels, and questions (ai2d-all.zip and ai2d_test_ids.csv,
         https://prior.allenai.org/projects/diagram-understanding), in which a question with
         abcLabel refers to letters that must be drawn into the diagram. Toolkits publish the 3,088
         test questions with drawn diagrams, in two versions:
         `mask`: a white box with the letter hides each label. VLMEvalKit's AI2D_TEST.tsv, and the
         parquet files of lmms-lab/ai2d on the Hugging Face hub.
         `no-mask`: the letter stands next to the label, which stays readable. VLMEvalKit's
         AI2D_TEST_NO_MASK.tsv, and Efficient-Large-Model/ai2d-no-mask on the hub.
         The scores of the two versions differ by several points, and papers seldom name theirs.
         In a TSV, the id is 100 times the diagram's number plus the question's number; in parquet,
         it is the row's position. The license is CC BY-SA.
Prompt   The authors prescribe none; their models were trained for the task.
         `vlmevalkit` (2,048 tokens) and `lmms-eval` (16 tokens): see families/choice_sets.py.
Scoring  The authors' metric is accuracy, and they published no parser.
         `vlmevalkit`: VLMEvalKit's rules without its judge.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/ai2d/{ai2d.yaml#L40-L56,utils.py#L52-L79} and lmms_eval/api/metrics.py#L188-L220. The
         answer is the capital letter at the beginning of the reply if a period follows. Otherwise,
         the whole reply without case and punctuation must be the letter.
         `robust`: the letter that the reply settles on.
         The scoring with the name of the prompt is the headline.
Proof    `lmms-eval` equals lmms-eval's code on 720 generated replies (tests/parity/
         test_choice_rules.py), and `vlmevalkit` equals VLMEvalKit's on 3,000 (tests/parity,
         mcq_parsing). No model outputs are published.
"""

import re
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase, punctuation
from typing import Literal

from snellen.benchmarks.families import choice_sets, pins
from snellen.core import Benchmark, Interop, Reading, Reply, Sample, Scoring
from snellen.data import DataFile, Row, find
from snellen.data.published import File

LMMS_EVAL = f"{pins.LMMS_EVAL}:lmms_eval/tasks/ai2d/utils.py#L52-L79"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-SA"
PROOF = "toolkit's code"
SIZE = 3088
ALIASES = {
    "AI2D_TEST": {"version": "mask", "prompt": "vlmevalkit"},
    "AI2D_TEST_NO_MASK": {"version": "no-mask", "prompt": "vlmevalkit"},
    "ai2d_no_mask": {"version": "no-mask", "prompt": "lmms-eval"},
}
SHEETS = {"mask": "AI2D_TEST", "no-mask": "AI2D_TEST_NO_MASK"}
TOKENS = {"vlmevalkit": 2048, "lmms-eval": 16}

Version = Literal["mask", "no-mask"]
Preset = Literal["vlmevalkit", "lmms-eval"]


def ai2d(
    version: Version = "mask", prompt: Preset = "vlmevalkit", data: Path | None = None
) -> Benchmark:
    files = published(version)
    names = [file.name for file in files]
    data_file = find(data, "ai2d", names, files, f"ai2d:version={version}")
    table, file = choice_sets.table_of(data_file)
    rules = scorings()
    return Benchmark(
        name="ai2d",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: choice_sets.message(sample, choice_sets.PROMPTS[prompt]),
        scorings=choice_sets.headline(rules, prompt),
        max_answer_tokens=TOKENS[prompt],
        cluster_by=lambda sample: str(sample.data["image"]),
        check=choice_sets.check(rules),
        presentation=choice_sets.presentation(
            {"": "knowledge/domain"},
            "https://arxiv.org/abs/1603.07396, section 5",
            by=("category",),
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name."""
    lmms = {"lmms-eval": choice_sets.rule(LMMS_EVAL, lmms_answer)}
    return {**choice_sets.scorings(), **lmms}


def published(version: Version = "mask", **_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file of this version."""
    return (choice_sets.sheet(SHEETS[version]),)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample. In the hub's files, the right answer is an index, from 0. In a TSV, each row
    has a copy of its diagram, whose number is in the index."""
    if "options" in row:
        letter = choice_sets.letter_at(row["answer"], choice_sets.choices_of(row))
        return choice_sets.sample_of(row, data_file, tags=("category",), letter=letter)
    sample = choice_sets.sample_of(row, data_file, tags=("category",))
    return replace(sample, data={**sample.data, "image": str(int(row["index"]) // 100)})


def lmms_answer(reply: Reply, sample: Sample) -> Reading:
    letters = [*ascii_uppercase[: len(sample.choices)]]
    if match := re.match(r"\s*([A-Z])\.", reply.text):
        return Reading(answer=match[1] if match[1] in letters else None, rule="letter and period")
    text = reply.text.strip().translate(dict.fromkeys(map(ord, punctuation))).upper()
    return Reading(answer=text if text in letters else None, rule="whole reply")

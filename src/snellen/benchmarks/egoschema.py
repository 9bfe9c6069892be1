"""EgoSchema: questions with five choices about three minutes of a person's own view.

Paper    Mangalam et al. 2023, EgoSchema: A Diagnostic Benchmark for Very Long-form Video Language
         Understanding, https://arxiv.org/abs/2308.09126 (NeurIPS, Datasets and Benchmarks).
Data     egoschema/EgoSchema: questions.json with 5,031 questions, subset_answers.json with the
         answers to 500 of them, and videos/{q_uid}.mp4. `split=subset` has the 500 questions, and
         `split=full` all of them, with hidden answers to the others.
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/egoschema/utils.py#L42-L58. The authors publish no prompt. Replies are limited to 16
         tokens. The frames depend on the model. Here, they are uniform:32.
Scoring  The authors score on a server.
         `lmms-eval`: lmms_eval/tasks/egoschema/utils.py#L93-L161, a variant of MMMU's rule. "(A)",
         "A ", and "A." count, even at the end of a word, and of several letters the one whose last
         mention comes first wins. A reply without a letter gets one drawn at random, here with the
         sample's id as the seed.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For the generated replies with five choices, every letter equals that of lmms-eval's code,
         and a letter is drawn for the same replies (tests/parity). `robust` is checked on examples
         worked out by hand.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.choice_sets import rule
from snellen.benchmarks.families.draws import by_id
from snellen.core import Benchmark, Capabilities, Presentation, Sample
from snellen.data import DataFile, Row, find

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 500
ALIASES = {"egoschema_subset": {"split": "subset"}}
SCORINGS = videos.with_robust(
    {
        "lmms-eval": replace(
            rule(f"{pins.LMMS_EVAL}:lmms_eval/tasks/egoschema/utils.py#L93-L161", rules.egoschema),
            resolve=by_id("lmms-eval sets no seed for them."),
        )
    }
)

Split = Literal["subset", "full"]


def egoschema(split: Split = "subset", data: Path | None = None) -> Benchmark:
    data_file = find(data, "egoschema", ("questions.json",))
    return videos.choice_benchmark(
        "egoschema",
        authors_files.table(data_file, lambda path: questions(path, split)),
        lambda row: to_sample(row, data_file),
        lambda sample: f"{videos.with_letters(sample)}\n{choice_sets.DIRECTLY}",
        SCORINGS,
        # In "A B C D E", the last mention of A comes first. The letters drawn for empty replies are
        # right for one of the eight questions.
        choice_sets.check(SCORINGS, silent={"lmms-eval": 1 / 8}, lmms_eval=1 / 4),
        max_answer_tokens=16,
        presentation=Presentation(
            capabilities=Capabilities(
                tag="",
                leaves={"": "reasoning/temporal"},
                source="https://arxiv.org/abs/2308.09126, section 1",
            ),
        ),
    )


def questions(path: Path, split: Split) -> Iterator[dict[str, Any]]:
    answers = authors_files.of_json(path.with_name("subset_answers.json"))
    for row in authors_files.objects(path):
        answer = answers.get(row["q_uid"])
        if answer is not None or split == "full":
            yield {**row, "answer": answer}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    choices = [str(row[f"option {number}"]).strip() for number in range(5)]
    letter = None if row["answer"] is None else choice_sets.letter_at(row["answer"], choices)
    video = videos.clip(data_file, f"{row['q_uid']}.mp4")
    return videos.question(video, row["q_uid"], row["question"], choices, letter, {})

"""Video-Holmes: questions with up to six choices about clues in suspense short films.

Paper    Cheng et al. 2025, Video-Holmes: Can MLLM Think Like Holmes for Complex Video Reasoning?,
         https://arxiv.org/abs/2505.21374.
Data     TencentARC/Video-Holmes on the Hugging Face hub, under the Apache 2.0 license for academic
         use: test_Video-Holmes.json with 1,837 questions on 270 films, and videos.zip. `videos/` or
         `videos_cropped/` has {video ID}.mp4. An id is the row's `Question ID`.
Prompt   `official`: TencentARC/Video-Holmes@52ef8da286ccad03036a65e7b67c160bc3a24fb9:evaluate.py
         #L421-L427, with 1,024 tokens. VLMEvalKit's is the same, with the choices as a Python list.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/video_holmes/utils.py#L79-L94, with 64 tokens. Frames are uniform:32, as for the
         authors' InternVL models.
Scoring  `official`: evaluate.py#L455-L492. In the last <answer> tags, or else in the whole reply,
         the first letter from A to F in alphabetical order counts: "A ", "A:", or "[A",
         even at the end of a word, or else any capital: "A better answer is B" is read as A.
         `vlmevalkit`: the same, but a reply without <answer> tags is wrong, open-compass/VLMEvalKit
         @e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/utils/videoholmes.py#L41-L79.
         `lmms-eval`: utils.py#L141-L203, a variant of MMMU's rule that draws a letter for a reply
         without one, here with the sample's id as the seed.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
         The authors' files Results-{model}.json are read; they have only letters.
Proof    For 700 generated replies, every letter equals that of the authors', VLMEvalKit's,
         and lmms-eval's code (tests/parity). `robust` is checked on examples worked out by hand.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families.choice_sets import rule
from snellen.benchmarks.families.draws import by_id
from snellen.benchmarks.families.mmmu_letters import last_mention
from snellen.benchmarks.families.results import by_row
from snellen.benchmarks.families.video_letters import reading
from snellen.core import Benchmark, Capabilities, Presentation, Reading, Reply, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "authors' code"
SIZE = 1837
AUTHORS = "TencentARC/Video-Holmes@52ef8da286ccad03036a65e7b67c160bc3a24fb9"
HUB = "https://huggingface.co/datasets/TencentARC/Video-Holmes/resolve/main"
ALIASES = {"Video_Holmes": {"prompt": "official"}}
NAME = "test_Video-Holmes.json"
FILES_PUBLISHED = (
    File(name=NAME, url=f"{HUB}/{NAME}", note="its publishers give no digest"),
    File(
        name="videos.zip",
        url=f"{HUB}/videos.zip",
        unpack=True,
        note="its publishers give no digest",
    ),
)
TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
CLOSED = "</answer>"
FORMS = ("{} ", "{}:", "[{}")
OFFICIAL = (
    "Based on the given video, reason and answer the single-choice question. Provide your "
    "reasoning between the <think> and </think> tags, and then give your final answer between the "
    "<answer> and </answer> tags. The question is: {question}. The options are: {choices}. Your "
    "answer:"
)
SELECT = (
    "Select the best answer to the following multiple-choice question based on the video. Respond "
    "with only the letter (A, B, C, D, E, or F) of the correct option."
)
LEAVES = {
    **{"SR": "reasoning/commonsense", "IMC": "reasoning/causal", "TCI": "reasoning/temporal"},
    **{"TA": "reasoning/temporal", "MHR": "reasoning/logic", "PAR": "reasoning/commonsense"},
    "CTI": "perception/scene",
}

Preset = Literal["official", "lmms-eval"]


def video_holmes(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "video-holmes", (NAME, f"Benchmark/{NAME}"), FILES_PUBLISHED)
    drawn = by_id("lmms-eval sets no seed for them.")
    by_lmms = rule(
        f"{pins.LMMS_EVAL}:lmms_eval/tasks/video_holmes/utils.py#L141-L203", last_mention
    )
    scorings = videos.with_robust(
        {
            "official": rule(f"{AUTHORS}:evaluate.py#L455-L492", official),
            "vlmevalkit": rule(
                f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/videoholmes.py#L41-L79", vlmevalkit
            ),
            "lmms-eval": replace(by_lmms, resolve=drawn),
        }
    )
    # "A B C D E" has "A " first, which is right for two of the eight questions, and " E " last. The
    # letters drawn for empty replies are right for two questions.
    check = choice_sets.check(scorings, silent={"lmms-eval": 1 / 4}, official=1 / 4)
    benchmark = videos.choice_benchmark(
        "video-holmes",
        authors_files.table(data_file, authors_files.objects),
        lambda row: to_sample(row, data_file),
        lambda sample: text_of(sample, prompt),
        choice_sets.headline(scorings, prompt),
        replace(check, says=lambda _, answer: f"<answer> {answer} </answer>"),
        max_answer_tokens=64 if prompt == "lmms-eval" else 1024,
        presentation=Presentation(
            break_down_by=("type",),
            capabilities=Capabilities(
                tag="type", leaves=LEAVES, source="https://arxiv.org/abs/2505.21374, section 3"
            ),
        ),
    )
    layout = by_row("Question ID", "Predicr Answer")
    return replace(benchmark, interop=replace(benchmark.interop, layout=layout))


def to_sample(row: Row, data_file: DataFile) -> Sample:
    options = dict(sorted(row["Options"].items()))
    if [*options] != [*"ABCDEF"[: len(options)]]:
        raise ValueError(f"the letters of its choices are {', '.join(options)}, not A, B, C, ...")
    folders = ("videos", "videos_cropped", "Benchmark/videos", "video", "")
    return videos.question(
        videos.clip(data_file, f"{row['video ID']}.mp4", folders),
        str(row["Question ID"]),
        row["Question"],
        [str(choice) for choice in options.values()],
        choice_sets.target_of(row["Answer"], [*options.values()]),
        {"type": row["Question Type"]},
    )


def text_of(sample: Sample, prompt: Preset) -> str:
    if prompt == "lmms-eval":
        return f"Question: {videos.with_letters(sample)}\n{SELECT}"
    pairs = zip("ABCDEF", sample.choices, strict=False)
    choices = ", ".join(f"{letter}: {choice}" for letter, choice in pairs)
    return OFFICIAL.format(question=sample.question, choices=choices)


# -- scoring


def official(reply: Reply, sample: Sample) -> Reading:
    matches = tagged(reply.text)
    return first_of_alphabet(matches[-1].strip() if matches else reply.text)


def vlmevalkit(reply: Reply, sample: Sample) -> Reading:
    matches = tagged(reply.text)
    if not matches:
        return Reading(answer=None, rule="no <answer> tags")
    return first_of_alphabet(matches[-1].strip())


def tagged(text: str) -> list[str]:
    """The contents of <answer> tags. Tags after the last </answer> are not closed; looking for
    their ends would take quadratic time."""
    return TAGGED.findall(text, 0, text.rfind(CLOSED) + len(CLOSED))


def first_of_alphabet(text: str) -> Reading:
    for letter in "ABCDEF":
        if any(form.format(letter) in text for form in FORMS):
            return reading(letter, "letter with a sign")
    return reading(next((letter for letter in "ABCDEF" if letter in text), None), "any capital")

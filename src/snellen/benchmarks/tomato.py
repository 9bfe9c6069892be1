"""TOMATO: six kinds of motion whose order and rate only several frames show.

Paper    Shangguan et al. 2024, TOMATO: Assessing Visual Temporal Reasoning Capabilities in
         Multimodal Foundation Models, https://arxiv.org/abs/2410.23266 (ICLR 2025).
Data     yale-nlp/TOMATO@fe2025f4b9e1ce339618e0eecfd10f09caf67142: data/{count,direction,rotation,
         shape&trend,velocity&frequency,visual_cues}.json with 1,484 questions, and
         videos/{demonstration_type}/{key}.mp4, which the authors offer as a ZIP file.
Prompt   src/generate_lib/construct_prompt.py#L19-L34, with the authors' 16 frames in its first
         sentence. lmms-eval does not state their number. Replies are limited to 1,024 tokens.
Scoring  `official`: src/parse_result.py#L52-L105. A lone letter, a choice in capitals such as
         "A: 2", or "Answer is:(A)"; gpt-4o-mini reads other replies. The authors ask it up to five
         times for a letter, and then draw one. Here, such a reply stays unjudged.
         `rules`: the same without the judge, where an undecided reply is wrong.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/tomato/utils.py#L217-L270. Any capital of a choice counts, even in a word. Of
         several, the last "(X)" wins. **A reply without one, even an empty one, is read as A.**
         `robust`: Snellen's own rule. An empty reply is wrong.
Proof    For 1,200 generated replies, every letter of the rules equals that of the authors' and
         lmms-eval's code (tests/parity). `robust` is checked on examples worked out by hand.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.choice_sets import rule
from snellen.benchmarks.families.tasks import parse_letter, wrong_letter
from snellen.core import Benchmark, Capabilities, Judge, Presentation, Reading, Reply, Sample
from snellen.data import DataFile, Row, find
from snellen.media.content import Message, user

KIND = "choice"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 1484
COMMIT = "fe2025f4b9e1ce339618e0eecfd10f09caf67142"
SOURCE = f"yale-nlp/TOMATO@{COMMIT}:src/parse_result.py#L52-L105"
NAMES = ("data/count.json", "count.json")
LEAVES = {
    **{"count": "perception/counting", "visual_cues": "reasoning/temporal"},
    **dict.fromkeys(("direction", "rotation"), "perception/spatial"),
    **dict.fromkeys(("shape&trend", "velocity&frequency"), "reasoning/temporal"),
}
# The blanks at the ends of lines, and "externel", are the authors'.
ASK = (
    "You will be provided with 16 separate frames uniformly sampled from a video, the frames are "
    "provided in chronological order of the video. Analyze these frames and provide the answer to "
    "the question about the video content. Answer the multiple-choice question about the video "
    "content. \n\nYou must use these frames to answer the multiple-choice question; do not rely on "
    "any externel knowledge or commonsense. \n\n<question> \n{question} \n</question>\n\n"
    "<options> \n{choices} \n</options>\n\nEven if the information in these separate frames is not "
    "enough to answer the question, PLEASE TRY YOUR BEST TO GUESS AN ANSWER WHICH YOU THINK WOULD "
    "BE THE MOST POSSIBLE ONE BASED ON THE QUESTION. \n\nDO NOT GENERATE ANSWER SUCH AS 'NOT "
    "POSSIBLE TO DETERMINE.' \n"
)
EXTRACT = (
    "You are given a response, a list of multiple-choice options, and a index2answer mapping. You "
    "are required to extract the letter option from the GPT. \n    \n    response: {reply}\n\n    "
    "all_choices: {letters}\n\n    index2answer: {choices}\n\nOnly output the single parsed letter "
    "from the response. No other texts are needed. \n\nIf you think no options can match the "
    "index2answer dictionary, randomly select one letter. \n\nYour extracted letter is: \n"
)


def tomato(data: Path | None = None) -> Benchmark:
    data_file = find(data, "tomato", NAMES)
    return videos.choice_benchmark(
        "tomato",
        authors_files.table(data_file, questions, COMMIT),
        lambda row: to_sample(row, data_file),
        lambda sample: ASK.format(question=sample.question, choices=by_letter(sample)),
        SCORINGS,
        replace(
            # A is the answer to a quarter of the bundled questions, and has no "(A)" in "A B C D".
            choice_sets.check(SCORINGS, silent={"lmms-eval": 1 / 4}, lmms_eval=1 / 4),
            says=lambda _, answer: f"{answer} ",
            verdict=lambda sample, reply: str(
                parse_letter(reply, sample).answer or wrong_letter(sample)
            ),
        ),
        frames="uniform:16",
        max_answer_tokens=1024,
        presentation=Presentation(
            break_down_by=("reasoning", "demonstration"),
            capabilities=Capabilities(
                tag="reasoning", leaves=LEAVES, source="https://arxiv.org/abs/2410.23266, section 3"
            ),
        ),
    )


def questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of all files in the folder, whose names are kinds of reasoning."""
    for file in sorted(path.parent.glob("*.json")):
        for name, row in authors_files.by_id(file).items():
            yield {"reasoning": file.stem, "name": name, **row}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    kind, choices = row["demonstration_type"], authors_files.texts(row["options"])
    tags = {"reasoning": row["reasoning"], "demonstration": kind}
    letter = choice_sets.letter_at(row["answer"], choices)
    video = videos.clip(data_file, f"{kind}/{row['key']}.mp4")
    name = f"{row['reasoning']}|{row['name']}"
    return videos.question(video, name, row["question"], choices, letter, tags)


def by_letter(sample: Sample) -> dict[str, str]:
    return dict(zip(ascii_uppercase, sample.choices, strict=False))


def judge_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    choices = by_letter(sample)
    return (user(EXTRACT.format(reply=reply.text, letters=[*choices], choices=choices)),)


def verdict(words: str, sample: Sample) -> Reading:
    """Parse the judge's reply, which must be the letter of a choice and nothing else."""
    letter = words if words in by_letter(sample) else None
    return Reading(answer=letter, rule="only letter" if letter else "no letter")


RULES = rule(SOURCE, rules.tomato)
JUDGE = Judge(
    name="gpt-4o-mini",
    authors_model="gpt-4o-mini",
    prompt=judge_prompt,
    parse=verdict,
    when=lambda reading: reading.rule == rules.FOR_THE_JUDGE,
    max_answer_tokens=16,
)
SCORINGS = videos.with_robust(
    {
        "official": replace(RULES, judge=JUDGE),
        "rules": RULES,
        "lmms-eval": rule(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/tomato/utils.py#L217-L270", rules.tomato_lmms_eval
        ),
    }
)

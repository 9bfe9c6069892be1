"""Video-MMMU: what a model learns from lectures, in three tracks of 300 questions.

Paper    Hu et al. 2025, Video-MMMU: Evaluating Knowledge Acquisition from Multi-Discipline
         Professional Videos, https://arxiv.org/abs/2501.13826.
Data     lmms-lab/VideoMMMU on the Hugging Face hub: {Perception,Comprehension,Adaptation}/
         test-00000-of-00001.parquet, and the videos {Discipline}/{id}.mp4. The picture of a
         question in Adaptation is at the end of its video, {Discipline}/{id}.mp4, too.
Prompt   `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/videommmu/utils.py#L84-L135 and _default_template_yaml; the authors' own task is a
         copy of it. Replies are limited to 1,024 tokens. Frames are uniform:32.
Scoring  `official`: EvolvingLMMs-Lab/VideoMMMU@88b4ac3e:lmms_eval/tasks/videommmu/utils.py. Letters
         by a rule like MMMU's: "A." and "A:" count, or else "(A)", or else "A " even at the end of
         a word, and the one whose last mention comes last wins; no letter is drawn. Open answers,
         #L350-L378 and #L508-L662, as in `mmmu`, with 26 instead of 8 phrases that announce an
         answer. A text of the right answer only has to be contained, and a number must be equal.
         The code of both leaves empty replies out of all means; here, they are wrong.
         `lmms-eval`: letters by lmms_eval/tasks/_task_utils/mcq_extract.py, and open answers by the
         official rule.
         The knowledge gain compares Adaptation with and without the video, in two runs.
Proof    For 1,200 generated replies to choices and 420 to open questions, every letter and verdict
         equals that of the authors' and lmms-eval's code (tests/parity).
"""

from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.answers.others import lmms_eval_letter
from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families import video_choices as videos
from snellen.benchmarks.families import video_letters as rules
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.mmmu import subject_of
from snellen.benchmarks.families.mmmu_open import BEFORE, is_open_answer_right, open_answer
from snellen.benchmarks.families.tasks import as_reading, right_answers, wrong_letter
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find, jsonl
from snellen.metrics import mean

KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 300
OFFICIAL = "EvolvingLMMs-Lab/VideoMMMU@88b4ac3e:lmms_eval/tasks/videommmu/utils.py"
TRACKS = ("perception", "comprehension", "adaptation")
ALIASES = {
    "video_mmmu_perception": {"track": "perception"},
    "video_mmmu_comprehension": {"track": "comprehension"},
    "video_mmmu_adaptation": {"track": "adaptation"},
}
PHRASES = (
    *BEFORE,
    *("are ", "in total ", "total ", "identify ", "recognize ", "calculated as ", "counted as "),
    *("measured as ", "observed as ", "concluded as ", "found to be ", "equals "),
    *("determined to be ", "number of ", "value is ", "adds up to ", "have ", "has "),
)
DISCIPLINES = {
    "Art": "Art Art_Theory Design Music",
    "Science": "Biology Chemistry Geography Math Physics",
    "Humanities": "History Literature Sociology Psychology",
    "Engineering": "Agriculture Architecture_and_Engineering Computer_Science Electronics "
    "Energy_and_Power Materials Mechanical_Engineering",
    "Medicine": "Basic_Medical_Science Clinical_Medicine Diagnostics_and_Laboratory_Medicine "
    "Pharmacy Public_Health",
    "Business": "Accounting Economics Finance Manage Marketing",
}
BY_SUBJECT = {subject: name for name, of in DISCIPLINES.items() for subject in of.split()}
LEARN = (
    "You should watch and learn the video content. Then apply what you learned to answer the "
    "following {} question. The image for this question is at the end of the video.\n"
)
IGNORE = "\nPlease ignore the Quiz question in last frame of the video."

Track = Literal["perception", "comprehension", "adaptation"]


def video_mmmu(track: Track = "perception", data: Path | None = None) -> Benchmark:
    folder = track.title()
    names = (f"{folder}/test-00000-of-00001.parquet", f"{folder}.jsonl")
    data_file = find(data, "video-mmmu", names)
    return videos.choice_benchmark(
        "video-mmmu",
        authors_files.table(data_file, lambda path: iter(jsonl(path))),
        lambda row: to_sample(row, data_file),
        lambda sample: text_of(sample, track),
        {"official": OF_AUTHORS, "lmms-eval": OF_LMMS_EVAL},
        Check(
            says=lambda _, answer: answer,
            wrong=lambda sample: wrong_letter(sample) if sample.choices else "-98765",
            expect=EXPECT[track == "adaptation"],
        ),
        max_answer_tokens=1024,
        presentation=Presentation(
            break_down_by=("discipline", "subject"),
            capabilities=Capabilities(
                tag="", leaves={"": "knowledge/domain"}, source="https://arxiv.org/abs/2501.13826"
            ),
        ),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    subject = subject_of(row["id"])
    discipline = BY_SUBJECT.get(subject, "")
    options = () if row["question_type"] == "open" else authors_files.texts(row["options"])
    pairs = zip(options, ascii_uppercase, strict=False)
    if all(option.startswith(f"{letter}.") for option, letter in pairs):
        options = tuple(option[2:].strip() for option in options)
    right = authors_files.texts(row["answer"])
    sample = videos.question(
        videos.clip(data_file, f"{discipline}/{row['id']}.mp4", ("", "videos")),
        row["id"],
        row["question"],
        options,
        choice_sets.target_of(row["answer"], options) if options else None,
        {"discipline": discipline, "subject": subject},
    )
    if options:
        return sample
    # Several right answers to an open question are a list.
    single = len(right) == 1
    return replace(sample, target=right[0] if single else None, references=() if single else right)


def text_of(sample: Sample, track: Track) -> str:
    text = videos.with_letters(sample) if sample.choices else sample.question
    if track != "adaptation":
        return f"{text}{IGNORE}"
    return LEARN.format("multi-choice" if sample.choices else "open-ended") + text


# -- scoring


def official(reply: Reply, sample: Sample) -> Reading:
    return rules.videommmu(reply, sample) if sample.choices else open_answer(reply, PHRASES)


def lmms_eval(reply: Reply, sample: Sample) -> Reading:
    if not sample.choices:
        return open_answer(reply, PHRASES)
    return as_reading(lmms_eval_letter(reply.text, sample.choices))


def score(reading: Reading, sample: Sample) -> float:
    if sample.choices:
        return float(reading.answer is not None and reading.answer == sample.target)
    return float(is_open_answer_right(reading, right_answers(sample)))


def scoring(source: str, parse: choice_sets.Parse) -> Scoring:
    return Scoring(
        version=1,
        source=source,
        parse=parse,
        score=score,
        metrics={"accuracy": mean},
        missing="wrong",
    )


OF_AUTHORS = scoring(OFFICIAL, official)
OF_LMMS_EVAL = scoring(f"{pins.LMMS_EVAL}:lmms_eval/tasks/videommmu/utils.py#L280-L548", lmms_eval)
# In "A B C D", the authors' rule takes D, whose last mention comes last, and lmms-eval's takes A,
# with which the reply begins. Each is right for a quarter of the bundled questions.
# The bundled question of Adaptation is open.
EXPECT = (
    {
        "official": {**PERFECT, "hedging": 1 / 4},
        "lmms-eval": {**PERFECT, "hedging": 1 / 4},
    },
    {"official": PERFECT, "lmms-eval": PERFECT},
)

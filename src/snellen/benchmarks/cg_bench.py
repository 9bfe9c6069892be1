"""CG-Bench: questions on long videos, and where in a video the clues to the answers are.

Paper    Chen et al. 2024, CG-Bench: Clue-grounded Question Answering Benchmark for Long Video
         Understanding, https://arxiv.org/abs/2412.12075 (ICLR 2025).
Data     CG-Bench/CG-Bench@f826608752443a13b21f214c2d9c4156c526f030: cgbench.json with 12,129
         questions on 1,219 videos, and cgbench_mini.json with 3,000. cg_videos_720p/{id}.mp4 are on
         the Hugging Face hub, in parts of a ZIP file.
Prompt   run/utils.py#L13-L51 and #L327-L356, without subtitles, which the authors add on request.
         `task=long` (the authors' long_acc) and `task=clue` (clue_acc) ask for a choice,
         `task=miou` for the intervals of the clues, and `task=open` for an answer in the model's
         own words. In clue, the authors show only frames of the clues. Here, a model sees the video
         from the first to the last clue. In miou, the authors list the time of each frame in the
         prompt; here, times are shown only if the frame policy adds them. Frames are uniform:32,
         and replies are limited to 512 tokens. acc@iou, which needs two tasks, is not here.
Scoring  `official`: run/utils.py#L400-L452 and run/stat_with_key.py. A reply without an answer is
         left out of all means. Without JSON, every capital from A to H counts: "A or C" is right
         for both. Without JSON, an even number of numbers are read as pairs, where "12-30" is 12
         and -30, and no number at all scores 0. `recall` (rec@iou) is the mean of the shares that
         reach an overlap of 0.1 to 0.5. VLMEvalKit counts an overlap that is larger, and rounds.
         In open, a judge compares the reply with the right answer and says 0 or 1, or 2 if it must
         look at the video (#L53-L75). It is then shown 32 frames of the clues, their times, and the
         lines of cg_subtitles/{id}.srt on display at these times. In this step, only 1 is
         right. For 599 of 600 questions, the frames are the authors' to within one frame. Their
         library keeps tags such as <i> in subtitles; here, tags are removed. The authors do not
         name the judge. open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/cgbench.py#L802-L804 uses gpt-4o-2024-08-06, and sends the second prompt without
         times and subtitles.
         `lmms-eval` (choices): EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
         lmms_eval/tasks/cgbench/utils.py#L115-L119, with the letters A to N.
         `robust` (choices): Snellen's own rule, which takes the letter that a reply settles on.
Proof    For 1,000 generated replies to three tasks, and 1,200 to choices, every result and mean
         equals that of the authors' and lmms-eval's code (tests/parity). For 720 generated texts
         of the judge, both prompts, the verdict, and the mean equal those of the authors' code.
"""

import json
from pathlib import Path
from typing import Literal

from snellen.answers.others import lmms_eval_letter
from snellen.benchmarks.families import (
    authors_files,
    choice_sets,
    clue_judge,
    clues,
    pins,
    video_choices,
)
from snellen.benchmarks.families.intervals import mean_of_scored, reaching
from snellen.benchmarks.families.judged import prompts
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.tasks import wrong_letter
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import user

KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 3000
COMMIT = "f826608752443a13b21f214c2d9c4156c526f030"
SOURCE = f"CG-Bench/CG-Bench@{COMMIT}:run/utils.py#L103-L156 and #L400-L452"
RAW = f"https://raw.githubusercontent.com/CG-Bench/CG-Bench/{COMMIT}"
FILES_PUBLISHED = (
    File(
        name="cgbench_mini.json",
        url=f"{RAW}/cgbench_mini.json",
        sha256="907a2b4cc8849b852a928e7339794fb2bc43b13ee0fd561af5d697fd0e03da90",
        size=2_352_204,
        note="the questions; the videos are on the Hugging Face hub",
    ),
    File(name="cgbench.json", url=f"{RAW}/cgbench.json", note="no digest is published"),
)
ALIASES = {
    "cgbench": {"task": "long"},
    "CG-Bench_MCQ_Grounding_Mini": {"task": "miou"},
    "CG-Bench_OpenEnded": {"task": "open", "split": "full"},
    "CG-Bench_OpenEnded_Mini": {"task": "open"},
}
LEAVES = {
    **dict.fromkeys(("Entity Perception", "Entity Cognition"), "perception/object"),
    **dict.fromkeys(("Event Perception", "Event Cognition"), "reasoning/temporal"),
    **dict.fromkeys(("Time Perception", "Time Cognition"), "reasoning/temporal"),
    **dict.fromkeys(("Text Perception", "Text Cognition"), "OCR/text"),
    **dict.fromkeys(("Scene Perception", "Scene Cognition"), "perception/scene"),
    **{"2D Spatial Perception": "perception/spatial", "Hallucination": UNMAPPED},
}
ALL_LETTERS = ("",) * 14
LEAST = (0.1, 0.2, 0.3, 0.4, 0.5)

Task = Literal["long", "clue", "miou", "open"]
Split = Literal["mini", "full"]


def cg_bench(task: Task = "long", split: Split = "mini", data: Path | None = None) -> Benchmark:
    names = ("cgbench_mini.json",) if split == "mini" else ("cgbench.json",)
    files = [file for file in FILES_PUBLISHED if file.name in names]
    data_file = find(data, "cg-bench", names, files, f"cg-bench:split={split}")
    table, file = authors_files.table(data_file, authors_files.objects, COMMIT)
    return Benchmark(
        name="cg-bench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file, task),
        prompt=lambda sample, _: (user(*sample.media, text_of(sample, task)),),
        scorings=scorings_of(task, data_file),
        cluster_by=video_of,
        check=Check(
            says=lambda _, answer: in_json(answer if task == "miou" else json.dumps(answer)),
            wrong=lambda sample: WRONG.get(task) or wrong_letter(sample),
            verdict=clue_judge.perfect_verdict,
            expect=EXPECT.get(task, OF_CHOICE),
        ),
        procedure=Procedure(group_by=video_of, frames="uniform:32"),
        presentation=Presentation(
            break_down_by=("sub_category", "domain"),
            capabilities=Capabilities(
                tag="sub_category",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2412.12075, section 3",
            ),
        ),
        interop=Interop(files=file),
    )


def to_sample(row: Row, data_file: DataFile, task: Task) -> Sample:
    spans = [[float(start), float(end)] for start, end in row["clue_intervals"]]
    choices = authors_files.texts(row["choices"])
    window: tuple[float, float | None] = (0.0, None)
    if task == "clue" and spans:
        window = (min(start for start, _ in spans), max(end for _, end in spans))
    video = f"{row['video_uid']}.mp4"
    target: str | None = str(spans)
    if task == "open":
        target = None if row["answer"] is None else str(row["answer"])
    elif task != "miou":
        target = choice_sets.target_of(row["right_answer"], choices)
    return Sample(
        id=str(row["qid"]),
        question=row["question"],
        choices=() if task in ("miou", "open") else choices,
        media=(video_choices.clip(data_file, video, clue_judge.FOLDERS, window),),
        target=target,
        tags={tag: str(row.get(tag) or "") for tag in ("sub_category", "domain")},
        data={"video": video, "choices": choices, "clues": spans},
    )


def video_of(sample: Sample) -> str:
    return str(sample.data["video"])


def in_json(answer: str) -> str:
    """A reply in the form that the prompt requests."""
    return f'```json\n{{"result": {answer}}}\n```'


def text_of(sample: Sample, task: Task) -> str:
    words = prompts("cg_bench")[f"{task}_acc" if task in ("long", "clue") else task]
    if task == "open":
        return f"{words}Question: {sample.question}\n\n"
    options = zip("ABCDEFGHIJ", authors_files.texts(sample.data["choices"]), strict=False)
    listed = "\n".join(f"{letter}:{choice}" for letter, choice in options)
    return f"{words}Question: {sample.question}\n\n{listed}\n\n"


def scorings_of(task: Task, data_file: DataFile) -> dict[str, Scoring]:
    if task == "miou":
        return overlap_scorings()
    return {"official": clue_judge.scoring(data_file)} if task == "open" else choice_scorings()


def choice_scorings() -> dict[str, Scoring]:
    """The scorings of the tasks long and clue. The headline scoring comes first."""
    official = Scoring(
        version=1,
        source=SOURCE,
        parse=clues.choice,
        score=clues.choice_score,
        metrics={"accuracy": mean_of_scored},
    )
    letter = choice_sets.parser(lambda text, _: lmms_eval_letter(text, ALL_LETTERS))
    lmms = choice_sets.rule(f"{pins.LMMS_EVAL}:lmms_eval/tasks/cgbench/utils.py#L115-L119", letter)
    robust = choice_sets.scorings()["robust"]
    return {"official": official, "lmms-eval": lmms, "robust": robust}


def overlap_scorings() -> dict[str, Scoring]:
    official = Scoring(
        version=1,
        source=SOURCE,
        parse=clues.clue_overlap,
        score=clues.overlap_score,
        metrics={
            "miou": mean_of_scored,
            "recall": reaching(*LEAST),
            **{f"recall@{least}": reaching(least) for least in LEAST},
        },
        partial=True,
    )
    return {"official": official}


# "A B C D ..." has the right letter in it, and begins with A, which is right in two rows of eight.
OF_CHOICE: dict[str, dict[str, float | None]] = {
    "official": {**PERFECT, "silent": None, "hedging": 1.0},
    "lmms-eval": {**PERFECT, "hedging": 1 / 4},
    "robust": {**PERFECT},
}
# "1 2 3" has an odd number of numbers.
EXPECT: dict[str, dict[str, dict[str, float | None]]] = {
    "miou": {"official": {**PERFECT, "silent": None, "hedging": None}},
    "open": {"official": {**PERFECT, "silent": None}},
}
WRONG = {"miou": "[[9000, 9001]]", "open": "nothing of the kind"}

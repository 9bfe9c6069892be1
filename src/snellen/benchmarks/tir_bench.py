"""TIR-Bench: thirteen tasks for which a model should rotate, crop, or measure the picture.

Paper    Li et al. 2025, TIR-Bench: A Comprehensive Benchmark for Agentic Thinking-with-Images
         Reasoning, https://arxiv.org/abs/2511.01833.
Data     Agents-X/TIR-Bench on the Hugging Face hub: TIR-Bench.json with 1,215 questions, and
         data.zip with the pictures; Apache-2.0. A question has one or two pictures. Its right
         answer is a letter, several letters, a number, two numbers, or a list of numbers.
Prompt   The authors publish no code for this. Here, the pictures come first, and then the row's
         field `prompt`, as in modelscope/evalscope@fde259d2a32ab8a4cdb3af44dc8b18f504f1e277:
         evalscope/benchmarks/tir_bench/tir_bench_adapter.py#L129-L156. The limit of 8,192 tokens
         is our choice. Published scores "with tools" or "with CI" are from models that run code,
         which `--tools` does not offer.
Scoring  `official`: agents-x-project/TIR-Bench@f79c7562b59e4f8142b0437fc725eb3ee1aec76c. GPT-4.1
         extracts the answer, with examples for each task (extract_answer.py#L27-L52, #L81-L111,
         demo_prompts.py). Rules compare it with the right answer (calculate_score.py#L65-L163 and
         tools.py; families/tir_rules.py describes the quirks). A jigsaw gets the share of pieces in
         the right place, and a list of patches the intersection over the union. In the task `ocr`,
         no judge is asked: the right text must be in the reply, with two texts other than those in
         the data (calculate_score.py#L94-L98). Accuracy is over all questions, and by task.
         Numbers that are not written alike are compared with math-verify 0.9.0
         (`pip install 'snellen[latex]'`); the authors state no version. As in their code, a number
         is wrong if math-verify stops with an error or exceeds its limit of 5 seconds. We count CPU
         time, so that other programs on the machine cannot change a score. A reply counts
         as not judged if math-verify does not end within 30 seconds.
         The current script stops with an error at the task `ocr` unless its rows have a field
         `extracted_answer`, which the first script does not write.
         `robust`: our own rules, without a judge, and with partial credit as in their code.
Proof    Scores, judge prompts, and accuracies of generated replies equal those of the authors'
         code with math-verify 0.9.0 (tests/parity). No outputs are published.
"""

from pathlib import Path

from snellen.benchmarks.families.judged import for_the_judge, presentation
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.tasks import parse_verbatim
from snellen.benchmarks.families.tir_judge import JUDGE, layout
from snellen.benchmarks.families.tir_rules import MATH_VERIFY, robust_answer, robust_score, score
from snellen.core import Benchmark, Check, Interop, Reading, Reply, Sample, Scoring
from snellen.data import DataFile, Row, find, json_list
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics import mean

AUTHORS = "agents-x-project/TIR-Bench@f79c7562b59e4f8142b0437fc725eb3ee1aec76c"
HUB = "hf://datasets/Agents-X/TIR-Bench@ae9976e81e86c4797fd0d28f9119393b37d9d006"
FILES = (
    File(name="TIR-Bench.json", url=f"{HUB}/TIR-Bench.json"),
    File(name="data.zip", url=f"{HUB}/data.zip", unpack=True, note="the pictures, about 1.2 GB"),
)
KIND = "mixed"
NEEDS_JUDGE = True
LANGUAGES = ("en", "zh")
LICENSE = "Apache-2.0"
PROOF = "authors' code"
SIZE = 1215
ALIASES: dict[str, dict[str, str]] = {"TIR-Bench": {}}
LEAVES = {
    **dict.fromkeys(("color", "contrast", "instrument"), "perception/attribute"),
    **dict.fromkeys(("jigsaw", "refcoco", "rotation_game"), "perception/spatial"),
    **dict.fromkeys(("spot_difference", "visual_search"), "perception/object"),
    **dict.fromkeys(("ocr", "word_search"), "OCR/text"),
    **dict.fromkeys(("maze", "symbolic"), "reasoning/logic"),
    "math": "reasoning/mathematical",
}
FIXED = {"60.jpg": "mobi", "62.jpg": "aires"}
"""The right texts of two pictures of the task `ocr`, which the authors' script corrects."""


def tir_bench(data: Path | None = None) -> Benchmark:
    data_file = find(data, "tir-bench", [FILES[0].name], FILES)
    official = Scoring(
        version=2,
        source=f"{AUTHORS}:calculate_score.py#L65-L163",
        parse=official_answer,
        score=lambda reading, sample: (
            score(reading.answer, sample) if isinstance(reading.answer, str) else 0.0
        ),
        metrics={"accuracy": mean},
        judge=JUDGE,
        partial=True,
        check_installation=MATH_VERIFY.check_installation,
    )
    # An answer that is no letter means A, which is right in one of the 15 bundled rows. Of another,
    # "1 2 3" has one of four patches.
    expected = {"oracle": 1.0, "wrong": 0.0, "silent": 1 / 15, "hedging": 1.25 / 15}
    return Benchmark(
        name="tir-bench",
        asks=1,
        data=json_list(data_file),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, sample.question),),
        scorings={
            "official": official,
            "robust": Scoring(
                version=1,
                source="ours",
                parse=robust_answer,
                score=robust_score,
                metrics={"accuracy": mean},
                partial=True,
            ),
        },
        max_answer_tokens=8192,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda sample: {"A": "B", "B": "A"}.get(sample.target or "", "-98765"),
            verdict=lambda _, reply: reply.text or "?",
            expect={"official": expected, "robust": PERFECT},
        ),
        presentation=presentation(("task",), LEAVES, "https://arxiv.org/abs/2511.01833, section 3"),
        interop=Interop(files=data_file, layout=layout),
    )


def published(**_: object) -> tuple[File, ...]:
    """The authors' questions and pictures. No digests are published."""
    return FILES


def to_sample(row: Row, data_file: DataFile) -> Sample:
    task, name = row["task"], row["image_1"]
    if task not in LEAVES:
        raise ValueError(f"unknown task {task!r}")
    if not name or row["answer"] is None:
        raise ValueError(f"the field {'answer' if name else 'image_1'} is empty")
    right = [text for part, text in FIXED.items() if task == "ocr" and part in name]
    return Sample(
        id=str(row["id"]),
        question=row["prompt"],
        media=tuple(map(data_file.image, filter(None, (name, row.get("image_2"))))),
        target=right[-1] if right else str(row["answer"]),
        tags={"task": task},
        data={
            "image": name,
            "difficulty": int(row["meta_data"]["difficulty"]) if task == "jigsaw" else None,
        },
    )


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Leave the reply to the judge, except in the task `ocr`."""
    return (parse_verbatim if sample.tags["task"] == "ocr" else for_the_judge)(reply, sample)

"""WorldVQA: the name of what a picture shows, judged correct, incorrect, or unattempted.

Paper    Zhou et al. 2026, https://arxiv.org/abs/2602.02537.
Data     moonshotai/WorldVQA on the Hugging Face hub: WorldVQA.tsv, 3,500 questions in Chinese and
         English, in nine categories and three levels of difficulty, with their pictures.
Prompt   `official`: the picture, then "Please provide as much detail as possible in your answer. "
         or its Chinese form, and the question, MoonshotAI/WorldVQA@d8dded9da9243dc27e1b4ab023863f5c
         e377a97d:eval/eval.py#L233-L258. The authors set no limit; here, it is 2,048 tokens.
Scoring  `official`: gpt-oss-120b judges what follows `think>` in a reply (#L260-L316). The text is
         "correct" if it has the word Correct anywhere, else "not attempted" if it has Unattempted,
         else "incorrect". Replies without a verdict are in no mean (#L318-L387). The other figures
         are those of VLMEvalKit, which asks in almost the same words and reads only what follows
         `Label:` (vlmeval/dataset/worldvqa.py#L209 and #L306-L338 at commit e8e78f0). The authors'
         leaderboard leaves out the category of people.
Proof    Prompts and readings of generated texts equal those of the authors' code (tests/parity). No
         outputs are published.
"""

from pathlib import Path

from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.attempted import figures
from snellen.benchmarks.families.judged import check, judge_of_all, judged, presentation, prompts
from snellen.core import Benchmark, Interop, Reading, Reply, Sample
from snellen.data import Row, find, jsonl
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics import mean

REVISION = "d8dded9da9243dc27e1b4ab023863f5ce377a97d"
SHEET = File(
    name="WorldVQA.tsv",
    url="https://huggingface.co/datasets/moonshotai/WorldVQA/resolve/main/WorldVQA.tsv",
    md5="3353b1151968179e5264190ece028fed",
)
KIND = "words"
NEEDS_JUDGE = True
LANGUAGES = ("zh", "en")
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 3500
ALIASES: dict[str, dict[str, str]] = {"WorldVQA": {}}
ASK = {
    True: "请尽可能提供详细的回答。\n",
    False: "Please provide as much detail as possible in your answer. \n",
}
"""What comes before a question, which is Chinese or not."""


def worldvqa(data: Path | None = None) -> Benchmark:
    data_file = find(data, "worldvqa", [SHEET.name], (SHEET,))
    table, file = authors_files.table(data_file, lambda path: iter(jsonl(path)), REVISION)
    return Benchmark(
        name="worldvqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row),
        prompt=lambda sample, _: (
            user(*sample.media, ASK[sample.tags["language"] == "zh"] + sample.question),
        ),
        scorings={
            "official": judged(
                f"MoonshotAI/WorldVQA@{REVISION}:eval/eval.py#L260-L387",
                judge_of_all("gpt-oss-120b", judge_prompt, verdict, max_answer_tokens=2048),
                lambda reading, _: float(reading.answer == "correct"),
                {"accuracy": mean, **figures()},
            )
        },
        max_answer_tokens=2048,
        check=check(
            lambda sample, reply: f"Label: {'C' if reply.text == sample.target else 'Inc'}orrect",
            ("official",),
        ),
        presentation=presentation(
            ("difficulty", "category", "language"),
            "knowledge/world",
            "https://arxiv.org/abs/2602.02537, abstract",
        ),
        interop=Interop(files=file),
    )


def published(**_: object) -> tuple[File, ...]:
    """The authors' TSV file, which includes the pictures."""
    return (SHEET,)


def to_sample(row: Row) -> Sample:
    return Sample(
        id=str(row.get("index", row.position)),
        question=row["question"],
        media=(authors_files.picture(row),),
        target=row["answer"],
        tags={name: str(row.get(name) or "") for name in ("difficulty", "category", "language")},
    )


def judge_prompt(sample: Sample, reply: Reply) -> str:
    words: str = prompts("worldvqa")["judge"]
    text = reply.text
    if "think>" in text:
        mark = "</think>" if "<think>" in text and "</think>" in text else "think>"
        text = text.rpartition(mark)[2].strip()
    return words.format(
        question=sample.question, model_answer=text, ground_truth_answer=sample.target
    )


def verdict(words: str, _: Sample) -> Reading:
    if not words.strip():
        return Reading(answer=None, rule="nothing said")
    if "Correct" in words:
        return Reading(answer="correct", rule="Correct")
    answer = "not attempted" if "Unattempted" in words else "incorrect"
    return Reading(answer=answer, rule="no Correct")

"""TIR-Bench's judge, which extracts the answer from a reply, and the authors' files of results.

Line numbers are those of agents-x-project/TIR-Bench@f79c7562b59e4f8142b0437fc725eb3ee1aec76c:
extract_answer.py (the judge) and calculate_score.py (the results).
"""

from pathlib import Path

from snellen.benchmarks.families import results
from snellen.benchmarks.families.judged import prompts
from snellen.core import Judge, Published, Reading, Reply, Sample
from snellen.media.content import Message, system, user

SYSTEM = " Assistant is a large language model trained by OpenAI."


def judge_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    """Ask for the answer in a reply, after the examples of the task (#L27-L52)."""
    examples = prompts("tir_bench")[sample.tags["task"]]
    question = f"Question: {sample.question}\n\nModel response: {reply.text}"
    return system(SYSTEM), user(f"{examples}\n\n{question}\n\nExtracted answer: ")


def extraction(words: str, _: Sample) -> Reading:
    """Parse the text of the judge. An empty text leaves the reply unjudged."""
    if not words.strip():
        return Reading(answer=None, rule="nothing said")
    return Reading(answer=words.replace("*", "").strip(), rule="extraction")


JUDGE = Judge(
    name="gpt-4.1",
    authors_model="gpt-4.1",
    prompt=judge_prompt,
    parse=extraction,
    when=lambda reading: reading.rule == "for the judge",
    temperature=None,
    max_answer_tokens=2048,
)


def layout(path: Path) -> Published | None:
    """Read the authors' results: an object that maps keys to rows with `model_response` and, once
    a judge was asked, `extracted_answer`. A null extraction is scored as an empty one.

    Raises:
        DataError: two rows have the same id, or a reply is neither text nor null.
    """
    content = results.of_json(path)
    if not isinstance(content, dict) or not content:
        return None
    if not all(isinstance(row, dict) and "model_response" in row for row in content.values()):
        return None
    rows = [{"id": key, **row} for key, row in content.items()]
    for row in rows:
        if isinstance(row["model_response"], list):  # only the first counts (#L92-L93)
            row["model_response"] = next(iter(row["model_response"]), "")
    judged = [row for row in rows if row.get("task", row.get("category")) != "ocr"]
    extracted = {str(row["id"]): row.get("extracted_answer") for row in judged}
    empty = Reading(answer="", rule="no extraction in the file")
    return Published(
        replies=results.replies_of(path, rows, "id", "model_response"),
        verdicts={"official": {key: (str(text),) for key, text in extracted.items() if text}},
        readings={"official": {key: empty for key, text in extracted.items() if not text}},
        only_these=True,
    )

"""CharXiv: questions about charts of scientific papers, one on reasoning and four on description.

Paper    Wang et al. 2024, https://arxiv.org/abs/2406.18521 (NeurIPS Datasets and Benchmarks).
Data     princeton-nlp/CharXiv@7ebe88f78dee387691551f071abcb2b9e1a8025b:data/{reasoning,descriptive,
         image_metadata}_val.json, under CC BY-SA 4.0, and images/ from images.zip on the Hugging
         Face hub: 1,000 figures, 1,000 reasoning and 4,000 descriptive questions. The hub's parquet
         file can also be read (pass its folder). The answers of the test split are hidden.
Prompt   `official`: the picture, then the question with its instructions, src/descriptive_utils.py
         #L157-L174, src/reasoning_utils.py#L82-L106. Replies are limited to 1,024 tokens, as in
         src/generate_lib/claude.py. The task names of lmms-eval ask these questions, too; lmms-eval
         itself picks the instructions of a reasoning question by the source of the question instead
         of the type of its answer, and asks one of a figure's four descriptive questions four times
         (EvolvingLMMs-Lab/lmms-eval@75571cfe:lmms_eval/tasks/charxiv/utils.py#L39-L69).
Scoring  `official`: GPT-4o compares a reply with the answer and scores it 0 or 1, in JSON.
         Reasoning: a prompt for each reply (#L62-L80). Descriptive: a prompt for five replies to
         questions of one template, in the order of the data (src/descriptive_utils.py#L99-L138); if
         one of the five scores is not 0 or 1, the whole text is rejected (#L83-L89). A reasoning
         score is not checked, but counts as 0 in the mean if it is not 0 or 1, and is counted by
         `invalid` (src/get_stats.py#L9-L55). The authors ask again up to ten times, with 256 to
         1,024 tokens, and then store -1. Here, the judge is asked once, with 1,024 tokens, and an
         unreadable text leaves its replies unjudged. Their judge is in JSON mode, so a text in a
         fence of backticks is unreadable. VLMEvalKit's judge reads each reply on its own, with
         prompts that only its TSV contains, and averages scores unchecked.
         `single` (on request): the official prompt for a descriptive reply on its own.
Proof    Generated verdicts with the results and statistics of the authors' code, and the digests of
         prompts that it builds (tests/parity). No outputs are in the repository.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from snellen.benchmarks.families.charxiv_judge import (
    BATCHES,
    SINGLY,
    invalid,
    judge_prompt,
    perfect_verdict,
    verdict,
)
from snellen.benchmarks.families.charxiv_rows import TAGS, Questions, table, to_sample
from snellen.benchmarks.families.judged import check, judge_of_all, judged, presentation
from snellen.benchmarks.families.results import of_json
from snellen.core import Benchmark, Interop, Judge, Procedure, Published, Scoring
from snellen.data import find
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics import mean

REPOSITORY = "princeton-nlp/CharXiv@7ebe88f78dee387691551f071abcb2b9e1a8025b"
RAW = f"https://raw.githubusercontent.com/{REPOSITORY.replace('@', '/')}/data"
IMAGES = "https://huggingface.co/datasets/princeton-nlp/CharXiv/resolve/main/images.zip"
DIGESTS = {
    "reasoning_val.json": "8bf9b9c466baed7510104c65dcbcb6b3ca36080123a609f8af3e32d573c85d19",
    "descriptive_val.json": "5dc144dd043b77b32feeae2875c6112b1d7cc45e05790cf025859c21e9b40a68",
    "image_metadata_val.json": "175a7d7001d76f37c7515bd59d6a9bcdd8062140150e6572767a9f87b59d11bc",
}
KIND = "words"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "CC-BY-SA-4.0"
PROOF = "authors' code"
SIZE = 1000
OTHER_SIZES = {"questions=descriptive": 4000}
ALIASES = {
    "CharXiv_reasoning_val": {"questions": "reasoning"},
    "CharXiv_descriptive_val": {"questions": "descriptive"},
    "charxiv_val_reasoning": {"questions": "reasoning"},
    "charxiv_val_descriptive": {"questions": "descriptive"},
}
FAILED = "Error in generating response."
"""What the authors' script stores if a request for a reply failed."""


def charxiv(questions: Questions = "reasoning", data: Path | None = None) -> Benchmark:
    names = [f"{folder}{questions}_val.json" for folder in ("", "data/")]
    data_file = find(data, "charxiv", names, published(), "charxiv")
    rows, file = table(data_file, questions)
    scorings = SCORINGS[questions]
    return Benchmark(
        name="charxiv",
        asks=1,
        data=rows,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, str(sample.data["query"])),),
        scorings=scorings,
        max_answer_tokens=1024,
        cluster_by=lambda sample: str(sample.data["figure"]),
        check=check(perfect_verdict, scorings),
        procedure=Procedure(group_by=lambda sample: str(sample.data["figure"])),
        presentation=presentation(
            TAGS[questions], "OCR/table", "https://arxiv.org/abs/2406.18521, abstract"
        ),
        interop=Interop(files=file, layout=layout),
    )


def published(**_: object) -> tuple[File, ...]:
    """The authors' files of questions, and the archive of the pictures."""
    files = (File(name=name, url=f"{RAW}/{name}", sha256=DIGESTS[name]) for name in DIGESTS)
    return (*files, File(name="images.zip", url=IMAGES, unpack=True, note="the pictures"))


def scoring(judge: Judge) -> Scoring:
    return judged(
        f"{REPOSITORY}:src/get_stats.py#L9-L83",
        judge,
        lambda reading, _: float(reading.answer == 1.0),
        {"accuracy": mean, "invalid": invalid},
        on_missing="The authors' script stops if a question has no score.",
    )


JUDGE = judge_of_all("gpt-4o-2024-05-13", judge_prompt, verdict, max_answer_tokens=1024)
SCORINGS: Mapping[Questions, Mapping[str, Scoring]] = {
    "reasoning": {"official": scoring(JUDGE)},
    "descriptive": {
        "official": scoring(replace(JUDGE, batches=BATCHES)),
        "single": scoring(replace(JUDGE, batches=SINGLY, on_request=True)),
    },
}


def layout(path: Path) -> Published | None:
    """Read the authors' generations (gen-*.json), or their scores (scores-*.json). The replies to
    which scores belong are read from the generations in the same folder."""
    rows = of_json(path)
    if not isinstance(rows, dict) or not rows or not all(map(is_result, rows.values())):
        return None
    fields = ("extracted_answer", "score")
    verdicts = {
        name: (json.dumps({field: row.get(field) for field in fields}),)
        for name, row in rows.items()
        if "score" in row
    }
    generations = path.with_name(path.name.replace("scores-", "gen-", 1))
    texts = of_json(generations) if verdicts else rows
    replies = {name: reply_of(texts, name, name in verdicts) for name in rows}
    return Published(replies=replies, verdicts={"official": verdicts} if verdicts else {})


def is_result(row: object) -> bool:
    return isinstance(row, dict) and ("score" in row or "response" in row)


def reply_of(texts: Any, name: str, scored: bool) -> str | None:
    """A reply of the generations. It is "" if only its score is known, and None if it failed."""
    row = texts.get(name) if isinstance(texts, dict) else None
    text = row.get("response") if isinstance(row, dict) else None
    if scored:
        return text if isinstance(text, str) else ""
    return text if isinstance(text, str) and text != FAILED else None

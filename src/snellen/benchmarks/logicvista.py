"""LogicVista: visual puzzles of five kinds of reasoning, with the choices in the picture.

Paper    Xiao et al. 2024, LogicVista: Multimodal LLM Logical Reasoning Benchmark in Visual
         Contexts, https://arxiv.org/abs/2407.04973.
Data     Yijia-Xiao/LogicVista@e5795f17189ce1243231250af7d8c112ae2c5a57:data/dataset.json with 448
         questions, and images/. The repository's license is Apache-2.0, but 287 questions come from
         sources without a license. VLMEvalKit's LogicVista.tsv has the pictures in the rows; there,
         an id is the row's `index`.
         Three questions have two right letters, and one has a digit. Question v1_382 is empty.
Prompt   The authors prescribe no prompt. The picture comes first, then the question, as in
         open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/
         image_base.py, ImageBaseDataset.build_prompt. Replies are limited to 2,048 tokens.
Scoring  `official`: eval/extract_accuracy.py#L74-L155. GPT-4 at temperature 0.2 extracts the list
         of chosen letters. Rules decide only about an empty reply and about a single character
         that is not a letter from A to E or a digit. The list must equal the right one: there is no
         partial credit. The empty question needs an empty reply, or a list with an empty text.
         The authors repair a malformed verdict with another model. Here, it is not read. The words
         on the form of the verdict are LangChain's (langchain-core 0.2.43), whose version the
         authors do not state.
         The breakdowns are those of eval/analyze_accuracy.py: skills, and the capabilities diagram
         and ocr, which overlap. For the authors' tables of results, the capabilities are those in
         the table, which differ from dataset.json for 38 questions.
         `vlmevalkit`: another prompt for the judge, whose verdict consists of capital letters only,
         vlmeval/dataset/utils/logicvista.py#L11-L70.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For the published results of 7 models, every list of letters, verdict, and accuracy equals
         the authors' (tests/parity). `robust` is checked on examples worked out by hand.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from snellen.benchmarks.families import authors_files, pins
from snellen.benchmarks.families.judged import for_the_judge
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.results import of_json
from snellen.benchmarks.families.tasks import parse_letter
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Judge,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, csv, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, Message, user
from snellen.metrics import mean

KIND = "choice"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "mixed"
PROOF = "published outputs"
SIZE = 448
REVISION = "e5795f17189ce1243231250af7d8c112ae2c5a57"
SOURCE = f"Yijia-Xiao/LogicVista@{REVISION}:eval/extract_accuracy.py#L74-L155"
FILES_PUBLISHED = (
    own_sheet("LogicVista", md5="41c5d33adf33765c399e0e6ae588c061"),
    File(
        name="dataset.json",
        url=f"https://raw.githubusercontent.com/Yijia-Xiao/LogicVista/{REVISION}/data/dataset.json",
        sha256="fd4e95977c5a25a08c3acab13fe8277008f850d25005a7f039cecc955fe79ca8",
        size=394_620,
        note="the questions alone: each picture is a separate file of the repository",
    ),
)
NAMES = ("data/dataset.json", "dataset.json", "annotations/dataset.json", "LogicVista.tsv")
SKILLS = {
    "inductive": "reasoning/logic",
    "deductive": "reasoning/logic",
    "numerical": "reasoning/mathematical",
    "spatial": "perception/spatial",
    "mechanical": "reasoning/causal",
}
CAPABILITIES = ("diagram", "ocr")


def logicvista(data: Path | None = None) -> Benchmark:
    data_file = find(data, "logicvista", NAMES, FILES_PUBLISHED)
    table, file = authors_files.table(data_file, questions, REVISION)
    return Benchmark(
        name="logicvista",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, *filter(None, [sample.question])),),
        scorings=scorings(),
        max_answer_tokens=2048,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda sample: "B" if sample.target == "A" else "A",
            expect={"official": PERFECT, "vlmevalkit": PERFECT, "robust": PERFECT},
            verdict=lambda sample, reply: verdict_of(robust_letters(reply) or ("ZZZZZ",)),
        ),
        presentation=Presentation(
            break_down_by=("skill", *CAPABILITIES),
            capabilities=Capabilities(
                tag="skill", leaves=SKILLS, source="https://arxiv.org/abs/2407.04973, section 3"
            ),
        ),
        interop=Interop(files=file, layout=layout),
    )


def questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of dataset.json, which maps ids to questions."""
    for name, fields in authors_files.of_json(path).items():
        yield {"id": name, **fields}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    folder = data_file.path.parent / "images"
    image = (
        authors_files.picture(row)
        if "image" in row
        else Image(folder / row["imagename"], label=row["imagename"], within=folder)
    )
    capability = row.get("capability") or row.get("broad_capability")
    return Sample(
        id=str(row["id"] if "id" in row else row["index"]),
        question=row["question"],
        media=(image,),
        target=row["answer"],
        tags=tags_of(authors_files.texts(row["skill"]), authors_files.texts(capability)),
    )


def tags_of(skills: tuple[str, ...], capabilities: tuple[str, ...]) -> dict[str, str]:
    """The tags by which results are broken down. A capability counts if its name is anywhere in
    the text: "diagram and ocr" stands for both."""
    text = " ".join(capabilities)
    return {"skill": " ".join(skills), **{name: name * (name in text) for name in CAPABILITIES}}


# -- scoring

OPEN = "for the judge"
NO_CHOICE = "ZZZZZ"
ALONE = re.compile(r"[A-Z0-9](?:(?:, | and |, and | & )[A-Z0-9])*\.?")
# eval/extract_accuracy.py#L90-L97, with its spelling and its indents
EXTRACTION = """
            You are a information extractor that extracts multiple choice letter answer choices
                from a paragraph that contains the answer choice and sometimes and explaination \
of why that choice is correct to the following question: "{question}"

                What letter did the following answer choose? If the answer did not select a letter \
answer choice, first try to infer the answer based off the given choices.
                If it does not seem like the given answer corresponds to an answer choice OR if \
there is no selected answer, please just respond with the string ZZZZZ.
                Make sure you answer with ONLY the letters chosen.
Here is what I need you to extract from:
The answer is "{entry}"
{form}
            Helpful Answer:
            """
FORM = """\
The output should be formatted as a JSON instance that conforms to the JSON schema below.

As an example, for the schema {"properties": {"foo": {"title": "Foo", "description": "a list of \
strings", "type": "array", "items": {"type": "string"}}}, "required": ["foo"]}
the object {"foo": ["bar", "baz"]} is a well-formatted instance of the schema. The object \
{"properties": {"foo": ["bar", "baz"]}} is not well-formatted.

Here is the output schema:
```
{"properties": {"choices": {"description": "multiple choice answer of a list of letters or numbers \
chosen by the given text", "items": {"type": "string"}, "title": "Choices", "type": "array"}}, \
"required": ["choices"]}
```"""
KIT_EXTRACTION = (
    "You are a information extractor that extracts multiple choice letter answer choices from a "
    "paragraph that contains the answer choice and sometimes explaination of why that choice is "
    "correct to the given question.\nWhat letter did the following answer choose? If the answer "
    "did not select a letter answer choice, first try to infer the answer based off the given "
    "choices.\nIf it does not seem like the given answer corresponds to an answer choice OR if "
    "there is no selected answer, please just respond with Z.\nMake sure you answer with ONLY the "
    "letters chosen.\nExample 1: \nQuestion: <start>\nWhat is the main object in image?\nOptions: "
    "A. teddy bear B. rabbit C. cat D. dog\n<end>\nAnswer: <start>\na cute teddy bear\n<end>\nYour "
    "output: A\nExample 2: \nQuestion: <start>\nWhat is the main object in image?\nOptions: A. "
    "teddy bear B. rabbit C. cat D. dog\n<end>\nAnswer: <start>\nSpider\n<end>\nYour output: Z\n"
    "Example 3: \nQuestion: <start>\nWhich figure is a rotation of the object?\n<end>\nAnswer: "
    '<start>\nThe figure on the right, labeled "D," is a rotation of the object shown in the top '
    "left corner.\n<end>\nYour output: D\nExample 4: \nQuestion: <start>\nWhich of the boxes comes "
    "next in the sequence? Select from A-E\n<end>\nAnswer: <start>\nThe sequence of the boxes is "
    "A, B, C, D, E.\n<end>\nYour output: ABCDE\nExample 5: \nQuestion: <start>\n{question}\n<end>\n"
    "Answer: <start>\n{entry}\n<end>\nYour output: "
)


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    official = Judge(
        name="gpt-4",
        authors_model="gpt-4",
        prompt=lambda sample, reply: filled(EXTRACTION, sample, entry_of(reply)),
        parse=lambda words, _: extracted(words),
        when=lambda reading: reading.rule == OPEN,
        temperature=0.2,
    )
    kit = Judge(
        name="VLMEvalKit's extraction",
        prompt=lambda sample, reply: filled(KIT_EXTRACTION, sample, reply.text),
        parse=lambda words, _: capitals(words),
        when=lambda _: True,
        max_answer_tokens=128,
        perfect=lambda _, reply: "".join(robust_letters(reply) or ("Z",)),
    )
    return {
        "official": Scoring(
            version=1,
            source=SOURCE,
            parse=official_answer,
            score=same_letters,
            metrics={"accuracy": mean},
            judge=official,
        ),
        "vlmevalkit": Scoring(
            version=1,
            source=f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/logicvista.py#L11-L70",
            parse=for_the_judge,
            score=same_letters,
            metrics={"accuracy": mean},
            judge=kit,
        ),
        "robust": Scoring(
            version=1,
            source="ours",
            parse=robust_answer,
            score=same_letters,
            metrics={"accuracy": mean},
        ),
    }


def filled(template: str, sample: Sample, entry: str) -> tuple[Message, ...]:
    return (user(template.format(question=sample.question, entry=entry, form=FORM)),)


def entry_of(reply: Reply) -> str:
    """The reply or, if the reply contains the mark of its beginning, the text after the first
    mark, up to the next mark."""
    return reply.text.split("ASSISTANT:")[1] if "ASSISTANT:" in reply.text else reply.text


def official_answer(reply: Reply, _: Sample) -> Reading:
    text = entry_of(reply).strip()
    if not text:
        return Reading(answer=None, rule="nothing said")
    is_letter = text.isalpha()
    if len(text) == 1 and (text.lower() not in "abcde" if is_letter else not text.isnumeric()):
        return Reading(answer=letters((NO_CHOICE,)), rule="no letter from A to E")
    return Reading(answer=None, rule=OPEN)


def letters(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Sort the letters and make them lowercase, so that lists can be compared."""
    return tuple(sorted(text.lower() for text in texts))


def same_letters(reading: Reading, sample: Sample) -> float:
    """1 if the lists are equal, else 0. An empty reply counts as a list with an empty text."""
    target = letters(tuple((sample.target or "").split(", ")))
    return float((("",) if reading.answer is None else reading.answer) == target)


def verdict_of(texts: tuple[str, ...]) -> str:
    return json.dumps({"choices": texts})


def extracted(words: str) -> Reading:
    """Parse a verdict of the form {"choices": ["A"]}, in a code block or not, or "ZZZZZ"."""
    if words.strip() == NO_CHOICE:
        return Reading(answer=letters((NO_CHOICE,)), rule="extracted")
    block = re.search(r"```(?:json)?(.*?)```", words, re.DOTALL)
    try:
        choices = json.loads(block[1] if block else words)["choices"]
    except (ValueError, TypeError, KeyError, RecursionError):
        choices = None
    if not isinstance(choices, list) or not all(isinstance(text, str) for text in choices):
        return Reading(answer=None, rule="not of the form asked for")
    return Reading(answer=letters(tuple(choices)), rule="extracted")


def capitals(words: str) -> Reading:
    if not (words.isupper() and words.isalpha()):
        return Reading(answer=None, rule="not of the form asked for")
    return Reading(answer=letters(tuple(words)), rule="extracted")


def robust_letters(reply: Reply) -> tuple[str, ...] | None:
    if ALONE.fullmatch(text := reply.text.strip()):
        return tuple(re.findall("[A-Z0-9](?![a-z])", text))
    letter = parse_letter(reply, Sample(id="", question="", choices=tuple("ABCDEFGHI"))).answer
    return None if letter is None else (str(letter),)


def robust_answer(reply: Reply, _: Sample) -> Reading:
    """Parse the letter that a reply settles on, or the letters that the whole reply lists."""
    several = robust_letters(reply)
    return Reading(answer=several and letters(several), rule="letters" if several else "no letter")


# -- published results


def layout(path: Path) -> Published | None:
    """Read the authors' table of a model's results (*-accuracy-results.csv), or a model's replies
    (*-answers.json)."""
    if path.is_file() and ".csv" in path.suffixes:
        return of_table(path)
    rows = of_json(path)
    if not isinstance(rows, dict) or not rows:
        return None
    if not all(
        isinstance(row, dict) and {"answer", "reasoning"} <= set(row) for row in rows.values()
    ):
        return None
    texts = {name: row["answer"] for name, row in rows.items()}
    return Published(
        replies={name: text if isinstance(text, str) else None for name, text in texts.items()}
    )


def of_table(path: Path) -> Published | None:
    """Read a table of results. All cells are texts: the reply "None" is a reply."""
    try:
        rows = list(csv(path))
        (lists,) = (name for name in rows[0] if name.endswith(" answer extracted"))
        (reply,) = (name for name in rows[0] if name.endswith(" answer raw"))
        choices = {row["id"]: authors_files.texts(row[lists]) for row in rows}
        tags = {
            row["id"]: tags_of(
                authors_files.texts(row["reasoning skill"]), authors_files.texts(row["capability"])
            )
            for row in rows
        }
    except (DataError, ValueError, KeyError):  # another table, or none
        return None
    if len(choices) != len(rows):
        raise DataError(f"{path} has several rows with the same id. Remove all but one of them.")
    nothing = Reading(answer=None, rule="nothing said")
    empty = {name for name, texts in choices.items() if texts == ("",)}
    return Published(
        replies={row["id"]: row[reply] for row in rows},
        verdicts={
            "official": {
                name: (verdict_of(texts),) for name, texts in choices.items() if name not in empty
            }
        },
        readings={"official": dict.fromkeys(empty, nothing)},
        tags=tags,
    )

"""MathVista: mathematics with figures, charts, or photos; choices, numbers, or lists as answers.

Paper    Lu et al. 2023, MathVista: Evaluating Mathematical Reasoning of Foundation Models in Visual
         Contexts, https://arxiv.org/abs/2310.02255 (ICLR 2024).
Data     lupantech/MathVista@53d525874bdde205128e6b160b7357a88277d479:data/testmini.json has 1,000
         problems, of which 540 have two to eight choices and 460 have none. data/test.json has
         5,141 problems with hidden answers. The pictures are in images/.
         AI4Math/MathVista on the Hugging Face hub has the same files, and testmini also as parquet.
         The license is CC BY-SA 4.0; the data may not be used for training.
         The grade "not applicable" in the repository is called "daily life" on the Hugging Face hub
         and in the authors' results.
Prompt   `official`: hint, question, and choices, README.md#L407-L427. The field `query` on the hub,
         the file data/query.json, and VLMEvalKit's TSV contain the same prompt. The picture comes
         first, models/gpt.py#L38-L52. Replies are limited to 1,024 tokens (#L18).
         `solution`: question, choices, hint, and "Solution:", as in the authors' current script,
         evaluation/build_query.py#L200-L271. The task mathvista_testmini_solution in lmms-eval uses
         this prompt.
         `lmms-eval-cot`, `lmms-eval-format`, `lmms-eval-reason`: EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/mathvista/
         mathvista_evals.py#L411-L560. Replies are limited to 16,384 tokens.
Scoring  `official`: an answer is extracted and then normalized. If the whole reply is a number or
         the text of a choice, the reply is the extracted answer. Otherwise, GPT-4 extracts the
         answer, with a prompt that contains five examples (evaluation/extract_answer.py#L29-L77).
         The normalization is that of calculate_score.py#L17-L94. Comments in the code below
         describe its quirks. If a file of results is scored, only the problems in this file count,
         in the categories that the file states.
         `official-2023`: like official, but "7.9" is not accepted as an integer. Eight of the
         published files of scores use this rule.
         `robust`: Snellen's own rule, which takes the letter or value that a reply settles on.
Proof    For the published replies and extractions of 10 models, every prediction, verdict, and
         accuracy equals that of the authors' scorer, by its current rule and by its rule of 2023.
         For each model, all published scores are reproduced by one of the two rules, except for one
         score with another denominator (tests/parity). For all of testmini, the prompts equal those
         in data/query.json and those that the authors' scripts build.
         `robust` is checked on examples worked out by hand.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from snellen.answers.value import cleaned, number, same_value
from snellen.benchmarks.families.results import of_json
from snellen.benchmarks.families.tasks import if_stated, parse_letter, parse_value, wrong_letter
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
from snellen.core.prompts import lettered
from snellen.data import DataFile, Drawn, Row, Table, find, parquet
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, user
from snellen.metrics import mean

REVISION = "53d525874bdde205128e6b160b7357a88277d479"
SOURCE = f"lupantech/MathVista@{REVISION}:evaluation/calculate_score.py#L17-L94"
KIND = "mixed"
NEEDS_JUDGE = True
LANGUAGES = ("en", "zh", "fa")
LICENSE = "CC-BY-SA-4.0"
PROOF = "published outputs"
SIZE = 1000
OTHER_SIZES = {"split=test": 5141}
ALIASES = {
    "MathVista_MINI": {"split": "testmini"},
    "mathvista_testmini": {"split": "testmini"},
    "mathvista_testmini_cot": {"split": "testmini", "prompt": "lmms-eval-cot"},
    "mathvista_testmini_format": {"split": "testmini", "prompt": "lmms-eval-format"},
    "mathvista_testmini_solution": {"split": "testmini", "prompt": "solution"},
    "mathvista_test": {"split": "test", "prompt": "lmms-eval-reason"},
}
PARQUET = "data/testmini-00000-of-00001-725687bf7a18d64b.parquet"
FILES = {
    "testmini": ("testmini.json", "data/testmini.json", "annotations.json", PARQUET),
    "test": ("test.json", "data/test.json"),
}
RAW = f"https://raw.githubusercontent.com/lupantech/MathVista/{REVISION}"
HUB = "hf://datasets/AI4Math/MathVista@2b6ad69445fbb5695c9b165475e8decdbeb97747"
FILES_PUBLISHED = (
    File(
        name="testmini.json",
        url=f"{RAW}/data/testmini.json",
        sha256="ab0148dca9d401c31cc47f29b3826eec28a76ff155a1c0878d81e8daf0413480",
        size=871_725,
    ),
    File(name="test.json", url=f"{RAW}/data/test.json"),
    File(name="images.zip", url=f"{HUB}/images.zip", unpack=True, note="the pictures of both"),
)
SKILLS = (
    "algebraic reasoning",
    "arithmetic reasoning",
    "geometry reasoning",
    "logical reasoning",
    "numeric commonsense",
    "scientific reasoning",
    "statistical reasoning",
)
LEAVES = {
    "figure question answering": "OCR/table",
    "geometry problem solving": "reasoning/mathematical",
    "math word problem": "reasoning/mathematical",
    "visual question answering": "perception/counting",
    "textbook question answering": "knowledge/domain",
}
METADATA = ("language", "source", "category", "task", "context", "grade")

Preset = Literal["official", "solution", "lmms-eval-cot", "lmms-eval-format", "lmms-eval-reason"]


def mathvista(
    split: Literal["testmini", "test"] = "testmini",
    prompt: Preset = "official",
    data: Path | None = None,
) -> Benchmark:
    data_file = find(data, "mathvista", FILES[split], FILES_PUBLISHED)
    empty = {"oracle": 1.0, "wrong": 0.0, "silent": SHORTEST, "hedging": SHORTEST}
    return Benchmark(
        name="mathvista",
        asks=1,
        data=table(data_file),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: (user(*sample.media, QUERIES[prompt](sample)),),
        scorings={
            "official": official(prompt, normal),
            "official-2023": official(prompt, normal_of_2023),
            "robust": Scoring(
                version=2,
                source="ours",
                parse=robust_answer,
                score=robust_score,
                metrics={"accuracy": mean},
            ),
        },
        max_answer_tokens=16_384 if prompt.startswith("lmms-eval") else 1024,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=wrong_answer,
            # A perfect judge finds no answer in "A B C D", but must still give a reply.
            verdict=lambda _, reply: "?" if re.match(r"\w+ \w", reply.text) else reply.text,
            expect={
                "official": empty,
                "official-2023": empty,
                "robust": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0},
            },
        ),
        presentation=Presentation(
            break_down_by=("question_type", "answer_type", *METADATA, *SKILLS),
            capabilities=Capabilities(
                tag="task", leaves=LEAVES, source="https://arxiv.org/abs/2310.02255, section 2.1"
            ),
        ),
        interop=Interop(
            files=data_file,
            layout=layout,
        ),
    )


# -- rows


def table(data_file: DataFile) -> Table:
    if str(data_file).endswith(".parquet"):
        return parquet(data_file, revision=HUB.partition("@")[2])
    return Drawn(str(data_file), lambda: problems(data_file), REVISION)


def problems(data_file: DataFile) -> Iterator[dict[str, Any]]:
    """Yield the problems in the authors' file, a JSON object that maps ids to problems."""
    every = of_json(data_file.path)
    if not isinstance(every, dict) or not all(isinstance(entry, dict) for entry in every.values()):
        raise DataError(
            f"{data_file.path} is not a JSON object that maps ids to problems, or it is "
            "incomplete. Download it again."
        )
    for name, fields in every.items():
        yield {"pid": name, **fields}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    folder, metadata = data_file.path.parent, row["metadata"]
    choices = tuple(row["choices"] or ())
    if unknown := set(metadata["skills"]) - set(SKILLS):
        raise ValueError(f"unknown skills: {', '.join(sorted(unknown))}")
    answer = row.get("answer") or None
    picture = row.get("decoded_image") or Image(
        folder / row["image"], label=row["image"], within=folder
    )
    return Sample(
        id=row["pid"],
        question=row["question"],
        choices=choices,
        media=(picture,),
        # The authors compare texts. Therefore, the first of two equal choices stands for both.
        target=ascii_uppercase[choices.index(answer)] if choices and answer else answer,
        tags=tags_of(row),
        data={
            "image": row["image"],
            "unit": row["unit"],
            "precision": None if row["precision"] is None else int(row["precision"]),
            "query": row.get("query"),
        },
    )


def tags_of(row: Mapping[str, Any]) -> dict[str, str]:
    """The tags of a problem, by which results are broken down."""
    metadata = row["metadata"]
    return {
        "question_type": row["question_type"],
        "answer_type": row["answer_type"],
        **{name: metadata[name] for name in METADATA},
        **{skill: skill if skill in metadata["skills"] else "" for skill in SKILLS},
    }


# -- prompts

REQUIRED: Mapping[str, str] = {
    "text": "answer the question and provide the correct option letter, e.g., A, B, C, D, at the "
    "end",
    "integer": "answer the question requiring an integer answer and provide the final value, e.g., "
    "1, 2, 3, at the end",
    "float 1": "answer the question requiring a floating-point number with one decimal place and "
    "provide the final value, e.g., 1.2, 1.3, 1.4, at the end",
    "float 2": "answer the question requiring a floating-point number with two decimal places and "
    "provide the final value, e.g., 1.23, 1.34, 1.45, at the end",
    "list": "answer the question requiring a Python list as an answer and provide the final list, "
    "e.g., [1, 2, 3], [1.2, 1.3, 1.4], at the end",
}
FORMATS: Mapping[str, str] = {
    "text": "Answer with the option's letter from the given choices directly.",
    "integer": "Answer the question using a single integer number.",
    "float 1": "Answer the question using a single floating-point number with one decimal place.",
    "float 2": "Answer the question using a single floating-point number with two decimal places.",
    "list": "Answer the question using a Python list.",
}


def kind(sample: Sample) -> str:
    """The answer type. The type of a float includes the number of decimals."""
    answer_type = sample.tags["answer_type"]
    return f"float {sample.data['precision']}" if answer_type == "float" else answer_type


def hint(sample: Sample) -> str:
    return f"Hint: Please {REQUIRED[kind(sample)]}."


def question(sample: Sample) -> str:
    unit = f" (Unit: {sample.data['unit']})" if sample.data["unit"] else ""
    return sample.question + unit


def choices(sample: Sample) -> str:
    return (
        f"\nChoices:\n{lettered(sample.choices, '({letter}) {choice}')}" if sample.choices else ""
    )


def official_query(sample: Sample) -> str:
    """The stored query, or a query built from the hint, the question, and the choices if no query
    is stored."""
    stored = sample.data["query"]
    return str(stored) if stored else f"{hint(sample)}\n{question_and_choices(sample)}".strip()


def question_and_choices(sample: Sample) -> str:
    return f"Question: {question(sample)}{choices(sample)}"


def reason_query(sample: Sample) -> str:
    required = REQUIRED[kind(sample)]
    if sample.choices:
        required = "select the question from the choices"  # sic
    first = (
        f"First perform reasoning, then finally {required} in the following format: Answer: xxx."
    )
    return f"{first}\n{question_and_choices(sample)}".strip()


def format_query(sample: Sample) -> str:
    lines = f"\n{lettered(sample.choices)}" if sample.choices else ""
    return f"{question(sample)}{lines}\n{FORMATS[kind(sample)]}".strip()


QUERIES: Mapping[Preset, Callable[[Sample], str]] = {
    "official": official_query,
    # The space after the colon is stripped.
    "solution": lambda sample: f"{question_and_choices(sample)}\n{hint(sample)}\nSolution:".strip(),
    "lmms-eval-cot": lambda sample: f"{question_and_choices(sample)}\n{hint(sample)}".strip(),
    "lmms-eval-format": format_query,
    "lmms-eval-reason": reason_query,
}


# -- scoring, official

OPEN = "for the judge"
# evaluation/prompts/ext_ans.py#L5-L42
EXAMPLES = """\
Please read the following example. Then extract the answer from the model response and type it at \
the end of the prompt.

Hint: Please answer the question requiring an integer answer and provide the final value, e.g., \
1, 2, 3, at the end.
Question: Which number is missing?

Model response: The number missing in the sequence is 14.

Extracted answer: 14

Hint: Please answer the question requiring a floating-point number with one decimal place and \
provide the final value, e.g., 1.2, 1.3, 1.4, at the end.
Question: What is the fraction of females facing the camera?

Model response: The fraction of females facing the camera is 0.6, which means that six out of ten \
females in the group are facing the camera.

Extracted answer: 0.6

Hint: Please answer the question requiring a floating-point number with two decimal places and \
provide the final value, e.g., 1.23, 1.34, 1.45, at the end.
Question: How much money does Luca need to buy a sour apple candy and a butterscotch candy? \
(Unit: $)

Model response: Luca needs $1.45 to buy a sour apple candy and a butterscotch candy.

Extracted answer: 1.45

Hint: Please answer the question requiring a Python list as an answer and provide the final list, \
e.g., [1, 2, 3], [1.2, 1.3, 1.4], at the end.
Question: Between which two years does the line  graph saw its maximum peak?

Model response: The line graph saw its maximum peak between 2007 and 2008.

Extracted answer: [2007, 2008]

Hint: Please answer the question and provide the correct option letter, e.g., A, B, C, D, at the \
end.
Question: What fraction of the shape is blue?
Choices:
(A) 3/11
(B) 8/11
(C) 6/11
(D) 3/5

Model response: The correct answer is (B) 8/11.

Extracted answer: B"""
ASK = "Extracted answer: "

Normal = Callable[[str, Sample], str | None]
"""A function that normalizes an extracted answer to the form that the question requires. If there
are choices, the form is a letter. Returns None if the answer cannot be normalized."""


def official(prompt: Preset, of: Normal) -> Scoring:
    """The authors' scoring. `of` is the function that normalizes extractions."""
    return Scoring(
        version=2,
        source=SOURCE,
        parse=lambda reply, sample: official_answer(reply, sample, of),
        score=lambda reading, sample: float(reading.answer == sample.target),
        metrics={"accuracy": mean},
        judge=extractor(prompt, of),
    )


def extractor(prompt: Preset, of: Normal) -> Judge:
    """The judge that extracts answers from replies. The judge's prompt contains the question in the
    same form as the benchmark's prompt `prompt`."""
    return Judge(
        name="gpt-4-0613",
        authors_model="gpt-4-0613",
        prompt=lambda sample, reply: (
            user(f"{EXAMPLES}\n\n{QUERIES[prompt](sample)}\n\n{reply.text.strip()}\n\n{ASK}"),
        ),
        parse=lambda words, sample: extracted(words, sample, of),
        when=lambda reading: reading.rule == OPEN,
        max_answer_tokens=1024,
    )


def official_answer(reply: Reply, sample: Sample, of: Normal) -> Reading:
    """Parse a reply that is empty, the text of a choice, or a number. Any other reply is left to
    the judge."""
    # The authors' scripts that query models strip the replies.
    text = reply.text.strip()
    if not text:
        # If the question has choices, an empty reply is parsed as the shortest choice, so it is
        # never unparsed.
        return Reading(answer=of("", sample) or None, rule="nothing said")
    if text in sample.choices:
        return Reading(answer=of(text, sample), rule="choice")
    try:
        if sample.tags["answer_type"] == "integer":
            return Reading(answer=of(str(int(text)), sample), rule="integer")
        if sample.tags["answer_type"] == "float":
            return Reading(answer=of(str(float(text)), sample), rule="float")
    except ValueError:
        pass
    return Reading(answer=None, rule=OPEN)


def extracted(words: str, sample: Sample, of: Normal) -> Reading:
    """Parse the judge's extraction and normalize it. An extraction that cannot be normalized is
    kept unchanged and counts as wrong."""
    answer = of(words, sample)
    if answer is None:
        return Reading(answer=words, rule="extracted: not of the form")
    return Reading(answer=answer, rule="extracted")


def normal(words: str, sample: Sample) -> str | None:
    """Normalize an extracted answer. An integer is truncated: "7.9" becomes 7."""
    if sample.choices:
        return meant(words, sample.choices)
    try:
        match sample.tags["answer_type"]:
            case "integer":
                return str(int(float(words)))
            case "float":
                # 1.2 does not become 1.20. Halves are rounded in binary: 2.675 becomes 2.67.
                precision = sample.data["precision"]
                return str(round(float(words), precision)) if isinstance(precision, int) else None
    except (ValueError, OverflowError):
        return None
    return words  # lists are compared as texts: [2007,2008] does not equal [2007, 2008]


def normal_of_2023(words: str, sample: Sample) -> str | None:
    """Normalize an extracted answer by the rule that eight of the published files of scores use.
    The authors' code for this rule is no longer available."""
    if sample.tags["answer_type"] != "integer":
        return normal(words, sample)
    try:
        return str(int(words))
    except ValueError:
        return None


def meant(words: str, choices: tuple[str, ...]) -> str:
    """Find the choice that a text means, and return its letter. Three rules are tried in order: the
    first letter in parentheses, the whole text if it is a letter, and the first choice with the
    smallest edit distance. The last rule always gives a result. The texts "b", "B." and "" do not
    count as letters."""
    from rapidfuzz.distance import Levenshtein

    text = words.strip()
    if bracketed := re.search(r"\(([a-zA-Z])\)", text):
        text = bracketed[1].upper()
    letters = ascii_uppercase[: len(choices)]
    if len(text) == 1 and text in letters:
        choice = choices[letters.index(text)]
    else:
        choice = min(choices, key=lambda candidate: Levenshtein.distance(text, candidate))
    return letters[choices.index(choice)]


# -- scoring, robust


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter or the value that a reply settles on. A reply that names several letters or
    values, or none, is unparsed."""
    if sample.choices:
        letter = parse_letter(reply, sample)
        return if_stated(merge_equal_choices(letter, sample.choices), reply)
    return parse_value(reply, sample)


def merge_equal_choices(reading: Reading, choices: tuple[str, ...]) -> Reading:
    """If the reply names several letters whose choices have the same text, take the first of these
    letters. For example, the choices of problem 781 are 9, 12, 18, and 18."""
    texts = {choices[ascii_uppercase.index(str(letter))] for letter in reading.candidates}
    if len(texts) != 1:
        return reading
    answer = ascii_uppercase[choices.index(texts.pop())]
    return replace(reading, answer=answer, rule=reading.rule.removeprefix("several: "))


def robust_score(reading: Reading, sample: Sample) -> float:
    """1 if the answer is right, else 0. A float is right if it equals the target after rounding to
    the required number of decimals."""
    if reading.answer is None or sample.target is None:
        return 0.0
    if sample.choices:
        return float(reading.answer == sample.target)
    answer, precision = str(reading.answer), sample.data["precision"]
    value, right = number(answer), number(sample.target)
    if isinstance(precision, int) and value is not None and right is not None:
        return float(abs(value - right) <= 0.5 * 10.0**-precision + 1e-9)
    return float(same_value(answer, cleaned(sample.target)))


# -- published results


def layout(path: Path) -> Published | None:
    """Read the authors' results: a JSON object that maps ids to problems, each with its response
    and the answer extracted from the response. If the response is a program, the reply is the
    program's output.

    The code in calculate_score.py#L222-L262 groups problems by the metadata in this file. The
    authors' script cannot score a problem without an extraction, and the published scores count
    such a problem as wrong.
    """
    rows = of_json(path)
    if not isinstance(rows, dict) or not rows:
        return None
    if not all(
        isinstance(row, dict) and {"question_type", "response"} <= set(row) for row in rows.values()
    ):
        return None
    replies = {name: row.get("execution", row["response"]) for name, row in rows.items()}
    # A null extraction becomes the text "None", as in the authors' code.
    words = {name: (str(row["extraction"]),) for name, row in rows.items() if "extraction" in row}
    unread = Reading(answer=None, rule="no extraction in the file")
    without = {name: unread for name in rows if name not in words}
    note = f"{len(without):,} rows have no extraction; `official` counts them as wrong"
    return Published(
        replies={name: text if isinstance(text, str) else None for name, text in replies.items()},
        verdicts={"official": words, "official-2023": words},
        readings={"official": without, "official-2023": without},
        tags={name: tags_of(row) for name, row in rows.items() if has_metadata(row)},
        notes=(note,) if without else (),
    )


def has_metadata(row: Mapping[str, Any]) -> bool:
    """Whether a row has all fields that the breakdown of results needs."""
    metadata = row.get("metadata")
    return (
        isinstance(metadata, dict)
        and {*METADATA, "skills"} <= metadata.keys()
        and isinstance(metadata["skills"], list)
        and {"question_type", "answer_type"} <= row.keys()
    )


# -- check

SHORTEST = 2 / 16
"""The share of the bundled rows in which the first of the shortest choices is right."""


def wrong_answer(sample: Sample) -> str:
    if not sample.choices:
        return "-98765"
    return wrong_letter(sample)

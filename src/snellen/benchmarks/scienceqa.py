"""ScienceQA: multiple-choice questions on school science, half of which have a picture.

Paper    Lu et al. 2022, Learn to Explain: Multimodal Reasoning via Thought Chains for Science
         Question Answering, https://arxiv.org/abs/2209.09513 (NeurIPS).
Data     lupantech/ScienceQA@2cbf8318e07b9ece895bb2ae605e71e38d623264:data/scienceqa/problems.json
         and images/<split>/<id>/image.png, under CC BY-NC-SA 4.0.
         `test` and `val` have 4,241 questions each, of which 2,017 in test and 2,097 in val have a
         picture. `images=only` asks only the questions with a picture. In published tables, "SQA"
         or SQA-IMG usually means the accuracy on the test questions with a picture. The authors'
         table is for all questions.
Prompt   `llava`: haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:llava/eval/
         model_vqa_science.py#L44-L64. The picture comes first. Replies are limited to 1,024 tokens
         (#L80).
         `qcm`, `cqm`: models/base_prompt.py#L41-L48, without examples. The picture comes first. The
         authors' GPT-3 did not see the picture: at most, the picture's caption was in the context.
Scoring  `official`: models/run_gpt3.py#L52-L70, then tools/evaluate_acc.py#L22-L72, which reads
         only the stored index. The answer is the letter X if the reply contains "The answer is X."
         exactly once, and otherwise a random letter. Here, the random letter depends on the
         question's id, since the authors' random sequence restarts with their script. For a file of
         the authors' results, the random letters are taken from the file.
         `llava`: the rule of LLaVA's published "SQA" scores, llava/eval/eval_science_qa.py#L28-L77,
         on replies that are stripped as in model_vqa_science.py#L84.
         `mmpretrain`: the whole reply must be the letter. Otherwise, a letter is drawn at random.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
         With the prompt llava, the headline scoring is llava. With the other prompts, the headline
         scoring is official.
         IMG, TXT, and NO are the authors' categories of questions. TXT and IMG overlap. In
         mmpretrain's own results, IMG leaves out the questions that are also in TXT.
Proof    For the published outputs of GPT-3 and LLaVA-1.5-13B, every stored index is reproduced from
         the published files, and so are the published accuracies on TXT, IMG, NO, and all questions
         (tests/parity). For GPT-3, the files contain 249 random letters: 243 for empty replies, and
         6 for replies that state the answer twice.
         The results by subject, grade, and topic are checked on examples worked out by hand.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

import orjson

from snellen.benchmarks.families.draws import by_id, undecided
from snellen.benchmarks.families.results import json_object
from snellen.benchmarks.families.tasks import is_target, parse_letter, wrong_letter
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.core.prompts import lettered
from snellen.data import DataFile, Drawn, Row, file_content, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, Message, user
from snellen.metrics import mean

REVISION = "2cbf8318e07b9ece895bb2ae605e71e38d623264"
SOURCE = f"lupantech/ScienceQA@{REVISION}:models/run_gpt3.py#L52-L70"
LLAVA = "haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd"
MMPRETRAIN = "open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-SA-4.0"
PROOF = "published outputs"
SIZE = 4241
OTHER_SIZES = {"images=only": 2017, "split=val": 4241}
ALIASES = {
    "ScienceQA_TEST": {"split": "test", "images": "only"},
    "ScienceQA_VAL": {"split": "val", "images": "only"},
    "scienceqa_full": {"split": "test", "images": "all"},
    "scienceqa_img": {"split": "test", "images": "only"},
}
FILES_PUBLISHED = (
    File(
        name="problems.json",
        url=f"https://raw.githubusercontent.com/lupantech/ScienceQA/{REVISION}/data/scienceqa/problems.json",
    ),
    File(
        name="test.zip",
        url="https://scienceqa.s3.us-west-1.amazonaws.com/images/test.zip",
        unpack=True,
    ),
    File(
        name="val.zip",
        url="https://scienceqa.s3.us-west-1.amazonaws.com/images/val.zip",
        unpack=True,
    ),
)
FILES = ("problems.json", "data/scienceqa/problems.json", "scienceqa/problems.json")
ASK = "Answer with the option's letter from the given choices directly."
SUBJECTS = {"natural science": "NAT", "social science": "SOC", "language science": "LAN"}

Split = Literal["test", "val"]
Preset = Literal["llava", "qcm", "cqm"]


def scienceqa(
    split: Split = "test",
    images: Literal["all", "only"] = "all",
    prompt: Preset = "llava",
    data: Path | None = None,
) -> Benchmark:
    data_file = find(data, "scienceqa", FILES, FILES_PUBLISHED)
    return Benchmark(
        name="scienceqa",
        asks=1,
        data=Drawn(str(data_file), lambda: problems(data_file, split, images), REVISION),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: PROMPTS[prompt](sample),
        scorings=scorings(prompt),
        max_answer_tokens=1024,
        check=Check(
            says=lambda _, answer: answer if prompt == "llava" else f"The answer is {answer}.",
            wrong=wrong_letter,
            expect=LLAVA_EXPECT if prompt == "llava" else AUTHORS_EXPECT,
        ),
        presentation=Presentation(
            break_down_by=("subject", "text", "image", "no_context", "grade", "topic"),
            capabilities=Capabilities(
                tag="subject",
                # LAN is language science: grammar and punctuation. No capability fits it.
                leaves={"NAT": "knowledge/domain", "SOC": "knowledge/world", "LAN": UNMAPPED},
                source="https://arxiv.org/abs/2209.09513, section 3",
            ),
        ),
        interop=Interop(layout=layout),
    )


def scorings(prompt: Preset) -> dict[str, Scoring]:
    """The scorings, keyed by name. The scoring that belongs to the prompt comes first and gives the
    headline."""
    metrics = {"accuracy": mean}
    by_name = {
        "llava": Scoring(
            version=2,
            source=f"{LLAVA}:llava/eval/eval_science_qa.py#L28-L77",
            parse=llava_answer,
            score=is_target,
            metrics=metrics,
            missing="wrong",
        ),
        "official": Scoring(
            version=2,
            source=SOURCE,
            parse=official_answer,
            score=is_target,
            metrics=metrics,
            missing="wrong",
            resolve=by_id(
                "The authors' script starts a new random sequence at every restart, so its draws "
                "cannot be repeated. A file of the script's results contains the letters."
            ),
        ),
        "mmpretrain": Scoring(
            version=2,
            source=f"{MMPRETRAIN}:mmpretrain/evaluation/metrics/scienceqa.py#L10-L28",
            parse=mmpretrain_answer,
            score=is_target,
            metrics=metrics,
            resolve=by_id(
                "mmpretrain draws random letters without a seed, so its accuracy differs from run "
                "to run."
            ),
        ),
        "robust": Scoring(
            version=3, source="ours", parse=parse_letter, score=is_target, metrics=metrics
        ),
    }
    headline = "llava" if prompt == "llava" else "official"
    return {headline: by_name.pop(headline), **by_name}


def problems(data_file: DataFile, split: Split, images: str) -> Iterator[dict[str, Any]]:
    """Yield the questions of a split from the authors' JSON object, which maps ids to questions."""
    try:
        every = orjson.loads(file_content(data_file.path))
    except orjson.JSONDecodeError as error:
        raise DataError(
            f"{data_file.path} is not complete, valid JSON: {error}. Download it again."
        ) from error
    try:
        for name, problem in every.items():
            if problem["split"] == split and (images == "all" or problem["image"]):
                yield {"id": name, **problem}
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError(
            f"{data_file.path} is not a JSON object that maps ids to problems with split and "
            f"image: {error!r}. Use problems.json from the data set's repository."
        ) from error


def to_sample(row: Row, data_file: DataFile) -> Sample:
    folder = data_file.path.parent
    # The authors keep the pictures in images/, but their archives do not have this folder.
    inside = "images/" if (folder / "images").is_dir() else ""
    name = f"{inside}{row['split']}/{row['id']}/{row['image']}"
    low = row["grade"] in ("grade1", "grade2", "grade3", "grade4", "grade5", "grade6")
    return Sample(
        id=row["id"],
        question=row["question"],
        choices=tuple(row["choices"]),
        media=(Image(folder / name, label=name, within=folder),) if row["image"] else (),
        target=ascii_uppercase[row["answer"]],
        tags={
            "subject": SUBJECTS[row["subject"]],
            "text": "TXT" if row["hint"] else "",
            "image": "IMG" if row["image"] else "",
            "no_context": "" if row["hint"] or row["image"] else "NO",
            "grade": "G1-6" if low else "G7-12",
            "topic": row["topic"],
        },
        data={"hint": row["hint"]},
    )


# -- prompts


def llava(sample: Sample) -> tuple[Message, ...]:
    hint = sample.data["hint"]
    context = f"Context: {hint}\n" if hint else ""
    text = f"{context}{sample.question}\n{lettered(sample.choices)}\n{ASK}"
    return (user(*sample.media, text),)


def authors(sample: Sample, form: str) -> tuple[Message, ...]:
    text = form.format(
        question=sample.question,
        context=str(sample.data["hint"]).strip() or "N/A",
        options=" ".join(
            f"({letter}) {choice}"
            for letter, choice in zip(letters(sample), sample.choices, strict=True)
        ),
    )
    return (user(*sample.media, text.replace("  ", " ").strip()),)


QCM = "Question: {question}\nContext: {context}\nOptions: {options}\nAnswer:"
CQM = "Context: {context}\nQuestion: {question}\nOptions: {options}\nAnswer:"
PROMPTS: Mapping[Preset, Callable[[Sample], tuple[Message, ...]]] = {
    "llava": llava,
    "qcm": lambda sample: authors(sample, QCM),
    "cqm": lambda sample: authors(sample, CQM),
}


# -- scoring

# The full stop matches any character except a newline. "The answer is B" at the end of a reply does
# not match.
ANSWER_IS = re.compile(r"The answer is ([A-Z]).")


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter X if the reply contains "The answer is X." exactly once and X is the letter
    of a choice. Otherwise, a random letter is drawn."""
    matches = ANSWER_IS.findall(reply.text.strip())
    if len(matches) == 1 and matches[0] in letters(sample):
        return Reading(answer=matches[0], rule="the answer is")
    return undecided(sample)


def llava_answer(reply: Reply, sample: Sample) -> Reading:
    # LLaVA's script that queries the model strips the replies.
    return llava_reading(reply.text.strip())


def llava_reading(text: str) -> Reading:
    """Parse a reply that is a single letter, that begins like "B. ...", or that contains "The
    answer is X." exactly once. The parsed letter need not belong to a choice."""
    matches = ANSWER_IS.findall(text)
    if len(text) == 1 and text in "ABCDE":
        return Reading(answer=text, rule="letter")
    if text[1:3] == ". " and text[0] in "ABCDE":
        return Reading(answer=text[0], rule="begins with")
    if len(matches) == 1:
        return Reading(answer=matches[0], rule="the answer is")
    return Reading(answer=None, rule="several: the answer is" if matches else "no letter")


def mmpretrain_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the reply if it is the letter of a choice. Otherwise, a random letter is drawn."""
    # mmpretrain's models strip their output before it is scored.
    text = reply.text.strip()
    if len(text) == 1 and text in letters(sample):
        return Reading(answer=text, rule="letter")
    return undecided(sample)


def letters(sample: Sample) -> str:
    return ascii_uppercase[: len(sample.choices)]


# -- files of results


def layout(path: Path) -> Published | None:
    """Read the files that the authors' and LLaVA's scripts write, gzipped or not.

    Files with `{results, outputs}` contain, for each output, the index of the choice that was
    parsed from it, or of a randomly drawn choice if none could be parsed
    (models/run_gpt3.py#L80-L91, llava/eval/eval_science_qa.py#L88-L114). Files with `{correct,
    incorrect}` contain only the outputs (#L79-L112).
    """
    held = json_object(path)
    if held is None:
        return None
    if {"results", "outputs"} <= held.keys():
        return of_results(path, held["results"], held["outputs"])
    if {"correct", "incorrect"} == held.keys():
        return of_analyses(path, [*held["correct"], *held["incorrect"]])
    return None


def of_results(path: Path, results: Any, outputs: Any) -> Published:
    if not isinstance(results, dict) or not isinstance(outputs, dict):
        raise DataError(
            f"{path}: `results` and `outputs` must be objects that map question ids to values."
        )
    if results.keys() != outputs.keys():
        name = min(results.keys() ^ outputs.keys())
        raise DataError(
            f"{path}: question {name!r} is in only one of `results` and `outputs`. Download the "
            "complete file again."
        )
    official, llava = {}, {}
    for name, index in results.items():
        if not isinstance(index, int) or not -1 <= index < len(ascii_uppercase):
            raise DataError(
                f"{path}: question {name!r} has {index!r} in `results`. Values must be indices."
            )
        letter = ascii_uppercase[index] if index >= 0 else None
        official[name] = Reading(answer=letter, rule="index in the file")
        # The first version of LLaVA's script drew an index for outputs that it could not parse.
        if letter is not None and llava_reading(str(outputs[name]).strip()).answer is None:
            llava[name] = Reading(answer=letter, rule="index in the file", guessed=True)
    note = "`official` takes the indices in `results`, as tools/evaluate_acc.py does"
    if llava:
        note += f"; `llava` takes the indices of {len(llava):,} outputs in which it finds no letter"
    return Published(
        replies={name: text if isinstance(text, str) else None for name, text in outputs.items()},
        readings={"official": official, "llava": llava},
        notes=(note,),
    )


def of_analyses(path: Path, rows: Sequence[Any]) -> Published:
    replies: dict[str, str | None] = {}
    for row in rows:
        if not isinstance(row, dict) or not {"question_id", "pred"} <= row.keys():
            raise DataError(
                f"{path}: an entry of `correct` or `incorrect` has no `question_id` or no `pred`. "
                "Download the complete file again."
            )
        name = str(row["question_id"])
        if name in replies:
            raise DataError(f"{path}: question {name!r} has two entries. Remove one of them.")
        replies[name] = row["pred"] if isinstance(row["pred"], str) else None
    return Published(replies=replies)


# -- check

DRAWN = 5 / 14
"""The share of the bundled rows for which the random letter is right."""
ROBUST = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
LETTERS_READ = {"oracle": 1.0, "wrong": 0.0, "silent": DRAWN, "hedging": DRAWN}
NOTHING_READ = {"oracle": DRAWN, "wrong": DRAWN, "silent": DRAWN, "hedging": DRAWN}
LLAVA_EXPECT = {
    "llava": ROBUST,
    "official": NOTHING_READ,
    "mmpretrain": LETTERS_READ,
    "robust": ROBUST,
}
AUTHORS_EXPECT = {
    "llava": ROBUST,
    "official": LETTERS_READ,
    "mmpretrain": NOTHING_READ,
    "robust": ROBUST,
}


def wrong_answer(sample: Sample) -> str:
    return letters(sample)[letters(sample).index(sample.target or "A") - 1]

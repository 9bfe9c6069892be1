"""Shared by short benchmarks with lettered choices: rows to samples, usual prompts and scorings.

A benchmark adds its facts, its own prompt, and its own scoring. `table_of` reads the authors' JSON
or JSONL, the hub's parquet files, and VLMEvalKit's TSV files. The sources of the prompts and
scorings here:

`vlmevalkit` prompt     open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
                        dataset/image_mcq.py#L212-L247
`lmms-eval` prompt      EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
                        lmms_eval/tasks/ai2d/{ai2d.yaml,utils.py}; the text of most of its tasks
`vlmevalkit` scoring    answers.others.VLMEVALKIT
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.answers.choice import Letter
from snellen.answers.others import VLMEVALKIT
from snellen.benchmarks.families import authors_files
from snellen.benchmarks.families.authors_files import picture_key, texts
from snellen.benchmarks.families.tasks import (
    as_reading,
    is_target,
    parse_letter,
    parse_letter_as_vlmevalkit,
    wrong_letter,
)
from snellen.benchmarks.families.vlmevalkit_sets import published_set
from snellen.core import Capabilities, Check, Presentation, Reading, Reply, Sample, Scoring
from snellen.data import DataFile, Row, Table, json_list, jsonl
from snellen.data.published import File
from snellen.media.content import Image, Message, Part, user
from snellen.metrics import Metric, mean

DIRECTLY = "Answer with the option's letter from the given choices directly."
LISTED = "{hint}Question: {question}\nOptions:\n{choices}"
PROMPTS = {
    "vlmevalkit": LISTED + "Please select the correct answer from the options above. \n",
    "lmms-eval": "{question}\n{choices}" + DIRECTLY,
}
"""The usual prompts. `{choices}` ends with a line break, `{hint}` is empty or a line, and
`{stripped}` is the question without blanks at its ends."""

Parse = Callable[[Reply, Sample], Reading]
Score = Callable[[Reading, Sample], float]
ACCURACY = {"accuracy": Metric(mean, better="higher")}


def sheet(name: str) -> File:
    """VLMEvalKit's published TSV file of a data set, with its URL and MD5."""
    published = published_set(name)
    return File(name=f"{name}.tsv", url=published.url, md5=published.md5)


# -- rows to samples


def table_of(data_file: DataFile) -> tuple[Table, DataFile | None]:
    """The rows of a file in any usual format, and the file, as `authors_files.table` returns
    them."""
    return authors_files.table(data_file, _json_rows)


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects in a JSON list, or in the lines of a JSONL file."""
    if ".jsonl" in path.suffixes:
        yield from jsonl(path)
        return
    yield from json_list(path)


def split_choices(text: str, mark: str) -> tuple[str, tuple[str, ...]]:
    """Split a text into the question and its choices, which begin with marks in the order of the
    alphabet. `mark` is the pattern of a mark, such as r"\\n{letter}\\. ". A text without marks has
    no choices.

    >>> split_choices("Which?\\nA. a cat\\nB. a dog", r"\\n{letter}\\. ")
    ('Which?', ('a cat', 'a dog'))
    """
    parts = [text]
    for letter in ascii_uppercase:
        before, *after = re.split(mark.format(letter=letter), parts[-1], maxsplit=1)
        if not after:
            break
        parts[-1:] = [before, after[0]]
    question, *choices = parts
    return question, tuple(choice.strip() for choice in choices)


def sample_of(
    row: Row,
    data_file: DataFile,
    *,
    sample_id: str = "",
    tags: Sequence[str] = (),
    choices: Sequence[str] | None = None,
    letter: str | None = None,
    question: str | None = None,
) -> Sample:
    """Make a sample from a row in a usual format.

    `tags` are the fields to break results down by. The question is the field `question`, the
    choices are those of `choices_of`, the letter of the right choice is the field `answer`, and
    the pictures are the field `image` or `images`. The id is the field `index`, `question_id`,
    `id`, or `idx`, or else the row's position. The field `hint` and the pictures' key are in
    `Sample.data`.
    """
    options = choices_of(row) if choices is None else tuple(choices)
    media = pictures(row.get("image", row.get("images")), data_file)
    return Sample(
        id=sample_id or id_of(row),
        question=row["question"] if question is None else question,
        choices=options,
        media=media,
        target=target_of(row.get("answer") if letter is None else letter, options),
        tags={tag: str(row.get(tag) or "") for tag in tags},
        data={"hint": row.get("hint") or "", "image": " ".join(map(picture_key, media))},
    )


def id_of(row: Row) -> str:
    """The row's id in its file, or the row's position."""
    for field in ("index", "question_id", "id", "idx"):
        if row.get(field) not in (None, ""):
            return str(row[field])
    return str(row.position)


def choices_of(row: Row) -> tuple[str, ...]:
    """The choices of a row: its field `choices` or `options`, or its cells A, B, ... up to the last
    cell that is not empty.

    Raises:
        ValueError: the row has no choices.
    """
    for field in ("choices", "options"):
        if listed := texts(row.get(field)):
            return listed
    if in_columns := lettered_cells(row):
        return in_columns
    raise ValueError("no choices: the fields choices, options, and A, B, ... are empty or missing")


def lettered_cells(row: Row) -> tuple[str, ...]:
    """The cells A, B, ... up to the last cell that is not empty."""
    cells = [row.get(letter) for letter in ascii_uppercase]
    while cells and cells[-1] in (None, ""):
        cells.pop()
    return tuple("" if cell is None else str(cell) for cell in cells)


def target_of(cell: object, choices: Sequence[str]) -> str | None:
    """The letter of the right choice, from a cell such as "B", "b", or "(B)". None if the cell is
    empty: the right answer is not public.

    Raises:
        ValueError: the cell is not the letter of a choice.
    """
    text = "" if cell is None else str(cell).strip()
    if not text:
        return None
    letters = [
        letter for letter, choice in zip(ascii_uppercase, choices, strict=False) if choice != ""
    ]
    letter = text.removeprefix("(").removesuffix(")").upper()
    if letter in letters:
        return letter
    raise ValueError(f"the answer {text[:80]!r} is not one of the letters {', '.join(letters)}")


def letter_at(index: object, choices: Sequence[str]) -> str:
    """The letter of the choice with this index, from 0. The index may be written as text.

    Raises:
        ValueError: no choice has this index.
    """
    position = int(str(index)) if re.fullmatch(r"\s*[0-9]{1,9}\s*", str(index)) else -1
    if not 0 <= position < len(choices):
        shown = f"{index!r}"[:80]
        raise ValueError(f"the answer {shown} is not an index of the {len(choices)} choices")
    return ascii_uppercase[position]


def pictures(cell: object, data_file: DataFile, folder: str = "") -> tuple[Image, ...]:
    """The pictures of a cell, which has pictures, their bytes, the names of their files, or a list
    of these. The names are relative to `folder` in the folder of the data."""
    if cell is None or cell == "":
        return ()
    if isinstance(cell, list | tuple):
        return tuple(image for part in cell for image in pictures(part, data_file, folder))
    if isinstance(cell, Image):
        return (cell,)
    if isinstance(cell, bytes):
        return (Image(cell, "image"),)
    if isinstance(cell, str):
        return (data_file.image(f"{folder}{cell}"),)
    raise ValueError(f"no picture in the field, but {type(cell).__name__}")


# -- prompts


def message(sample: Sample, template: str) -> tuple[Message, ...]:
    """The pictures, then the text of `filled`."""
    return (user(*sample.media, filled(template, sample)),)


def in_text(sample: Sample, text: str) -> tuple[Message, ...]:
    """The text, with a picture in place of each mark `<image>`. As in VLMEvalKit, extra marks are
    dropped, and extra pictures are not shown."""
    first, *segments = text.split("<image>")
    parts: list[Part] = [first]
    for number, segment in enumerate(segments):
        parts += [*sample.media[number : number + 1], segment]
    return (user(*(part for part in parts if part)),)


def filled(template: str, sample: Sample) -> str:
    """A template of `PROMPTS`, or of the same fields and the keys of `Sample.data`, filled in."""
    hint = sample.data.get("hint")
    fields = {
        **sample.data,
        "hint": f"Hint: {hint}\n" if hint else "",
        "question": sample.question,
        "stripped": sample.question.strip(),
        "choices": choice_lines(sample.choices),
    }
    return template.format(**fields)


def choice_lines(choices: Sequence[str]) -> str:
    """One line for each choice, with its letter. Empty choices are skipped."""
    pairs = zip(ascii_uppercase, choices, strict=False)
    return "".join(f"{letter}. {choice}\n" for letter, choice in pairs if choice)


# -- scorings


def rule(
    source: str,
    parse: Parse,
    metrics: Mapping[str, Metric] = ACCURACY,
) -> Scoring:
    """A scoring whose score is 1 if the parsed letter is the right one, and 0 otherwise. A question
    without a reply is wrong."""
    return Scoring(
        version=1,
        source=source,
        parse=parse,
        score=is_target,
        metrics=metrics,
        missing="wrong",
    )


def parser(letter: Callable[[str, Sequence[str]], Letter]) -> Parse:
    """`Scoring.parse` from a function that finds the letter in a text, such as those in
    `answers.others`."""
    return lambda reply, sample: as_reading(letter(reply.text, sample.choices))


def only_letter(text: str, sample: Sample) -> Reading:
    """Parse a text that is the letter of a choice, in any case, and nothing else."""
    letter = text.strip().upper()
    if letter in [*ascii_uppercase[: len(sample.choices)]]:
        return Reading(answer=letter, rule="only the letter")
    return Reading(answer=None, rule="not only the letter")


def scorings(
    first: Mapping[str, Scoring] | None = None, metrics: Mapping[str, Metric] = ACCURACY
) -> dict[str, Scoring]:
    """The benchmark's own scorings, then the usual ones that it does not define: `vlmevalkit`,
    without VLMEvalKit's judge, and `robust`. The first is the headline scoring."""
    usual = {
        "vlmevalkit": rule(VLMEVALKIT, parse_letter_as_vlmevalkit, metrics),
        "robust": Scoring(
            version=1, source="ours", parse=parse_letter, score=is_target, metrics=metrics
        ),
    }
    return {**(first or {}), **{name: usual[name] for name in usual if name not in (first or {})}}


def headline(scorings: Mapping[str, Scoring], name: str) -> dict[str, Scoring]:
    """The scorings with the one of this name first, if there is one. A prompt of a toolkit has the
    toolkit's scoring as its headline."""
    first = {key: scoring for key, scoring in scorings.items() if key == name}
    return {**first, **scorings}


def check(
    scorings: Mapping[str, Scoring],
    oracle: Mapping[str, float] | None = None,
    silent: Mapping[str, float] | None = None,
    **hedging: float,
) -> Check:
    """The self-check: a perfect model gets 1, the others 0. `hedging` has the scorings, with "_"
    for "-", that parse a letter out of "A B C D", and the share of bundled rows that it answers.
    `oracle` and `silent` have the scorings under which a perfect model, or a model that says
    nothing, gets another value."""
    expect = {
        name: {
            "oracle": (oracle or {}).get(name, 1.0),
            "wrong": 0.0,
            "silent": (silent or {}).get(name, 0.0),
            "hedging": hedging.get(name.replace("-", "_"), 0.0),
        }
        for name in scorings
    }
    return Check(says=lambda _, answer: answer, wrong=wrong_letter, expect=expect)


# -- results


def presentation(
    leaves: Mapping[str, str], source: str, tag: str = "", by: Sequence[str] = ()
) -> Presentation:
    """The breakdowns `by` tags, and the capability of each category of a tag. `source` is where the
    authors define the categories. If the tag is "", all questions need the same capability."""
    return Presentation(
        break_down_by=tuple(by), capabilities=Capabilities(tag=tag, leaves=leaves, source=source)
    )

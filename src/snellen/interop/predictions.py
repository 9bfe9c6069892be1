"""Reads predictions: a file of rows with an id and a reply, or a folder of such files.

The formats are JSONL, JSON (a list, `{id: reply}`, or `{id: {...}}`), CSV, TSV, and XLSX. All
except XLSX may be compressed with gzip. VLMEvalKit, lmms-eval, LLaVA, and benchmarks' authors write
such files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.data.spreadsheet_cells import EXACT, LONGEST, NoText
from snellen.errors import DataError, UsageError
from snellen.interop import inspect_log, lm_eval
from snellen.interop._json import KEYS, VALUES, NotRows
from snellen.interop._layout import CHOICES, ID, QUESTION, REPEAT, REPLY
from snellen.interop._rows import INSPECT, KINDS, LabeledRow, kind_of, rows_of

IDS = (
    *(ID, KEYS, "id", "index", "question_id", "questionId", "sample", "pid", "qid", "sample_id"),
    *("doc_id", "image_id"),
)
REPLIES = (
    *(
        REPLY,
        VALUES,
        "response",
        "prediction",
        "reply",
        "output",
        "model_output",
        "model_prediction",
    ),
    *("pred", "caption", "filtered_resps", "resps", "text", "answer"),
)
ALSO_DATA: Mapping[str, Collection[str]] = {
    "answer": (),
    "text": ("prompt", "answer_id", "model_id"),
}
"""Columns that may contain replies, but that data sets also use for right answers or questions.
Such a column is read as replies only if all other columns are ids, or if the file also has one of
the companion columns that are listed here, as LLaVA's files of answers do."""
QUESTIONS = (QUESTION, "question", "Question", "doc.question", "query", "prompt", "input", "text")
"""Columns that may contain the question. The first column that exists is used."""
MOST_QUESTIONS = 2_000
"""The maximum number of questions that are kept from a file, spread evenly over its rows, to check
whether they are the data set's questions."""
LMMS_REPLIES = ("filtered_resps", "resps")
LMMS_ID = "doc_id"
OPTIONS = {
    "ids": "--ids COLUMN (in Python, ids)",
    "replies": "--replies COLUMN (in Python, replies_in)",
}
"""The options that name a column."""
LISTS_OF_CHOICES = ("choices", "options")
"""Columns that may contain all choices of a question as a list."""
NO_CHOICE = ("", "nan")
"""What programs write in the column of a choice that a question does not have."""
NO_REPLY = ("nan", "none", "null")
"""What programs write as text for a missing value, in lowercase."""
FAILED = ("Failed to obtain answer", "[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED]")
"""The texts that VLMEvalKit and lmms-eval write if there is no reply."""
LOOKED_AT = 100
"""The number of rows that are examined to find the columns. One row is not enough, because a failed
row may lack the column of replies."""
LMMS_NAME = re.compile(r"\d{8}_\d{6}_samples_(?P<task>.+)")
INTEGRAL_FLOAT = re.compile(r"-?\d+\.0")
HALF_CHARACTER = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Predictions:
    """Replies that were read from a file."""

    replies: Mapping[str, str]
    """The replies, by sample id."""
    where: str
    """The file or the folder."""
    notes: Sequence[str]
    """Notes on how the file was read."""
    possible_names: Sequence[tuple[str, str]] = ()
    """The pairs of model and data set that the file's name may stand for. The first pair is the
    pair whose data set has the longest name. A file name like `{model}_{dataset}.xlsx` is ambiguous
    if it has several underscores."""
    row_numbers: bool = False
    """Whether the ids are the positions of rows, from 0, in lmms-eval's copy of the data."""
    targets: Mapping[str, str] = field(default_factory=dict)
    """The right answers in the file, by id. These answers are used to check that the rows are in
    the order of the data set."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """Some of the file's questions, by id. These questions are used to check that the file belongs
    to the data set."""
    other_ids: Sequence[str] = ()
    """Other columns that may contain the ids."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """The right answers in the column `answer`, by id."""
    again: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """All replies to a question except the first reply, by id; None stands for a missing reply. A
    question whose first reply is missing is in this field but not in `replies`."""
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The choices in the file in the order of their letters, by id. An empty text stands for a
    choice that the file does not have."""


def read(
    path: Path, *, ids: str | None = None, replies: str | None = None, only: str | None = None
) -> Predictions:
    """Read predictions from a file, or from a folder whose files each contain a part of the
    predictions.

    `ids` and `replies` name the columns, which is necessary if the columns have unusual names or if
    there are several candidates. `a.b` means the field b of the object a. `only` is a pattern that
    selects files of a folder, such as `*/output.json`.

    Raises:
        DataError: a file cannot be read, lacks the column of ids or of replies, or has two
            different replies for one id.
        UsageError: a question has a reply in more than one file of a folder, or the file is a
            spreadsheet and the extra for spreadsheets is not installed.
    """
    if path.is_dir():
        return _folder(path, ids, replies, only)
    return _merged([_file(path, path.name, ids, replies)], path.name, _possible_names(path), [])


def names_in(folder: Path, only: str | None = None) -> list[str]:
    """The names of all files in a folder and its subfolders that may contain predictions. The names
    are relative to the folder, and sorted. `only` is a pattern that the names must match."""
    names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*"))]
    return [
        name
        for name in names
        if kind_of(Path(name)) in KINDS
        and not any(word.startswith(".") for word in name.split("/"))
        and fnmatchcase(name, only or "*")
        and (folder / name).is_file()
    ]


@dataclass
class _FilePredictions:
    """The content of one file. `replies` has the id, the repeat, the reply, and the label of each
    row."""

    name: str
    columns: tuple[str, str]
    notes: list[str]
    replies: list[tuple[str, int, str | None, str]] = field(default_factory=list)
    targets: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    questions: list[tuple[str, str]] = field(default_factory=list)
    choices: dict[str, Sequence[str]] = field(default_factory=dict)
    other_ids: tuple[str, ...] = ()


# -- one file


def _file(path: Path, name: str, ids: str | None, replies: str | None) -> _FilePredictions:
    rows = rows_of(path)
    first = list(islice(rows, LOOKED_AT))
    present = list(dict.fromkeys(chain.from_iterable(row for _, row in first)))
    _check_header(path, name, present)
    reply = replies or _column(name, present, _reply_columns(present), "replies", REPLIES)
    # VLMEvalKit identifies rows by `index`, and some of its data sets also have a column `id`.
    known = ("index", *IDS) if reply.casefold() == "prediction" else IDS
    keys = _known_columns(present, known)
    key = ids or _column(name, present, keys, "ids", IDS)
    for column in (key, reply):
        if not any(_has(row, column) for _, row in first):
            raise NotRows(f"{name}: no column {column!r}. It has {_listed(present)}.")
    part = _FilePredictions(name, (key, reply), [_columns_note(key, reply, present)])
    question_column = next(
        (c for c in QUESTIONS if c != reply and any(_at(row, c) for _, row in first)), ""
    )
    _read_rows(part, chain(first, rows), question_column)
    part.other_ids = () if ids else tuple(keys[1:])
    if kind_of(path) == INSPECT:
        part.notes[:1] = inspect_log.notes_of(path)
    elif reply == REPLY:
        part.notes[:1] = ["read as samples of another tool's log" + f", by {key!r}" * (key != ID)]
    return part


def _read_rows(part: _FilePredictions, rows: Iterable[LabeledRow], question_column: str) -> None:
    key, reply = part.columns
    step = 1
    lost: dict[str, list[str]] = {}
    counted: Counter[str] = Counter()
    for number, (label, row) in enumerate(rows):
        value, reply_value = _at(row, key), _at(row, reply)
        if value in (None, "") and reply_value in (None, ""):
            counted["empty"] += 1
            continue
        name = _id(value, part.name, label, key)
        if reply in LMMS_REPLIES:
            reply_value = _single_response(reply_value, part.name, label)
        if reply_value == "" and row.get("state") == "failed":
            # In Snellen's own tables, a cell cannot distinguish a failed reply from an empty one.
            reply_value = None
        text: str | None = None
        if isinstance(reply_value, str):
            text = _reply_text(reply_value, counted)
        elif isinstance(reply_value, NoText | list | dict):
            why = (
                reply_value.why
                if isinstance(reply_value, NoText)
                else f"a {type(reply_value).__name__} instead of text"
            )
            lost.setdefault(why, []).append(label)
        elif reply_value is not None:
            text = str(reply_value)
            counted["number"] += isinstance(reply_value, bool | int | float)
        part.replies.append((name, row.get(REPEAT, 0), text, label))
        if choices := _choices(row):
            part.choices[name] = choices
        if key == LMMS_ID and isinstance(row.get("target"), str):
            part.targets[name] = row["target"]
        if reply != "answer" and (answer := row.get("answer")) not in (None, ""):
            part.answers[name] = str(answer)
        if (
            question_column
            and number % step == 0
            and isinstance(question := _at(row, question_column), str)
        ):
            part.questions.append((name, question))
            if len(part.questions) > MOST_QUESTIONS:
                del part.questions[1::2]
                step *= 2
    part.notes += _notes(counted, lost)
    if part.replies and all(INTEGRAL_FLOAT.fullmatch(name) for name, *_ in part.replies):
        part.replies = [
            (name.removesuffix(".0"), repeat, text, label)
            for name, repeat, text, label in part.replies
        ]
        part.questions = [(name.removesuffix(".0"), text) for name, text in part.questions]
        part.answers = {name.removesuffix(".0"): text for name, text in part.answers.items()}
        part.choices = {name.removesuffix(".0"): texts for name, texts in part.choices.items()}
        part.notes.append("all ids end in .0, as pandas writes integers: read without the .0")


def _reply_text(text: str, counted: Counter[str]) -> str | None:
    """The text of a reply; None if it is the text that stands for a failed reply."""
    if not text.isascii() and HALF_CHARACTER.search(text):
        text = HALF_CHARACTER.sub("\ufffd", text)
        counted["half"] += 1
    if text.startswith(FAILED):
        counted["failed"] += 1
        return None
    counted["cut"] += len(text) == LONGEST
    counted["nan"] += text.strip().casefold() in NO_REPLY
    return text


def _choices(row: Mapping[str, Any]) -> Sequence[str]:
    """The choices of a question, from columns named A, B, and so on, or from a column with a list.
    They may be in the field `doc`, as in lmms-eval's samples. Empty if the row has none."""
    if row.get(CHOICES):
        return list(row[CHOICES])
    doc = row.get("doc")
    for fields in (row, doc if isinstance(doc, Mapping) else {}):
        for column in LISTS_OF_CHOICES:
            listed = fields.get(column)
            if isinstance(listed, list) and all(isinstance(text, str) for text in listed):
                return listed
        if "A" in fields and "B" in fields:
            texts = [_choice(fields.get(letter)) for letter in ascii_uppercase]
            last = max((number for number, text in enumerate(texts) if text), default=-1)
            return texts[: last + 1]
    return []


def _choice(value: object) -> str:
    """The text of a choice; empty if the cell has no text, or the text that stands for none."""
    if not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    return "" if text.casefold() in NO_CHOICE else text


def _notes(counted: Mapping[str, int], lost: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for why, places in lost.items():
        yield (
            f"{len(places):,} rows have {why} in the column of replies (first: {places[0]}): read "
            "as rows without a reply"
        )
    words = {
        "failed": "say that the model gave no reply: read as rows without a reply",
        "number": "have a number or a boolean as the reply: read as Python writes it",
        "cut": f"have a reply of {LONGEST:,} characters, the limit of spreadsheets: probably cut",
        "nan": "have nothing but nan, None, or null as the reply, which some programs write for a "
        "missing reply: read as text",
        "half": "have half a surrogate pair in the reply: read as the replacement character",
        "empty": "have neither an id nor a reply: left out",
    }
    yield from (
        f"{counted[what]:,} rows {description}"
        for what, description in words.items()
        if counted[what]
    )


def _id(value: object, file: str, label: str, column: str) -> str:
    match value:
        case float() if abs(value) >= EXACT:
            raise DataError(
                f"{file}: {label} has the id {value!r}, and the program that wrote the file has "
                "rounded this large number. Write ids as text."
            )
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
        case str() if value:
            return value
        case NoText():
            held = value.why
        case _:
            held = "nothing" if value in (None, "") else f"a {type(value).__name__}"
    raise DataError(f"{file}: {label} has {held} instead of an id in the column {column!r}.")


def _single_response(value: object, file: str, label: str) -> object:
    """The response inside lmms-eval's lists. Each list has one element, which may be another
    list."""
    while isinstance(value, list):
        if len(value) != 1:
            raise DataError(
                f"{file}: {label} has {len(value)} responses (choices ranked by likelihood, rounds "
                "of a conversation, or filtered repeats). Use a file with one reply per question."
            )
        value = value[0]
    return value


# -- columns


def _check_header(path: Path, name: str, present: Sequence[str]) -> None:
    """
    Raises:
        DataError: the first line of a CSV or TSV file is JSON.
    """
    if (
        kind_of(path) in (".csv", ".tsv")
        and present
        and present[0].lstrip().startswith(("{", "[{"))
    ):
        raise DataError(
            f"{name}: the first line is JSON instead of the names of columns. Give the file a name "
            "that ends in .jsonl (one object per line) or .json."
        )


def _known_columns(present: Sequence[str], known: Sequence[str]) -> list[str]:
    """The columns of a file that have one of the known names. If there are none, case is ignored,
    except for columns whose names differ only in case."""
    exact = list(dict.fromkeys(column for column in known if column in present))
    if exact:
        return exact
    folded = Counter(column.casefold() for column in present)
    by_name = {column.casefold(): column for column in present if folded[column.casefold()] == 1}
    matches = (by_name.get(column.casefold()) for column in known)
    return list(dict.fromkeys(column for column in matches if column is not None))


def _reply_columns(present: Sequence[str]) -> list[str]:
    columns = _known_columns(present, [name for name in REPLIES if name not in ALSO_DATA])
    if columns:
        return columns
    return [
        column
        for column, companions in ALSO_DATA.items()
        if column in present
        and (set(present) <= {*IDS, column} or not set(present).isdisjoint(companions))
    ]


def _column(
    file: str, present: Sequence[str], candidates: Sequence[str], what: str, known: Sequence[str]
) -> str:
    if candidates:
        return candidates[0]
    doubtful = [column for column in ALSO_DATA if what == "replies" and column in present]
    if doubtful:
        raise NotRows(
            f"{file}: the column {doubtful[0]!r} may contain right answers or questions, and no "
            f"other column is known to contain replies. The file has {_listed(present)}. Name the "
            f"column of replies with {OPTIONS[what]}."
        )
    looked_for = ", ".join(column for column in known if column not in (KEYS, VALUES))
    raise NotRows(
        f"{file}: no column of {what}. It has {_listed(present)}. The known names are "
        f"{looked_for}. If the first row does not name the columns, add such a row. If the column "
        f"has another name, name the column with {OPTIONS[what]}."
    )


def _columns_note(key: str, reply: str, present: Sequence[str]) -> str:
    also = [column for column in (*IDS, *REPLIES) if column in present and column not in ALSO_DATA]
    others = [column for column in dict.fromkeys(also) if column not in (key, reply)]
    others_note = f" (there are also {', '.join(map(repr, others))})" if others else ""
    return f"ids read from {key!r}, replies from {reply!r}{others_note}"


def _listed(names: Sequence[str]) -> str:
    shown = [name if len(name) <= 40 else f"{name[:40]}..." for name in names[:20]]
    return ", ".join(shown) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _at(row: Mapping[str, Any], column: str) -> Any:
    """The value of a field; None if the field is absent. A name `a.b` means the field b of the
    object a, unless a field has the name `a.b`."""
    if column in row or "." not in column:
        return row.get(column)
    outer, _, inner = column.partition(".")
    inside = row.get(outer)
    return _at(inside, inner) if isinstance(inside, Mapping) else None


def _has(row: Mapping[str, Any], column: str) -> bool:
    return column in row or _at(row, column) is not None


# -- several files, and names


def _folder(folder: Path, ids: str | None, replies: str | None, only: str | None) -> Predictions:
    names = names_in(folder, only)
    if not names:
        raise DataError(
            f"{folder} has no files {f'named {only} ' if only else ''}that end in "
            f"{', '.join(KINDS)}. If the files are in a layout of the benchmark's authors, name "
            "the benchmark with -b and check the names of the files."
        )
    parts, without = [], []
    for name in names:
        try:
            parts.append(_file(folder / name, name, ids, replies))
        except NotRows:
            without.append(name)
    if not parts:
        raise DataError(
            f"{folder}: none of its {len(names)} files {f'named {only} ' if only else ''}contains "
            f"ids and replies. Files that end in {', '.join(KINDS)} were read. Pass a single file "
            "to see what the file lacks."
        )
    # If other files have rows, an object {id: text} was derived from them: answers or scores.
    rows = [part for part in parts if part.columns[1] != VALUES]
    derived = [part.name for part in parts if rows and part.columns[1] == VALUES]
    parts = rows or parts
    read_as = " as parts of one model's replies" if len(parts) > 1 else ""
    listed = _listed([part.name for part in parts])
    notes = [f"{len(parts)} files of {folder.name} read{read_as}: {listed}"]
    if derived:
        notes.append(f"left out, because other files have the replies: {_listed(derived)}")
    if without:
        notes.append(f"left out, because they have no ids or no replies: {_listed(without)}")
    return _merged(parts, folder.name, (), notes)


def _merged(
    parts: Sequence[_FilePredictions],
    where: str,
    possible_names: Sequence[tuple[str, str]],
    notes: Sequence[str],
) -> Predictions:
    replies: dict[tuple[str, int], str] = {}
    places: dict[tuple[str, int], tuple[str, str]] = {}
    shared: dict[str, None] = {}  # the questions, and the files, in the order found
    clashing: dict[str, None] = {}
    doubled = without = 0
    for part in parts:
        for name, repeat, text, label in part.replies:
            key = (name, repeat)
            if text is None:
                without += 1
            elif key not in replies:
                replies[key], places[key] = text, (part.name, label)
            elif places[key][0] != part.name:
                shared[name] = None
                clashing |= {places[key][0]: None, part.name: None}
            elif replies[key] == text:
                doubled += part.columns[1] != REPLY  # a log has a row for each scoring
            else:
                of = f" of {part.name}" if len(parts) > 1 else ""
                raise DataError(
                    f"{where}: the id {name!r} has two different replies, the first in "
                    f"{places[key][1]}{of}, the second in {label}{of}. Keep one of them."
                )
    if shared:
        raise UsageError(
            f"{where}: {len(shared):,} questions, such as {next(iter(shared))!r}, have a reply in "
            f"more than one file: {_listed(list(clashing))}. Pass a single file, or select the "
            "files that belong together with a pattern (--only)."
        )
    notes_in_order = [*notes, *dict.fromkeys(note for part in parts for note in part.notes)]
    if not replies:
        raise DataError(f"{where}: no row has a reply ({'; '.join(notes_in_order)}).")
    if doubled:
        notes_in_order.append(f"{doubled:,} rows repeat the reply of an earlier row: counted once")
    if without:
        notes_in_order.append(f"{without:,} rows have an id but no reply")
    numbers = all(part.columns[0] == LMMS_ID for part in parts)
    if numbers:
        notes_in_order.append(
            f"{LMMS_ID!r} is the position of a row in lmms-eval's copy of the data, from 0. This "
            "position identifies a sample only if the copy has the same rows in the same order"
        )
    targets = {name: target for part in parts for name, target in part.targets.items()}
    answers = {name: answer for part in parts for name, answer in part.answers.items()}
    questions = dict(chain.from_iterable(part.questions for part in parts))
    others = () if numbers else [c for c in parts[0].other_ids if c != LMMS_ID]
    return Predictions(
        {name: text for (name, repeat), text in replies.items() if not repeat},
        where,
        notes_in_order,
        possible_names,
        numbers,
        targets,
        questions,
        others,
        answers,
        _further(parts, replies),
        {name: choices for part in parts for name, choices in part.choices.items()},
    )


def _further(
    parts: Sequence[_FilePredictions], replies: Mapping[tuple[str, int], str]
) -> dict[str, list[str | None]]:
    """All replies to each question except its first reply, by id. None stands for a missing
    reply."""
    most: dict[str, int] = {}
    for part in parts:
        for name, repeat, *_ in part.replies:
            if repeat:
                most[name] = max(repeat, most.get(name, 0))
    return {
        name: [replies.get((name, repeat)) for repeat in range(1, last + 1)]
        for name, last in most.items()
    }


def _possible_names(path: Path) -> Sequence[tuple[str, str]]:
    """The pairs (model, data set) that the name of a file from VLMEvalKit or lmms-eval may stand
    for. For an Inspect log, the names are read from the log."""
    if kind_of(path) == INSPECT:
        return (inspect_log.names_of(path),)
    stem = path.name.removesuffix(".gz").removesuffix(path.suffix)
    folders = [parent.name for parent in path.absolute().parents[:2]]
    if match := LMMS_NAME.fullmatch(stem):
        return ((folders[0], match["task"]),)
    if match := lm_eval.NAME.fullmatch(stem):
        return ((folders[0], match["task"]),)
    if kind_of(path) not in (".xlsx", ".tsv", ".json"):
        return ()
    for folder in folders:
        if folder and stem.startswith(f"{folder}_") and len(stem) > len(folder) + 1:
            return ((folder, stem[len(folder) + 1 :]),)
    words = stem.split("_")
    return [("_".join(words[:n]), "_".join(words[n:])) for n in range(1, len(words))]

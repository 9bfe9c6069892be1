"""Your own rows, asked and scored without code, from a JSONL, JSON, TSV, CSV, or Excel file.

Paper    none
Data     the file that the user names. Columns: id | index (else the row's number, from 0); image
         | images | image_path (a path relative to the file, a list of them, base64, a data:
         address; an http address, fetched with --allow-urls); video | video_path (a path relative
         to the file), with start and end: frames from start and before end, in seconds from
         the first frame; question; hint (put before it); A, B, C, ... or choices; answer |
         answers | caption | captions; answer0 (the number of the right choice, from 0); category
         and split (results are broken down by them). `--map
         COLUMN=FIELD` gives a column another meaning. turns replaces question: a list of
         questions, or of objects with a row's fields (question, image, choices, answer). The row's
         answers are then a list with one for each turn, or a single answer for the last turn. A
         turn whose answer is null is asked but not scored. The row's images, video and hint belong
         to the first turn. Its choices apply to all turns
Prompt   images, the video, hint, question, choices, and a line on the form of the answer (ASK
         below). mcq and vqa have LLaVA-1.5's, haotian-liu/LLaVA:docs/Evaluation.md; the others are
         ours. The text may have marks: `<image>` (the next picture) or `<image 2>` (that one). A
         marked picture replaces its mark; the others come first. A video is sampled as uniform:64,
         unless --frames changes it. In a conversation, the model's own replies stand between the
         turns
Scoring  default, ours. mcq: the letter that the reply commits to. yesno: the word it begins with,
         or the only one of the two in it. count: the only number in it, in digits or words. vqa:
         the whole reply, without case, punctuation, and articles, compared with the answer; with
         three or more answers, min(1, number of equal answers / 3). robust (vqa): the same for the
         text after "the answer is". caption: CIDEr, BLEU, and ROUGE-L. judged (vqa and caption): a
         judge's grade from 0 to 10, compared with the answers (`snellen judge`). Each turn with an
         answer is scored as a separate question; a conversation's turns share a cluster
"""

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, cast, get_args

from snellen.benchmarks.families.own_columns import (
    Guess,
    cell_of,
    check_columns,
    column_names,
    field_columns,
    first_rows,
    guess_task,
    has_media,
    is_vlmevalkit,
)
from snellen.benchmarks.families.own_samples import BREAK_DOWN, RowReader, interleaved_media
from snellen.benchmarks.families.tasks import (
    ASK,
    EXPECT,
    WRONG,
    Task,
    scorings,
    verdict,
)
from snellen.core import Benchmark, Check, Conversation, History, Presentation, Procedure, Sample
from snellen.core.benchmark import vary
from snellen.core.prompts import lettered
from snellen.data import Drawn, Row, Table, rows_of, vlmevalkit_tsv
from snellen.errors import DataError, UsageError
from snellen.media import video
from snellen.media.content import Message, Video, assistant, user


def own_data(
    path: Path,
    *,
    task: str | None = None,
    columns: Mapping[str, str] | None = None,
    data: Path | None = None,
) -> Benchmark:
    """The benchmark for a file of rows. Without a task, `guess` chooses it.

    `columns` maps the file's columns to our fields; `data` is the folder that images and videos are
    named relative to, if it is not the file's own.

    Raises:
        DataError: a column is missing or unknown, or the first rows cannot be read.
        UsageError: the task, or a field in `columns`, does not exist.
    """
    if task is not None and task not in get_args(Task):
        close = get_close_matches(task, get_args(Task), n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"no task {task!r}; there are {', '.join(get_args(Task))}.{hint}")
    if data is not None and not data.is_dir():
        raise DataError(
            f"{data} is not a folder. --data takes the folder that holds the images and videos."
        )
    head = first_rows(path, columns or {})
    fields = field_columns(path, head, columns or {})
    notes = []
    if task is None:
        guessed = guess_task(head, fields)
        task = guessed.task
        notes.append(f"asked as --task {task}, guessed from {guessed.why}")
    chosen = cast(Task, task)
    check_columns(path, head, fields, chosen)
    if not {"image", "video"} & set(fields):
        notes.append("the rows have no column of images or videos: asked as text alone")
    elif "turns" not in fields and (bare := sum(not has_media(row, fields) for row in head)):
        notes.append(
            f"{bare:,} of the first {len(head):,} rows have no image or video: asked as text alone"
        )
    right = "answer0" if "answer0" in fields else "answer"
    if right not in fields:
        notes.append("the rows have no column of answers: asked and stored, not scored")
    elif without := sum(cell_of(row, fields, right) is None for row in head):
        which = "turns" if "turns" in fields else "rows"
        notes.append(f"{without:,} of the first {len(head):,} {which} have no answer: in no mean")
    folder = data or (path if path.is_dir() else path.parent)
    known = {column for here in fields.values() for column in here}
    if unused := [name for name in column_names(head) if name not in known]:
        more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""
        notes.append(f"columns that mean nothing here: {', '.join(unused[:8])}{more}")
    reader = RowReader(name=path.name, folder=folder, task=chosen, columns=fields)
    # Pictures in the rows of a TSV are identified by their offset, and not read with the rows.
    kit = is_vlmevalkit(path, head) and fields.get("image", [])[:1] == ["image"]
    table = vlmevalkit_tsv(path) if kit else rows_of(path)
    return _benchmark(_safe_name(path), chosen, fields, table, reader.sample, tuple(notes))


def guess(path: Path, columns: Mapping[str, str] | None = None) -> Guess:
    """What the file's columns and the answers in its first 1,000 rows look like.

    Raises:
        DataError: the file lacks a column of the map, or the rows cannot be read.
    """
    head = first_rows(path, columns or {})
    return guess_task(head, field_columns(path, head, columns or {}))


def stored(name: str, options: Mapping[str, Any]) -> Benchmark:
    """The benchmark of a run of own rows, to score its replies without the rows."""
    reader = RowReader(
        name=name, folder=Path(), task=options["task"], columns=dict(options["columns"])
    )
    nothing = Drawn(name, lambda: iter(()))
    return _benchmark(name, reader.task, reader.columns, nothing, reader.sample)


def _benchmark(
    name: str,
    task: Task,
    columns: Mapping[str, Sequence[str]],
    data: Table,
    sample: Callable[[int, Row], Sample],
    notes: tuple[str, ...] = (),
) -> Benchmark:
    in_turns = "turns" in columns
    benchmark = Benchmark(
        name=name,
        asks=2,
        data=data,
        sample=sample,
        prompt=lambda s, history: _conversation(task, s, history),
        scorings=scorings(task),
        cluster_by=_shown_by,
        check=Check(
            says=lambda _, answer: answer,
            wrong=WRONG[task],
            expect=EXPECT[task],
            verdict=verdict,
        ),
        procedure=Procedure(
            conversation=Conversation(
                turns=None if in_turns else 1, by_turn=by_turn if in_turns else None
            ),
            # Each video is decoded once for all questions about it.
            group_by=_shown_by if "video" in columns else None,
            frames=video.DEFAULT if "video" in columns else None,
        ),
        presentation=Presentation(
            break_down_by=tuple(tag for tag in BREAK_DOWN if tag in columns), notes=notes
        ),
    )
    stored_columns = {field: [*here] for field, here in columns.items()}
    return vary(benchmark, options={"task": task, "columns": stored_columns})


def _shown_by(sample: Sample) -> str:
    """A key that samples about the same video, or else the same image, share."""
    return str(sample.data.get("video") or sample.data.get("image") or sample.id)


OF_VIDEO = "Describe the video in one sentence."


def prompt(task: Task, sample: Sample) -> tuple[Message, ...]:
    """Images without a mark in the text, then the video, then the lines of text with the marked
    images in their positions."""
    lines = [sample.question]
    if task == "mcq":
        lines.append(lettered(sample.choices))
    is_video = any(isinstance(medium, Video) for medium in sample.media)
    lines.append(OF_VIDEO if task == "caption" and is_video else ASK[task])
    return (user(*interleaved_media(sample.media, "\n".join(filter(None, lines)), sample.id)),)


def _conversation(task: Task, sample: Sample, history: History) -> tuple[Message, ...]:
    """The conversation so far, with the model's replies, followed by the next turn."""
    turns = by_turn(sample)
    if len(history) == len(turns):
        return ()
    messages = prompt(task, turns[len(history)])
    if not history:
        return messages
    sent, reply = history[-1]
    return (*sent, assistant(reply.text), *messages)


def by_turn(sample: Sample) -> tuple[Sample, ...]:
    """A sample for each turn of a row; the row's own sample if it is not a conversation."""
    turns: Any = sample.data.get("turns")
    if turns is None:
        return (sample,)
    media = iter(sample.media)
    rest = {name: value for name, value in sample.data.items() if name != "turns"}
    return tuple(
        Sample(
            id=f"{sample.id}#{number}",
            question=turn["question"],
            choices=tuple(turn["choices"]),
            media=tuple(islice(media, turn["media"])),
            target=turn["target"],
            references=tuple(turn["references"]),
            tags=sample.tags,
            data=rest,
        )
        for number, turn in enumerate(turns, 1)
    )


def _safe_name(path: Path) -> str:
    """The file's name without its endings; never that of a benchmark of ours."""
    stem = re.sub(r"\.(jsonl|json|tsv|csv|parquet)(\.gz)?$", "", path.name, flags=re.IGNORECASE)
    name = re.sub(r"[^\w.-]+", "-", stem).strip(".-") or "rows"
    taken = (Path(__file__).parents[1] / f"{name.lower().replace('-', '_')}.py").exists()
    return f"{name}-own" if taken else name

"""Your own rows, asked and scored without code, from a JSONL, JSON, TSV, CSV, or Excel file.

Paper    none.
Data     A file of your own with the columns below. For columns with other names, use
         `--map COLUMN=FIELD`.
         `id` or `index`: the row's id. By default, the id is the row's number, counted from 0.
         `image`, `images`, or `image_path`: a path relative to the file, base64, a data: URL, an
         http URL (fetched with --allow-urls), or a list of these.
         `video` or `video_path`: a path relative to the file.
         `start` and `end`: the part of the video to show, in seconds from the video's first frame.
         The frame at `end` is not shown.
         `question`: the question.
         `hint`: text that is put before the question.
         `A`, `B`, `C`, ... or `choices`: the choices.
         `answer`, `answers`, `caption`, or `captions`: the right answers.
         `answer0`: the number of the right choice, counted from 0.
         `category` and `split`: results are broken down by these columns.
         `turns`: the turns of a conversation, instead of `question`. The cell contains a list of
         questions, or of objects with a row's fields (question, image, choices, answer). The row's
         `answers` cell contains a list with one answer for each turn, or a single answer for the
         last turn. A turn whose answer is null is asked but not scored. The row's images, video,
         and hint belong to the first turn. The row's choices apply to all turns.
Prompt   The prompt consists of the images, the video, the hint, the question, the choices, and a
         line on the form of the answer (ASK in tasks.py).
         The line for mcq and vqa is LLaVA-1.5's, haotian-liu/LLaVA:docs/Evaluation.md. The lines
         for the other tasks are ours.
         The text may contain marks: `<image>` (the next picture) or `<image 2>` (the second
         picture). Each marked picture replaces its mark. All other pictures come first.
         Videos are sampled as uniform:64, unless --frames sets another frame policy.
         In a conversation, the model's own replies come between the turns.
Scoring  `default`: our own rule for each task.
         `mcq` reads the letter that the reply settles on.
         `yesno` reads yes or no at the start of the reply, or else the only one of these words in
         the reply.
         `count` reads the only number in the reply, in digits or words.
         `vqa` compares the whole reply with the answer, ignoring case, punctuation, and articles.
         With three or more answers, the score is min(1, number of equal answers / 3).
         `caption` computes CIDEr, BLEU, and ROUGE-L.
         `robust` (the headline scoring of vqa): like `default`, but applied to the phrase that the
         reply states as its answer. That phrase is boxed, follows "the answer is", or follows the
         verb of a single sentence ("The picture shows X.").
         A reply is unparsed if its phrase contains a right answer and other words. A reply
         without such a phrase is unparsed if it is more than three words longer than the longest
         answer.
         `judged` (vqa and caption): a judge compares the reply with the answers and grades the
         reply from 0 to 10 (`snellen judge`).
         Each turn with an answer is scored as a separate question. The turns of a conversation
         form one cluster when confidence intervals are computed.
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
    unshown_choices,
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
    """Build the benchmark for a file of rows. If `task` is None, `guess` chooses the task.

    `columns` maps the file's columns to fields. Paths of images and videos are relative to the
    folder `data`, by default the folder of the file.

    Raises:
        DataError: a column is missing or unknown, or the first rows cannot be read.
        UsageError: the task, or a field in `columns`, does not exist.
    """
    if task is not None and task not in get_args(Task):
        close = get_close_matches(task, get_args(Task), n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"no task {task!r}; the tasks are {', '.join(get_args(Task))}.{hint}")
    if data is not None and not data.is_dir():
        raise DataError(
            f"{data} is not a folder. Pass the folder with the images and videos as --data."
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
    if (unshown := unshown_choices(path, head, fields, chosen)) is not None:
        notes.append(unshown)
    if not {"image", "video"} & set(fields):
        notes.append("the rows have no column of images or videos: they are asked as text alone")
    elif "turns" not in fields and (bare := sum(not has_media(row, fields) for row in head)):
        notes.append(
            f"{bare:,} of the first {len(head):,} rows have no image or video: "
            "they are asked as text alone"
        )
    right = "answer0" if "answer0" in fields else "answer"
    if right not in fields:
        notes.append("the rows have no column of answers: replies are stored but not scored")
    elif without := sum(cell_of(row, fields, right) is None for row in head):
        which = "turns" if "turns" in fields else "rows"
        notes.append(
            f"{without:,} of the first {len(head):,} {which} have no answer: they are not scored"
        )
    folder = data or (path if path.is_dir() else path.parent)
    known = {column for here in fields.values() for column in here}
    if unused := [name for name in column_names(head) if name not in known]:
        more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""
        notes.append(f"columns that are not used: {', '.join(unused[:8])}{more}")
    reader = RowReader(name=path.name, folder=folder, task=chosen, columns=fields)
    # In such a TSV, pictures are identified by their offset and not read with the rows.
    kit = is_vlmevalkit(path, head) and fields.get("image", [])[:1] == ["image"]
    table = vlmevalkit_tsv(path) if kit else rows_of(path)
    return _benchmark(_safe_name(path), chosen, fields, table, reader.sample, tuple(notes))


def guess(path: Path, columns: Mapping[str, str] | None = None) -> Guess:
    """Guess the task from the file's columns and from the answers in its first 1,000 rows.

    Raises:
        DataError: the file lacks a column that `columns` maps, or the rows cannot be read.
    """
    head = first_rows(path, columns or {})
    return guess_task(head, field_columns(path, head, columns or {}))


def stored(name: str, options: Mapping[str, Any]) -> Benchmark:
    """Rebuild the benchmark of a stored run from the run's options. The benchmark can score the
    run's replies without the rows."""
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
    """Return a key that identifies the sample's video or, without a video, its image. A sample with
    neither has its id as the key."""
    return str(sample.data.get("video") or sample.data.get("image") or sample.id)


OF_VIDEO = "Describe the video in one sentence."


def prompt(task: Task, sample: Sample) -> tuple[Message, ...]:
    """Build the prompt: first the images that have no mark in the text, then the video, then the
    text, in which each marked image replaces its mark."""
    lines = [sample.question]
    if task == "mcq":
        lines.append(lettered(sample.choices))
    is_video = any(isinstance(medium, Video) for medium in sample.media)
    lines.append(OF_VIDEO if task == "caption" and is_video else ASK[task])
    return (user(*interleaved_media(sample.media, "\n".join(filter(None, lines)), sample.id)),)


def _conversation(task: Task, sample: Sample, history: History) -> tuple[Message, ...]:
    """Return the conversation so far, with the model's replies, followed by the next turn."""
    turns = by_turn(sample)
    if len(history) == len(turns):
        return ()
    messages = prompt(task, turns[len(history)])
    if not history:
        return messages
    sent, reply = history[-1]
    return (*sent, assistant(reply.text), *messages)


def by_turn(sample: Sample) -> tuple[Sample, ...]:
    """Return one sample for each turn of a row, or only the row's sample if the row is not a
    conversation."""
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
    """Return the file's name without extensions, with `-own` added if a built-in benchmark has the
    same name."""
    stem = re.sub(
        r"\.(jsonl|json|tsv|csv|parquet|xlsx)(\.gz)?$", "", path.name, flags=re.IGNORECASE
    )
    name = re.sub(r"[^\w.-]+", "-", stem).strip(".-") or "rows"
    taken = (Path(__file__).parents[1] / f"{name.lower().replace('-', '_')}.py").exists()
    return f"{name}-own" if taken else name

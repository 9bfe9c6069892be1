"""Turns a task of an installed lmms-eval into a benchmark: lmms-eval:TASK, or lmms-eval:FILE.yaml
for a task file of your own.

The task provides the rows, the messages, and the scores (`lmms_eval_scores`). Questions are asked
as lmms-eval asks its chat models: `doc_to_messages` where a task has one, otherwise the pictures of
`doc_to_visual` and then the text of `doc_to_text`.

Source: lmms-eval 0.7.3, lmms_eval/api/task.py (ConfigurableTask, ConfigurableMessagesTask) and
lmms_eval/tasks/__init__.py (TaskManager).
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import Any

from snellen.benchmarks.families.lmms_eval_scores import (
    NUMPY_SEED,
    SEED,
    TOOLKIT,
    TaskScores,
    unretried,
)
from snellen.benchmarks.families.stored_messages import messages_of, stored
from snellen.benchmarks.families.toolkit import scored_by, seeded
from snellen.core import Benchmark, Message, Presentation, Reading, Sample, Scoring
from snellen.core.benchmark import vary
from snellen.core.procedure import Procedure
from snellen.data import Drawn, Row
from snellen.errors import SnellenError, UsageError
from snellen.media import forms
from snellen.media.content import Part, Role, Text, Video
from snellen.metrics import Metric
from snellen.models.code_files import digest_of, digest_of_all
from snellen.models.user_code import errors_as
from snellen.models.vlmevalkit_messages import aside
from snellen.store import safe_name

MAX_TOKENS = 1024
"""The token limit of tasks without `max_new_tokens`: lmms_eval/models/simple/openai.py#L66-L67."""
FEWSHOT_SEED = 1234
"""The default of `fewshot_random_seed` in lmms_eval/evaluator.py, simple_evaluate."""
FRAMES = "uniform:16"
ADDRESS = re.compile(" at 0x[0-9a-f]+")
"""The address of an object in its default text."""
ROLES: Sequence[Role] = ("system", "user", "assistant")


def toolkit_benchmark(name: str, options: Mapping[str, str]) -> Benchmark:
    """Build the benchmark of a task, by the task's name or by the path of its YAML file.

    Raises:
        UsageError: there are options, lmms-eval is not installed, it has no such task, the task or
            its data cannot be loaded, or the task asks for something other than one text for each
            question.
    """
    title = f"{TOOLKIT}:{name}"
    if options:
        raise UsageError(
            f"{title} has no option {next(iter(options))!r}. The task's file controls everything."
        )
    version = _version()
    task, path = _loaded(name, title)
    _check_supported(task, title)
    rows = _TaskRows(task, title)
    generation = task.config.generation_kwargs or {}
    benchmark = Benchmark(
        name=safe_name(f"{TOOLKIT}-{task.config.task}"),
        asks=1,
        data=Drawn(title, rows.fields),
        sample=rows.sample,
        prompt=lambda sample, _: messages_of(sample),
        scorings={TOOLKIT: _scoring(TaskScores(task, title), f"{title}, {TOOLKIT} {version}")},
        max_answer_tokens=int(generation.get("max_new_tokens") or MAX_TOKENS),
        procedure=Procedure(
            temperature=float(generation.get("temperature") or 0.0),
            frames=FRAMES if rows.has_videos() else None,
        ),
        presentation=Presentation(
            metric_tags=("doc",),
            notes=(
                scored_by(TOOLKIT),
                f"the code is that of {TOOLKIT} {version}, task {task.config.task}; questions "
                "without a reply are not passed to it",
            ),
        ),
    )
    stored_options = {
        "toolkit": TOOLKIT,
        "dataset": name,
        "settings": {},
        "version": version,
        "digest": _digest(task, path, version),
    }
    return vary(benchmark, options=stored_options)


def _scoring(scores: TaskScores, source: str) -> Scoring:
    return Scoring(
        version=1,
        source=source,
        parse=lambda reply, _: Reading(answer=reply.text, rule="whole reply"),
        score=scores.score,
        resolve=scores.resolve,
        metrics={
            label: Metric(scores.metric(label), better=scores.better(label), name=label)
            for label in scores.labels
        },
        extra_metrics=scores.nested,
        on_missing="The task's aggregations get only the rows with a reply",
    )


# -- loading


def _version() -> str:
    try:
        return metadata.version("lmms-eval")
    except metadata.PackageNotFoundError as error:
        raise UsageError(
            f"{TOOLKIT} is not installed in this environment. Install it: pip install lmms-eval."
        ) from error


def _loaded(name: str, title: str) -> tuple[Any, Path]:
    """Load a task, and return it with the path of its YAML file. As in lmms-eval, loading downloads
    the task's data if they are not in the cache."""
    with aside(), errors_as(UsageError, f"{TOOLKIT} cannot be loaded", None):
        _quiet(importlib.import_module("loguru").logger)
        tasks = importlib.import_module("lmms_eval.tasks")
    with aside(), errors_as(UsageError, f"{TOOLKIT} cannot list its tasks", None):
        if name.endswith(".yaml"):
            file = Path(name).absolute()
            manager = tasks.TaskManager(
                "ERROR", include_path=f"{file.parent}", include_defaults=False
            )
        else:
            file = None
            manager = tasks.TaskManager("ERROR")
    name, path = _meant(manager, name, file, title)
    with (
        aside(),
        errors_as(UsageError, f"{title} cannot be loaded", None),
        seeded(SEED, NUMPY_SEED),
        unretried(),
    ):
        (task,) = manager.load_task_or_group([name], "chat").values()
        if task.config.num_fewshot is None:
            task.config.num_fewshot = 0
        task.set_fewshot_seed(seed=FEWSHOT_SEED)
    return task, path


def _quiet(logger: Any) -> None:
    """Show only warnings and errors, if nobody has configured loguru's logger yet. By default, the
    logger also shows each file that lmms-eval reads."""
    with suppress(ValueError):  # the first handler, number 0, was removed
        logger.remove(0)
        logger.add(sys.stderr, level="WARNING", format="{message}")


def _meant(manager: Any, name: str, file: Path | None, title: str) -> tuple[str, Path]:
    """Return the name and the file of the requested task."""
    index: Mapping[str, Mapping[str, Any]] = manager.task_index
    if file is not None:
        if not file.is_file():
            raise UsageError(f"{title}: there is no file {file}.")
        names = [known for known, entry in index.items() if entry["yaml_path"] == f"{file}"]
        if not names:
            raise UsageError(f"{title}: {file.name} defines no task. A task file has a key `task`.")
        name = names[0]
    entry = index.get(name)
    if entry is None:
        close = difflib.get_close_matches(name, index, 3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise UsageError(f"{title}: {TOOLKIT} has no task {name!r}.{hint}")
    if entry["type"] in ("group", "tag"):
        members = entry["task"] if entry["type"] == "tag" else manager._get_config(name)["task"]
        listing = f" ({', '.join(map(str, members[:20]))})" if members else ""
        raise UsageError(
            f"{title}: {name} is a {entry['type']} of several tasks{listing}. Name a single task; "
            "-b can be repeated."
        )
    return name, Path(str(entry["yaml_path"]))


def _check_supported(task: Any, title: str) -> None:
    kind = task.OUTPUT_TYPE
    if kind != "generate_until":
        raise UsageError(
            f"{title} has the output type {kind}. Only tasks with a single reply in text "
            "(generate_until) are supported."
        )
    if (task.config.repeats or 1) > 1:
        raise UsageError(
            f"{title} scores {task.config.repeats} replies to each question together, which is not "
            "supported. Use a task with `repeats: 1`."
        )


def _digest(task: Any, path: Path, version: str) -> str:
    """The digest of lmms-eval's version, the task's folder, and the files of its functions."""
    values = [*vars(task.config).values(), *task.aggregation().values()]
    files = {file.resolve() for file in path.parent.glob("*.*") if file.suffix in (".py", ".yaml")}
    for value in values:
        if callable(value):
            with suppress(OSError, TypeError):
                files.add(Path(inspect.getsourcefile(value) or "").resolve(strict=True))
    digests = [digest_of(file.read_bytes()) for file in files if file.is_file()]
    return digest_of(f"{version}\0{digest_of_all(digests)}".encode())


# -- rows


class _TaskRows:
    """The documents of a task, as rows and samples."""

    def __init__(self, task: Any, title: str) -> None:
        self._task = task
        self._title = title

    def fields(self) -> Iterator[Mapping[str, Any]]:
        """Yield the cells of each document as JSON types, with bytes replaced by their digests."""
        docs = self._task.eval_docs
        if not hasattr(docs, "with_format"):
            yield from (_cells(docs[index]) for index in range(len(docs)))
            return
        raw = docs.with_format("arrow")  # without decoding pictures
        for index in range(len(docs)):
            yield _cells(raw[index : index + 1].to_pylist()[0])

    def has_videos(self) -> bool:
        """Whether the first question shows a video."""
        messages = self._messages(0)
        return any(isinstance(part, Video) for message in messages for part in message.content)

    def sample(self, row_index: int, row: Row) -> Sample:
        """Make a sample with the messages of a document.

        Raises:
            UsageError: the task's code raised an exception.
            MediaError: a part of a message cannot be shown.
        """
        messages = self._messages(row_index)
        media, turns = stored(messages)
        question = row.get("question")
        return Sample(
            id=f"{row_index}",
            question=question if isinstance(question, str) else messages[-1].text,
            media=media,
            # lmms-eval knows the right answers. An empty target is therefore not a hidden one.
            target=self._target(row_index),
            tags={"doc": f"{row_index}"},
            data={"doc": row_index, "messages": turns},
        )

    def _target(self, row_index: int) -> str:
        with self._running(f"doc_to_target of row {row_index + 1}"):
            return str(self._task.doc_to_target(self._task.eval_docs_no_media[row_index]))

    def _messages(self, row_index: int) -> tuple[Message, ...]:
        with self._running(f"the messages of row {row_index + 1}"):
            messages = _messages_of_task(self._task, self._task.eval_docs[row_index])
        where = f"row {row_index + 1} of {self._title}, a part of its prompt"
        what = f"{where} cannot be read"
        with errors_as(UsageError, what, None, but=SnellenError):
            return tuple(_message(message, where) for message in messages)

    @contextmanager
    def _running(self, what: str) -> Iterator[None]:
        """Run the task's code. Each row sees the same random numbers, in whatever order rows are
        read."""
        failed = f"{self._title}: {what} failed"
        with aside(), errors_as(UsageError, failed, None), seeded(SEED, NUMPY_SEED), unretried():
            yield


def _messages_of_task(task: Any, doc: Any) -> Sequence[Mapping[str, Any]]:
    """The messages of a document in lmms-eval's format. Tasks that are classes of their own may
    lack `doc_to_messages`."""
    if hasattr(task, "doc_to_messages"):
        messages: Sequence[Mapping[str, Any]] = task.doc_to_messages(doc)
        return messages
    pictures = [{"type": "image", "url": visual} for visual in task.doc_to_visual(doc) or []]
    return [
        {"role": "user", "content": [*pictures, {"type": "text", "text": task.doc_to_text(doc)}]}
    ]


def _message(message: Mapping[str, Any], where: str) -> Message:
    role, content = message["role"], message["content"]
    if role not in ROLES:
        raise UsageError(f"{where} has the role {role!r:.40}. Roles: {', '.join(ROLES)}.")
    if isinstance(content, str):
        return Message(role, (Text(content),))
    return Message(role, tuple(_part(part, where) for part in content))


def _part(part: Mapping[str, Any], where: str) -> Part:
    """Convert a part of a message. The types are those of lmms_eval/protocol.py, ChatMessages."""
    match part["type"]:
        case "text":
            return Text(part["text"])
        case "image":
            return forms.medium(part["url"], where, kind="image")
        case "video":
            return _video(part["url"], where)
        case other:
            raise UsageError(f"{where} has the type {other!r:.40}. Types: text, image, video.")


def _video(value: Any, where: str) -> Part:
    """A video by its path, or by an object with the path and the limits of the window."""
    if not isinstance(value, Mapping):
        return forms.medium(value, where, kind="video")
    path = value.get("url") or value.get("path") or value.get("video_path")
    video = forms.medium(path, where, kind="video")
    assert isinstance(video, Video)
    start, end = value.get("video_start"), value.get("video_end")
    return Video(video.source, float(start or 0.0), None if end is None else float(end))


def _cells(doc: Mapping[str, Any]) -> Mapping[str, Any]:
    return {str(name): _plain(value) for name, value in doc.items()}


def _plain(value: Any) -> Any:
    """Convert a cell to a JSON type that is the same in each process. A picture's file is left out
    if its bytes are there, since its path differs from machine to machine."""
    if isinstance(value, bytes):
        return blake2b(value, digest_size=16).hexdigest()
    if isinstance(value, Mapping):
        left_out = "path" if value.get("bytes") is not None else None
        return {str(name): _plain(item) for name, item in value.items() if name != left_out}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str | int | float | bool | None):
        return value
    if hasattr(value, "tobytes"):  # a decoded picture, or an array
        return blake2b(value.tobytes(), digest_size=16).hexdigest()
    return ADDRESS.sub("", str(value))

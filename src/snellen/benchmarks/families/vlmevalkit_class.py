"""Turns a user's data set class with VLMEvalKit's interface into a benchmark:
vlmevalkit-class:FILE:CLASS[:DATASET].

The class provides the rows, `build_prompt(line)`, and `evaluate(eval_file, **judge_kwargs)`, as in
open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_base.py.
Single samples have no scores. `evaluate` reads a file with all replies and returns scores for the
whole data set.

If `TYPE` is "MT", `build_prompt` returns a conversation, as in image_mt.py. If `MODALITY` is
"VIDEO", `build_prompt(index, video_llm)` returns the frames of a video as files if the class was
created with a number of frames or a rate, and otherwise the video's file, as in video_base.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from snellen.benchmarks.families.stored_messages import messages_of, stored
from snellen.benchmarks.families.vlmevalkit_evaluate import (
    Evaluated,
    KitDataSet,
    cell_of,
    records,
)
from snellen.core import (
    Benchmark,
    Conversation,
    History,
    Presentation,
    Procedure,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.core.benchmark import vary
from snellen.data import Drawn, Row
from snellen.errors import UsageError
from snellen.media import video
from snellen.media.content import Message, assistant
from snellen.models.user_code import errors_as
from snellen.models.vlmevalkit_messages import aside, build, load_class, ours
from snellen.store import safe_name

KIND = "vlmevalkit-class"
TAGS = ("category", "l2-category", "split")
FAILURE_TEXT = "Failed to obtain answer"
"""The text that VLMEvalKit stores as the reply to a failed request (vlmeval/smp/file.py,
INFER_FAIL_MSG)."""


def vlmevalkit_class(spec: str, dataset: str | None = None) -> Benchmark:
    """Build the benchmark of `FILE:CLASS` for one of the class's data sets. If `dataset` is None,
    the class must have only one data set.

    Raises:
        UsageError: the class does not exist, cannot be instantiated, or is not a data set.
    """
    title = f"{KIND}:{spec}"
    own = load_class(spec, KIND)
    dataset = _meant(own.value, title, dataset)
    instance = build(own, {"dataset": dataset}, title) if isinstance(own.value, type) else own.value
    dataset = str(getattr(instance, "dataset_name", dataset))
    benchmark = kit_benchmark(
        KitDataSet(instance=instance, name=dataset, title=title, source=own.source),
        name=_name(dataset),
        source=f"{spec}, its evaluate",
        notes=(f"scored by {spec}'s own evaluate, without a judge",),
    )
    return vary(benchmark, options={"class": spec, "dataset": dataset, "digest": own.digest})


def kit_benchmark(
    data_set: KitDataSet, *, name: str, source: str, notes: tuple[str, ...]
) -> Benchmark:
    """Build the benchmark of a data set with VLMEvalKit's interface. `source` names the scoring.

    Raises:
        UsageError: the object is not a data set, or it asks all questions about a video at once.
    """
    instance = data_set.instance
    for method in ("build_prompt", "evaluate"):
        if not callable(getattr(instance, method, None)):
            raise UsageError(
                f"{data_set.title} has no method {method}: {instance!r:.80} is not a data set."
            )
    if getattr(instance, "pack", False):
        raise UsageError(
            f"{data_set.title} asks all questions about a video in one prompt (pack=True). Use the "
            "data set with pack=False."
        )
    rows = KitRows(data_set)
    scores = Evaluated(data_set)
    return Benchmark(
        name=name,
        asks=2,
        data=Drawn(f"{data_set.title}, {data_set.name}", rows.fields),
        sample=rows.sample,
        prompt=_conversation if rows.in_turns else lambda sample, _: messages_of(sample),
        scorings={
            "evaluate": Scoring(
                version=2,
                source=source,
                parse=_reading,
                score=lambda reading, sample: None,
                metrics={"primary": scores.primary},
                extra_metrics=scores.by_name,
            )
        },
        max_answer_tokens=2048,
        procedure=Procedure(
            conversation=Conversation(turns=None, by_turn=_by_turn)
            if rows.in_turns
            else Conversation(),
            frames=video.DEFAULT if rows.has_video_files else None,
        ),
        presentation=Presentation(
            metric_tags=("index", "turn") if rows.in_turns else ("index",), notes=notes
        ),
    )


def _reading(reply: Reply, _: Sample) -> Reading:
    if reply.text.startswith(FAILURE_TEXT):
        return Reading(answer=None, rule="VLMEvalKit's text for a failed request")
    return Reading(answer=reply.text, rule="whole reply")


def _meant(loaded: Any, title: str, dataset: str | None) -> str:
    """Return the name of the requested data set, or of the class's only data set."""
    names = getattr(loaded, "supported_datasets", None)
    known = [str(name) for name in names()] if callable(names) else []
    if dataset is not None and (dataset in known or not known):
        return dataset
    if dataset is None and (len(known) == 1 or not isinstance(loaded, type)):
        return known[0] if len(known) == 1 else str(getattr(loaded, "dataset_name", ""))
    listing = f"it has {', '.join(known[:20])}" if known else "its supported_datasets() names none"
    if dataset is not None:
        raise UsageError(f"{title} has no data set {dataset!r}; {listing}.")
    raise UsageError(f"{title}: name the data set, as in {title}:DATASET; {listing}.")


def _name(dataset: str) -> str:
    """Return the data set's name, with `-class` added if a built-in benchmark has the same name."""
    name = safe_name(dataset)
    taken = (Path(__file__).parents[1] / f"{name.lower().replace('-', '_')}.py").exists()
    return f"{name}-class" if taken else name


# -- rows


class KitRows:
    """The rows in `data` of a VLMEvalKit data set: a pandas DataFrame or a list of dictionaries."""

    def __init__(self, data_set: KitDataSet) -> None:
        self._set = data_set
        self._instance = instance = data_set.instance
        self._is_video = getattr(instance, "MODALITY", "IMAGE") == "VIDEO"
        self.in_turns = getattr(instance, "TYPE", "") == "MT"
        self.has_video_files = self._is_video and not self._splits_frames()
        if getattr(instance, "data", None) is None:
            raise UsageError(f"{data_set.title} has no `data`. Set `data` in the constructor.")

    def _splits_frames(self) -> bool:
        """Return whether the class writes the frames of a video to files, because its constructor
        set a number of frames or a rate (vlmeval/dataset/video_base.py, __init__)."""
        amounts = (getattr(self._instance, name, 0) for name in ("nframe", "fps"))
        return any(amount and amount > 0 for amount in amounts)

    def fields(self) -> Iterator[Mapping[str, Any]]:
        """Yield each row's nonempty cells as JSON types, with each picture replaced by its
        digest."""
        for row in records(self._instance.data):
            cells = ((name, cell_of(name, cell)) for name, cell in row.items())
            yield {name: cell for name, cell in cells if cell is not None}

    def sample(self, row_index: int, row: Row) -> Sample:
        """Make a sample with the prompt that `build_prompt` returns.

        Raises:
            UsageError: `build_prompt` raised an error.
            ValueError: `build_prompt` returned no prompt.
        """
        messages = self._messages(row_index)
        media, turns = stored(messages)
        letters = [letter for letter in ascii_uppercase if letter in row]
        return Sample(
            id=str(row.get("index", row_index)),
            question=str(row.get("question", "")),
            choices=tuple(str(row[letter]) for letter in letters),
            media=media,
            # The class knows the right answers. An empty target is therefore not a hidden one.
            target=str(row.get("answer", "")),
            tags={
                "index": str(row.get("index", row_index)),
                **{name: str(row[name]) for name in TAGS if name in row},
            },
            data={"messages": turns, "hint": str(row.get("hint", ""))},
        )

    def _messages(self, row_index: int) -> tuple[Message, ...]:
        """Return the prompt of a row. For a conversation, return the user's messages: the other
        messages are the right answers (vlmeval/inference_mt.py, chat_mt)."""
        data = self._instance.data
        what = f"{self._set.title}: build_prompt of row {row_index + 1} failed"
        with aside(), errors_as(UsageError, what, self._set.source):
            if self._is_video:
                prompt = self._instance.build_prompt(row_index, video_llm=self.has_video_files)
            else:
                prompt = self._instance.build_prompt(
                    data.iloc[row_index] if hasattr(data, "iloc") else data[row_index]
                )
        where = f"row {row_index + 1} of {self._set.title}, a part of its prompt"
        if not self.in_turns:
            return ours(_single_turn(prompt), where=where)
        questions = (turn["content"] for turn in prompt if turn["role"] == "user")
        return tuple(
            message for content in questions for message in ours(_single_turn(content), where=where)
        )


def _single_turn(prompt: Any) -> Any:
    """Put the system parts first, and give all other parts to the user, as VLMEvalKit's clients do
    (vlmeval/api/base.py, preprocess_message_with_role). Other settings of a part, such as a number
    of frames, are for VLMEvalKit's models."""
    if not isinstance(prompt, list) or not all(isinstance(part, Mapping) for part in prompt):
        return prompt
    parts = [{key: part[key] for key in ("type", "value") if key in part} for part in prompt]
    is_system = [part.get("role") == "system" for part in prompt]
    return [
        *(
            {**part, "role": "system"}
            for part, first in zip(parts, is_system, strict=True)
            if first
        ),
        *(part for part, first in zip(parts, is_system, strict=True) if not first),
    ]


def _conversation(sample: Sample, history: History) -> tuple[Message, ...]:
    """Return the conversation so far, with the model's replies, followed by the next turn."""
    turns = messages_of(sample)
    if len(history) == len(turns):
        return ()
    if not history:
        return turns[:1]
    sent, reply = history[-1]
    return (*sent, assistant(reply.text), turns[len(history)])


def _by_turn(sample: Sample) -> tuple[Sample, ...]:
    turns = messages_of(sample)
    return tuple(
        replace(
            sample,
            id=f"{sample.id}#{number}",
            question=turn.text,
            tags={**sample.tags, "turn": f"{number}/{len(turns)}"},
        )
        for number, turn in enumerate(turns, 1)
    )

"""OVO-Bench's forward tasks as standing questions, which a model answers while it watches a video.

A question of a forward task (REC, SSR, or CRR) is asked once and stays open while the video runs.
The model decides when to speak. The time windows for its messages follow from the annotations
alone:

    CRR   asked at ask_time. One window, [clue, clue + 30], in which the official benchmark polls
          the model.
    SSR   asked at 0. One window per step, from the step's start to its end.
    REC   asked at 0. One window per repetition, from the repetition's end to the next repetition's
          end. The last repetition's window ends at the last point. Each window lasts at least 2 s.
          Without this minimum, 9 windows would be empty, and 21 would last at most 1 s.

REC windows may overlap. The number in a message determines the message's window. Only the
annotations are official, including the points at which the official benchmark polls the model.
`projected_replies` returns a reply for each point. In CRR, every point whose answer is Yes comes
after the clue. In SSR, the points whose answer is No come 5 s and 2 s before a step, and the points
whose answer is Yes come during the step. The reply at a point therefore depends on what the model
has said before that point.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from snellen.core import Reading, Reply, Sample, Scoring
from snellen.core.streaming import SessionMessage
from snellen.metrics import streaming
from snellen.metrics.streaming import By, Point, Slot, SpeechLog, Utterance, Watch

Row = Mapping[str, Any]
"""A complete question from the annotation file, including `test_info`."""
AFTER_CLUE = 30
SHORTEST = 2
"""The minimum length of a window, in seconds."""
FIRST_DECISION = 1.0
"""A message within this many seconds after the question may be a reaction to the question itself.
At one frame per second, the model has seen only one frame in this time."""

# -- questions and right answers

# The first sentences of the official prompts (constant.py), followed by our own text.
CONTEXT = {
    "REC": "You're watching a video in which people may perform a certain type of action "
    "repetively. \nThe person performing this kind of action are referred to as 'they' in the "
    "following statement.\n",
    "SSR": "You're watching a tutorial video which contain a sequential of steps. \n",
    "CRR": "You're responsible of answering questions based on the video content. \n",
}
QUESTION = {
    "REC": "The action is: {}.\n",
    "SSR": "These are all the steps:\n{}\n",
    "CRR": "{}\n",
}
INSTRUCTION = {
    "REC": "The video is running. Each time the action has been completed once more, say the new "
    "total at once, as a single number (e.g., 1, 2, 3) and nothing else. One complete motion "
    "counts as one.",
    "SSR": "The video is running. The moment a step begins, say its number and nothing else.",
    "CRR": "The video is running. As soon as what it has shown is enough to answer the question, "
    "answer it, once and in one short sentence.",
}
OTHERWISE = " At all other times say nothing, and do not acknowledge this message."


def query_of(row: Row) -> tuple[float, str]:
    """Return the time at which a standing question is asked, in seconds, and the question's
    text."""
    task = row["task"]
    if task == "SSR":
        steps = enumerate(row["all_steps"], start=1)
        what = "\n".join(f"{number}. {step}" for number, step in steps)
    else:
        what = row["activity" if task == "REC" else "question"]
    text = CONTEXT[task] + QUESTION[task].format(what) + INSTRUCTION[task] + OTHERWISE
    return query_time(row), text


def query_time(row: Row) -> float:
    return float(row["ask_time"]) if row["task"] == "CRR" else 0.0


def watch(row: Row) -> Watch:
    """Return a question's windows, and its points (the official polls) in the order of the file."""
    task, points = row["task"], row["test_info"]
    last = float(max(point["realtime"] for point in points))
    slots = tuple(_slots(row, last))
    return Watch(
        task=task,
        asked=query_time(row),
        end=max(last, *(slot.w1 for slot in slots)),
        slots=slots,
        points=tuple(
            Point(
                time=float(point["realtime"]),
                right=int(point["count" if task == "REC" else "type"]),
                number=row["all_steps"].index(point["step"]) + 1 if task == "SSR" else None,
            )
            for point in points
        ),
        counts=task == "REC",
    )


def _slots(row: Row, last: float) -> Iterator[Slot]:
    if row["task"] == "CRR":
        yield Slot(float(row["clue_time"]), float(row["clue_time"] + AFTER_CLUE))
    elif row["task"] == "SSR":
        times = zip(row["start_time"], row["end_time"], strict=True)
        for number, (start, end) in enumerate(times, start=1):
            yield Slot(float(start), float(end), number)
    else:
        ends = [*map(float, row["end_times"]), last]
        for number, (end, after) in enumerate(pairwise(ends), start=1):
            yield Slot(end, max(after, end + SHORTEST), number)


def target(row: Row) -> str:
    """Return the right answer: a `Watch` as JSON."""
    return streaming.to_json(watch(row))


def when(sample: Sample) -> float:
    """Return the time at which a sample's question is asked, in seconds."""
    return _watch_of(sample).asked


def until(sample: Sample) -> float:
    """Return the time, in seconds, up to which a sample's video is watched. This is the end of the
    question's last window or point, plus the largest of `streaming.WIDER`."""
    return _watch_of(sample).end + streaming.WIDER[-1]


def windows(sample: Sample) -> tuple[float, ...]:
    """Return the times at which the windows of a sample's question end, in seconds."""
    return tuple(slot.w1 for slot in _watch_of(sample).slots)


def _watch_of(sample: Sample) -> Watch:
    assert sample.target is not None
    return msgspec.json.decode(sample.target, type=Watch)


# -- messages


class Spoken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message from a model during a video."""

    onset: float
    """The video time at which the first token of the message arrived, in seconds."""
    done: float
    """The video time at which the last token of the message arrived, in seconds."""
    text: str
    """The text of the message."""
    query: str | None = None
    """The query that the message names, if any."""
    by: By = "only"
    """The rule that assigned the message to a query."""


class Transcript(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reply to a standing question."""

    messages: tuple[Spoken, ...] = ()
    """The messages, in the order of their onsets."""
    silence: tuple[str, ...] = ()
    """The texts with which the model signals silence."""
    until: float | None = None
    """The video time, in seconds, up to which the model watched the video (see `SpeechLog`)."""
    failed: bool = False
    """Whether the session failed."""


def reply_text(transcript: Transcript) -> str:
    """Convert a transcript to JSON, the format of stored replies. `parse` also accepts a JSON list
    of messages."""
    return msgspec.json.encode(transcript).decode()


def parse(reply: Reply, sample: Sample) -> Reading:
    """Parse the messages of a reply into a `SpeechLog`, as JSON.

    The texts with which the model signals silence are removed first, and messages that are then
    empty are dropped. Each message is stored with the number that it contains. A reply that is
    neither a transcript nor a list of messages is unparsed.
    """
    try:
        transcript = msgspec.json.decode(reply.text, type=tuple[Spoken, ...] | Transcript)
    except msgspec.DecodeError:
        return Reading(answer=None, rule="not of the form")
    if not isinstance(transcript, Transcript):
        transcript = Transcript(messages=transcript)
    times = [0.0, *(message.onset for message in transcript.messages)]
    if times != sorted(times) or any(
        message.done < message.onset for message in transcript.messages
    ):
        return Reading(answer=None, rule="times out of order")
    if transcript.failed and transcript.until is None:
        return Reading(answer=None, rule="failed, and not when")
    query = _watch_of(sample)
    heard = SpeechLog(
        messages=tuple(
            _message(message, query, sample.choices)
            for message in transcript.messages
            if _is_visible(_without(message.text, transcript.silence))
        ),
        until=transcript.until,
        failed=transcript.failed,
    )
    rule = "messages" if heard.messages else "silent"
    return Reading(answer=streaming.to_json(heard), rule=rule)


def score(reading: Reading, sample: Sample) -> float | None:
    """Return the share of a question's windows that the model's messages hit. The share is 0 if all
    windows come after the end of the video, and None if the session failed before any window
    ended."""
    if not isinstance(reading.answer, str):
        return 0.0
    assert sample.target is not None
    return streaming.share_of_hits(sample.target, reading.answer)


def scoring() -> Scoring:
    return Scoring(
        version=1,
        source="ours",
        parse=parse,
        score=score,
        metrics=streaming.METRICS,
        reads="session",
        partial=True,
    )


def _message(spoken: Spoken, query: Watch, steps: Sequence[str]) -> Utterance:
    number = number_in(query.task, spoken.text, steps)
    empty = number is None if query.task != "CRR" else _ACKNOWLEDGES.fullmatch(spoken.text)
    at_once = query.asked <= spoken.onset <= query.asked + FIRST_DECISION
    return Utterance(spoken.onset, spoken.done, number, spoken.by, bool(empty) and at_once)


def _without(text: str, forms: Sequence[str]) -> str:
    # The longest form comes first, since it may contain a shorter one.
    for form in sorted(filter(None, forms), key=len, reverse=True):
        text = text.replace(form, "")
    return text


def _is_visible(text: str) -> bool:
    return any(sign.isprintable() and not sign.isspace() for sign in text)


# fmt: off
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
          "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
          "nineteen", "twenty"]
# fmt: on
# Digits that are not part of a word, a time, a percentage, or a fraction, as in "3s", "12:30",
# "50%", and "2.5".
_DIGITS = r"(\d{1,9})(?:\.0{1,6})?(?![\w%]|[.,:]\d)"
_DIGIT = re.compile(rf"(?<!\w)(?<!\d[.,:]){_DIGITS}")
_STEP = re.compile(rf"\bstep\s{{0,5}}(?:no\.?|number|#)?\s{{0,5}}{_DIGITS}", re.IGNORECASE)
_FIRST = re.compile(rf"\W{{0,20}}{_DIGITS}")
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b", re.IGNORECASE)
_ACKNOWLEDGES = re.compile(
    r"(?:\W{0,5}\b(?:ok|okay|sure|yes|understood|got it|all ?right|noted|certainly|of course|will "
    r"do)\b){0,3}(?:\W{0,5}\b(?:i(?:['\u2019](?:ll|m)| will| am)|let me|let's)\b[^.!?]{0,200})?"
    r"\W{0,5}",
    re.IGNORECASE,
)


def number_in(task: str, text: str, steps: Sequence[str] = ()) -> int | None:
    """Return the number in a message: a total for REC, and the step that begins for SSR. None for
    CRR.

    Digits take precedence over number words, as in "3, that was another one". The last number
    counts. For SSR, a number after the word "step" takes precedence, then a number at the start of
    the message ("2. add 3 eggs"). A message without digits names a step if it contains the text of
    exactly one of `steps`.

    >>> [number_in("REC", text) for text in ("two... no, 3", "That is three.", "Again!")]
    [3, 3, None]
    >>> number_in("SSR", "Step 2 of 5"), number_in("SSR", "Pour it", ["stir it", "pour it"])
    (2, 2)
    """
    if task == "CRR":
        return None
    if task == "SSR":
        if numbers := _STEP.findall(text):
            return int(numbers[-1])
        if first := _FIRST.match(text):
            return int(first[1])
    if digits := _DIGIT.findall(text):
        return int(digits[-1])
    matches = [n for n, step in enumerate(steps, start=1) if step.lower() in text.lower()]
    if len(matches) == 1:
        return matches[0]
    words = _WORD.findall(text)
    return _WORDS.index(words[-1].lower()) if words else None


# -- the query that a message answers


def attribute(
    messages: Sequence[SessionMessage], samples: Sequence[Sample]
) -> dict[str, list[dict[str, Any]]]:
    """Assign each message of a session with several questions to a sample, without using the right
    answers. The field `by` of the message stores the rule that assigned it.

    A message is assigned to (1) the query that it names, (2) the only open query, or (3) the most
    recent open query whose answers have the form of the message: the number of a step (SSR), a
    total (REC), or any text (CRR). If rule 3 applies and the message could answer several open
    queries, `by` is `guessed`. A message that begins while no query is open is assigned to the
    query that closed last, or to the first query if none has closed yet. Such a message counts as
    unsolicited.
    """
    queries = {sample.id: _watch_of(sample) for sample in samples}
    by_sample: dict[str, list[dict[str, Any]]] = {name: [] for name in queries}
    for message in messages:
        name, by = _answers(message["onset"], message["text"], message.get("query"), queries)
        by_sample[name].append({**message, "by": by})
    return by_sample


def _answers(
    onset: float, text: str, query_id: str | None, queries: Mapping[str, Watch]
) -> tuple[str, By]:
    if query_id is not None and query_id in queries:
        return query_id, "named"
    # The sort is stable: queries that were asked at the same time keep their order.
    order = sorted(queries, key=lambda name: queries[name].asked)
    open_now = [name for name in order if queries[name].asked <= onset <= queries[name].end]
    if not open_now:
        closed = [name for name in order if queries[name].end < onset]
        return max(closed, key=lambda name: queries[name].end, default=order[0]), "only"
    if len(open_now) == 1:
        return open_now[0], "only"
    fitting = (
        [name for name in open_now if _has_form(text, queries[name])]
        or [name for name in open_now if queries[name].task == "CRR"]
        or open_now
    )
    return fitting[-1], "form" if len(fitting) == 1 else "guessed"


def _has_form(text: str, query: Watch) -> bool:
    """Return whether a text has the form of an answer to an SSR or REC query, which asks for
    numbers."""
    number = number_in(query.task, text)
    if query.task == "SSR":
        return number in {slot.number for slot in query.slots}
    return number is not None


# -- blind and perfect replies


def silent(query: Watch) -> tuple[Spoken, ...]:
    return ()


def eager(query: Watch) -> tuple[Spoken, ...]:
    """Reply blindly when the question is asked: name every step, or give the total 1, which is the
    best constant reply."""
    return after(query, 0.0)


def after(query: Watch, seconds: float) -> tuple[Spoken, ...]:
    """Reply blindly this many seconds after the question, whatever the video shows."""
    numbers = [1] if query.counts else [slot.number for slot in query.slots]
    return tuple(_spoken(query.asked + seconds, number) for number in numbers)


def oracle(query: Watch, late: float = 0.0) -> tuple[Spoken, ...]:
    """Return the right answers, each delayed by `late` seconds. Only tests use these replies, since
    no model knows the windows."""
    return tuple(_spoken(slot.w0 + late, slot.number) for slot in query.slots)


def _spoken(time: float, number: int | None) -> Spoken:
    return Spoken(onset=time, done=time, text="Now." if number is None else str(number))


def blind_history(task: str, polls: Sequence[str], totals: Sequence[int] = ()) -> str:
    """Return a blind model's reply to the last of a question's `polls`. The model knows only the
    earlier polls.

    For CRR, the model says No twice and then Yes, which is the pattern of the right answers. For
    SSR, the model says Yes for the first step that was polled. For every other step, the model says
    No twice and then Yes. For REC, the model gives the total that `totals` contains for the poll's
    position (see `commonest_totals`).
    """
    n = len(polls)
    if task == "REC":
        return str(totals[min(n, len(totals)) - 1])
    if task == "SSR" and polls[-1] == polls[0]:
        return "Yes"
    return "Yes" if (n if task == "CRR" else polls.count(polls[-1])) > 2 else "No"


def commonest_totals(queries: Iterable[Watch]) -> tuple[int, ...]:
    """Sort each query's polls by time, and return the total that is most often right at each
    position."""
    counters: list[Counter[int]] = []
    for query in queries:
        for index, point in enumerate(sorted(query.points, key=lambda point: point.time)):
            if index == len(counters):
                counters.append(Counter())
            counters[index][point.right] += 1
    return tuple(counter.most_common(1)[0][0] for counter in counters)


def projected_replies(query: Watch, heard: SpeechLog) -> tuple[str, ...]:
    """Return the reply that a polled model would give at each point if it knew what this model had
    said before that point. The replies have the order of the points in the file."""
    projection = streaming.projection(query, heard)
    if query.counts:
        return tuple(map(str, projection))
    return tuple("Yes" if spoken else "No" for spoken in projection)

"""The published schemas hold for runs of 56a9bc9, and for a run that uses all that is stored."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from snellen.core.model import Ranked, Reply, Times, Usage
from snellen.media.content import Frame, Image, Message, ToolCall, Video, system, tool, user
from snellen.store import (
    EventRecord,
    Failure,
    Key,
    LabelRecord,
    Question,
    ReplyRecord,
    Run,
    ScoreRow,
    SessionCallFields,
    SessionMessageFields,
    WindowRecord,
    reply_record,
    seen_media,
    shown_media,
    stored_tools,
)

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "docs" / "reference" / "schemas"
OLD_RUNS = ROOT / "tests" / "data" / "old-runs" / "runs"
SCHEMAS = {path.stem: json.loads(path.read_text()) for path in PUBLISHED.glob("*.json")}
KINDS: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
AT = "2026-01-01T00:00:00.000Z"
CALL = ToolCall(id="call-1", name="crop", arguments="{}")
PICTURE = Image(
    b"", label="a.png", digest="sha256:aa", mime="image/png", width=60, height=40,
    original=(120, 80),
)  # fmt: skip
FRAME = Frame(
    time=0.5, image=Image(b"", digest="sha256:cc", width=32, height=24, original=(64, 48))
)
VIDEO = Video(Path("v.mp4"), label="v.mp4", digest="sha256:bb", policy="uniform:1", frames=(FRAME,))


def faults(
    value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$"
) -> Iterator[str]:
    """Where a value breaks a JSON schema, of those keywords that the published ones use."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        if all([*faults(value, choice, root, at)] for choice in schema["anyOf"]):
            yield f"{at}: no choice fits"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is not in {schema['enum']}"
    if "type" in schema:
        is_kind = isinstance(value, KINDS[schema["type"]])
        if not is_kind or (isinstance(value, bool) and schema["type"] != "boolean"):
            yield f"{at}: {value!r} is no {schema['type']}"
            return
    if isinstance(value, dict):
        yield from _object_faults(value, schema, root, at)
    elif isinstance(value, list):
        yield from _array_faults(value, schema, root, at)
    elif isinstance(value, int | float):
        if value < schema.get("minimum", value):
            yield f"{at}: {value} is too small"
        if value >= schema.get("exclusiveMaximum", value + 1):
            yield f"{at}: {value} is too large"


def _object_faults(
    value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str
) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: {name} is missing"
    known = schema.get("properties", {})
    other = schema.get("additionalProperties", True)
    for name, part in value.items():
        if name in known:
            yield from faults(part, known[name], root, f"{at}.{name}")
        elif other is False:
            yield f"{at}: {name} is not allowed"
        elif isinstance(other, dict):
            yield from faults(part, other, root, f"{at}.{name}")


def _array_faults(
    value: list[Any], schema: dict[str, Any], root: dict[str, Any], at: str
) -> Iterator[str]:
    first = schema.get("prefixItems", [])
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{at}: {len(value)} items"
    for index, part in enumerate(value):
        items = first[index] if index < len(first) else schema.get("items", {})
        if items is False:
            yield f"{at}: {len(value)} items"
            return
        yield from faults(part, items, root, f"{at}[{index}]")


def assert_valid(run: Path) -> int:
    """Every file of a run is as its published schema says; gives how many documents there are."""
    count = 0
    for path in sorted(run.iterdir()):
        stem = path.name.partition(".")[0].partition("-")[0]
        if path.name in ("manifest.json", "report.json"):
            documents = [(stem, json.loads(path.read_text()))]
        elif path.suffix == ".jsonl":
            lines = map(json.loads, path.read_text().splitlines())
            documents = [(_kind(stem, line), line) for line in lines]
        else:
            continue
        for kind, document in documents:
            assert [*faults(document, SCHEMAS[kind], SCHEMAS[kind])] == [], path
            count += 1
    return count


def _kind(stem: str, line: dict[str, Any]) -> str:
    singular = {"replies": "reply"}.get(stem, stem.removesuffix("s"))
    return line["kind"] if line.get("kind") in ("end", "window") else singular


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("schemas", ROOT / "scripts" / "schemas.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_published_is_what_is_stored() -> None:
    expected = script().documents()

    published = {path.name: path.read_text(encoding="utf-8") for path in PUBLISHED.iterdir()}

    assert published == expected, "run `python scripts/schemas.py`"


@pytest.mark.parametrize(
    "manifest", sorted(OLD_RUNS.rglob("manifest.json")), ids=lambda path: path.parts[-5]
)
def test_runs_of_56a9bc9_are_valid(manifest: Path) -> None:
    assert assert_valid(manifest.parent) > 3


@pytest.mark.parametrize(
    ("kind", "line", "fault"),
    [
        ("end", {"format": 0, "key": ["a", 0], "at": ""}, "$.key: 2 items"),
        ("end", {"format": 0, "key": ["a", 0, 0, 0, 0], "at": ""}, "$.key: 5 items"),
        ("end", {"format": 0, "key": ["a", 0, -1], "at": ""}, "$.key[2]: -1 is too small"),
        ("end", {"format": 0, "key": ["a", 0, 0]}, "$: at is missing"),
        (
            "score",
            {"format": 0, "sample": "a", "repeat": "0"},
            "$.repeat: '0' is no integer",
        ),
    ],
)
def test_a_wrong_line_is_not_valid(kind: str, line: dict[str, Any], fault: str) -> None:
    assert fault in faults(line, SCHEMAS[kind], SCHEMAS[kind])


# -- a run that uses everything


def questions() -> list[Question]:
    messages: tuple[Message, ...] = (system("Be brief."), user(PICTURE, VIDEO, "What is it?"))
    called = Message("assistant", ("I look.",), tool_calls=(CALL,))
    return [
        Question(
            format=0,
            key=Key("a", step=step),
            place=0,
            row="digest",
            question="What is it?",
            messages=[
                (row.role, [part if isinstance(part, str) else 0 for part in row.content])
                for row in rows
            ],
            tools=stored_tools(rows),
            media=[shown_media(PICTURE), shown_media(VIDEO)],
            sample_media=[shown_media(PICTURE)],
            choices=["cat", "dog"],
            target="cat",
            references=["cat"],
            tags={"kind": "animal"},
            data={"hint": None},
        )
        for step, rows in enumerate([messages, (*messages, called, tool("call-1", "A cat."))])
    ]


def replies() -> list[ReplyRecord]:
    calls = Reply(text="I look.", tool_calls=(CALL,), stop="tool_calls")
    answer = Reply(
        text="A cat.",
        reasoning="It has ears.",
        stop="stop",
        usage=Usage(input=9, output=3, reasoning=2, cached=1),
        times=Times(first=0.5, total=1.5),
        choices=(Ranked(-0.5, 2),),
    )
    media = [seen_media(PICTURE, size=(30, 20)), seen_media(VIDEO)]
    error = Failure(type="Overloaded", message="busy")
    return [
        reply_record(Key("a"), "1", AT, reply=calls, media=media),
        reply_record(Key("a", step=1), "2", AT, error=error),
        reply_record(Key("a", step=1), "2", AT, reply=answer, attempt=2, reused="runs/b"),
    ]


WINDOW = WindowRecord(
    format=0,
    key=Key("a", 0, 0, 1),
    at=AT,
    samples=["a"],
    until=4.0,
    clock=4.5,
    before=0,
    calls=[
        SessionCallFields(at=0.0, query="a"),
        SessionCallFields(
            at=1.0,
            frame=25,
            messages=[SessionMessageFields(text="Now.", query="a", final=False)],
        ),
    ],
)


def test_a_run_that_uses_all_fields_comes_back_as_it_was_and_is_valid(tmp_path: Path) -> None:
    scores = [
        ScoreRow(format=1, sample="a", repeat=0, step=1, scoring="official", version=1,
                 state="answered", reply="ok", score=1.0, answer="cat", rule="the word"),
    ]  # fmt: skip
    label = LabelRecord(format=0, sample="a", label=1.0, scoring="official", rater="me", seed="1")
    event = EventRecord(format=0, session="s", seq=0, ev="frame", data={"pts": 0.5})
    Run(tmp_path).put_manifest({"benchmark": "b", "model": "m", "identity": {"options": {}}})
    part = Run(tmp_path).part(1, 2)
    with part.folder.lock():
        for question in questions():
            part.append_question(question)
        for record in replies():
            part.append_reply(record)
        part.append_end("a", 0, 1, AT)
        part.append_window(WINDOW)
        part.append_event(event)
        part.close()
    run = Run(tmp_path)
    run.put_labels([label])
    (tmp_path / "scores.jsonl").write_bytes(msgspec.json.encode(scores[0]) + b"\n")
    run.load()

    assert [without_format(row) for row in run.questions()] == [*map(without_format, questions())]
    assert [without_format(row) for row in run.replies()] == [*map(without_format, replies())]
    assert run.has_ended("a", 0, 1)
    assert (run.labels(), [*run.events()], [*run.scores()]) == ([label], [event], scores)
    assert [*map(without_format, run.windows())] == [WINDOW]
    assert run.notes == []
    assert assert_valid(tmp_path) == 1 + 2 + 5 + 1 + 1 + 1
    run.close()


def without_format(record: Any) -> Any:
    return msgspec.structs.replace(record, format=0)


def test_only_lines_that_old_readers_would_misread_have_another_format(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for question in questions():
        run.append_question(question)
    for record in replies():
        run.append_reply(record)
    run.append_reply(
        reply_record(Key("b"), "3", AT, reply=Reply(text="plain"), media=[seen_media(VIDEO)])
    )
    run.append_end("a", 0, 1, AT)
    run.append_window(WINDOW)
    run.close()

    def formats(name: str) -> list[int]:
        return [json.loads(line)["format"] for line in (tmp_path / name).read_text().splitlines()]

    assert formats("questions.jsonl") == [0, 1]
    assert formats("replies.jsonl") == [1, 1, 1, 0, 0, 1]


def test_sizes_are_stored_where_they_are_known_and_differ() -> None:
    plain = Image(b"", digest="sha256:aa", width=60, height=40)

    stored = [json.loads(msgspec.json.encode(item)) for item in (
        shown_media(plain), seen_media(plain, size=(60, 40)), seen_media(plain, size=(30, 20)),
        shown_media(VIDEO), seen_media(VIDEO),
    )]  # fmt: skip

    assert stored == [
        {"kind": "image", "place": "", "digest": "sha256:aa", "width": 60, "height": 40},
        {"digest": "sha256:aa"},
        {"digest": "sha256:aa", "width": 30, "height": 20, "original": [60, 40]},
        {"kind": "video", "place": "v.mp4", "digest": "sha256:bb", "width": 64, "height": 48,
         "start": 0.0, "policy": "uniform:1"},
        {"digest": "sha256:bb", "frames": [0.5], "width": 32, "height": 24, "original": [64, 48]},
    ]  # fmt: skip

"""Questions of OVO-Bench to which nothing should be said: which they are, and what they count."""

import json
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.benchmarks.families import ovo_decoys, ovo_proactive
from snellen.benchmarks.families.ovo_proactive import Spoken, Transcript, reply_text
from snellen.core import Reply, Sample
from snellen.errors import DataError, UsageError
from snellen.metrics.streaming import (
    DECOY_METRICS,
    SpeechLog,
    Utterance,
    Watch,
    columns_of,
    to_json,
)


def clue(number: int, video: str, question: str, ask: int = 10) -> dict[str, Any]:
    times = ((ask, 0), (ask + 12, 1), (ask + 40, 1))
    return {
        "id": number,
        "task": "CRR",
        "video": video,
        "question": question,
        "answer": "He folds it.",
        "ask_time": ask,
        "clue_time": ask + 10,
        "test_info": [{"realtime": time, "type": right} for time, right in times],
    }


def total(number: int, video: str, activity: str) -> dict[str, Any]:
    return {
        "id": number,
        "task": "REC",
        "video": video,
        "activity": activity,
        "start_times": [3],
        "end_times": [5],
        "test_info": [{"realtime": 9, "count": 1}],
    }


ROWS = [
    clue(1, "a.mp4", "What does the man fold?"),
    clue(2, "b.mp4", "What does the man fold after the paper?", ask=4),
    clue(3, "c.mp4", "Which animal jumps onto the table?"),
    total(4, "a.mp4", "jump over the animal"),
    total(5, "a.mp4", "clap"),
    total(6, "c.mp4", "wave a flag"),
]


def rows(*tasks: str) -> dict[str, dict[str, Any]]:
    return {str(row["id"]): dict(row) for row in ovo_decoys.with_decoys(ROWS, tasks)}


def test_each_question_is_followed_by_one_about_another_video() -> None:
    every = [*ovo_decoys.with_decoys(ROWS, ("CRR", "REC"))]
    assert every[::2] == ROWS
    for row, decoy in zip(every[::2], every[1::2], strict=True):
        assert decoy["id"] == f"{row['id']}_decoy"
        assert (decoy["task"], decoy["video"]) == (row["task"], row["video"])
        (other,) = (other for other in ROWS if other["id"] == decoy["taken_from"])
        assert (other["task"], other["video"] == row["video"]) == (row["task"], False)


def test_it_shares_the_fewest_words_with_what_is_asked_about_the_video() -> None:
    # With what is asked about a.mp4, question 2 shares "what", "does", and "fold", and question 3
    # only "animal", which stands in a question of another task.
    decoys = rows("CRR", "REC")
    assert decoys["1_decoy"]["taken_from"] == 3
    assert decoys["2_decoy"]["taken_from"] == 3
    assert decoys["4_decoy"]["taken_from"] == decoys["5_decoy"]["taken_from"] == 6


def test_it_does_not_depend_on_the_tasks_that_are_asked() -> None:
    assert rows("CRR").keys() == {"1", "2", "3", "1_decoy", "2_decoy", "3_decoy"}
    assert rows("CRR").items() <= rows("CRR", "REC").items()


def test_a_question_without_another_video_has_no_decoy() -> None:
    assert [*ovo_decoys.with_decoys(ROWS[:1], ("CRR",))] == ROWS[:1]


def test_it_is_asked_when_the_question_is_and_watched_as_long_and_has_no_windows() -> None:
    decoy = rows("CRR")["2_decoy"]
    assert ovo_decoys.watch(decoy).slots == ()
    for row in (decoy, ROWS[1]):
        watch = ovo_decoys.watch(row)
        assert (watch.asked, watch.end) == (4, 44)
    time, text = ovo_proactive.query_of(decoy)
    assert time == 4
    assert "Which animal jumps onto the table?" in text


def sample(name: str) -> Sample:
    row = rows("CRR")[name]
    return Sample(
        id=name,
        question="",
        target=to_json(ovo_decoys.watch(row)),
        tags={"task": "CRR", **ovo_decoys.tags(row)},
    )


def score(name: str, text: str) -> float | None:
    of = sample(name)
    return ovo_decoys.score(ovo_proactive.parse(Reply(text=text), of), of)


def spoken(*times: float, **more: Any) -> str:
    messages = tuple(Spoken(onset=time, done=time, text="He folds it.") for time in times)
    return reply_text(Transcript(messages=messages, **more))


def test_silence_is_right_and_anything_that_is_said_is_wrong() -> None:
    assert score("1_decoy", spoken()) == 1
    assert score("1_decoy", spoken(25)) == 0
    assert score("1_decoy", "not of the form") == 0
    assert score("1", spoken(25)) == 1


def test_what_is_said_before_it_is_asked_is_no_answer() -> None:
    assert score("1_decoy", spoken(9)) == 1
    assert score("1_decoy", spoken(9, 10)) == 0


def test_of_a_session_that_failed_in_silence_nothing_is_known() -> None:
    assert score("1_decoy", spoken(until=30, failed=True)) is None
    assert score("1_decoy", spoken(12, until=30, failed=True)) == 0


def test_the_share_that_is_answered_and_the_rate_of_messages_have_an_interval() -> None:
    """12 videos with a decoy that is open for half a minute; to 3 of them two messages."""
    watch = Watch(task="CRR", asked=10, end=40, slots=())
    heard = SpeechLog((Utterance(12, 12), Utterance(20, 21)))
    columns = columns_of(*((watch, heard if n % 4 == 0 else SpeechLog()) for n in range(12)))
    estimates = {name: of(columns) for name, of in DECOY_METRICS.items()}
    assert {name: (of.value, of.n) for name, of in estimates.items()} == {
        "decoys_answered": (3 / 12, 12),
        "decoy_messages_per_min": (6 / 6, 12),
    }
    for estimate in estimates.values():
        assert estimate.ci95 is not None and estimate.value is not None
        assert estimate.ci95[0] < estimate.value < estimate.ci95[1]


def test_they_are_an_option_of_the_proactive_mode_alone(tmp_path: Path) -> None:
    (tmp_path / "ovo_bench_new.json").write_text(json.dumps(ROWS), encoding="utf-8")
    spec = "ovo-bench:decoys=other-video"
    for mode in ("offline", "polled"):
        with pytest.raises(UsageError, match=f"has no effect with mode={mode}"):
            registry.benchmark(f"{spec},mode={mode}", data=tmp_path)
    with pytest.raises(UsageError, match="must be one of other-video"):
        registry.benchmark("ovo-bench:mode=proactive,decoys=3", data=tmp_path)
    benchmark = registry.benchmark(f"{spec},mode=proactive,scope=video", data=tmp_path)
    samples = [benchmark.read(row) for row in benchmark.data]
    assert benchmark.procedure.streaming is not None
    sessions = {of.id: benchmark.procedure.streaming.session(of) for of in samples}
    assert sessions["1"] == sessions["4"] == "a.mp4"
    assert sessions["1_decoy"] == "1_decoy", "a decoy changes nothing in another session"


def test_the_value_of_the_option_is_listed() -> None:
    assert registry.options_of("ovo-bench")["decoys"]["choices"] == ["other-video"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("activity", None), ("activity", [1]), ("video", ["a.mp4"]), ("id", {})],
)
def test_a_question_with_a_wrong_field_is_named(tmp_path: Path, field: str, value: object) -> None:
    wrong = {**ROWS[3], field: value}
    content = json.dumps([*ROWS[:3], wrong])
    (tmp_path / "ovo_bench_new.json").write_text(content, encoding="utf-8")
    benchmark = registry.benchmark("ovo-bench:mode=proactive,decoys=other-video", data=tmp_path)
    with pytest.raises(DataError, match=f"has the {field} .* so decoys cannot be chosen"):
        list(benchmark.data)

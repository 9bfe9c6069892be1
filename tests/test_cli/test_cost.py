"""What a run costs: before it (`run --estimate`), while it goes on, and in its report."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from snellen import api
from snellen.core.benchmark import History
from snellen.core.model import Reply, Usage
from snellen.core.procedure import Conversation
from snellen.core.sample import Sample
from snellen.media.content import Message, user
from snellen.media.drawing import Canvas
from snellen.registry import Opened
from tests import videos
from tests.servers import Answer, ReceivedRequest, completion, serving, status
from tests.test_cli.conftest import Snellen, written
from tests.tiny import Says, benchmark

USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 100,
    "completion_tokens_details": {"reasoning_tokens": 80},
    "prompt_tokens_details": {"cached_tokens": 600},
}
PRICED = "[prices]\ninput = 2\noutput = 10\ncached = 0.5\nreasoning = 5\n"
# 400 x 2 + 600 x 0.5 + 20 x 10 + 80 x 5 = 800 + 300 + 200 + 400, of a million.
A_REPLY = 0.0017


def profile(text: str = PRICED) -> Path:
    path = Path("model.toml")
    path.write_text(text)
    return path


def drawn(folder: Path, sizes: list[tuple[int, int]]) -> None:
    """A question about a picture of each size, `drawn.jsonl`."""
    rows = []
    for number, size in enumerate(sizes):
        (folder / f"{number}.png").write_bytes(Canvas(*size).png())
        question = {"question": "What is this?", "answer": "A"}
        rows.append({"id": str(number), "image": f"{number}.png", **question})
    (folder / "drawn.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


# -- a run


def test_a_report_has_the_tokens_the_money_and_the_times_of_its_replies(
    snellen: Snellen, rows: Path
) -> None:
    with serving(completion("A", usage=USAGE)) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        done = snellen(*ask, "--profile", profile(), "--json")

    usage = done.json["spent"]
    assert (usage["replies"], usage["questions"]) == (3, 3)
    assert usage["tokens"] == {"input": 3000, "output": 300, "reasoning": 240, "cached": 1800}
    assert usage["cost"] == pytest.approx(3 * A_REPLY)
    assert usage["currency"] == "USD"
    assert 0 < usage["first"]["p50"] <= usage["total"]["p90"] < 30
    assert 0 < usage["seconds"] < 60
    words = Path(done.json["run"], "report.md").read_text()
    assert (
        "tokens (per question): 3,000 input (1,000.0), 300 output (100.0), 240 reasoning (80.0), "
        "1,800 cached (600.0)\n- cost (per question): 0.00510 USD (0.00170 USD)\n" in words
    )


def test_the_last_line_of_progress_says_what_was_spent(snellen: Snellen, rows: Path) -> None:
    with serving(completion("A", usage=USAGE)) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        done = snellen(*ask, "--profile", profile(PRICED + 'currency = "EUR"\n'))

    assert "  0.00510 EUR  " in done.err
    assert done.err.splitlines()[-1].endswith("  tokens 3,000 in, 300 out (240 reasoning)")


def test_without_prices_there_are_tokens_and_no_money(snellen: Snellen, rows: Path) -> None:
    with serving(completion("A", usage=USAGE)) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        done = snellen(*ask, "--json")

    assert "cost" not in done.json["spent"]
    assert "USD" not in done.err + Path(done.json["run"], "report.md").read_text()
    assert "tokens 3,000 in" in done.err


def test_a_server_that_counts_no_tokens_has_none_and_costs_what_nobody_knows(
    snellen: Snellen, rows: Path
) -> None:
    with serving(completion("A", usage=None)) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        done = snellen(*ask, "--profile", profile(), "--json")

    usage = done.json["spent"]
    assert (usage["tokens"], usage["unsaid"]) == ({}, 3)
    assert "cost" not in usage
    assert "tokens" not in done.err
    assert "USD" not in done.err + Path(done.json["run"], "report.md").read_text()


def test_of_replies_that_are_counted_in_part_the_report_says_of_how_many(
    snellen: Snellen, rows: Path
) -> None:
    def answer(request: ReceivedRequest) -> Answer:
        return completion("A", usage=USAGE if b"Which 1?" in request.body else None)

    with serving(answer) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        done = snellen(*ask, "--profile", profile(), "--json")

    words = Path(done.json["run"], "report.md").read_text()
    assert "1,000 input (1,000.0), 100 output (100.0)" in words
    assert "cost (per question): 0.00170 USD (0.00170 USD), of 1 of 3 replies" in words
    assert "at least 0.00170 USD" in done.err


def test_failed_attempts_and_replies_of_other_runs_cost_nothing(
    snellen: Snellen, rows: Path
) -> None:
    with serving(completion("A", usage=USAGE)) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "--profile", profile(), "--json")
        first = snellen(*ask, "-b", "mine.jsonl").json
    written(Path("more.jsonl"), "AABB")
    answers = {b"Which 3?": completion("A", usage=USAGE)}

    def answer_new(request: ReceivedRequest) -> Answer:
        if request.number == 0:
            return status(400)
        return next(answer for words, answer in answers.items() if words in request.body)

    with serving(answer_new) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "--profile", profile(), "--json")
        for _ in range(2):
            more = snellen(*ask, "-b", "more.jsonl", "--reuse", first["run"]).json

    assert more["replies"] == {"ok": 4}
    assert more["spent"]["replies"] == 1
    assert more["spent"]["cost"] == pytest.approx(A_REPLY)


def test_prices_given_later_price_what_a_run_has(snellen: Snellen, rows: Path) -> None:
    with serving(completion("A", usage=USAGE)) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl", "--json")
        assert "cost" not in snellen(*ask).json["spent"]
        again = snellen(*ask, "--profile", profile())

    assert len(server.requests) == 3
    assert again.json["spent"]["cost"] == pytest.approx(3 * A_REPLY)


def test_a_budget_is_passed_by_no_more_than_a_reply_with_many_at_once(
    snellen: Snellen, tmp_path: Path
) -> None:
    written(tmp_path / "mine.jsonl", "AB" * 20)
    with serving(completion("A", usage=USAGE), latency=0.02) as server:
        ask = ("run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl")
        done = snellen(
            *ask, "--profile", profile(), "--concurrency", "16", "--max-cost", 10.5 * A_REPLY
        )

    assert done.code == 130
    assert len(server.requests) == 11


# -- before a run


def estimated(snellen: Snellen, *args: Any) -> Mapping[str, Any]:
    done = snellen("run", "-m", "openai/m", *args, "--estimate", "--json")
    assert done.code == 0, done.err
    (estimate,) = done.json
    return dict(estimate)


def test_an_estimate_counts_text_by_characters_and_pictures_by_the_profiles_rule(
    snellen: Snellen, tmp_path: Path
) -> None:
    drawn(tmp_path, [(1024, 1024), (128, 64)])
    text = 'image_tokens = "openai-tiles"\nmax_tokens = 50\n' + PRICED
    estimate = estimated(snellen, "-b", "drawn.jsonl", "--profile", profile(text), "--repeats", 3)

    # "What is this?\nAnswer the question using a single word or phrase.": 64 characters.
    tokens = 3 * (765 + 255 + 2 * 16)
    assert estimate["requests"] == estimate["questions"] == estimate["pictures"] == 6
    assert estimate["input_tokens"] == tokens
    assert (estimate["output_tokens"], estimate["at_most"]) == (6 * 50, True)
    assert estimate["cost"] == pytest.approx(tokens * 2e-6 + 300 * 10e-6)
    assert estimate["hours"] is None


def test_an_estimate_sends_nothing_needs_no_key_and_leaves_no_folder(
    snellen: Snellen, rows: Path
) -> None:
    before = sorted(Path().rglob("*"))
    with serving(completion("A")) as server:
        done = snellen(
            "run", "-m", "openai/m", "--base-url", server.url, "-b", "mine.jsonl", "--estimate"
        )
        without_address = snellen("run", "-m", "openai/m", "-b", "mine.jsonl", "--estimate")

    assert (done.code, without_address.code) == (0, 0)
    assert server.requests == []
    assert sorted(Path().rglob("*")) == before


def test_limits_of_pictures_are_kept_to_in_an_estimate(snellen: Snellen, tmp_path: Path) -> None:
    drawn(tmp_path, [(1024, 1024)])
    text = 'image_tokens = "qwen2-vl"\n'
    unlimited = estimated(snellen, "-b", "drawn.jsonl", "--profile", profile(text))
    limited = profile(text + "[images]\nmax_side = 280\n")

    # 37 x 37 squares, and 10 x 10.
    assert unlimited["input_tokens"] - estimated(
        snellen, "-b", "drawn.jsonl", "--profile", limited
    )["input_tokens"] == (37 * 37 - 10 * 10)


def test_where_nobody_says_how_many_tokens_a_picture_is_they_are_not_known(
    snellen: Snellen, tmp_path: Path
) -> None:
    drawn(tmp_path, [(64, 64)])
    estimate = estimated(snellen, "-b", "drawn.jsonl", "--profile", profile())

    print(estimate)
    assert (estimate["input_tokens"], estimate["cost"]) == (None, None)
    assert any("image_tokens" in note for note in estimate["notes"])


def test_what_has_a_reply_is_not_in_an_estimate_and_says_what_the_rest_takes(
    snellen: Snellen, tmp_path: Path
) -> None:
    written(tmp_path / "mine.jsonl", "AB" * 5)
    with serving(completion("A", usage=USAGE)) as server:
        ask = ("-b", "mine.jsonl", "--base-url", server.url, "--profile", profile())
        run = snellen("run", "-m", "openai/m", *ask, "--limit", "4", "--json").json
    stored = {path: path.read_bytes() for path in Path(run["run"]).iterdir()}
    estimate = estimated(snellen, *ask, "--concurrency", "2")

    assert (estimate["questions"], estimate["left"], estimate["requests"]) == (10, 6, 6)
    assert (estimate["input_tokens"], estimate["output_tokens"]) == (6000, 600)
    assert estimate["at_most"] is False
    assert estimate["cost"] == pytest.approx(6 * A_REPLY)
    assert estimate["hours"] == pytest.approx(6 * run["spent"]["total"]["mean"] / 2 / 3600)
    assert {path: path.read_bytes() for path in Path(run["run"]).iterdir()} == stored


def test_a_finished_run_takes_nothing_more(snellen: Snellen, rows: Path) -> None:
    with serving(completion("A", usage=USAGE)) as server:
        ask = ("-b", "mine.jsonl", "--base-url", server.url, "--profile", profile())
        snellen("run", "-m", "openai/m", *ask)
    estimate = estimated(snellen, *ask)

    assert (estimate["left"], estimate["requests"], estimate["input_tokens"]) == (0, 0, 0)
    assert (estimate["cost"], estimate["hours"]) == (0.0, 0.0)


def test_of_many_rows_some_are_measured_and_that_is_said(
    snellen: Snellen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from snellen.run import cost_estimate

    written(tmp_path / "mine.jsonl", "AB" * 5)
    every = estimated(snellen, "-b", "mine.jsonl")
    monkeypatch.setattr(cost_estimate, "LOOKED_AT", 4)
    some = estimated(snellen, "-b", "mine.jsonl")

    # The rows are as long as one another, so four of them tell of all.
    assert some["input_tokens"] == every["input_tokens"] > 0
    assert "measured on 4 evenly spaced rows of 10" in some["notes"]


def test_frames_are_counted_by_the_policy_without_being_decoded(
    snellen: Snellen, tmp_path: Path
) -> None:
    videos.cfr(tmp_path / "clip.mp4", n=120)
    (tmp_path / "clips.jsonl").write_text(
        '{"id": "1", "video": "clip.mp4", "question": "?", "A": "x", "B": "y", "answer": "A"}\n'
    )
    ask = ("-b", "clips.jsonl", "--profile", profile("image_tokens = 100\n"))
    few = estimated(snellen, *ask, "--frames", "uniform:8")
    many = estimated(snellen, *ask, "--frames", "uniform:64")

    assert (few["frames"], many["frames"]) == (8, 64)
    assert many["input_tokens"] - few["input_tokens"] == 56 * 100


def test_several_runs_have_a_line_each_and_a_sum(snellen: Snellen, rows: Path) -> None:
    written(Path("more.jsonl"), "AABBA")
    done = snellen(
        *("run", "-m", "openai/m", "-b", "mine.jsonl", "-b", "more.jsonl"),
        *("--estimate", "--max-tokens", "10", "--profile", profile()),
    )

    lines = [line for line in done.out.splitlines() if not line.startswith("  ")]
    matches = [re.search(r"([0-9,]+) requests?", line) for line in lines]
    assert [match and match[1] for match in matches] == ["3", "5", "8"]
    assert lines[2].startswith("all  ") and "out at most 80" in lines[2]


def test_a_model_that_there_is_not_is_refused_by_an_estimate_too(
    snellen: Snellen, rows: Path
) -> None:
    done = snellen("run", "-m", "opnai/m", "-b", "mine.jsonl", "--estimate")

    assert done.code == 2
    assert "no model 'opnai/m'" in done.err


def test_a_run_that_may_be_this_one_is_named(snellen: Snellen, rows: Path) -> None:
    """The revision of a model of one's own is a digest of its code, known once it is opened."""
    Path("mine.py").write_text("def answer(messages):\n    return 'A'\n")
    ask = ("-m", "python:mine.py:answer", "-b", "mine.jsonl")
    run = snellen("run", *ask, "--json").json["run"]
    (estimate,) = snellen("run", *ask, "--estimate", "--json").json

    assert estimate["left"] == 3
    assert any(
        f"if {run} turns out to be this run, its questions are not asked again" in note
        for note in estimate["notes"]
    )


def two_turns(sample: Sample, history: History) -> tuple[Message, ...]:
    return () if len(history) == 2 else (user(sample.question),)


def test_later_turns_are_known_from_an_earlier_run_alone(tmp_path: Path) -> None:
    reply = Reply(text="yes", stop="stop", usage=Usage(input=10, output=1))
    model = Says(lambda request: reply)
    tiny = benchmark(10, prompt=two_turns, conversation=Conversation(turns=None))
    opened = Opened(model=model, name="says", server="says")
    plan = api.Plan(benchmarks=[tiny], models=[opened], out=tmp_path)
    (before,) = api.estimate(plan)
    api.run_plan(plan.replaced(limit=4))
    (after,) = api.estimate(plan)

    assert (before.requests, before.at_most) == (10, False)
    assert (
        "first turns only, since the number of later turns is not known beforehand" in before.notes
    )
    assert (after.left, after.requests) == (6, 12)
    assert (after.input_tokens, after.output_tokens) == (120, 12)


def test_replies_that_nobody_counted_bound_no_tokens_of_conversations(tmp_path: Path) -> None:
    model = Says(lambda request: Reply(text="yes", stop="stop"))
    tiny = benchmark(10, prompt=two_turns, conversation=Conversation(turns=None))
    opened = Opened(model=model, name="says", server="says")
    plan = api.Plan(benchmarks=[tiny], models=[opened], out=tmp_path)
    api.run_plan(plan.replaced(limit=4))
    (after,) = api.estimate(plan)

    assert (after.requests, after.at_most) == (12, False)
    alone = "tokens of first turns only, since the number of later turns is not known beforehand"
    assert alone in after.notes


def test_pictures_that_cannot_be_read_are_said(snellen: Snellen, tmp_path: Path) -> None:
    drawn(tmp_path, [(64, 64), (64, 64)])
    (tmp_path / "1.png").unlink()
    estimate = estimated(snellen, "-b", "drawn.jsonl", "--profile", profile("image_tokens = 7\n"))

    assert (estimate["pictures"], estimate["input_tokens"]) == (1, 7 + 2 * 16)
    assert "1 of the pictures and videos cannot be read" in estimate["notes"]


def test_prices_that_several_models_would_share_are_refused(snellen: Snellen, rows: Path) -> None:
    Path("priced.toml").write_text(PRICED)
    models = ("-m", "baseline/first", "-m", "baseline/longest")
    done = snellen("run", "-b", rows, *models, "--profile", "priced.toml")

    assert done.code == 2
    assert "2 models share it: baseline/first, baseline/longest" in done.err
    assert not Path("runs").exists()


def test_a_plan_gives_each_model_prices_of_its_own(snellen: Snellen, rows: Path) -> None:
    models = "".join(
        f'[[models]]\nname = "baseline/{name}"\nprices = {{input = {price}, output = 0}}\n'
        for name, price in (("first", 1), ("longest", 2))
    )
    Path("plan.toml").write_text(f'benchmarks = ["{rows}"]\n{models}')

    assert snellen("run", "plan.toml").code == 0

"""What the replies of a run took, by its journal and manifest."""

from pathlib import Path
from typing import Any

import pytest

from snellen import api, registry
from snellen.core.model import Reply, Request, Times, Usage
from snellen.core.profile import Prices, Profile
from snellen.scoring import CostReport, Seconds, cost_of
from snellen.store import Failure, Run, reply_record
from tests.test_scoring.test_judge import benchmark, replied
from tests.tiny import Says

DAY = "2026-11-22T"


def stored(folder: Path, sessions: list[dict[str, Any]]) -> Run:
    folder.mkdir()
    run = Run(folder)
    run.put_manifest({"sessions": sessions})
    return run


def reply(total: float, first: float | None = None) -> Reply:
    return Reply(text="A", times=Times(first=first, total=total), usage=Usage(input=10, output=1))


def test_time_is_from_the_first_request_of_each_call_to_its_last_record(tmp_path: Path) -> None:
    """A call that waited a minute for another run of its command and then took 2.5 s, one that
    asked nothing, and one of 30 s that ended with failures."""
    starts = ("09:59:00.000Z", "10:30:00Z", "11:00:00.000Z")
    run = stored(tmp_path / "run", [{"started": DAY + start} for start in starts])
    run.append_reply(reply_record(("a", 0, 0), "", DAY + "10:00:01.500Z", reply=reply(1.0)))
    run.append_reply(reply_record(("b", 0, 0), "", DAY + "10:00:03.000Z", reply=reply(2.25)))
    failure = Failure(type="Overloaded", message="busy")
    run.append_reply(reply_record(("c", 0, 0), "", DAY + "11:00:30.000Z", error=failure))
    run.append_reply(reply_record(("c", 0, 0), "", DAY + "11:01:00.000Z", error=failure))
    run.close()

    costs = cost_of([run])
    assert costs is not None
    assert (costs.seconds, costs.replies, costs.failed_attempts) == (32.5, 2, 2)
    assert costs.in_flight == (1.0 + 2.25) / 32.5


def test_quantiles_are_values_that_were_measured(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", [])
    for number in range(1, 11):
        record = reply(number, number / 10 if number < 5 else None)
        run.append_reply(reply_record((str(number), 0, 0), "", DAY + "10:00:00Z", reply=record))
    run.close()

    costs = cost_of([run])
    assert costs is not None
    assert costs.total == Seconds(mean=5.5, p50=5, p90=9)
    assert costs.first == Seconds(mean=0.25, p50=0.2, p90=0.4)


def test_a_run_without_a_reply_took_nothing_to_speak_of(tmp_path: Path) -> None:
    assert cost_of([stored(tmp_path / "run", [{"started": DAY + "10:00:00Z"}])]) is None


def test_amounts_in_two_currencies_have_no_sum(tmp_path: Path) -> None:
    runs = []
    for currency in ("USD", "EUR"):
        prices = {"input": 1, "output": 1, "currency": currency}
        session = {"started": DAY + "10:00:00Z", "profile": {"prices": prices}}
        runs.append(stored(tmp_path / currency, [session]))
        runs[-1].append_reply(reply_record(("a", 0, 0), "", DAY + "10:00:01Z", reply=reply(1)))
        runs[-1].close()

    costs = cost_of(runs)
    assert costs is not None
    assert (costs.tokens, costs.cost) == ({"input": 20, "output": 2}, None)
    only = cost_of(runs[1:])
    assert only is not None
    assert only.cost == pytest.approx(11e-6)
    assert only.currency == "EUR"


def test_what_a_judge_took_stands_apart(tmp_path: Path) -> None:
    """20 of 40 replies are left open: each verdict took 30 tokens at 1 and 2 at 10."""
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench)
    judge_reply = Reply(text="A", stop="stop", usage=Usage(input=30, output=2))

    def judge(request: Request) -> Reply:
        return judge_reply

    model = registry.Opened(model=Says(judge), name="judge", server="judge", concurrency=4)
    prices = Prices(input=1, output=10)
    plan = api.Plan(benchmarks=[], models=[model], profile=Profile(prices=prices))
    result, _ = api.judge_run(run, plan, benchmark=bench)

    judging = result.report.judging["judge"]
    assert (judging.replies, judging.tokens) == (20, {"input": 600, "output": 40})
    assert judging.cost == pytest.approx(600e-6 + 400e-6)
    own = result.report.spent
    assert isinstance(own, CostReport) and (own.replies, own.tokens, own.cost) == (40, {}, None)
    words = (run / "report.md").read_text()
    assert "judge as judge, cost (per question): 0.00100 USD (0.0000500 USD)" in words


def test_a_conversation_that_goes_on_from_another_runs_turns_is_one_question(
    tmp_path: Path,
) -> None:
    run = stored(tmp_path / "run", [])
    for turn in range(4):
        reused = "there" if turn < 2 else None
        run.append_reply(
            reply_record(("a", 0, turn), "", DAY + "10:00:00Z", reply=reply(1), reused=reused)
        )
    run.append_reply(reply_record(("b", 0, 0), "", DAY + "10:00:00Z", reply=reply(1)))
    run.append_reply(
        reply_record(("c", 0, 0), "", DAY + "10:00:00Z", reply=reply(1), reused="there")
    )
    run.close()

    costs = cost_of([run])
    assert costs is not None
    assert (costs.replies, costs.questions) == (3, 2)


def test_what_a_part_of_the_runs_cost_is_no_sum(tmp_path: Path) -> None:
    runs = []
    for name, profile in {"priced": {"prices": {"input": 1, "output": 1}}, "not": {}}.items():
        runs.append(stored(tmp_path / name, [{"started": DAY + "10:00:00Z", "profile": profile}]))
        runs[-1].append_reply(reply_record(("a", 0, 0), "", DAY + "10:00:01Z", reply=reply(1)))
        runs[-1].close()

    both, first = cost_of(runs), cost_of(runs[:1])
    assert both is not None and first is not None
    assert both.cost is None
    assert first.cost == pytest.approx(11e-6)

"""Judges that read several replies in one prompt."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from snellen import api
from snellen.core.benchmark import Benchmark
from snellen.core.exchange import Published
from snellen.core.model import Reply, Request
from snellen.core.sample import Sample
from snellen.core.scoring import Judge, JudgeBatches, Reading, Scoring
from snellen.data import jsonl
from snellen.media.content import Message, user
from snellen.metrics import mean
from snellen.models.scripted import Scripted
from snellen.registry import Opened

N = 12


def prompt(pairs: Sequence[tuple[Sample, Reply]]) -> tuple[Message, ...]:
    return (user("\n".join(f"{sample.id}: {reply.text}" for sample, reply in pairs)),)


def split(text: str, n: int) -> list[str]:
    try:
        scores = json.loads(text)
    except ValueError:
        return []
    return [*map(str, scores)] if len(scores) == n else []


JUDGE = Judge(
    name="in threes",
    prompt=lambda sample, reply: prompt([(sample, reply)]),
    parse=lambda words, _: Reading(answer=words or None, rule="judge"),
    when=lambda _: True,
    batches=JudgeBatches(
        by=lambda sample: f"{int(sample.id) // 3}",
        prompt=prompt,
        split=split,
        join=lambda words: json.dumps([*map(int, words)]),
    ),
)


def benchmark(folder: Path, judge: Judge = JUDGE) -> Benchmark:
    rows = folder / "rows.jsonl"
    rows.write_text("".join(f'{{"id": "{n}"}}\n' for n in range(N)))
    return Benchmark(
        name="in-threes",
        asks=1,
        data=jsonl(rows),
        sample=lambda _, row: Sample(id=row["id"], question=f"number {row['id']}", target="A"),
        prompt=lambda sample, _: (user(sample.question),),
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=lambda *_: Reading(answer=None, rule="open"),
                score=lambda reading, _: float(reading.answer == "1"),
                metrics={"accuracy": mean},
                judge=judge,
            )
        },
    )


def opened(model: Scripted) -> Opened:
    return Opened(model=model, name=model.name, server=model.name, concurrency=4)


def plan(*models: Scripted, **options: object) -> api.Plan:
    judges = [*map(opened, models)]
    return api.Plan(benchmarks=[], models=judges, retry={"attempts": 1}, **options)  # type: ignore[arg-type]


def replied(folder: Path, bench: Benchmark, **options: object) -> Path:
    model = opened(Scripted(lambda request: f"about {request.messages[0].text}", name="replies"))
    return api.run_plan(
        api.Plan(benchmarks=[bench], models=[model], out=folder / "runs", **options)  # type: ignore[arg-type]
    )[0].run


def says_even(request: Request) -> str:
    """A judge that finds the replies to questions with even numbers right."""
    numbers = re.findall(r"^(\d+): about", request.messages[0].text, re.MULTILINE)
    return json.dumps([int(int(number) % 2 == 0) for number in numbers])


def scores(run: Path) -> dict[str, float | None]:
    lines = (run / "scores.jsonl").read_text().splitlines()
    return {row["sample"]: row.get("score") for row in map(json.loads, lines)}


def test_replies_with_the_same_key_share_a_prompt_and_have_their_own_scores(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench)
    judge = Scripted(says_even, name="judge")
    result, _ = api.judge_run(run, plan(judge), benchmark=bench)

    texts = sorted(request.messages[0].text for request in judge.requests)
    assert len(texts) == 4
    assert texts[0] == "0: about number 0\n1: about number 1\n2: about number 2"
    assert result.headline.value == 0.5
    assert scores(run) == {str(n): float(n % 2 == 0) for n in range(N)}
    assert "official: judged by judge" in result.report.notes


def test_judged_replies_are_not_sent_again(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench)
    api.judge_run(run, plan(Scripted(says_even, name="judge")), benchmark=bench)
    again = Scripted(says_even, name="judge")
    result, _ = api.judge_run(run, plan(again), benchmark=bench)
    assert (len(again.requests), result.headline.value) == (0, 0.5)


def test_a_text_that_cannot_be_split_leaves_all_its_replies_unjudged(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench)

    def once_short(request: Request) -> str:
        return "[1]" if request.messages[0].text.startswith("3:") else says_even(request)

    result, _ = api.judge_run(run, plan(Scripted(once_short, name="judge")), benchmark=bench)
    assert result.scoring().readings == {"answered": 9, "not-judged": 3}
    assert {name for name, score in scores(run).items() if score is None} == {"3", "4", "5"}


def test_replies_that_come_later_join_their_batch_and_others_keep_their_verdicts(
    tmp_path: Path,
) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench, limit=4)
    api.judge_run(run, plan(Scripted(says_even, name="judge")), benchmark=bench)
    replied(tmp_path, bench)

    judge = Scripted(says_even, name="judge")
    result, _ = api.judge_run(run, plan(judge), benchmark=bench)
    starts = sorted(request.messages[0].text.partition(":")[0] for request in judge.requests)
    assert starts == ["3", "6", "9"]
    assert (result.headline.value, result.headline.n) == (0.5, N)


def test_a_verdict_stays_while_its_batch_waits_to_be_judged_with_more_replies(
    tmp_path: Path,
) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench, limit=4)
    api.judge_run(run, plan(Scripted(says_even, name="judge")), benchmark=bench)
    replied(tmp_path, bench)

    result = api.score(run, bench)
    assert result.scoring().readings == {"answered": 4, "not-judged": 8}


def test_two_replies_to_one_question_never_share_a_prompt(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    calls = iter(range(1000))
    model = opened(Scripted(lambda _: f"about {next(calls)}", name="replies"))
    run = api.run_plan(
        api.Plan(benchmarks=[bench], models=[model], out=tmp_path / "runs", repeats=2)
    )[0].run
    judge = Scripted(says_even, name="judge")
    result, _ = api.judge_run(run, plan(judge), benchmark=bench)

    for request in judge.requests:
        names = [line.partition(":")[0] for line in request.messages[0].text.splitlines()]
        assert len(names) == len(set(names)) == 3
    assert result.scoring().readings == {"answered": 2 * N}


def test_a_budget_ends_after_a_prompt_and_the_next_command_asks_the_rest(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench)
    first = Scripted(says_even, name="judge")
    result, _ = api.judge_run(run, plan(first, max_requests=1), benchmark=bench)
    assert result.scoring().readings == {"answered": 3, "not-judged": 9}
    second = Scripted(says_even, name="judge")
    result, _ = api.judge_run(run, plan(second), benchmark=bench)
    assert (len(second.requests), result.headline.n) == (3, N)


def test_two_judges_that_read_batches_give_their_mean(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench)
    kind = Scripted(lambda request: "[1, 1, 1]", name="kind")
    result, _ = api.judge_run(run, plan(Scripted(says_even, name="judge"), kind), benchmark=bench)
    assert result.headline.value == 0.75


def test_a_judge_without_batches_reads_each_reply_on_its_own(tmp_path: Path) -> None:
    bench = benchmark(tmp_path, replace(JUDGE, batches=None))
    run = replied(tmp_path, bench)
    judge = Scripted(lambda request: says_even(request).strip("[]"), name="judge")
    result, _ = api.judge_run(run, plan(judge), benchmark=bench)
    assert (len(judge.requests), result.headline.value) == (N, 0.5)


def test_the_same_prompt_in_another_run_is_sent_once(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    api.judge_run(
        replied(tmp_path, bench), plan(Scripted(says_even, name="judge")), benchmark=bench
    )
    other = opened(Scripted(lambda request: f"about {request.messages[0].text}", name="another"))
    same = api.run_plan(api.Plan(benchmarks=[bench], models=[other], out=tmp_path / "runs"))[0].run
    judge = Scripted(says_even, name="judge")
    result, _ = api.judge_run(same, plan(judge), benchmark=bench)
    assert (len(judge.requests), result.headline.value, result.headline.n) == (0, 0.5, N)


def test_a_probe_of_a_judge_asks_about_each_reply_on_its_own(tmp_path: Path) -> None:
    bench = benchmark(tmp_path)
    run = replied(tmp_path, bench)
    judge = Scripted(says_even, name="judge")
    reports, _ = api.probe_run(run, plan(judge), benchmark=bench, n=4)

    alone = [request.messages[0].text for request in judge.requests][4:]
    assert alone and all("\n\n" in text for text in alone)
    (report,) = reports
    assert (report.right, report.wrong) == (2, 2)
    assert all(attempt.lost == 0 for attempt in report.attempts.values())


def test_a_qualified_judge_may_read_batches(tmp_path: Path) -> None:
    """Replies of two models to one question are in different prompts."""
    published = {
        name: {str(n): f"about {name} {n}" for n in range(N)}
        for name in ("one model", "another model")
    }
    bench = benchmark(tmp_path)
    bench = replace(
        bench,
        interop=replace(bench.interop, layout=lambda path: read(json.loads(path.read_text()))),
    )
    files = []
    for name, replies in published.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(replies))
        files.append(path)
    judge = Scripted(says_even, name="judge")
    qualifications, _ = api.qualify_run(
        files, api.Plan(benchmarks=[], models=[opened(judge)], out=tmp_path), benchmark=bench
    )

    assert len(judge.requests) == 2 * N / 3
    (qualification,) = qualifications
    assert qualification.agreement.replies == 2 * N
    assert qualification.agreement.bias.value == 0


def read(replies: dict[str, str]) -> Published:
    verdicts = {name: (str(int(int(name) % 2 == 0)),) for name in replies}
    return Published(replies=replies, verdicts={"official": verdicts})

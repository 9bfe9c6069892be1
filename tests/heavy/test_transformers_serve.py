"""A real third-party server with a real (tiny, random) vision-language model, on real questions and
pictures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from snellen import registry
from snellen.analysis.result import Result
from snellen.api import Plan, run_plan
from snellen.core.benchmark import Benchmark
from snellen.core.profile import Profile
from snellen.core.scoring import total_score
from snellen.media.content import Image, user
from snellen.store import ReplyRecord, Run
from tests.golden_data import golden
from tests.heavy.counting_proxy import Seen, counting_proxy
from tests.heavy.transformers_server import quiet, serving_model

pytestmark = pytest.mark.heavy
N = int(os.environ.get("SNELLEN_SERVE_N", "60"))
"""Questions of testmini's 304 that are asked; all of them take a few minutes."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("model") / "tiny-llava"
    script = Path(__file__).with_name("tiny_llava.py")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, env=quiet())
    return folder


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[str]:
    """`transformers serve` on a port of its own; gives its address."""
    with serving_model(model) as url:
        yield url


@pytest.fixture
def proxy(server: str) -> Iterator[Seen]:
    with counting_proxy(server) as seen:
        yield seen


def ask(benchmark: Benchmark, model: Path, proxy: Seen, out: Path) -> tuple[Result, Run]:
    plan = Plan(
        benchmarks=[benchmark],
        models=[f"openai/{model}"],
        profile=Profile(base_url=f"{proxy.url}/v1"),
        out=out,
        limit=N,
        concurrency=2,
        max_tokens=64,
        temperature=0.0,
    )
    finished = run_plan(plan)[0]
    assert finished.result is not None
    return finished.result, Run(finished.run)


def replies(run: Run) -> dict[str, str]:
    return {r.key[0]: r.reply for r in run.replies() if isinstance(r, ReplyRecord)}


def mini() -> Benchmark:
    return registry.benchmark("mathvision:split=testmini", data=golden("mathvision"))


def test_every_question_is_asked_once_and_ends_in_a_state(
    model: Path, proxy: Seen, tmp_path: Path
) -> None:
    result, run = ask(mini(), model, proxy, tmp_path)

    assert sum(result.report.replies.values()) == result.report.n == N
    assert "failed" not in result.report.replies
    assert proxy.total == N
    assert set(proxy.requests.values()) == {1}

    benchmark = mini()
    official = benchmark.scorings["official"]
    answers = replies(run)
    right = 0.0
    for row, sample in [(row, benchmark.sample(row.position, row)) for row in benchmark.data][:N]:
        del row
        record = run_reply(answers[sample.id])
        right += total_score(official.score(official.parse(record, sample), sample)) or 0.0
    assert result.headline.value == pytest.approx(right / N, abs=1e-12)

    total = proxy.total
    again, _ = ask(mini(), model, proxy, tmp_path)
    assert proxy.total == total, "a second run asks nothing"
    assert again.json() == result.json()


def run_reply(text: str):  # type: ignore[no-untyped-def]
    from snellen.core.model import Reply

    return Reply(text=text, stop="length")


def test_pictures_really_arrive(model: Path, proxy: Seen, tmp_path: Path) -> None:
    """One question over all pictures gives different replies, and exchanging the picture changes
    the reply."""
    benchmark = mini()
    rows = [benchmark.sample(row.position, row) for row in benchmark.data]
    pictures = {sample.id: sample.media[0] for sample in rows}
    ids = list(pictures)[:N]
    other = dict(zip(ids, [*ids[1:], ids[0]], strict=True))

    same_question = replace(
        benchmark, prompt=lambda s, _: (user(pictures[s.id], "What is in the picture?"),)
    )
    result, run = ask(same_question, model, proxy, tmp_path / "one")
    answers = replies(run)
    assert result.report.n == N
    assert len(set(answers.values())) >= 0.9 * N

    exchanged = replace(
        benchmark, prompt=lambda s, _: (user(pictures[other[s.id]], f"{s.question}"),)
    )
    unchanged = replace(benchmark, prompt=lambda s, _: (user(pictures[s.id], f"{s.question}"),))
    first = replies(ask(unchanged, model, proxy, tmp_path / "unchanged")[1])
    second = replies(ask(exchanged, model, proxy, tmp_path / "exchanged")[1])
    changed = sum(first[name] != second[name] for name in ids)
    print(json.dumps({"n": N, "distinct": len(set(answers.values())), "changed": changed}))
    assert changed >= 0.95 * N
    assert isinstance(pictures[ids[0]], Image)


@pytest.mark.parametrize("form", ["text", "native"])
def test_two_hundred_questions_with_tools_end(
    form: Literal["text", "native"], model: Path, server: str, tmp_path: Path
) -> None:
    """Random weights write no calls, and text that looks like one is malformed."""
    plan = Plan(
        benchmarks=[registry.benchmark("eyechart:tasks=letters,n=40")],
        models=[f"openai/{model}"],
        profile=Profile(base_url=f"{server}/v1"),
        out=tmp_path,
        repeats=5,
        concurrency=4,
        max_tokens=8,
        tools=("zoom",),
        tool_form=form,
    )

    finished = run_plan(plan)[0]

    assert finished.result is not None
    report = finished.result.report
    assert sum(report.replies.values()) == 200 and "failed" not in report.replies
    assert report.tools is not None
    assert sum(report.tools.ended.values()) == 200

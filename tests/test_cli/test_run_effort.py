"""snellen run with several efforts: a run each, and the score by the tokens that it took."""

import json
import re
from pathlib import Path

from tests.servers import Answer, ReceivedRequest, completion, serving
from tests.test_cli.conftest import Snellen
from tests.test_run.test_faults import question, write_rows

TOKENS = {"none": 10, "low": 100, "high": 400}
N = 40


def thinks(request: ReceivedRequest) -> Answer:
    """A model that is right in 20, 30, or 36 of 40 questions, by its effort."""
    body, number = request.json, int(question(request)[1:])
    is_on = body["chat_template_kwargs"]["enable_thinking"]
    effort = body.get("reasoning_effort", "low") if is_on else "none"
    right = number < {"none": 20, "low": 30, "high": 36}[effort]
    usage = {"prompt_tokens": 9, "completion_tokens": TOKENS[effort] + number % 4}
    return completion("A" if right else "B", usage=usage, reasoning_content="so" * is_on or None)


def test_a_sweep_shows_the_score_by_tokens_in_every_format(
    snellen: Snellen, tmp_path: Path
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", N)
    efforts = [word for effort in TOKENS for word in ("--effort", effort)]
    with serving(thinks) as server:
        done = snellen(
            *("run", "-b", rows, "-m", "openai/m", "--base-url", server.url, *efforts),
        )
        requests = len(server.requests)
    assert done.code == 0, done.err
    assert requests == 3 * N
    for effort in TOKENS:
        assert f"rows × openai/m, effort={effort}  40/40" in done.err

    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    table = lines[lines.index("rows: accuracy by output tokens per reply") :]
    # 20, 30, and 36 right; the mean of number % 4 is 1.5; per correct answer 460/20, 4060/30, ...
    expected = {
        "none": ("50.00 %", "11.50 tokens", "23.00 tokens"),
        "low": ("75.00 %", "101.50 tokens", "135.33 tokens"),
        "high": ("90.00 %", "401.50 tokens", "446.11 tokens"),
    }
    for effort, cells in expected.items():
        interval = r"\[[\d., ]+\]"
        pattern = f"effort={effort} openai/m {cells[0]} {interval} {cells[1]} {interval} {cells[2]}"
        assert any(re.match(pattern, line) for line in table), (pattern, table)
    swept = lines[next(n for n, line in enumerate(lines) if "accuracy by setting" in line) :]
    assert any(line.startswith("effort=high openai/m 90.00 %") for line in swept)

    plots = snellen("report", "runs", "--plots", "plots")
    assert plots.code == 0 and "rows-tokens.svg" in plots.out
    for form in ("md", "html"):
        text = snellen("report", "runs", "--format", form).out
        assert "accuracy by output tokens per reply" in text and "446.11" in text
    document = json.loads(snellen("report", "runs", "--json").out)
    by_effort = {
        result["identity"]["generation"]["effort"]: result["output_tokens"]["per_correct"]["value"]
        for result in document
    }
    assert by_effort == {"none": 23.0, "low": 4060 / 30, "high": 16060 / 36}


def test_a_sweep_says_so_if_the_server_ignores_the_effort(snellen: Snellen, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 10)
    with serving(completion("<think>so</think>A")) as server:
        done = snellen(
            *("run", "-b", rows, "-m", "openai/m", "--base-url", server.url),
            *("--effort", "none", "--effort", "high", "-q"),
        )

    assert done.code == 0, done.err
    after = done.out[done.out.index("accuracy by setting") :]
    words = " ".join(after.split())
    assert (
        "note: openai/m (effort=none): reply 1 has thoughts, although thinking was turned" in words
    )


def test_runs_without_token_counts_have_no_such_table(snellen: Snellen, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 10)
    with serving(completion("A", usage=None)) as server:
        done = snellen(
            *("run", "-b", rows, "-m", "openai/m", "--base-url", server.url),
            *("--effort", "none", "--effort", "high"),
        )
    assert done.code == 0 and "by output tokens" not in done.out


def test_an_effort_that_one_model_cannot_have_stops_the_sweep_before_it_starts(
    snellen: Snellen, tmp_path: Path
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 10)
    with serving(completion("A")) as server:
        done = snellen(
            *("run", "-b", rows, "-m", "openai/m", "--base-url", server.url),
            *("--effort", "none", "--effort", "4000"),
        )
        assert not server.requests
    assert done.code == 2 and 'server = "vllm"' in done.err


def test_what_is_no_effort_is_wrong_use(snellen: Snellen, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", 1)
    for effort in ("much", "0", "-1", "1.5"):
        done = snellen("run", "-b", rows, "-m", "openai/m", f"--effort={effort}")
        assert done.code == 2 and "is neither none, low, medium, high, nor" in done.err

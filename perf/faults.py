"""How a server's faults affect a run, for Snellen and each installed peer, by the peers' script.

usage: python perf/faults.py --venvs DIR [--peers ../shared/bench/peers] [--work DIR]
[--who snellen,vlm-api,lmms-openai-cache,inspect] [--tests e500x3,e429] [--limit 60] [--table FILE]

`run_faults.py` in --peers runs each tool with its default settings against a mock server (N = 200,
100 ms, 32 at once) that fails two questions. It kills the tool after --limit seconds, and starts it
again with the tool's own resume and without the faults. The server would answer both questions
right, so the score is 70 % if nothing is lost.

asked again  seconds between consecutive requests for the first of the two questions
failed       questions that the server never answered in the first run
counted      how many questions failed according to the tool's report (-: it does not say)
scored       how many of the failed questions have a score nevertheless
then         the resumed run: requests, requests for questions that had been asked before (in flight
             at the kill or not), seconds to the first request, the score

At a kill, up to 32 requests are in flight. The server counts them a moment later, when it has
answered some. Each pair of runs is a line of snellen-race/faults.jsonl in --work. --table prints
such a file as a Markdown table with a column for each tool.
"""

import argparse
import json
import re
import runpy
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from race import load_run_w1, make_data, mock_server, score, settings

Fields = dict[str, Any]
TESTS = {
    "e500x3": "500 three times, then fine",
    "e429": "429 with Retry-After 2, twice",
    "malformed1": "malformed JSON once",
    "close1": "connection closed once",
    "e500": "500 always",
    "malformed": "malformed JSON always",
    "hang": "no answer the first time",
    "hang5": "the same, told to wait 5 s for an answer",
    "resume": "SIGKILL when half of 1,000 are answered",
}
# lmms-eval accepts a limit but never uses it.
WAIT_5_S = {"snellen": "--timeout first=5", "inspect": "--attempt-timeout 5", "vlm": "--timeout 5"}


def recorded_by_us(run_dir: Path) -> Fields:
    """Read our run folder into the form that run_faults.py has for the peers."""
    errors, items = None, {}
    for file in run_dir.rglob("report.json"):
        errors = json.loads(file.read_bytes())["replies"].get("failed", 0)
    for file in run_dir.rglob("scores.jsonl"):
        rows = map(json.loads, file.read_text().splitlines())
        items = {row["sample"]: [row["reply"], row.get("score")] for row in rows}
    return {"n": len(items), "errors": errors, "items": items}


def counted(who: str, log: str, recorded: Fields) -> int | None:
    """The number of failed questions according to the tool's report; None if it does not say."""
    if who.startswith("vlm"):
        matches = re.findall(r"^SynMCQ\d+ +\S+% \((\d+)/\d+\)", log, re.MULTILINE)
        return int(matches[-1]) if matches else None
    return recorded.get("errors")


def pair(who: str, test: str, s: argparse.Namespace, w1: Any) -> Fields:
    """Do the run under faults and the resumed run."""
    n = 1000 if test == "resume" else 200
    lines = Path(s.work, "pair.jsonl")
    lines.unlink(missing_ok=True)
    seen: list[Fields] = []
    command, run_peer = w1.command, vars(w1)["one"]

    def watched(who: str, n: int, a: Any, tag: str, **more: Any) -> tuple[Fields, str]:
        """Call `one`, and read the files before the resumed run overwrites them."""
        m, run_dir = run_peer(who, n, a, tag, **more)
        log = Path(run_dir, f"log{tag}.txt").read_text(errors="replace")
        accuracy = score(who, n, s, run_dir) if m["rc"] >= 0 else None
        seen.append({"log": log, "score": accuracy, "ours": recorded_by_us(Path(run_dir))})
        return m, run_dir

    vars(w1)["one"] = watched
    sys.argv = ["run_faults.py", "--data", s.data, "--work", s.work, "--venvs", s.venvs,
                "--vlmevalkit", s.vlmevalkit, "--lmms-tasks", s.lmms_tasks, "--port", str(s.port),
                "--peers", who, "--n", str(n), "--tests", test.removesuffix("5"),
                "--limit", s.limit, "--out", str(lines)]  # fmt: skip
    if test == "hang5":
        sys.argv.append(f"--peer-args={WAIT_5_S.get(who.partition('-')[0], '')}")
    try:
        runpy.run_path(f"{s.peers}/run_faults.py")
    finally:
        w1.command = command  # run_faults.py replaces both functions with its own
        vars(w1)["one"] = run_peer
    first, resumed = map(json.loads, lines.read_text().splitlines())
    recorded = seen[0]["ours"] if who.startswith("snellen") else first["recorded"] or {}
    position = 0 if who.startswith("inspect") else 1
    scores = {int(i): item[position] for i, item in recorded.get("items", {}).items()}
    tries = sorted((int(i), tries) for i, tries in first["fault_log"].items())
    failed = [i for i, attempt in tries if attempt[-1][1] != "ok"]
    return {
        "test": test,
        "who": who,
        "exit": first["rc"],
        "wall": first["wall"],
        "answered": first["status"].get("200", 0),
        "in_flight": first["requests"] - sum(first["status"].values()),
        "again": [b - a for (a, _), (b, _) in pairwise(tries[0][1])] if tries else [],
        "failed": len(failed),
        "counted": counted(who, seen[0]["log"], recorded),
        "scored": sum(scores.get(i) is not None for i in failed),
        "status": recorded.get("status"),
        "recorded": recorded.get("n"),
        "score": seen[0]["score"],
        "then": resumed["requests"],
        "asked_before": resumed["repeated"]["asked_again_of_first_run"],
        "then_first": resumed["to_first_request_s"],
        "then_exit": resumed["rc"],
        "then_score": seen[1]["score"],
    }


def cell(row: Fields) -> str:
    """Summarize a pair of runs in a few words."""

    def percent(value: float | None) -> str:
        return "no score" if value is None else f"{100 * value:.1f} %"

    if row["test"] == "resume":
        words = [f"{row['answered']} answered, {row['in_flight']} in flight"]
    elif row["exit"] < 0:
        words = [f"not over after {row['wall']:.0f} s"]
    else:
        words = [f"exit {row['exit']} after {row['wall']:.0f} s"]
        if row["status"] == "error":
            words.append(f"the task ends in an error, {row['recorded']} of 200 recorded")
    if row["again"]:
        waits = ", ".join(f"{seconds:.1f}" for seconds in row["again"][:5])
        words.append(f"asked again after {waits}" + ", ..." * (len(row["again"]) > 5))
    if row["failed"]:
        text = "-" if row["counted"] is None or row["exit"] < 0 else row["counted"]
        words.append(f"{row['failed']} failed, {text} counted, {row['scored']} scored")
    if row["exit"] >= 0:
        words.append(percent(row["score"]))
    then = f"then {row['then']} requests"
    if row["then"]:
        then += f", {row['asked_before']} asked before, the first at {row['then_first']:.1f} s"
    if row["then_exit"]:
        then += f", exit {row['then_exit']}"
    return "; ".join([*words, f"{then}, {percent(row['then_score'])}"])


def main() -> None:
    ap = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    ap.add_argument("--who", default="snellen,vlm-api,lmms-openai-cache,inspect")
    ap.add_argument("--tests", default=",".join(TESTS))
    ap.add_argument("--limit", default="60", help="seconds until a run is killed")
    ap.add_argument("--table", help="print the table of this faults.jsonl and exit")
    s = settings(ap)
    file = Path(s.table or f"{s.work}/faults.jsonl")
    if s.table is None:
        file.unlink(missing_ok=True)
        make_data(s, [200, 1000])
        w1 = load_run_w1(s)
        with mock_server(s), file.open("w", buffering=1) as out:
            for who in s.who.split(","):
                if gap := s.gaps.get(who.partition("-")[0]):
                    print(f"GAP: {who}: {gap}", file=sys.stderr)
                    continue
                for test in s.tests.split(","):
                    out.write(json.dumps(pair(who, test, s, w1)) + "\n")
    actual = {(run["test"], run["who"]): run for run in map(json.loads, file.open())}
    tools = s.who.split(",")
    print("| what the server does |", " | ".join(tools), "|\n|", "--- |" * (len(tools) + 1))
    for test, words in TESTS.items():
        if any((test, who) in actual for who in tools):
            cells = (cell(actual[test, who]) if (test, who) in actual else "GAP" for who in tools)
            print("|", words, "|", " | ".join(cells), "|")


if __name__ == "__main__":
    main()

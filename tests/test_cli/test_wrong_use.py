"""What a user can mend: exit 2, one clear message on standard error, nothing on standard output."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copy

import pytest

from tests.test_cli.conftest import Snellen, written

RUN = ("run", "-m", "baseline/first", "-b", "mine.jsonl")
WRONG = [
    ("shwo eyechart", "No such command 'shwo'. Commands: demo, run, .* Did you mean 'show'"),
    ("show eyechrat", "no benchmark 'eyechrat'. Did you mean eyechart"),
    ("show tallyq", "no benchmark 'tallyq'. Did you mean TallyQA\\?"),
    (
        "run -b mmstar_ko --data synthetic -m baseline/first",
        "MMStar_KO has no bundled rows, so --data synthetic does not work",
    ),
    ("show mine", "no benchmark 'mine'. Did you mean mine.jsonl\\?"),
    (
        "run -m baseline/first -b serve.toml",
        "A file of rows must end in .jsonl, .*\\. Save the rows in",
    ),
    ("run -m baseline/first -b X_MMStar.xlsx", "X_MMStar.xlsx is not a complete .xlsx file"),
    ("show " + "x" * 300, "no benchmark 'xxx.*\\. Benchmarks: "),
    ("show eyechart:sise=3", "eyechart has no option 'sise'. Options: seed, n, tasks"),
    ("show mathvision:split=dev", "mathvision:split must be one of test, testmini, not 'dev'"),
    ("list everything", "'everything' is not one of"),
    ("run -b eyechart", "a model \\(-m\\) is missing"),
    ("run -m baseline/first -b nothing.jsonl", "nothing.jsonl: there is no such file of rows"),
    (
        "run -m baseline/frist -b mine.jsonl",
        "no model 'baseline/frist'. Did you mean baseline/first",
    ),
    ("run -m reader -b mine.jsonl", "no model 'reader'. The names of models are"),
    (
        "run -m openai/m -b mine.jsonl",
        "no --base-url, and no key for the official service in OPENAI_API_KEY",
    ),
    (
        "run -m openai/m -b mine.jsonl --base-url http://localhost:1 --api-key-env NOT_THERE",
        "the environment variable NOT_THERE is not set",
    ),
    (
        "run -m openai/m -b mine.jsonl --base-url http://localhost:1 --api-key-env sk-a1",
        "is not the name of an environment variable. The value is not shown",
    ),
    ("{RUN} --max-tokens 18446744073709551616", "cannot be stored: .* at most 64 bits"),
    ("{RUN} --seed 18446744073709551616", "cannot be stored: .* at most 64 bits"),
    (
        "run -m baseline/first -b mathvision --data nowhere",
        "nowhere does not exist. Pass the file with the rows of",
    ),
    ("run -m baseline/first -b mathvision", "no test.jsonl .* as --data PATH"),
    ("run -m baseline/first -b eyechart --prompt cot", "eyechart has no option 'prompt'"),
    ("run -m baseline/first -b eyechart --task mcq", "--task and --map are only for files of rows"),
    ("{RUN} --task riddle", "no task 'riddle'; the tasks are mcq"),
    ("{RUN} --map x", "'--map': 'x' is not valid. Write COL=FIELD"),
    ("{RUN} --map A=B --map A=C", "'--map': 'A' is set twice"),
    ("{RUN} --map nothing=question", "mine.jsonl has no column 'nothing'"),
    ("{RUN} --limit 0", "'--limit': 0 is not in the range"),
    (
        "{RUN} --concurrency none",
        "'--concurrency': 'none' is neither a whole number of at least 1 nor auto",
    ),
    ("{RUN} --concurrency 0", "'0' is neither a whole number of at least 1 nor auto"),
    ("{RUN} --temperature nan", "'--temperature': 'nan' is not a number"),
    ("{RUN} --temperature -1", "'-1' is below 0"),
    ("{RUN} --max-cost inf", "'--max-cost': 'inf' is not a number"),
    ("{RUN} --max-time soon", "'--max-time': 'soon' is not a time. Write 90s, 10m, or 2h"),
    ("{RUN} --max-time 0", "'0' is not a time"),
    ("{RUN} --timeout 30", "'--timeout': '30' is not valid. Write connect=S,first=S,total=S"),
    ("{RUN} --timeout all=30", "'--timeout': there is no time limit all. Write connect=S"),
    ("{RUN} --profile absent.toml", "absent.toml: the profile cannot be read"),
    ("{RUN} --profile images.toml", r"max_sid.*\[images\] has the fields .*max_side"),
    ("{RUN} --profile serve.toml", r"`knd`.*\[serve\] has the fields kind"),
    ("{RUN} --profile mine.jsonl", "mine.jsonl: .* A profile has the fields base_url"),
    ("{RUN} --fail-under accuracy", "'--fail-under': 'accuracy' is not valid. Write METRIC=X"),
    ("{RUN} --fail-under accuracy=high", "'--fail-under': 'high' is not a number"),
    ("{RUN} --fail-under f1=0.5", "--fail-under: no such metric 'f1'. Metrics: accuracy"),
    (
        "{RUN} --fail-under accuracy=99",
        "--fail-under: accuracy lies between 0 and 1; for 99 % write 0.99",
    ),
    ("{RUN} --fail-under accuracy/a=-0.5", "accuracy/a lies between 0 and 1[.]\n"),
    ("{RUN} --fail-under accuracy=0.5 --no-score", "needs a score. Leave out --no-score"),
    ("score .", "not a run folder: it has no manifest.json"),
    (
        "score mine.jsonl --replies answer",
        "mine.jsonl: the benchmark of these replies is not known",
    ),
    ("score . --data x", "data applies only to predictions. Name the predictions' benchmark"),
    ("score absent.jsonl -b eyechart", "absent.jsonl"),
    ("score mine.jsonl -b eyechart", "'answer' may contain right answers"),
    ("score mine.jsonl --replies answer -b eyechart", "none of its 3 ids .* is an id of eyechart"),
    (
        "score mine.jsonl --replies answer -b eyechart --scoring best",
        "eyechart has no scoring 'best'. Scorings: official",
    ),
    (
        "score . --explain 1 --scoring all",
        "--explain shows every scoring. Leave out --scoring and --missing",
    ),
    ("score . --explain 1 --missing wrong", "Leave out --scoring and --missing"),
    ("report .", "contains no runs. It was searched 6 folders deep"),
    ("report mine.jsonl", "mine.jsonl is a file, not .* `snellen score mine.jsonl`"),
    ("export mine.jsonl --to csv", "mine.jsonl is a file, not a run folder"),
    (
        "score mine.jsonl --replies answer -b MMStar --data X_MMStar.xlsx",
        "X_MMStar.xlsx is a spreadsheet, .* Pass the data set's own file \\(MMStar.tsv or ",
    ),
    ("report absent", "absent: no such file or folder"),
    ("check nothing", "no benchmark 'nothing'"),
]


@pytest.mark.parametrize(("words", "message"), WRONG, ids=[words for words, _ in WRONG])
def test_what_is_wrong_is_said_on_standard_error_with_what_to_do(
    snellen: Snellen, rows: Path, words: str, message: str
) -> None:
    (rows.parent / "X_MMStar.xlsx").write_bytes(b"PK\x03\x04")
    (rows.parent / "images.toml").write_text("[images]\nmax_sid = 168\n")
    (rows.parent / "serve.toml").write_text('[serve]\nknd = "vllm"\n')
    done = snellen(*words.replace("{RUN}", " ".join(RUN)).split())

    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    assert re.search(message, done.err)


def test_nothing_is_left_behind_by_what_was_never_asked(snellen: Snellen, rows: Path) -> None:
    snellen(*RUN, "--fail-under", "f1=1")
    snellen(*RUN, "--fail-under", "accuracy=99")
    snellen("run", "-m", "baseline/frist", "-b", "mine.jsonl")

    assert not (rows.parent / "runs").exists()


def test_the_traceback_is_shown_to_who_asks_for_it(snellen: Snellen) -> None:
    done = snellen("--traceback", "show", "nothing")

    assert done.code == 2
    assert "Traceback (most recent call last)" in done.err
    assert "eyechart, " in done.err.splitlines()[-1]


def test_an_argument_that_is_no_text_is_refused(snellen: Snellen, rows: Path) -> None:
    done = snellen("run", "-b", "mine.jsonl", "-m", "openai/\udcff")

    assert done.code == 2
    assert "'openai/\\udcff' is not UTF-8" in done.err


def test_a_message_that_quotes_a_name_rings_no_bell(snellen: Snellen) -> None:
    done = snellen("show", "\x07nothing.jsonl")

    assert done.code == 2
    assert "\x07" not in done.err


@pytest.fixture
def shut() -> Iterator[Path]:
    """A folder for everybody to read, with rows and a folder that nobody may write into."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "shut").mkdir(mode=0o555)
        yield folder


@contextmanager
def nobody() -> Iterator[None]:
    """Permissions stop everybody but root; what a test is taken down with may need them again."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_may_not_be_written_is_named_with_a_way_out(
    snellen: Snellen, rows: Path, shut: Path
) -> None:
    # Once before, so that no module has to be found by a user who may not look there.
    assert snellen(*RUN).code == 0
    copy(rows, shut / "mine.jsonl")
    os.chdir(shut)

    with nobody():
        done = snellen(*RUN, "--out", "shut/runs")

    assert done.code == 2
    assert done.out == ""
    assert "cannot be created: Permission denied" in done.err
    assert "Choose another folder with --out" in done.err


def test_a_report_that_cannot_be_written_is_named(snellen: Snellen, rows: Path) -> None:
    run = snellen(*RUN, "--json").json["run"]

    done = snellen("report", run, "-o", "absent/report.md")

    assert done.code == 2
    assert "absent/report.md cannot be written: No such file or directory" in done.err


def test_a_run_that_was_not_scored_is_met_with_the_command_that_does_it(
    snellen: Snellen, rows: Path
) -> None:
    run = snellen(*RUN, "--no-score", "--json").json[0]["run"]

    done = snellen("report", run)

    assert done.code == 2
    assert f"`snellen score {run}`" in done.err


def test_a_reply_file_of_another_benchmark_leaves_no_report(
    snellen: Snellen, tmp_path: Path
) -> None:
    written(tmp_path / "theirs.jsonl", "AB")

    snellen("score", "theirs.jsonl", "-b", "eyechart")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["theirs.jsonl"]


def test_flags_that_say_more_of_what_is_not_asked_for_are_refused(
    snellen: Snellen, rows: Path, tmp_path: Path
) -> None:
    run = snellen("run", "-m", "baseline/first", "-b", "mine.jsonl", "--shots-seed", "3")
    judge = snellen("judge", tmp_path, "--judge", "baseline/first", "--sample", "3")

    assert (run.code, judge.code) == (2, 2)
    assert "Set the number of examples with --shots" in run.err
    assert "Add --probe" in judge.err

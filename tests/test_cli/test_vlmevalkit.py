"""Classes written for VLMEvalKit, through the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from snellen.media.drawing import Canvas
from snellen.store import Run
from tests.test_benchmarks.test_vlmevalkit_class import CLASS
from tests.test_benchmarks.test_vlmevalkit_class import written as class_written
from tests.test_cli.conftest import Snellen

MODEL = """
from pathlib import Path


class Mine:
    def __init__(self, letter="A"):
        print("loading the weights")
        self.letter = letter

    def use_custom_prompt(self, dataset):
        return dataset == "mine"

    def build_prompt(self, line, dataset=None):
        return [dict(type="text", value=f"My own words: {line['question']}")]

    def generate_inner(self, message, dataset=None):
        print("asked", message)
        with open("asked.txt", "a") as file:
            file.write(message[-1]["value"] + "\\n")
        if Path("broken").exists() and "Which 1" in message[-1]["value"]:
            raise RuntimeError("CUDA out of memory")
        return self.letter
"""
ASK = ("run", "-m", "vlmevalkit:my_model.py:Mine", "-b", "mine.jsonl")


@pytest.fixture
def model(tmp_path: Path, rows: Path) -> Path:
    path = tmp_path / "my_model.py"
    path.write_text(MODEL)
    return path


def read_log(folder: Path) -> list[str]:
    return (folder / "asked.txt").read_text().splitlines()


def test_a_class_is_asked_and_standard_output_stays_json(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    done = snellen(*ASK, "--json")

    assert done.code == 0
    assert done.json["scorings"]["default"]["metrics"]["accuracy"]["value"] == pytest.approx(2 / 3)
    assert "loading the weights" in done.err
    assert read_log(tmp_path) == [f"My own words: Which {n}?" for n in range(3)]


def test_the_identity_says_that_the_prompt_is_the_models_own(snellen: Snellen, model: Path) -> None:
    done = snellen(*ASK, "--json").json

    assert done["identity"]["prompt"] == "the model's own"
    assert done["identity"]["called"] == "mine"
    assert any("with the model's own prompt" in note for note in done["notes"])


@pytest.mark.parametrize("flag", ["temperature", "max-tokens"])
def test_a_flag_that_a_class_would_not_be_told_is_refused(
    snellen: Snellen, tmp_path: Path, model: Path, flag: str
) -> None:
    done = snellen(*ASK, f"--{flag}", "1")

    assert done.code == 2
    assert f"does not use {flag.replace('-', '_')}" in done.err
    assert not (tmp_path / "runs").exists()


def test_what_was_really_asked_is_stored(snellen: Snellen, model: Path) -> None:
    run = Run(Path(snellen(*ASK, "--json").json["run"]))
    assert [question.messages for question in run.questions()] == [
        [("user", [f"My own words: Which {n}?"])] for n in range(3)
    ]


def test_a_class_that_asks_in_the_benchmarks_words_says_nothing_of_its_own(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    model.write_text(MODEL.replace('dataset == "mine"', "False"))
    done = snellen(*ASK, "--json").json

    assert "prompt" not in done["identity"]
    assert read_log(tmp_path)[0].startswith("Which 0?")


def test_the_same_command_asks_nothing_again(snellen: Snellen, tmp_path: Path, model: Path) -> None:
    first, second = snellen(*ASK, "--json"), snellen(*ASK, "--json")

    assert first.json == second.json
    assert len(read_log(tmp_path)) == 3


def test_pictures_of_its_own_prompt_are_no_changed_pictures_of_the_rows(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    (tmp_path / "theirs.png").write_bytes(Canvas(8, 8).png())
    (tmp_path / "its.png").write_bytes(Canvas(9, 8).png())
    row = {"image": "theirs.png", "question": "Which 0?", "A": "x", "B": "y", "answer": "A"}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row))
    own = "return [dict(type='image', value='its.png'), dict"
    model.write_text(MODEL.replace("return [dict", own))
    first, second = snellen(*ASK, "--json"), snellen(*ASK, "--json")

    assert (second.code, first.json) == (0, second.json)
    assert len(read_log(tmp_path)) == 1


def test_another_text_of_the_class_is_another_run(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    first = snellen(*ASK, "--json").json["run"]
    model.write_text(MODEL.replace("My own words", "Others"))
    second = snellen(*ASK, "--json")

    assert first != second.json["run"]
    assert "differs from" in second.err and "model_revision" in second.err
    assert len(read_log(tmp_path)) == 6


def test_what_failed_is_no_answer_and_is_asked_again(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    (tmp_path / "broken").touch()
    first = snellen(*ASK, "--json")
    (tmp_path / "broken").unlink()
    second = snellen(*ASK, "--json")

    assert (first.code, second.code) == (1, 0)
    assert first.json["replies"] == {"ok": 2, "failed": 1}
    assert any("CUDA out of memory (my_model.py, line" in note for note in first.json["notes"])
    assert second.json["replies"] == {"ok": 3}
    assert len(read_log(tmp_path)) == 4


def test_a_prompt_that_cannot_be_built_fails_its_question(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    model.write_text(
        MODEL.replace("return [dict", "1 / (line['index'] != 'q1')\n        return [dict")
    )
    done = snellen(*ASK, "--json")

    assert done.json["replies"] == {"ok": 2, "failed": 1}
    assert len(read_log(tmp_path)) == 2


def test_a_run_that_is_killed_goes_on_where_it_ended(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    second = "Path('slow').exists() and 'Which 1' in message[-1]['value']"
    slow = f"import time; time.sleep(60 if {second} else 0)"
    model.write_text(MODEL.replace("return self.letter", f"{slow}\n        return self.letter"))
    (tmp_path / "slow").touch()
    with subprocess.Popen(
        [sys.executable, "-m", "snellen", *ASK], cwd=tmp_path, stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 30
        while not (tmp_path / "asked.txt").exists() or len(read_log(tmp_path)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    (tmp_path / "slow").unlink()
    done = snellen(*ASK, "--json")

    assert done.json["replies"] == {"ok": 3}
    assert read_log(tmp_path)[2:] == ["My own words: Which 1?", "My own words: Which 2?"]


def test_replies_are_reused_for_the_same_own_words_alone(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    """The file's digest is part of the model's revision: words that come from elsewhere change the
    prompt of the same class."""
    words = "(Path('words').read_text() if Path('words').exists() else 'My own words')"
    model.write_text(MODEL.replace('f"My own words: {', f'{words} + f": {{'))
    first = snellen(*ASK, "--json").json["run"]
    again = snellen(*ASK, "--out", "again", "--reuse", first)
    (tmp_path / "words").write_text("Others")
    others = snellen(*ASK, "--out", "others", "--reuse", first)

    assert "3 reused" in again.err or "3 taken" in again.err
    assert others.code == 0
    assert read_log(tmp_path)[3:] == [f"Others: Which {n}?" for n in range(3)]


def test_a_profiles_extra_are_the_classs_arguments(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    (tmp_path / "my.toml").write_text('[extra]\nletter = "B"\n')
    done = snellen(*ASK, "--profile", "my.toml", "--json")

    assert done.json["scorings"]["default"]["metrics"]["accuracy"]["value"] == pytest.approx(1 / 3)
    assert done.json["identity"]["profile"] == {"extra": {"letter": "B"}}


def test_a_class_is_told_the_name_that_vlmevalkit_has_for_a_benchmark(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    model.write_text(MODEL.replace("return self.letter", "return dataset"))
    done = snellen(
        "run", "-m", "vlmevalkit:my_model.py:Mine", "-b", "POPE", "--data", "synthetic", "--json"
    )

    assert done.json["identity"]["called"] == "POPE"
    run = Run(Path(done.json["run"]))
    run.load()
    replies = {final.reply for question in run.questions() if (final := run.final(question.key))}
    run.close()
    assert replies == {"POPE"}


def test_both_classes_make_a_run_that_can_be_scored_again(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    class_written(tmp_path)
    done = snellen(
        *("run", "-m", "vlmevalkit:my_model.py:Mine"),
        *("-b", "vlmevalkit-class:my_set.py:Letters", "--json"),
    )
    metrics = done.json["scorings"]["evaluate"]["metrics"]
    assert {name: metric["value"] for name, metric in metrics.items()} == {
        "primary": 50.0,
        "Overall": 50.0,
        "by|n": 4.0,
    }
    (tmp_path / "my_set.py").write_text(CLASS.replace("100 * sum", "1 * sum"))
    again = snellen("score", done.json["run"], "--json")
    assert again.json["scorings"]["evaluate"]["metrics"]["primary"]["value"] == 0.5


def test_a_class_of_a_set_takes_no_data_of_another(snellen: Snellen, tmp_path: Path) -> None:
    class_written(tmp_path)
    done = snellen(
        *("run", "-m", "baseline/first", "-b", "vlmevalkit-class:my_set.py:Letters"),
        *("--prompt", "short"),
    )
    assert (done.code, "has its own rows and prompts" in done.err) == (2, True)


def test_no_reply_is_reused_that_was_given_under_another_benchmarks_name(
    snellen: Snellen, tmp_path: Path, model: Path
) -> None:
    """A class may answer by the name that it is told; the requests are the same."""
    model.write_text(MODEL.replace('dataset == "mine"', "False"))
    first = snellen(*ASK, "--json").json["run"]
    log = read_log(tmp_path)
    (tmp_path / "mine.jsonl").rename(tmp_path / "others.jsonl")
    ask = ("run", "-m", "vlmevalkit:my_model.py:Mine", "-b", "others.jsonl", "--reuse", first)
    done = snellen(*ask)

    assert (done.code, read_log(tmp_path)) == (2, log)
    assert "no run has the same model, revision and profile" in done.err


def test_an_estimate_opens_no_class_and_names_the_run_that_may_go_on(
    snellen: Snellen, model: Path
) -> None:
    run = snellen(*ASK, "--json").json["run"]
    done = snellen(*ASK, "--estimate", "--json")

    assert "loading the weights" not in done.err
    assert f"if {run} turns out to be this run, its questions are not asked again" in done.out


def test_every_turn_of_a_conversation_is_asked_with_those_before_it(
    snellen: Snellen, tmp_path: Path
) -> None:
    turns = [{"question": "Is it?", "answer": "yes"}, {"question": "And now?", "answer": "no"}]
    (tmp_path / "talk.jsonl").write_text(json.dumps({"id": "1", "turns": turns}) + "\n")
    (tmp_path / "my_model.py").write_text(
        "class Mine:\n"
        "    def generate_inner(self, message, dataset=None): return 'yes'\n"
        "    def chat_inner(self, messages, dataset=None):\n"
        "        print([(one['role'], one['content'][0]['value'][:8]) for one in messages])\n"
        "        return 'no'\n"
    )
    done = snellen("run", "-m", "vlmevalkit:my_model.py:Mine", "-b", "talk.jsonl", "--json")

    assert done.code == 0
    assert done.json["replies"] == {"ok": 2}
    assert "[('user', 'Is it?\\nA'), ('assistant', 'yes'), ('user', 'And now?')]" in done.err

"""snellen run with several prompts, frame policies or picture sizes: a run each, then a table."""

import base64
import json
from pathlib import Path

import pytest

from snellen.media import images
from snellen.media.content import Image
from snellen.store import runs_below
from tests.servers import completion, serving
from tests.test_cli.conftest import CommandResult, Snellen, written

SIZES = "eyechart:tasks=colors+positions,n=40"


def rows(done: CommandResult, title: str) -> list[str]:
    """The lines of the table under a title, blanks made one."""
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    return lines[next(n for n, line in enumerate(lines) if title in line) + 1 :]


def identities(folder: str = "runs") -> list[dict[str, object]]:
    runs = runs_below(Path(folder))
    return [json.loads((run / "manifest.json").read_bytes())["identity"] for run in runs]


def test_each_size_is_a_run_and_differences_are_to_the_first(snellen: Snellen) -> None:
    done = snellen(
        *("run", "-b", SIZES, "-m", "baseline/reader", "-m", "baseline/first"),
        *("--image-size", "original", "--image-size", "112", "--image-size", "8"),
    )
    assert done.code == 0
    sides = [identity["profile"] for identity in identities()]
    assert sorted(map(str, sides)) == sorted(
        ["{}", "{'images': {'max_side': 112}}", "{'images': {'max_side': 8}}"] * 2
    )
    table = rows(done, "official accuracy by setting")
    # A picture of 8 pixels shows nothing; who does not look has the same whatever the size.
    assert any(line.startswith("nothing set baseline/reader 100.00 %") for line in table)
    assert any(line.startswith("max_side=112 baseline/reader 100.00 %") for line in table)
    first = [line for line in table if line.startswith("max_side=") and "baseline/first" in line]
    assert len(first) == 2 and all("+0.00 pp" in line for line in first)
    text = "\n".join(table)
    assert "baseline/first, best of 3 settings: baseline/first has 15.00 %" in text
    assert "the standard deviation between settings is 0.00 pp" in text
    assert "p is adjusted by Holm's method over the 4 differences shown" in table


def test_a_smaller_picture_is_what_a_server_gets(snellen: Snellen) -> None:
    with serving(completion("red")) as server:
        done = snellen(
            *("run", "-b", "eyechart:tasks=colors,n=1", "-m", "openai/m"),
            *("--base-url", server.url, "--image-size", "100", "--image-size", "50"),
        )
        urls = [
            part["image_url"]["url"]
            for request in server.requests
            for part in request.json["messages"][0]["content"]
            if part["type"] == "image_url"
        ]
    assert done.code == 0
    shown = [images.load(Image(base64.b64decode(url.partition(",")[2]))) for url in urls]
    assert [(image.width, image.height) for image in shown] == [(100, 100), (50, 50)]


def test_models_that_change_places_between_prompts_are_named(
    snellen: Snellen, tmp_path: Path
) -> None:
    """One model knows what the first prompt asks for, the other what the second does."""
    (tmp_path / "models.py").write_text(
        "class Says:\n"
        "    def __init__(self, sign): self.sign = sign\n"
        "    def generate(self, messages):\n"
        "        knows = self.sign in messages[-1].text\n"
        "        return 'The answer is ' + ('B' if knows else 'Z') + '.'\n"
        "one = Says('directly')\n"
        "two = Says('Answer:')\n"
    )
    done = snellen(
        *("run", "-b", "scienceqa", "--data", "synthetic"),
        *("-m", "python:models.py:one", "-m", "python:models.py:two"),
        *("--prompt", "llava", "--prompt", "qcm"),
    )
    assert done.code == 0, done.err
    table = rows(done, "scienceqa: robust accuracy by setting")
    assert any("is above" in line and "and below with" in line for line in table)


def test_a_prompt_that_is_not_there_is_said_before_anything_is_asked(snellen: Snellen) -> None:
    done = snellen(
        *("run", "-b", "scienceqa", "--data", "synthetic", "-m", "baseline/first"),
        *("--prompt", "llava", "--prompt", "nope"),
    )
    assert done.code == 2 and "not 'nope'" in done.err
    assert not Path("runs").exists()


def test_each_setting_shows_its_own_progress_and_notes(snellen: Snellen) -> None:
    sweep = ("-b", SIZES, "-m", "baseline/first", "--image-size=64", "--image-size=32")
    assert snellen("run", "-b", SIZES, "-m", "baseline/first").code == 0

    done = snellen("run", *sweep)

    for size in (64, 32):
        name = f"eyechart × baseline/first, image_size={size}"
        assert f"{name}: a new run: it differs from" in done.err
        assert f"{name}  40/40  " in done.err


def test_one_setting_is_shown_as_ever(snellen: Snellen, rows: Path) -> None:
    once = snellen("run", "-b", str(rows), "-m", "baseline/first")
    assert "by setting" not in once.out and "default" in once.out


def test_the_same_setting_twice_is_one(snellen: Snellen) -> None:
    done = snellen(
        *("run", "-b", SIZES, "-m", "baseline/first", "--image-size", "50", "--image-size", "50")
    )
    assert done.code == 0 and "by setting" not in done.out
    assert len(identities()) == 1


def test_settings_that_come_to_the_same_are_one_run(snellen: Snellen, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text("[images]\nmax_side = 112\n")
    done = snellen(
        *("run", "-b", SIZES, "-m", "baseline/reader", "--profile", tmp_path / "small.toml"),
        *("--image-size", "448", "--image-size", "600", "--image-size", "8"),
    )
    assert "2 runs" in done.out
    table = rows(done, "official accuracy by setting")
    assert [line.split()[0] for line in table[2:4]] == ["max_side=112", "max_side=8"]


def test_settings_in_which_nothing_was_replied_are_not_compared(
    snellen: Snellen, tmp_path: Path
) -> None:
    (tmp_path / "models.py").write_text("def fails(messages):\n    raise ValueError('no')\n")
    done = snellen(
        *("run", "-b", SIZES, "-m", "python:models.py:fails"),
        *("--image-size", "20", "--image-size", "30", "--image-size", "40"),
    )
    assert done.code == 1
    assert "settings not compared" in done.err


OWN_BENCHMARK = """
from pathlib import Path
from typing import Literal

from snellen.core import Benchmark, Image, Reading, Sample, Scoring, user
from snellen.data import Drawn
from snellen.media.drawing import Canvas
from snellen.metrics import mean


def mine(data: Path | None = None, prompt: Literal["plain", "polite"] = "plain") -> Benchmark:
    picture = Image(Canvas(8, 8).png())
    return Benchmark(
        name="mine",
        asks=1,
        data=Drawn("mine", lambda: ({"id": f"{number}"} for number in range(12))),
        sample=lambda index, row: Sample(
            id=row["id"], question=f"Where? {prompt}", choices=("x", "y"), target="A",
            media=(picture,),
        ),
        prompt=lambda sample, history: (user(*sample.media, sample.question),),
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=lambda reply, sample: Reading(answer=reply.text, rule="whole"),
                score=lambda reading, sample: float(reading.answer == sample.target),
                metrics={"accuracy": mean},
            )
        },
    )
"""


def test_settings_of_a_file_with_a_benchmark_are_compared(snellen: Snellen, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_BENCHMARK)
    ask = ("run", "-b", "mine.py", "-m", "baseline/first")

    swept = snellen(*ask, "--prompt", "plain", "--prompt", "polite")
    blind = snellen(*ask, "--blind", "blank")

    assert swept.code == blind.code == 0, swept.err + blind.err
    table = rows(swept, "official accuracy by setting")
    assert [line.split()[0] for line in table[2:4]] == ["prompt=plain", "prompt=polite"]
    assert "baseline/first (blind=blank)" in blind.out


@pytest.mark.parametrize("size", ["0", "-4", "big", "100000", "1.5"])
def test_what_is_no_size_is_wrong_use(snellen: Snellen, size: str) -> None:
    done = snellen("run", "-b", SIZES, "-m", "baseline/first", f"--image-size={size}")
    assert done.code == 2 and "neither a number of pixels nor original" in done.err


def test_videos_have_their_size_in_the_frame_policy(snellen: Snellen) -> None:
    done = snellen("run", "-b", "video-mme", "-m", "baseline/first", "--image-size", "100")
    assert done.code == 2


def test_a_budget_is_shared_and_a_plan_may_list_settings(snellen: Snellen, tmp_path: Path) -> None:
    path = written(tmp_path / "mine.jsonl", "AAB")
    Path("plan.toml").write_text(
        f'models = ["baseline/first"]\nbenchmarks = ["{path}"]\nimage_size = [64, "original"]\n'
        "max_requests = 4\n"
    )
    done = snellen("run", "plan.toml")
    assert done.code == 130
    assert "the budget of 4 requests is used up" in done.err
    assert len(identities()) == 2


def test_an_estimate_is_of_each_setting(snellen: Snellen) -> None:
    done = snellen(
        *("run", "-b", SIZES, "-m", "baseline/first", "--estimate", "--json"),
        *("--image-size", "64", "--image-size", "original"),
    )
    assert done.code == 0 and len(done.json) == 2
    assert not Path("runs").exists()

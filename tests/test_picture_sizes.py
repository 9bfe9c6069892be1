"""A scoring sees the same picture sizes on every path; it needs no prompt."""

import io
import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

import snellen
from snellen.api import explain
from snellen.core.benchmark import Benchmark, History
from snellen.core.model import Reply
from snellen.core.procedure import Conversation
from snellen.core.rule_errors import RuleError
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import Drawn
from snellen.media import images
from snellen.media.content import Image, Message, Slice, assistant, user
from snellen.media.drawing import Canvas
from snellen.metrics import mean
from snellen.transforms.probes import Blind
from tests import tiny

WIDE, TALL = Canvas(256, 64).png(), Canvas(32, 128).png()


class Eyes:
    """A parser of coordinates: notes the sizes that it is shown."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def parse(self, reply: Reply, sample: Sample) -> Reading:
        sizes = [(image.width, image.height) for image in sample.media if isinstance(image, Image)]
        self.seen.append(sizes)
        return Reading(answer=reply.text, rule="whole")

    def taken(self) -> list[Any]:
        seen, self.seen = self.seen, []
        return seen


@pytest.fixture
def eyes() -> Eyes:
    return Eyes()


def points(folder: Path, eyes: Eyes, **fields: Any) -> Benchmark:
    """One question about a wide and a tall picture; its prompt shows the tall one first."""
    (folder / "wide.png").write_bytes(WIDE)
    (folder / "tall.png").write_bytes(TALL)
    media = tuple(Image(folder / name, label=name) for name in ("wide.png", "tall.png"))
    settings: dict[str, Any] = {
        "data": Drawn("points", lambda: iter([{"id": "s"}])),
        "sample": lambda row_index, row: Sample(id="s", question="Where?", media=media, target="1"),
        "prompt": lambda sample, history: (user(*sample.media[::-1], sample.question),),
        "scorings": {
            "official": Scoring(
                version=1,
                source="ours",
                parse=eyes.parse,
                score=lambda reading, sample: 1.0,
                metrics={"accuracy": mean},
            )
        },
        "break_down_by": (),
        **fields,
    }
    return tiny.benchmark(1, **settings)


def constant_model(messages: tuple[Message, ...]) -> str:
    return "1"


SIZES = [(256, 64), (32, 128)]


def test_every_path_shows_a_scoring_the_same_sizes(tmp_path: Path, eyes: Eyes) -> None:
    benchmark = points(tmp_path, eyes)
    out = tmp_path / "runs"
    run = snellen.evaluate(benchmark, constant_model, out=out).run
    assert run is not None
    assert eyes.taken() == [SIZES, SIZES], "the running score, and the final one"

    snellen.score(run, benchmark)
    assert eyes.taken() == [SIZES]
    explain(run, "s", benchmark)
    assert eyes.taken() == [SIZES]
    snellen.evaluate(benchmark, constant_model, out=out)
    assert eyes.taken() == [SIZES], "continued: nothing was asked"

    file = tmp_path / "replies.jsonl"
    file.write_text('{"id": "s", "prediction": "1"}\n')
    snellen.score(file, benchmark)
    explain(file, "s", benchmark)
    assert eyes.taken() == [SIZES, SIZES]


def test_a_run_is_scored_with_the_sizes_that_it_stored(tmp_path: Path, eyes: Eyes) -> None:
    benchmark = points(tmp_path, eyes)
    run = snellen.evaluate(benchmark, constant_model, out=tmp_path / "runs").run
    assert run is not None
    for name in ("wide.png", "tall.png"):
        (tmp_path / name).unlink()
    eyes.taken()

    snellen.score(run, benchmark)
    assert eyes.taken() == [SIZES]


@pytest.mark.parametrize("blind", ["none", "blank"])
def test_under_a_probe_a_scoring_sees_the_samples_own_pictures(
    tmp_path: Path, eyes: Eyes, blind: Blind
) -> None:
    benchmark = points(tmp_path, eyes)
    snellen.evaluate(benchmark, constant_model, out=tmp_path / "runs", blind=blind)
    assert eyes.taken() == [SIZES, SIZES]


def test_each_turn_of_own_rows_has_its_own_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wide.png").write_bytes(WIDE)
    (tmp_path / "tall.png").write_bytes(TALL)
    turns = [{"question": name, "image": f"{name}.png"} for name in ("wide", "tall")]
    (tmp_path / "mine.jsonl").write_text(
        json.dumps({"id": 1, "turns": turns, "answer": ["1", "1"]}) + "\n"
    )
    from snellen import registry

    eyes = Eyes()
    benchmark = registry.benchmark(str(tmp_path / "mine.jsonl"), task="vqa")
    first = benchmark.headline
    scoring = replace(benchmark.scorings[first], parse=eyes.parse, score=lambda *_: 1.0)
    benchmark = replace(benchmark, scorings={first: scoring})
    snellen.evaluate(benchmark, constant_model, out=tmp_path / "runs")
    seen = eyes.taken()
    assert seen == [[(256, 64)], [(32, 128)]] * (len(seen) // 2)


def test_where_there_is_no_picture_there_is_no_size(tmp_path: Path) -> None:
    assert images.sized(Image(tmp_path / "none.png")).width is None
    assert images.sized(Image(b"no picture")).height is None
    assert images.sized(Image(tmp_path / "../a.png", within=tmp_path)).width is None


PICTURE = PIL.Image.fromarray(np.zeros((48, 64, 3), np.uint8))
KINDS = [
    *(("JPEG", {}), ("JPEG", {"icc_profile": bytes(300_000)}), ("PNG", {}), ("GIF", {})),
    *(("WEBP", {}), ("WEBP", {"lossless": True}), ("BMP", {}), ("TIFF", {})),
    *((kind, {"save_all": True, "append_images": [PICTURE]}) for kind in ("PNG", "WEBP", "TIFF")),
]


@pytest.mark.parametrize(("kind", "options"), KINDS)
@pytest.mark.parametrize("turned", [1, 6])
def test_a_size_from_a_files_head_is_that_of_the_whole(
    tmp_path: Path, kind: str, options: dict[str, Any], turned: int
) -> None:
    exif = PIL.Image.Exif()
    exif[0x112] = turned
    buffer = io.BytesIO()
    PICTURE.save(buffer, kind, **({} if kind in ("GIF", "BMP") else {"exif": exif}), **options)
    data = buffer.getvalue()
    (tmp_path / "a").write_bytes(data)
    (tmp_path / "b.tsv").write_bytes(b"1\t" + b64encode(data))
    length = len(b64encode(data))
    for source in (
        tmp_path / "a",
        data,
        b64encode(data),
        b"data:image/x;base64," + b64encode(data),
        Slice(path=tmp_path / "b.tsv", offset=2, length=length, encoding="base64"),
    ):
        loaded = images.load(Image(source))
        sized = images.sized(Image(source))
        assert (sized.width, sized.height) == (loaded.width, loaded.height)


# -- conversations


def looking(folder: Path, eyes: Eyes) -> Benchmark:
    """Two turns; the prompt opens its picture with another library each time that it is asked."""

    def prompt(sample: Sample, history: History) -> tuple[Message, ...]:
        shown = sample.media[0].source
        data = shown if isinstance(shown, bytes) else Path(str(shown)).read_bytes()
        with PIL.Image.open(io.BytesIO(data)) as picture:
            size = picture.size
        if len(history) == 2:
            return ()
        sent = (*history[-1][0], assistant(history[-1][1].text)) if history else ()
        return (*sent, user(*sample.media, f"{size}?"))

    return points(folder, eyes, prompt=prompt, conversation=Conversation(turns=None))


def test_a_prompt_that_looks_at_its_picture_is_not_asked_to_score(
    tmp_path: Path, eyes: Eyes
) -> None:
    benchmark = looking(tmp_path, eyes)
    result = snellen.evaluate(benchmark, constant_model, out=tmp_path / "runs")
    assert result.report.replies == {"ok": 1}
    (tmp_path / "wide.png").unlink()
    assert result.run is not None
    assert snellen.score(result.run, benchmark).report.replies == {"ok": 1}


def without_ends(run: Path) -> Iterator[str]:
    for line in (run / "replies.jsonl").read_text().splitlines(keepends=True):
        if json.loads(line)["kind"] != "end":
            yield line


def test_a_folder_of_an_earlier_version_asks_the_prompt_with_the_real_pictures(
    tmp_path: Path, eyes: Eyes
) -> None:
    benchmark = looking(tmp_path, eyes)
    run = snellen.evaluate(benchmark, constant_model, out=tmp_path / "runs").run
    assert run is not None
    (run / "replies.jsonl").write_text("".join(without_ends(run)))
    assert snellen.score(run, benchmark).report.replies == {"ok": 1}


def test_a_conversation_that_was_interrupted_is_not_scored_until_it_ends(
    tmp_path: Path, eyes: Eyes
) -> None:
    benchmark = looking(tmp_path, eyes)
    run = snellen.evaluate(benchmark, constant_model, out=tmp_path / "runs").run
    assert run is not None
    journal = (run / "replies.jsonl").read_text()
    (run / "replies.jsonl").write_text(journal.splitlines(keepends=True)[0])
    questions = (run / "questions.jsonl").read_text().splitlines(keepends=True)
    (run / "questions.jsonl").write_text(questions[0])
    assert snellen.score(run, benchmark).report.replies == {}

    again = snellen.evaluate(benchmark, constant_model, out=tmp_path / "runs")
    assert again.report.replies == {"ok": 1}


def test_what_fails_in_a_scoring_is_not_blamed_on_the_file_that_is_written(
    tmp_path: Path, eyes: Eyes
) -> None:
    def parse(reply: Reply, sample: Sample) -> Reading:
        raise FileNotFoundError("lexicon.txt")

    benchmark = tiny.benchmark(1)
    run = snellen.evaluate(benchmark, constant_model, out=tmp_path / "runs").run
    assert run is not None
    scoring = replace(benchmark.scorings["official"], parse=parse)
    with pytest.raises(RuleError, match=r"failed with FileNotFoundError: lexicon\.txt .*in parse"):
        snellen.score(run, replace(benchmark, scorings={"official": scoring}))

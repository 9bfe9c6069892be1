"""A resumed run whose pictures or videos have changed since their questions were answered."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from snellen.core.benchmark import Benchmark, History
from snellen.core.model import Request
from snellen.core.procedure import Conversation
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import DataError, Rejected
from snellen.media.content import Image, Message, Video, assistant, user
from snellen.media.drawing import Canvas
from tests import videos
from tests.tiny import Says, benchmark, run, states

N = 8


def write_picture(folder: Path, number: int, side: int = 8) -> None:
    canvas = Canvas(side, side, paper=(50 * number, 0, 0))
    (folder / f"{number}.png").write_bytes(canvas.png())


def of_pictures(folder: Path, n: int = N) -> Benchmark:
    """Questions about pictures, two questions a picture."""

    def sample(row_index: int, row: Row) -> Sample:
        picture = folder / f"{row_index // 2}.png"
        return Sample(id=row["id"], question=row["q"], target="yes", media=(Image(picture),))

    return benchmark(
        n, sample=sample, prompt=lambda sample, _: (user(*sample.media, sample.question),)
    )


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    for number in range(N // 2):
        write_picture(tmp_path, number)
    return tmp_path


def says(word: str = "yes") -> Says:
    return Says(lambda request: word)


def damage_nothing(run: Path) -> None:
    pass


def remove_stamps(run: Path) -> None:
    (run / ".media").unlink()


def damage_stamps(run: Path) -> None:
    (run / ".media").write_bytes(b"\x93\x01")


@pytest.mark.parametrize("damage", [damage_nothing, remove_stamps, damage_stamps])
@pytest.mark.parametrize("repeats", [1, 2])
def test_no_reply_is_kept_for_another_picture(
    pictures: Path, damage: Callable[[Path], None], repeats: int
) -> None:
    out = pictures / "runs"
    first = run(out, says(), of_pictures(pictures))
    for _ in range(2):  # the second time, the stamps of the new pictures count
        run(out, says(), of_pictures(pictures))
    before = (first.run / "manifest.json").read_bytes()
    damage(first.run)
    write_picture(pictures, 3, side=9)

    again = says()
    with pytest.raises(DataError, match=r"the pictures of rows 7, 8 of tiny differ from those"):
        run(out, again, of_pictures(pictures), repeats=repeats)

    assert again.requests == []
    assert (first.run / "manifest.json").read_bytes() == before
    write_picture(pictures, 3)
    assert states(run(out, again, of_pictures(pictures))) == {"ok": N}
    assert again.requests == []


def test_another_folder_reuses_the_replies_to_unchanged_pictures(pictures: Path) -> None:
    first = run(pictures / "runs", says(), of_pictures(pictures))
    write_picture(pictures, 3, side=9)

    again = says("no")
    second = run(pictures / "corrected", again, of_pictures(pictures), reuse=[first.run])

    assert again.questions == ["question 6", "question 7"]
    assert states(second) == {"ok": N}


def test_a_question_without_a_reply_gets_its_corrected_picture(pictures: Path) -> None:
    def fails(request: Request) -> str:
        if request.messages[0].text in ("question 6", "question 7"):
            raise Rejected("the picture is too odd")
        return "yes"

    tiny, out = of_pictures(pictures), pictures / "runs"
    assert states(run(out, Says(fails), tiny)) == {"ok": N - 2, "failed": 2}
    write_picture(pictures, 3, side=9)

    again = says()
    assert states(run(out, again, tiny)) == {"ok": N}
    assert sorted(again.questions) == ["question 6", "question 7"]
    assert states(run(out, again, tiny)) == {"ok": N}
    write_picture(pictures, 3)
    with pytest.raises(DataError, match="rows 7, 8"):
        run(out, again, tiny)


def test_pictures_of_later_turns_are_compared(pictures: Path) -> None:
    def prompt(sample: Sample, history: History) -> tuple[Message, ...]:
        before = [part for sent, reply in history for part in (sent[-1], assistant(reply.text))]
        number = 2 * int(sample.question[-1]) + len(history)
        return (*before, user(Image(pictures / f"{number}.png"), "What is this?"))

    tiny = benchmark(2, prompt=prompt, conversation=Conversation(turns=2))
    run(pictures / "runs", says(), tiny)
    write_picture(pictures, 1, side=9)

    with pytest.raises(DataError, match="the pictures of row 1 of"):
        run(pictures / "runs", says(), tiny)


def test_videos_are_compared(tmp_path: Path) -> None:
    for name, n in (("a", 30), ("b", 40)):
        videos.cfr(tmp_path / f"{name}.mp4", n)

    def sample(row_index: int, row: Row) -> Sample:
        video = Video(tmp_path / f"{row_index}.mp4")
        return Sample(id=row["id"], question=row["q"], target="yes", media=(video,))

    for number in range(5):
        shutil.copy(tmp_path / "a.mp4", tmp_path / f"{number}.mp4")
    tiny = benchmark(
        5,
        sample=sample,
        prompt=lambda sample, _: (user(*sample.media, sample.question),),
        frames="uniform:2",
    )
    run(tmp_path / "runs", says(), tiny)
    assert states(run(tmp_path / "runs", says(), tiny)) == {"ok": 5}
    shutil.copy(tmp_path / "b.mp4", tmp_path / "4.mp4")

    with pytest.raises(DataError, match="the videos of row 5 of"):
        run(tmp_path / "runs", says(), tiny)

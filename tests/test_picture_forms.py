"""What is a picture by its form is a picture, or an error that says what to do; never text."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.core.sample import Sample
from snellen.errors import DataError, MediaError
from snellen.media import forms
from snellen.media.content import Image, Message, assistant, user
from tests import picture_forms as page
from tests import tiny
from tests.picture_forms import PNG
from tests.servers_download import Served, Server, serving_files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.png").write_bytes(PNG)
    return tmp_path


@pytest.fixture
def server() -> Iterator[Server]:
    files = {"/a.png": Served(PNG), "/b.png": Served(b"<html>"), "/c.png": Served(status=404)}
    with serving_files(files) as server:
        yield server


def sees(messages: tuple[Message, ...]) -> str:
    """A model that says how many pictures it sees."""
    return str(len(messages[-1].images))


# -- every form at every door


@pytest.mark.parametrize("form", page.FORMS, ids=lambda form: form.name)
def test_a_form_at_every_door_is_what_the_page_says(form: page.Form) -> None:
    lines = page.PAGE.read_text(encoding="utf-8").splitlines(keepends=True)
    assert page.row(form) in lines, "run: python -m tests.picture_forms"


def test_the_page_has_these_forms_alone() -> None:
    _, _, table = page.PAGE.read_text(encoding="utf-8").partition(page.HEAD)
    names = [line.removeprefix("| ").partition(" | ")[0] for line in table.splitlines()]
    assert names == [form.name for form in page.FORMS]


# -- the rule


@pytest.mark.parametrize(
    "text",
    [
        "What is on https://example.org/a.jpg?",
        "https://example.org/a.jpg shows what?",
        "https://example.org",
        "https://example.org/a.html",
        "https://arxiv.org/abs/2407.11691",
        "photo of a cat.jpg in a box",
        "The file is a.png",
        ".jpg",
        "/help",
        "/etc/hosts",
        "src/app.ts",
        "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8=",
        "data: 5, 6",
        "Look at this:\n/home/me/a.jpg",
        "",
    ],
)
def test_a_text_that_only_mentions_a_picture_is_text(text: str) -> None:
    assert forms.kind_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "a.png",
        "  /home/me/a.JPEG\n",
        "/home/me/my pictures/a.jpg",
        r"\\server\share\a.tif",
        "https://example.org/a.jpg#top",
        "https://example.org/get.php?file=7",
        "https://user:secret@example.org/a.webp",
        "gs://bucket/a.png",
        "data:image/svg+xml,%3Csvg%3E",
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBD",
    ],
)
def test_a_text_that_is_a_picture_as_a_whole_is_one(text: str) -> None:
    assert forms.kind_of(text) == "image"


def test_a_file_without_an_ending_is_known_by_its_first_bytes(folder: Path) -> None:
    (folder / "000123").write_bytes(PNG)
    assert forms.kind_of(f"{folder}/000123") == "image"
    assert forms.kind_of(f"{folder}/none") is None


def test_what_an_address_keeps_secret_is_in_no_message() -> None:
    (image,) = forms.parts("https://bob:secret@example.org/a.jpg?key=secret", "part 1")
    assert isinstance(image, Image)
    assert str(image.source) == "https://example.org/a.jpg"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (3, "part 1 is an int, which is neither text nor a picture"),
        ({"type": "audio", "value": "a.wav"}, "has the type 'audio'. Use text, image"),
        ({"type": "image"}, "without a picture"),
        (
            {"type": "image", "value": "a.png", "max_pixels": 9},
            "in addition to value, that Snellen does not support: max_pixels",
        ),
        ("file://elsewhere/a.png", "a file on another machine, 'elsewhere'"),
    ],
)
def test_what_cannot_be_shown_is_an_error_in_words(value: Any, says: str) -> None:
    with pytest.raises(MediaError, match=says):
        forms.parts(value, "part 1")


# -- own rows


@pytest.mark.parametrize(
    "choice", ["a.png", "https://example.org/a.jpg", page.DATA_URL, {"bytes": page.BASE64}]
)
def test_a_choice_that_is_a_picture_is_refused(folder: Path, choice: Any) -> None:
    row = {"id": 1, "question": "Which?", "choices": ["a cat", choice], "answer": "A"}
    (folder / "mine.jsonl").write_text(json.dumps(row))
    benchmark = registry.benchmark("mine.jsonl")
    with pytest.raises(DataError, match=r"row 1 of mine\.jsonl has a choice B that .*<image 1>"):
        benchmark.read(next(iter(benchmark.data)))


def test_a_choice_may_say_that_it_is_text(folder: Path) -> None:
    choices = ["a cat", {"type": "text", "text": "a.png"}]
    row = {"id": 1, "question": "Which?", "choices": choices, "answer": "B"}
    (folder / "mine.jsonl").write_text(json.dumps(row))
    benchmark = registry.benchmark("mine.jsonl")
    assert benchmark.read(next(iter(benchmark.data))).choices == ("a cat", "a.png")


def test_a_question_that_is_a_list_of_parts_is_refused(folder: Path) -> None:
    question = [{"type": "image", "value": "a.png"}, "What is it?"]
    (folder / "mine.jsonl").write_text(json.dumps({"id": 1, "question": question, "answer": "a"}))
    benchmark = registry.benchmark("mine.jsonl", task="vqa")
    with pytest.raises(DataError, match="has a question that is not text but of type list"):
        benchmark.read(next(iter(benchmark.data)))


# -- a benchmark's own prompt


def test_the_samples_own_question_and_what_the_model_said_are_text() -> None:
    address = "https://example.org/a.jpg"
    benchmark = tiny.benchmark(
        1,
        sample=lambda row_index, row: Sample(id="1", question=address, target="yes"),
        prompt=lambda sample, history: (
            user(sample.question),
            assistant("https://example.org/b.jpg"),
            user("Sure?"),
        ),
    )
    request = benchmark.request(benchmark.read(next(iter(benchmark.data))))
    assert request is not None
    assert [message.content for message in request.messages] == [
        (address,),
        ("https://example.org/b.jpg",),
        ("Sure?",),
    ]


def test_a_blind_run_sees_no_picture_that_a_prompt_names_by_its_path(
    folder: Path, tmp_path: Path
) -> None:
    benchmark = tiny.benchmark(
        1, prompt=lambda sample, history: (user(f"{folder}/a.png", "What?"),)
    )
    seen, blind = (
        snellen.evaluate(benchmark, sees, out=tmp_path / "runs", blind=blind)
        for blind in (None, "none")
    )
    assert [answers(result.run) for result in (seen, blind)] == [["1"], ["0"]]


def answers(run: Path | None) -> list[str]:
    assert run is not None
    return [line["reply"] for line in journal(run)]


def journal(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "replies.jsonl").read_text().splitlines()]


# -- addresses


def rows_of(folder: Path, *addresses: str) -> str:
    rows = [
        {"id": number, "image": address, "question": "How many pictures?", "answer": "1"}
        for number, address in enumerate(addresses)
    ]
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(folder / "mine.jsonl")


def test_an_address_in_data_ends_the_run_unless_it_may_be_fetched(
    folder: Path, server: Server
) -> None:
    rows = rows_of(folder, f"{server.url}/a.png")
    with pytest.raises(DataError, match=r"row 1 of mine\.jsonl, image is a URL.*--allow-urls"):
        snellen.evaluate(rows, sees, task="count")
    assert not server.requests

    result = snellen.evaluate(rows, sees, task="count", allow_urls=True)
    assert (answers(result.run), len(server.requests)) == (["1"], 1)


def test_a_picture_that_cannot_be_fetched_fails_its_question_alone(
    folder: Path, server: Server
) -> None:
    rows = rows_of(folder, *(f"{server.url}/{name}.png" for name in "abc"))
    result = snellen.evaluate(rows, sees, task="count", allow_urls=True)

    assert result.run is not None
    assert result.report.replies == {"ok": 1, "failed": 2}
    errors = [line["error"]["message"] for line in journal(result.run) if "error" in line]
    assert any("b.png begins with b'<html>'" in error for error in errors)
    assert any("could not be fetched" in error and "404" in error for error in errors)


def test_the_command_line_has_leave_to_fetch_too(
    folder: Path, server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    from snellen import cli

    command = ["run", "-m", "baseline/first", "-b", rows_of(folder, f"{server.url}/a.png")]
    assert cli.exit_code([*command, "--task", "count"]) == 2
    assert "--allow-urls" in capfd.readouterr().err
    assert cli.exit_code([*command, "--task", "count", "--allow-urls"]) == 0


def test_an_address_that_is_no_picture_is_no_question(server: Server) -> None:
    with pytest.raises(
        MediaError, match=r"part 1 is not a picture: the content of http://.*/b\.png"
    ):
        snellen.ask(sees, f"{server.url}/b.png", "What is it?")


@pytest.mark.parametrize("path", ["~nobody-of-this-name/a.png", Path("~nobody-of-this-name/a.png")])
def test_the_home_of_a_user_who_does_not_exist_is_a_missing_file(path: object) -> None:
    with pytest.raises(MediaError, match="nobody-of-this-name"):
        snellen.ask(sees, path, "What is it?")


def test_a_picture_that_a_server_says_is_too_large_is_not_fetched() -> None:
    with (
        serving_files({"/a.png": Served(PNG, says=100_000_001)}) as huge,
        pytest.raises(MediaError, match=r"has more than 100,000,000 bytes\. Save a smaller copy"),
    ):
        snellen.ask(sees, f"{huge.url}/a.png", "What is it?")

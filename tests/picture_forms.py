"""The forms in which a picture may come, put through every door; the page that shows what happens.

python -m tests.picture_forms      writes docs/decisions/picture-forms.md anew
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
import PIL.Image

import snellen
from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Origin, Request, loaded
from snellen.core.profile import Profile
from snellen.core.sample import Sample
from snellen.errors import DataError, ModelError
from snellen.media import encode, images
from snellen.media.content import Image, Message, Video, user
from snellen.media.drawing import Canvas
from snellen.models.vlmevalkit import open_model
from snellen.run import fetched
from tests import tiny
from tests.servers_download import Served, serving_files

PAGE = Path(__file__).parents[1] / "docs" / "decisions" / "picture-forms.md"
PNG = Canvas(8, 8).png()
PIXELS = images.pixels(Image(PNG))
BASE64 = b64encode(PNG).decode()
DATA_URL = f"data:image/png;base64,{BASE64}"
QUESTION = "What is it?"
SHARED = "snellen_tests_picture_form"
"""The module through which the classes in files below get the form."""
ABSENT = "-"

SET = f"""
import {SHARED}


class Set:
    TYPE = "VQA"
    MODALITY = "IMAGE"

    def __init__(self, dataset="Set"):
        self.dataset_name = dataset
        self.data = [dict(index=0, question="Q", answer="A")]

    def build_prompt(self, line):
        return [{SHARED}.form, "{QUESTION}"]

    def evaluate(self, eval_file, **judge_kwargs):
        return dict(acc=1.0)
"""
MODEL = f"""
import {SHARED}


class Model:
    def use_custom_prompt(self, dataset):
        return True

    def build_prompt(self, line, dataset=None):
        return [{SHARED}.form, "{QUESTION}"]

    def generate_inner(self, message, dataset=None):
        {SHARED}.message = message
        return "A"
"""


@dataclass(frozen=True)
class Form:
    """One way to write a picture down. `make` gives it, of a folder and a server's address; `video`
    is of a video, `text` of a text that is none of both; `pictures` is how many it shows."""

    name: str
    make: Callable[[Path, str], Any]
    video: bool = False
    text: bool = False
    pictures: int = 1


def typed(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


FORMS = (
    Form("absolute path", lambda folder, url: f"{folder}/a.png"),
    Form("relative path", lambda folder, url: "a.png"),
    Form("path with a blank, ending in capitals", lambda folder, url: f"{folder}/a b.PNG"),
    Form("path of a file that does not exist", lambda folder, url: f"{folder}/none.jpg"),
    Form("Windows path", lambda folder, url: r"C:\pictures\a.png"),
    Form("`pathlib.Path`", lambda folder, url: folder / "a.png"),
    Form("`http://` address", lambda folder, url: f"{url}/a.png"),
    Form("address in capitals", lambda folder, url: f"{url}/A.PNG".replace("http", "HTTP")),
    Form("address with a query", lambda folder, url: f"{url}/a.png?size=8"),
    Form("address without an ending", lambda folder, url: f"{url}/picture"),
    Form("`s3://` address", lambda folder, url: "s3://bucket/a.png"),
    Form("`file://` address", lambda folder, url: f"file://{folder}/a.png"),
    Form("`data:` address", lambda folder, url: DATA_URL),
    Form("base64", lambda folder, url: BASE64),
    Form("base64, cut off", lambda folder, url: BASE64[:80]),
    Form("bytes", lambda folder, url: PNG),
    Form("Pillow image", lambda folder, url: PIL.Image.open(io.BytesIO(PNG))),
    Form("numpy array, uint8", lambda folder, url: PIXELS),
    Form("numpy array, float", lambda folder, url: PIXELS / 255),
    Form("`{type: image, value: path}`", lambda f, url: typed("image", value=f"{f}/a.png")),
    Form("`{type: image, value: address}`", lambda f, url: typed("image", value=f"{url}/a.png")),
    Form(
        "`{type: image_url, image_url: {url: data:}}`",
        lambda folder, url: typed(
            "image_url", image_url={"url": f"data:image/png;base64,{BASE64}"}
        ),
    ),
    Form("list of two paths", lambda f, url: [f"{f}/a.png", f"{f}/a b.PNG"], pictures=2),
    Form("`Image(path)`", lambda folder, url: Image(folder / "a.png")),
    Form('`Image("path")`', lambda folder, url: Image(f"{folder}/a.png")),  # type: ignore[arg-type]
    Form("path of a video", lambda folder, url: f"{folder}/a.mp4", video=True),
    Form("address of a video", lambda folder, url: f"{url}/a.mp4", video=True),
    Form("`data:` address of a video", lambda f, url: "data:video/mp4;base64,AAAA", video=True),
    Form(
        "`{type: video, value: path}`", lambda f, u: typed("video", value=f"{f}/a.mp4"), video=True
    ),
    Form("`Video(path)`", lambda folder, url: Video(folder / "a.mp4"), video=True),
    Form("sentence with an address in it", lambda f, url: f"What is on {url}/a.png?", text=True),
    Form("address of a page", lambda folder, url: "https://example.org/a.html", text=True),
    Form(
        "address meant as text: a column of text, `{type: text, text: …}`",
        lambda f, url: typed("text", text=f"{url}/a.png"),
        text=True,
    ),
)


Read = Callable[[Request], Request]
"""Reads the media of a request, as the runner does."""


def fetching(request: Request) -> Request:
    """As the runner does with --allow-urls."""
    return loaded(asyncio.run(fetched(request)))


class Blind(AssertionError):
    """A picture came to the model as text."""


# -- the doors: what a form becomes there; ABSENT where it cannot be written down


def own_rows(form: Any, kind: Form, read: Read) -> Any:
    """Column `image` (`video`) of JSONL, or of parquet where the form is bytes; for a text the
    column `question`."""
    column = "question" if kind.text else "video" if kind.video else "image"
    form = form["text"] if kind.text and isinstance(form, dict) else form
    row = {"id": 1, "question": QUESTION, "answer": "A", column: form}
    if isinstance(form, bytes):
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(
            pyarrow.table({name: [cell] for name, cell in row.items()}), "r.parquet"
        )
        return of_benchmark(read, registry.benchmark("r.parquet", task="vqa"))
    try:
        Path("rows.jsonl").write_text(json.dumps(row))
    except TypeError:
        return ABSENT
    return of_benchmark(read, registry.benchmark("rows.jsonl", task="vqa"))


def sheet(form: Any, kind: Form, read: Read, column: str) -> Any:
    """A TSV in VLMEvalKit's form; a first row makes it one."""
    form = form["text"] if kind.text and isinstance(form, dict) else form
    if not isinstance(form, str):
        return ABSENT
    column = "question" if kind.text else "video" if kind.video else column
    other_picture = "" if column == "image_path" else BASE64
    names = list(dict.fromkeys(["index", "image", "question", "answer", column]))
    rows = [
        {"index": 0, "image": BASE64, "question": "?", "answer": "A"},
        {
            "index": 1,
            "image": "" if kind.video else other_picture,
            "question": QUESTION,
            "answer": "A",
        }
        | {column: form},
    ]
    if column == "image_path":
        names.remove("image")
        rows = [{**row, "image_path": row.get("image_path", "a.png")} for row in rows]
    with open("rows.tsv", "w", newline="") as file:
        writer = csv.DictWriter(file, names, delimiter="\t", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return of_benchmark(read, registry.benchmark("rows.tsv", task="vqa"), row=1)


def data_set_class(form: Any, kind: Form, read: Read) -> Any:
    Path("set.py").write_text(SET)
    with shared(form):
        return of_benchmark(read, registry.benchmark("vlmevalkit-class:set.py:Set:Set"))


def ask(form: Any, kind: Form, read: Read) -> Any:
    seen: list[Message] = []

    def model(messages: tuple[Message, ...]) -> str:
        seen.extend(messages)
        return "A"

    snellen.ask(model, form, QUESTION)
    return seen


def model_class(form: Any, kind: Form, read: Read) -> Any:
    """`build_prompt` of a model's class, whose `generate_inner` gets what it said."""
    Path("model.py").write_text(MODEL)

    origin = Origin(benchmark="Set", sample="1", columns=lambda: {"question": "Q"})
    with shared(form) as box:
        model = open_model("model.py:Model", profile=Profile(), api_key=None)
        try:
            worded = asyncio.run(model.prompted(Request(messages=(user("Q"),), origin=origin)))
            request = read(worded)
            asyncio.run(model.generate(request))
            kinds = [part["type"] for part in box.message]
        finally:
            asyncio.run(model.close())
    n = kinds.count("image")
    if kind.text != (set(kinds) == {"text"}) or n != kind.pictures * (
        not kind.text and not kind.video
    ):
        raise Blind(f"generate_inner got {kinds}")
    return [*request.messages]


def prompt(form: Any, kind: Form, read: Read) -> Any:
    return of_benchmark(
        read, tiny.benchmark(1, prompt=lambda sample, history: (user(form, QUESTION),))
    )


DOORS: Mapping[str, Callable[[Any, Form, Read], Any]] = {
    "own rows": own_rows,
    "TSV, `image`": lambda form, kind, read: sheet(form, kind, read, "image"),
    "TSV, `image_path`": lambda form, kind, read: sheet(form, kind, read, "image_path"),
    "`build_prompt` of a data set class": data_set_class,
    "`snellen.ask`": ask,
    "`build_prompt`, `generate_inner` of a model class": model_class,
    "a benchmark's `prompt`": prompt,
}


def of_benchmark(read: Read, benchmark: Benchmark, row: int = 0) -> list[Message]:
    """What a model gets of a row, as the runner reads it."""
    sample: Sample = benchmark.read([*benchmark.data][row])
    request = benchmark.request(sample)
    assert request is not None
    return [*read(request).messages]


BOX: Any = ModuleType(SHARED)


@contextmanager
def shared(form: Any) -> Iterator[Any]:
    """The module in which a class of a file finds the form, and leaves what it got."""
    BOX.form, BOX.message = form, []
    sys.modules[SHARED] = BOX
    try:
        yield BOX
    finally:
        del sys.modules[SHARED]


# -- cells


def outcome(door: str, form: Form, folder: Path, url: str, read: Read = loaded) -> str:
    """What becomes of a form at a door: picture, video, text, error, or ABSENT.

    Raises:
        Blind: a picture became text.
    """
    content = form.make(folder, url)
    try:
        messages = DOORS[door](content, form, read)
    except (DataError, ModelError) as error:
        assert str(error) and not form.text, error
        return "error"
    return ABSENT if messages == ABSENT else seen(messages, content, form)


def seen(messages: list[Message], content: Any, form: Form) -> str:
    parts = [part for message in messages for part in message.content]
    texts = [part for part in parts if isinstance(part, str)]
    shown = [part for part in parts if isinstance(part, Image)]
    if form.text:
        wanted = content["text"] if isinstance(content, dict) else content
        if not any(wanted in text for text in texts):
            raise Blind(f"{wanted} is not among {texts}")
        return "text"
    if any(str(content)[:40] in text for text in texts):
        raise Blind(f"{form.name} came as text: {texts}")
    if form.video:
        if not any(isinstance(part, Video) for part in parts):
            raise Blind(f"{form.name} is not among {parts}")
        return "video"
    if len(shown) != form.pictures:
        raise Blind(f"{form.name}: {len(shown)} pictures")
    for image in shown:
        assert np.array_equal(images.pixels(image), PIXELS), "another picture"
    return "picture"


@contextmanager
def laid_out() -> Iterator[tuple[Path, str]]:
    """A folder with the pictures, as the current one, and a server that has them."""
    before = Path.cwd()
    served = Served(PNG)
    files = {"/a.png": served, "/A.PNG": served, "/picture": served}
    with TemporaryDirectory() as name, serving_files(files) as server:
        folder = Path(name).resolve()
        for file in ("a.png", "a b.PNG"):
            (folder / file).write_bytes(PNG)
        encode.mp4(folder / "a.mp4", [np.zeros((16, 16, 3), np.uint8)] * 2, fps=Fraction(2))
        os.chdir(folder)
        try:
            yield folder, server.url
        finally:
            os.chdir(before)


# -- the page


def table() -> str:
    """The table, of what the code does now."""
    return HEAD + "".join(map(row, FORMS))


HEAD = f"| form | {' | '.join(DOORS)} |\n|{' --- |' * (len(DOORS) + 1)}\n"


def row(form: Form) -> str:
    """A line of the table."""
    with laid_out() as (folder, url):
        cells = [cell(door, form, folder, url) for door in DOORS]
    return f"| {' | '.join([form.name, *cells])} |\n"


def cell(door: str, form: Form, folder: Path, url: str) -> str:
    """A cell of the page; *fetched* where the error goes with leave to fetch."""
    result = outcome(door, form, folder, url)
    if result == "error" and outcome(door, form, folder, url, fetching) == "picture":
        return "*fetched*"
    return result


if __name__ == "__main__":
    written = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(written[: written.index("| form |")] + table(), encoding="utf-8")

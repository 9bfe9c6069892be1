"""Messages of recipes beside those that the makers' or toolkits' own code builds.

The cases are in the folder `recipes` of the golden data; `SNELLEN_RECIPE_CASES` names another
folder of the same form. A case's row becomes a sample by the form of its benchmark's rows.
"""

import ast
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from snellen import recipes
from snellen.core.sample import Sample
from snellen.errors import UsageError
from snellen.media.content import Frame, Image, Part, Video
from snellen.media.drawing import Canvas
from snellen.media.layout import laid_out
from tests.golden_data import FOLDER

CASES = Path(os.environ.get("SNELLEN_RECIPE_CASES") or FOLDER / "recipes")
VARIANTS = ("_cot", ".no_think")
IN_SOURCE = re.compile(r"dataset (\w+)\)$")
NOT_SENT = ("command",)
"""What says how a source's program was started, not what it sends."""


def files() -> list[Path]:
    return sorted(CASES.glob("*/*.jsonl"))


def ask_of(file: Path) -> recipes.Ask:
    """The ask of a file of cases. Its folder is the recipe, its name the data set and the variant.

    A name that the recipe does not know is taken from the cases' source, if it has a data set.

    Raises:
        UsageError: the recipe does not ask the data set; the message lists those that it asks.
    """
    recipe = recipes.load(file.parent.name)
    name = file.name.removesuffix(".jsonl")
    variant = next((ending for ending in VARIANTS if name.endswith(ending)), "")
    if (name, "") in recipe.asks:
        return recipe.ask(name)
    data_set = name.removesuffix(variant)
    if (data_set, "") not in recipe.asks and (match := IN_SOURCE.search(source_of(file))):
        data_set = match[1].lower()
    return recipe.ask(data_set, variant.strip("_.").replace("_", "-"))


def source_of(file: Path) -> str:
    return str(next(cases(file))["source"])


@cache
def picture(width: int, height: int) -> Image:
    return Image(Canvas(width, height).png())


def sizes_of(row: Mapping[str, Any], data_set: str) -> list[tuple[int, int]]:
    """The sizes of the row's pictures; 8 by 8 if the case does not state them.

    Questions of MMMU name their pictures; the others have one each.
    """
    sizes = row.get("sizes") or row.get("images") or ([row["size"]] if "size" in row else None)
    if sizes is None:
        text = f"{row.get('question')} {row.get('options')}"
        several = "mmmu" in data_set and "vision" not in data_set
        number = len(set(re.findall(r"<image \d>", text))) if several else 1
        sizes = [[8, 8]] * max(1, number)
    return [(width, height) for width, height in sizes]


TAIL = re.compile(
    r"\n(Answer (with the option's letter|the question)|Please answer directly)[^\n]*$"
)
HEAD = re.compile(r"^Select the best answer[^\n]*\n")
LETTERED = re.compile(r"\n([A-J])\. ([^\n]*)")
OF_V_STAR = re.compile(r"\n\(([A-J])\) ([^\n]*)")
BARE = re.compile(r"^\(?([A-J])[.)] ")
WITH_CHOICES = {
    *("ai2d", "pope", "pope_cot", "realworldqa", "realworldqa_boxed", "seedbench_img"),
    *("video_mme", "vstar_bench"),
}
"""Data sets whose questions hold their choices or their instruction, unless columns have them."""
QUESTIONS = (
    *("question", "Question", "text", "questions", "instruction", "query", "sent"),
    *("reasoning_q", "descriptive_q"),
)
CHOICES = ("options", "choices", "candidates", "option", "multi-choice options", "Options")
"""The columns that hold the question, and all choices."""


def parsed(text: str, choice: re.Pattern[str]) -> tuple[str, list[str]]:
    """The question and the choices of a text that holds both, without its instruction."""
    text = TAIL.sub("", HEAD.sub("", text)).removesuffix("\nThe best answer is:")
    return choice.sub("", text), [match[2] for match in choice.finditer(text)]


def choices_of(row: Mapping[str, Any]) -> list[str]:
    """The choices that a row's columns hold, without their letters."""
    choices = [str(row[letter]) for letter in "ABCDEFGHIJ" if is_text(row.get(letter))]
    listed = next((row[name] for name in CHOICES if name in row), None)
    if isinstance(listed, str) and listed.startswith("["):
        listed = ast.literal_eval(listed)
    if isinstance(listed, str) and listed.startswith("(a)"):
        listed = [part.strip() for part in re.split(r"\([a-z]\)", listed)[1:]]
    if isinstance(listed, list):
        texts = [str(choice) for choice in listed]
        letters = [match[1] for match in map(BARE.match, texts) if match]
        is_lettered = letters == [*"ABCDEFGHIJ"[: len(texts)]]
        choices = [BARE.sub("", text) if is_lettered else text for text in texts]
    return choices


def is_text(value: object) -> bool:
    """Whether a cell has a text or a number; `nan` is how empty cells of tables are written."""
    return value is not None and str(value) != "nan"


def sample_of(row: Mapping[str, Any], data_set: str, *, video: bool) -> Sample:
    """The sample of a row, by the names of its columns."""
    content = row.get("input", row)
    question = str(next((content[name] for name in QUESTIONS if name in content), ""))
    choices = choices_of(row)
    is_table = "index" in row and "category" in row  # columns of VLMEvalKit
    if not choices and data_set in WITH_CHOICES and not is_table:
        question, choices = parsed(question, OF_V_STAR if "label" in row else LETTERED)
    media: list[Image | Video] = [picture(*size) for size in sizes_of(row, data_set)]
    if video:
        media = [Video(Path("video.mp4"))]
    data = {name: value for name, value in {**row, **content}.items() if str(value) != "nan"}
    return Sample(
        id=str(row.get("index", row.get("id", "0"))),
        question=question,
        choices=tuple(choices),
        media=tuple(media),
        data=data,
    )


def messages_of(case: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The role and text of each message, with `<image>` and `<video>` where media stand."""
    messages = []
    for message in case["messages"]:
        text = flat(message["content"])
        apart = message.get("images", 0) - text.count("<image>")
        messages.append((message["role"], "<image>" * apart + text))
    return messages


def flat(content: object) -> str:
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "".join(
        item.get("text", "<video>" if "video" in item else "<image>") for item in content
    )


def built(ask: recipes.Ask, sample: Sample) -> list[tuple[str, str]]:
    system = [("system", ask.manner.system)] if ask.manner.system else []
    return [*system, ("raw_prompt" if ask.manner.raw else "user", ask.text(sample))]


def limits_of(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the source states for each picture and video besides its data."""
    skipped = {"type", "image", "url", "video", "text", "given_size"}
    return [
        {key: value for key, value in item.items() if key not in skipped}
        for message in case["messages"]
        if isinstance(message["content"], list)
        for item in message["content"]
        if "text" not in item
    ]


def cases(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").split("\n"):
        if line:
            yield json.loads(line)


def without(settings: Mapping[str, object], names: Collection[str]) -> dict[str, object]:
    return {name: value for name, value in settings.items() if name not in names}


@pytest.mark.parametrize("file", files(), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_messages_and_settings_are_those_of_the_source(file: Path) -> None:
    ask = ask_of(file)
    for case in cases(file):
        row = case["row"]
        sample = sample_of(row, ask.data_set, video="video" in row or "<video>" in case["text"])
        assert built(ask, sample) == messages_of(case)
        settings = ask.settings(sizes_of(row, ask.data_set))
        assert without(settings, NOT_SENT) == without(case["generation"], NOT_SENT)
        assert all(limits == ask.manner.picture for limits in limits_of(case))
        if not ask.manner.raw:
            parts = [part for item in ask.messages(sample)[-1].content for part in in_parts(item)]
            assert recipes.as_text(parts) == ask.text(sample)


def in_parts(part: Part) -> Sequence[Part]:
    """A video with captions as the pictures and texts that a model gets, with a frame for each."""
    if not isinstance(part, Video) or not part.captions:
        return [part]
    frames = tuple(Frame(time=number, image=Image(b"")) for number in range(len(part.captions)))
    return laid_out(replace(part, frames=frames))


def test_a_renamed_file_is_known_by_its_source(tmp_path: Path) -> None:
    path = write(tmp_path / "qwen2-vl", "part-1_cot.jsonl", "a/b@0:c (model M, dataset MMStar)")
    with pytest.raises(UsageError, match=r"does not say how mmstar \(cot\) is asked"):
        ask_of(path)
    plain = write(tmp_path / "qwen2-vl", "part-1.jsonl", "a/b@0:c (model M, dataset MMStar)")
    assert ask_of(plain).data_set == "mmstar"


def test_a_data_set_that_the_recipe_does_not_ask_is_a_clear_failure(tmp_path: Path) -> None:
    path = write(tmp_path / "qwen2-vl", "unheard.jsonl", "a/b@0:c")
    with pytest.raises(
        UsageError, match=r"qwen2-vl does not say how unheard is asked\. It has: ai2d"
    ):
        ask_of(path)


def write(folder: Path, name: str, source: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps({"source": source}) + "\n")
    return folder / name

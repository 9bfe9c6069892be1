"""MedXpertQA MM: its rows in each published form, and its prompts. Its rule is in tests/parity."""

import base64
import json
from pathlib import Path

import pytest

from snellen import registry
from snellen.benchmarks import medxpertqa_mm as file
from snellen.benchmarks.medxpertqa_mm import Preset, medxpertqa_mm
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "medxpertqa_mm"
ROW = json.loads((BUNDLED / "medxpertqa_mm_input.jsonl").read_text(encoding="utf-8").split("\n")[0])
CHOICES = ("The left disc", "The right disc", "Both", "None", "It cannot be seen")
QUESTION = (
    "A stain on a slide is red. Which disc in the picture has its color?\n"
    "Answer Choices: (A) The left disc (B) The right disc (C) Both (D) None (E) It cannot be seen"
)


def first(benchmark: Benchmark) -> Sample:
    return benchmark.read(next(iter(benchmark.data)))


@pytest.mark.parametrize("hub", [False, True])
def test_a_row_of_either_jsonl_file_becomes_a_question(tmp_path: Path, hub: bool) -> None:
    if hub:
        options = {option["letter"]: option["content"] for option in ROW["options"]}
        row = {**ROW, "options": options, "label": "A", "images": ["MM-0-a.png"]}
        path = tmp_path / "MM" / "test.jsonl"
        path.parent.mkdir()
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    sample = first(medxpertqa_mm(data=tmp_path if hub else BUNDLED))
    assert (sample.id, sample.target, sample.choices) == ("MM-0", "A", CHOICES)
    assert sample.question == QUESTION
    assert sample.tags == {
        "question_type": "Understanding",
        "medical_task": "Diagnosis",
        "body_system": "Integumentary",
    }
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert picture.label == "images/MM-0-a.png"


def test_vlmevalkits_sheet_is_read(tmp_path: Path) -> None:
    picture = base64.b64encode((BUNDLED / "images/MM-0-a.png").read_bytes()).decode()
    (tmp_path / "MedXpertQA_MM_test.tsv").write_text(
        f"index\tquestion\tA\tB\tanswer\timage\n3\tWhich?\ta pill\ta cast\tB\t{picture}\n",
        encoding="utf-8",
    )
    benchmark = registry.benchmark("MedXpertQA_MM_test", data=tmp_path)
    sample = first(benchmark)
    assert (sample.id, sample.target, sample.choices) == ("3", "B", ("a pill", "a cast"))
    (message,) = benchmark.messages(sample)
    assert message.text == (
        "Question: Which?\nOptions:\nA. a pill\nB. a cast\n"
        "Please select the correct answer from the options above. \n"
    )
    (_, message) = medxpertqa_mm("answer-only", tmp_path).messages(sample)
    assert message.text.startswith("Q: Which?\nAnswer Choices: (A) a pill (B) a cast\nA: Among")


@pytest.mark.parametrize(
    ("prompt", "role", "ending"),
    [
        ("official", "You are a helpful medical assistant.", "Let's think step by step."),
        ("answer-only", "Please answer only.", "Among A through E, the answer is"),
    ],
)
def test_the_authors_ask_with_the_pictures_last(prompt: Preset, role: str, ending: str) -> None:
    benchmark = medxpertqa_mm(prompt, BUNDLED)
    sample = first(benchmark)
    system, user = benchmark.messages(sample)
    assert (system.role, system.text) == ("system", role)
    text, picture = user.content
    assert text == f"Q: {QUESTION}\nA: {ending}"
    assert isinstance(picture, Image)


def test_the_letter_is_asked_for_in_a_second_turn() -> None:
    benchmark = medxpertqa_mm(data=BUNDLED)
    sample = first(benchmark)
    sent = benchmark.messages(sample)
    request = benchmark.request(sample, ((sent, Reply(text=" It is the left.\n")),))
    assert request is not None
    assert request.messages[:2] == sent
    assert [(message.role, message.text) for message in request.messages[2:]] == [
        ("assistant", "It is the left."),
        ("user", "Therefore, among A through E, the answer is"),
    ]
    turns = [(sent, Reply(text="Hm.")), (request.messages, Reply(text="A"))]
    assert benchmark.request(sample, tuple(turns)) is None

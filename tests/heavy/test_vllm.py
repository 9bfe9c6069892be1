"""`vllm/NAME` against plain transformers on the same weights: greedy replies and log-probabilities.

Marked `live`: it needs vLLM in the environment, which CI does not have. By hand, on a CPU, with the
packages of docs/decisions/vllm.md:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind \\
        python -m pytest tests/heavy/test_vllm.py
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.core.model import Generation, Ranked, Reply, Request
from snellen.core.profile import Profile
from snellen.errors import Rejected, UsageError
from snellen.media import images
from snellen.media.content import Image, user

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("default")]
ENGINE = {"dtype": "float32", "enforce_eager": True, "max_model_len": 512, "max_num_seqs": 4}
GREEDY = Generation(temperature=0.0, max_tokens=16)
N = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny LLaVA as transformers writes it."""
    pytest.importorskip("vllm")
    model_folder = tmp_path_factory.mktemp("model") / "tiny-llava"
    script = Path(__file__).with_name("tiny_llava.py")
    subprocess.run([sys.executable, str(script), str(model_folder)], check=True)
    return model_folder


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """One event loop: an engine keeps to the one that it was first asked in."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def opened(folder: Path, loop: asyncio.Runner) -> Iterator[registry.Opened]:
    from safetensors.torch import load_file, save_file

    # vLLM knows the tower's weights by the names that checkpoints of the hub have.
    weights = folder / "model.safetensors"
    names = {
        name.replace("vision_tower.", "vision_tower.vision_model."): value
        for name, value in load_file(weights).items()
    }
    copy = folder.with_name("tiny-for-vllm")
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    save_file(names, copy / "model.safetensors", metadata={"format": "pt"})
    opened = registry.model(f"vllm/{copy}", Profile(extra=ENGINE))
    yield opened
    model: Any = opened.model
    loop.run(model.close())


class Transformers:
    """The same model, one request at a time, by transformers alone. Pictures are scaled by what
    transformers chooses here, as in the engine: PIL and torchvision differ in the third digit of a
    log-probability."""

    def __init__(self, folder: Path) -> None:
        import transformers

        self.processor = transformers.AutoProcessor.from_pretrained(folder)
        model = transformers.AutoModelForImageTextToText.from_pretrained(folder)
        self.model = model.eval()

    def inputs(self, request: Request) -> Any:
        from PIL import Image as Picture

        messages, pictures = [], []
        for message in request.messages:
            parts = []
            for part in message.content:
                if isinstance(part, Image):
                    source = images.load(part).source
                    assert isinstance(source, bytes)
                    pictures.append(Picture.open(BytesIO(source)).convert("RGB"))
                    parts.append({"type": "image"})
                elif isinstance(part, str):
                    parts.append({"type": "text", "text": part})
            messages.append({"role": message.role, "content": parts})
        text = self.processor.apply_chat_template(messages, add_generation_prompt=True)
        return self.processor(text=text, images=pictures or None, return_tensors="pt")

    def reply(self, request: Request) -> str:
        inputs = self.inputs(request)
        output = self.model.generate(
            **inputs, do_sample=False, max_new_tokens=request.generation.max_tokens
        )
        text = output[0, inputs["input_ids"].shape[1] :]
        return str(self.processor.tokenizer.decode(text, skip_special_tokens=True))

    def logprob(self, request: Request, choice: str) -> float:
        """Of the choice's tokens behind the prompt's, by the definition."""
        import torch

        inputs = self.inputs(request)
        ids = self.processor.tokenizer.encode(choice, add_special_tokens=False)
        joined = torch.cat([inputs["input_ids"], torch.tensor([ids])], dim=1)
        pixels = {"pixel_values": inputs["pixel_values"]} if "pixel_values" in inputs else {}
        with torch.no_grad():
            scores = self.model(input_ids=joined, **pixels).logits[0].log_softmax(-1)
        start = inputs["input_ids"].shape[1]
        return sum(float(scores[start - 1 + n, token]) for n, token in enumerate(ids))


@pytest.fixture(scope="module")
def plain(folder: Path) -> Transformers:
    return Transformers(folder)


def questions() -> list[Request]:
    """Of the eye chart, each with a picture."""
    benchmark = registry.benchmark("eyechart")
    actual = []
    for row in benchmark.data:
        request = benchmark.request(benchmark.read(row), (), generation=GREEDY, seed=None)
        assert request is not None
        actual.append(request)
        if len(actual) == N:
            break
    return actual


def replies_to(loop: asyncio.Runner, model: Any, requests: Sequence[Request]) -> list[Reply]:
    async def all_at_once() -> list[Reply]:
        return [*await asyncio.gather(*map(model.generate, requests))]

    return loop.run(all_at_once())


def ranked(loop: asyncio.Runner, model: Any, request: Request) -> list[Ranked]:
    return [*loop.run(model.rank(request))]


def without_partial_character(text: str) -> str:
    """The text without a character that is not whole at its end, of which vLLM gives nothing."""
    return text.rstrip("\N{REPLACEMENT CHARACTER}")


def test_greedy_replies_are_those_of_transformers(
    loop: asyncio.Runner, opened: registry.Opened, plain: Transformers
) -> None:
    requests = questions()
    replies = replies_to(loop, opened.model, requests)

    assert [without_partial_character(r.text) for r in replies] == [
        without_partial_character(plain.reply(r)) for r in requests
    ]
    assert len({reply.text for reply in replies}) > N / 2


def test_log_probabilities_are_those_of_transformers(
    loop: asyncio.Runner, opened: registry.Opened, plain: Transformers
) -> None:
    choices = ("A", "one two three", "in the picture?", "0123 user")
    for request in [*questions()[:4], Request(messages=(user("what is one ?"),))]:
        ranking = ranked(loop, opened.model, replace(request, kind="rank", choices=choices))
        by_hand = [plain.logprob(request, choice) for choice in choices]
        assert [item.logprob for item in ranking] == pytest.approx(by_hand, abs=1e-3)
        tokens = [len(plain.processor.tokenizer.encode(choice)) for choice in choices]
        assert [item.tokens for item in ranking] == tokens


def test_two_pictures_stand_where_the_message_has_them(
    loop: asyncio.Runner, opened: registry.Opened, plain: Transformers
) -> None:
    first, second = (request.messages[0].images[0] for request in questions()[:2])
    actual = []
    for a, b in ((first, second), (second, first)):
        message = Request(messages=(user("one", a, "two", b, "?"),), kind="rank", choices=("A B",))
        actual += [score.logprob for score in ranked(loop, opened.model, message)]
        assert actual[-1] == pytest.approx(plain.logprob(message, "A B"), abs=1e-3)

    assert abs(actual[0] - actual[1]) > 0.01


def test_a_reply_says_why_it_ended_and_what_it_took(
    loop: asyncio.Runner, opened: registry.Opened, plain: Transformers
) -> None:
    request = questions()[0]
    (reply,) = replies_to(loop, opened.model, [request])
    assert reply.usage is not None
    assert reply.usage.input == plain.inputs(request)["input_ids"].shape[1]
    assert (reply.stop, reply.usage.output) == ("length", 16)

    cut = reply.text[3:5]
    (stopped,) = replies_to(loop, opened.model, [replace(request, stop=(cut,))])
    assert (stopped.text, stopped.stop) == (reply.text[: reply.text.index(cut)], "stop")


def test_a_seed_draws_the_same_reply_again_and_another_seed_another(
    loop: asyncio.Runner, opened: registry.Opened
) -> None:
    drawn = replace(questions()[0], generation=Generation(temperature=1.0, max_tokens=16))
    seeds = (1, 2, 1)
    item, other, again = replies_to(
        loop, opened.model, [replace(drawn, seed=seed) for seed in seeds]
    )

    assert item.text == again.text != other.text


def test_a_request_that_is_too_long_is_rejected_and_the_next_answered(
    loop: asyncio.Runner, opened: registry.Opened
) -> None:
    with pytest.raises(Rejected) as error:
        replies_to(loop, opened.model, [Request(messages=(user("one two " * 600),))])
    assert not error.value.hopeless

    assert replies_to(loop, opened.model, questions()[:1])[0].text


def test_the_revision_names_the_engine_the_type_and_the_weights(opened: registry.Opened) -> None:
    import vllm

    assert opened.revision is not None
    engine, version, dtype, weights = opened.revision.split()
    assert (engine, version, dtype, len(weights)) == ("vllm", vllm.__version__, "float32", 16)


@pytest.mark.parametrize("extra", [{"no_such_option": 1}, {"top_k": "many"}, {"max_tokens": 3}])
def test_options_that_vllm_does_not_know_are_refused(
    folder: Path, extra: dict[str, object]
) -> None:
    with pytest.raises(UsageError, match=next(iter(extra))):
        registry.model(f"vllm/{folder}", Profile(extra=extra))


def test_a_model_that_is_not_there_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be loaded"):
        registry.model(f"vllm/{tmp_path}/none")

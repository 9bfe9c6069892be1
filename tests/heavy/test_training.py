"""`EvaluateCallback` in a real `Trainer`, with a tiny model of random weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from snellen.analysis.result import Result
from snellen.errors import SnellenError, UsageError
from tests.heavy.tiny_models import build

pytestmark = pytest.mark.heavy
STEPS = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("llava", tmp_path_factory.mktemp("models") / "llava")


def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    return AutoModelForImageTextToText.from_pretrained(folder), AutoProcessor.from_pretrained(
        folder
    )


def trained(
    folder: Path, out: Path, callbacks: Sequence[Any], *, learning_rate: float = 1e-3
) -> tuple[Any, Any, set[tuple[bool, bool]]]:
    """A trainer after `STEPS` steps on one sentence, the model, and how it was called: whether with
    gradients, and whether in training mode. Dropout draws random numbers during training."""
    import torch
    from transformers import Trainer, TrainingArguments, set_seed

    set_seed(7)
    model, processor = loaded(folder)
    calls: set[tuple[bool, bool]] = set()
    model.register_forward_pre_hook(
        lambda module, _: calls.add((torch.is_grad_enabled(), module.training))
    )
    model.config.text_config.attention_dropout = 0.1
    for module in model.modules():
        if hasattr(module, "attention_dropout"):
            module.attention_dropout = 0.1
    tokens = processor.tokenizer("what is in the picture ? one two three", return_tensors="pt")
    example = {"input_ids": tokens["input_ids"][0], "labels": tokens["input_ids"][0]}
    arguments = TrainingArguments(
        output_dir=str(out / "mine"),
        max_steps=STEPS,
        learning_rate=learning_rate,
        per_device_train_batch_size=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=7,
    )
    trainer = Trainer(
        model=model, args=arguments, train_dataset=[example] * 8, callbacks=[*callbacks]
    )
    trainer.train()
    return trainer, model, calls


def weights(model: Any) -> Mapping[str, Any]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def entries(trainer: Any) -> list[Mapping[str, float]]:
    return [entry for entry in trainer.state.log_history if "snellen/eyechart/n" in entry]


def test_a_training_is_the_same_with_and_without_the_callback(folder: Path, tmp_path: Path) -> None:
    import torch

    from snellen.training import EvaluateCallback

    _, processor = loaded(folder)
    callback = EvaluateCallback(
        processor,
        ["eyechart"],
        every=3,
        limit=2,
        max_tokens=4,
        temperature=1.0,  # draws random numbers during evaluation
        out=tmp_path / "runs",
    )
    trainer, model, calls = trained(folder, tmp_path / "with", [callback])
    plain_trainer, plain_model, _ = trained(folder, tmp_path / "without", [])

    assert [step for step, _ in callback.results] == [3, 4]
    assert [entry["step"] for entry in entries(trainer)] == [3, 4]
    assert all(entry["snellen/eyechart/n"] == 2 for entry in entries(trainer))
    assert entries(plain_trainer) == []
    assert calls == {(True, True), (False, False)}
    left, right = weights(model), weights(plain_model)
    assert left.keys() == right.keys()
    assert all(torch.equal(left[name], right[name]) for name in left)
    assert model.training
    assert processor.tokenizer.padding_side == "right"  # the caller's own is unchanged


def test_a_restart_asks_nothing_again_and_other_weights_ask_anew(
    folder: Path, tmp_path: Path
) -> None:
    from snellen.training import EvaluateCallback

    def evaluated(learning_rate: float) -> list[Result]:
        log: list[tuple[Result, int]] = []
        _, processor = loaded(folder)
        callback = EvaluateCallback(
            processor,
            ["eyechart"],
            every=STEPS,
            limit=2,
            max_tokens=4,
            temperature=0.0,
            out=tmp_path / "runs",
            name="mine",
            log=lambda result, step: log.append((result, step)),
        )
        trained(folder, tmp_path, [callback], learning_rate=learning_rate)
        assert [step for _, step in log] == [STEPS]
        return [result for result, _ in log]

    (first,) = evaluated(1e-3)
    (again,) = evaluated(1e-3)
    (other,) = evaluated(1e-2)

    assert first.run is not None and again.run is not None and other.run is not None
    assert first.run == again.run
    assert other.run != first.run
    manifests = sorted(path.parent.name for path in (tmp_path / "runs").glob("*/*/*/manifest.json"))
    assert len(manifests) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"benchmarks": ["eyechart"], "every": 0}, "every must be a number of steps"),
        ({"benchmarks": "eyechart", "every": 1}, "a list"),
        ({"benchmarks": ["no-such"], "every": 1}, "no-such"),
        ({"benchmarks": ["eyechart"], "every": 1, "limt": 3}, "limit"),
    ],
)
def test_wrong_arguments_are_refused_before_the_training(
    folder: Path, arguments: Mapping[str, Any], words: str
) -> None:
    from snellen.training import EvaluateCallback

    with pytest.raises(SnellenError, match=words):
        EvaluateCallback(loaded(folder)[1], **arguments)


def test_sharded_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    from types import SimpleNamespace

    from snellen.training import EvaluateCallback

    model, processor = loaded(folder)
    next(model.parameters()).ds_id = 0  # as DeepSpeed marks the parameters of ZeRO-3
    callback = EvaluateCallback(processor, ["eyechart"], every=1, out=tmp_path)
    state = SimpleNamespace(is_world_process_zero=True, global_step=1)
    with pytest.raises(UsageError, match="sharded"):
        callback.on_step_end(
            SimpleNamespace(output_dir=str(tmp_path)), state, SimpleNamespace(), model=model
        )

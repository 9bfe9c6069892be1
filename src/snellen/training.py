"""Evaluates a model while transformers' `Trainer` trains it: `EvaluateCallback`.

This module needs the extra `hf`. Importing it imports transformers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Unpack

from snellen import registry
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.models.hf import in_training
from snellen.models.hf_common import libraries
from snellen.models.hf_settings import HfSettings
from snellen.run.declarations import checked
from snellen.run.options import RunOptions
from snellen.run.plan import Plan, load_benchmarks
from snellen.run.run_plan import run_plan

torch, transformers = libraries("snellen.training")

Log = Callable[[Result, int], object]


class EvaluateCallback(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
    """A callback that evaluates the model that a `Trainer` trains, every few steps and at the end.

    Each result becomes an entry of `trainer.state.log_history` with the keys `step`, `epoch`,
    `snellen/BENCHMARK` (the value), `snellen/BENCHMARK/low` and `.../high` (the 95 % interval),
    `.../n`, and `.../failed`. BENCHMARK is the benchmark's name, with the options that differ from
    their defaults. If a result has no value or no interval, the keys for it are absent.
    The attribute `results` contains all results.

    The training step and a digest of the weights are part of a run's identity. If training is
    restarted, steps that were evaluated before are not evaluated again, and a run is never
    continued with different weights.

    The model replies in evaluation mode, without gradients. Afterward, the model's mode and the
    state of torch's random number generators are restored, so the callback does not affect
    training. In distributed training, only the process of rank 0 evaluates the model. Sharded
    weights (FSDP, DeepSpeed ZeRO-3) are not supported.

    Args:
        processor: The model's processor, which is copied.
        benchmarks: Names of benchmarks with options, files of rows, or `Benchmark` objects.
        every: The number of optimizer steps between two evaluations. The model is always evaluated
            at the end of training.
        name: The model's name in results; by default, the name of the trainer's output folder.
        log: Called with each result and its step, for example to write to TensorBoard.
        settings: The settings of `hf/` models, such as `batch_size`.
        options: Options of `snellen run`, such as `limit=64` and `out="runs"`.

    Raises:
        UsageError: an option does not exist, or `every` is below 1.
        CatalogError: a benchmark does not exist.
    """

    def __init__(
        self,
        processor: Any,
        benchmarks: Sequence[str | Benchmark],
        *,
        every: int,
        name: str | None = None,
        log: Log | None = None,
        settings: HfSettings | None = None,
        **options: Unpack[RunOptions],
    ) -> None:
        if every < 1:
            raise UsageError(
                f"EvaluateCallback: every must be a number of steps of at least 1, not {every}."
            )
        if isinstance(benchmarks, str):
            raise UsageError(
                f"EvaluateCallback: benchmarks must be a list, such as [{benchmarks!r}]."
            )
        self.results: list[tuple[int, Result]] = []
        """The step and the result of each evaluation, in order."""
        self._options = checked(options)
        self._benchmarks = load_benchmarks(benchmarks, **self._options)
        self._processor = processor
        self._every = every
        self._name = name
        self._log = log
        self._settings = settings or HfSettings()

    def on_step_end(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
        """Evaluate if an evaluation is due. transformers calls this method after each optimizer
        step."""
        if state.global_step % self._every == 0:
            self._evaluate(args, state, parts["model"])

    def on_train_end(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
        """Evaluate the final weights. transformers calls this method after training."""
        if state.global_step % self._every:
            self._evaluate(args, state, parts["model"])

    def _evaluate(self, args: Any, state: Any, model: Any) -> None:
        if not state.is_world_process_zero:
            return
        model = getattr(model, "module", model)  # of DistributedDataParallel
        _check_complete(model)
        step = state.global_step
        name = self._name or Path(args.output_dir).resolve().name
        with _undisturbed(model):
            weights = f"step-{step} {digest_of_weights(model)}"
            hf = in_training(name, model, self._processor, weights, self._settings)
            opened = registry.wrap(hf, name, hf.revision, hf.concurrency)
            plan = Plan(benchmarks=self._benchmarks, models=[opened], **self._options)
            finished = run_plan(plan)
        for run in finished:
            if run.result is None:
                continue
            self.results.append((step, run.result))
            state.log_history.append(_entry(run.result, step, state.epoch))
            if self._log is not None:
                self._log(run.result, step)


def digest_of_weights(model: Any) -> str:
    """Return the BLAKE2b-64 digest (hex) of the name, shape, sum, and Euclidean norm of each
    parameter and buffer. Sums and norms are computed on each tensor's device, so that a large model
    is not copied."""
    hasher = blake2b(digest_size=8)
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            exact = torch.float32 if tensor.device.type == "mps" else torch.float64
            numbers = [tensor.sum(dtype=exact).item()]
            if tensor.is_floating_point():
                numbers.append(torch.linalg.vector_norm(tensor, dtype=exact).item())
            hasher.update(f"{name} {tuple(tensor.shape)} {numbers}\n".encode())
    return hasher.hexdigest()


def _check_complete(model: Any) -> None:
    """Check that this process has all weights."""
    sharded = type(model).__name__ == "FullyShardedDataParallel" or any(
        hasattr(parameter, "ds_id") or type(parameter).__name__ == "DTensor"
        for parameter in model.parameters()
    )
    if sharded:
        raise UsageError(
            "EvaluateCallback: the weights are sharded over processes (FSDP or DeepSpeed ZeRO-3), "
            "so one process alone cannot run the model. Save checkpoints and evaluate them with "
            "`snellen run -m hf/FOLDER`."
        )


@contextmanager
def _undisturbed(model: Any) -> Iterator[None]:
    """Put the model into evaluation mode. Afterward, restore each module's mode and torch's
    random number generators."""
    modes = [(module, module.training) for module in model.modules()]
    generation = copy.deepcopy(model.generation_config)
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        model.eval()
        try:
            yield
        finally:
            for module, training in modes:
                module.training = training
            model.generation_config = generation


def _entry(result: Result, step: int, epoch: float | None) -> dict[str, float]:
    """Create the entry for a result in the trainer's log."""
    headline, key = result.headline, f"snellen/{result.spec}"
    entry: dict[str, float] = {"step": step, f"{key}/n": headline.n, f"{key}/failed": result.failed}
    if epoch is not None:
        entry["epoch"] = epoch
    if headline.value is not None:
        entry[key] = headline.value
    if headline.ci95 is not None:
        entry[f"{key}/low"], entry[f"{key}/high"] = headline.ci95
    return entry

"""Write logs as Inspect itself writes them: `python scripts/draw_inspect.py`.

It needs the packages of constraints-exchange.txt. A scripted model, whose replies are in `REPLIES`,
answers three questions that we wrote, twice each, as multiple choice. It fails once, and one reply
has no answer. A second log has the choices in another order. Tracebacks are left out, since they
name folders of the machine.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

FOLDER = Path(__file__).parents[1] / "tests/data/inspect"
QUESTIONS = (
    ("1", "Which is larger?", ["an ant", "an elephant"], "B"),
    ("2", "Which is colder?", ["ice", "steam"], "A"),
    ("3", "Which is red?", ["the sky", "a rose"], "B"),
)
REPLIES = ("ANSWER: B", "ANSWER: B", "I cannot say.", "ANSWER: A", None, "ANSWER: B")
"""Of the first epoch, then of the second; None fails."""


def outputs(replies: tuple[str | None, ...]) -> Iterator[ModelOutput]:
    for text in replies:
        if text is None:
            raise ConnectionError("cut off")
        output = ModelOutput.from_content("mockllm/made", text)
        # With counts of its own, the model needs no tokenizer, which it would download.
        output.usage = ModelUsage(input_tokens=20, output_tokens=4, total_tokens=24)
        yield output


def draw(name: str, replies: tuple[str | None, ...], epochs: int, turned: bool = False) -> None:
    samples = [
        Sample(
            id=number,
            input=question,
            choices=choices[::-1] if turned else choices,
            target={"A": "B", "B": "A"}[target] if turned else target,
        )
        for number, question, choices, target in QUESTIONS
    ]
    left = list(replies)

    def say(*_: object) -> ModelOutput:
        return next(outputs((left.pop(0),)))

    task = Task(
        dataset=MemoryDataset(samples, name="made"),
        solver=multiple_choice(),
        scorer=choice(),
        name="made",
        fail_on_error=False,
    )
    model = get_model("mockllm/made", custom_outputs=say, memoize=False)
    with tempfile.TemporaryDirectory() as folder:
        [first] = eval(
            task, model=model, log_dir=folder, display="none", epochs=epochs, max_connections=1,
            max_samples=1,
        )  # fmt: skip
        log = read_eval_log(first.location)
    for sample in log.samples or []:
        sample.events = []
        if sample.error is not None:
            sample.error.traceback = sample.error.traceback_ansi = ""
    log.eval.model_args, log.eval.revision = {}, None
    write_eval_log(log, str(FOLDER / name))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw("made.eval", REPLIES, epochs=2)
    draw("turned.eval", ("ANSWER: A", "ANSWER: A", "ANSWER: A"), epochs=1, turned=True)

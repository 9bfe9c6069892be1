"""Write samples as lm-eval itself writes them: `python scripts/draw_lm_eval.py`.

It needs torch, and lm-eval 0.4.13, which our constraints files do not pin. A scripted model, whose
replies are in `REPLIES`, answers three questions that we wrote: twice each, with two filters, and
once by the likelihood of the choices.
"""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import yaml
from lm_eval import evaluator
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

FOLDER = Path(__file__).parents[1] / "tests/data/lm_eval"
ROWS = (
    {"id": "1", "question": "Which is larger?", "A": "an ant", "B": "an elephant", "answer": "B"},
    {"id": "2", "question": "Which is colder?", "A": "ice", "B": "steam", "answer": "A"},
    {"id": "3", "question": "Which is red?", "A": "the sky", "B": "a rose", "answer": "B"},
)
REPLIES = {
    "larger": ("the answer is B", "B"),
    "colder": ("I cannot say", "the answer is A"),
    "red": ("the answer is B", "the answer is A"),
}
FIRST = {"function": "take_first"}
LETTER = {"function": "regex", "regex_pattern": "answer is ([AB])"}
TASK: dict[str, Any] = {
    "dataset_path": "json",
    "test_split": "test",
    "doc_to_text": "{{question}}\nA. {{A}}\nB. {{B}}\nAnswer:",
    "doc_to_target": "{{answer}}",
}
REPEATED = {
    **TASK,
    "task": "made",
    "output_type": "generate_until",
    "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 16, "do_sample": True},
    "repeats": 2,
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    "filter_list": [
        {"name": "letter", "filter": [LETTER, FIRST]},
        {"name": "none", "filter": [FIRST]},
    ],
}
RANKED = {
    **TASK,
    "task": "ranked",
    "output_type": "multiple_choice",
    "doc_to_choice": ["A", "B"],
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
}


class Scripted(LM):  # type: ignore[misc]
    """Gives the replies in `REPLIES`, and finds each choice less likely than the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.times = dict.fromkeys(REPLIES, 0)

    def generate_until(self, requests: list[Any]) -> list[str]:
        texts = []
        for request in requests:
            word = next(word for word in REPLIES if word in request.args[0])
            texts.append(REPLIES[word][self.times[word]])
            self.times[word] += 1
        return texts

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        return [(-1.0 - number, number % 2 == 0) for number, _ in enumerate(requests)]

    def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
        raise NotImplementedError


def draw(task: dict[str, Any], folder: Path) -> None:
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    sheet = {**task, "dataset_kwargs": {"data_files": {"test": str(rows)}}}
    (folder / f"{task['task']}.yaml").write_text(yaml.safe_dump(sheet))
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    tracker.general_config_tracker.log_experiment_args("made", "model=org/maker", None, None, False)
    results = evaluator.simple_evaluate(
        model=Scripted(),
        tasks=[task["task"]],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        log_samples=True,
        bootstrap_iters=0,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name, lines in samples.items():
        tracker.save_results_samples(task_name=name, samples=lines)
    [path] = folder.glob(f"out/*/samples_{task['task']}_*.jsonl")
    shutil.copy(path, FOLDER / f"samples_{task['task']}_2026-11-01T12-00-00.000000.jsonl")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for task in (REPEATED, RANKED):
        with tempfile.TemporaryDirectory() as folder:
            draw(task, Path(folder))

"""Writes sample files like those of lmms-eval's --log_samples: `{date}_samples_{task}.jsonl`.

Source: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
lmms_eval/loggers/evaluation_tracker.py, in `save_results_samples`. Fields that need lmms-eval's own
data are absent: the hash of its row, its metrics, and its token counts.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from snellen.interop._answered import Answered
from snellen.store import STEM, safe_name

COLUMNS = ("doc_id", "target", "filtered_resps", "input", "id")


def file_name(task: str, when: datetime) -> str:
    """The name of the file. It belongs in a folder named after the model."""
    before = f"{when:%Y%m%d_%H%M%S}_samples_"
    return f"{before}{safe_name(task, room=STEM - len(before))}.jsonl"


def table(answered: Iterable[Answered]) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Columns and rows of a JSONL file. lmms-eval has no `id`; Snellen adds it so that it can read
    the file again. A failed reply is null."""
    rows = (
        (reply.position, reply.target or "", reply.reply, reply.question, reply.id)
        for reply in answered
    )
    return COLUMNS, rows

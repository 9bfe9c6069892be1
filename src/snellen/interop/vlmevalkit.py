"""Writes prediction files in VLMEvalKit's format: `{model}_{dataset}.xlsx` or `.tsv`, with the
columns of the data set and `prediction`.

Source: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/inference.py, in
`infer_data_job`; vlmeval/smp/file.py, in `get_pred_file_path`.
"""

from collections.abc import Sequence
from string import ascii_uppercase

from snellen.errors import DataError
from snellen.interop._answered import Answered
from snellen.store import STEM, safe_name

NO_REPLY = "Failed to obtain answer via API."
"""The text that VLMEvalKit writes if a model failed. VLMEvalKit asks such questions again. The text
is `fail_msg` in vlmeval/api/base.py."""


def file_name(model: str, dataset: str, kind: str = ".xlsx") -> str:
    """The name of the file. `dataset` is VLMEvalKit's name for the data set, such as
    MMBench_DEV_EN."""
    theirs = safe_name(dataset, room=STEM // 2)
    return f"{safe_name(model, room=STEM - 1 - len(theirs))}_{theirs}{kind}"


def table(answered: Sequence[Answered]) -> tuple[list[str], list[list[object]]]:
    """Columns and rows: `index`, `question`, `A`, `B`, ..., `answer`, the tags, `prediction`, and
    `thinking` if the model reasoned. A tag with the name of another column gets the ending `_tag`.

    If all ids are integers, they are written as numbers, because VLMEvalKit looks them up in its
    own file. A .tsv file must be written with `formulas="kept"`, because VLMEvalKit does not remove
    apostrophes from cells.

    Raises:
        DataError: a question has more than 26 choices.
    """
    most = max((len(reply.choices) for reply in answered), default=0)
    if most > len(ascii_uppercase):
        raise DataError(
            f"A question has {most} choices, but VLMEvalKit has columns only for A to Z."
        )
    letters = list(ascii_uppercase[:most])
    tags = list(dict.fromkeys(tag for reply in answered for tag in reply.tags))
    thinking = ["thinking"] if any(reply.reasoning is not None for reply in answered) else []
    own = {"index", "question", *letters, "answer", "prediction", "thinking"}
    headings = [f"{tag}_tag" if tag in own else tag for tag in tags]
    columns = ["index", "question", *letters, "answer", *headings, "prediction", *thinking]
    numbers = all(
        reply.id.isascii() and reply.id.isdigit() and str(int(reply.id)) == reply.id
        for reply in answered
    )
    rows: list[list[object]] = [
        [
            int(reply.id) if numbers else reply.id,
            reply.question,
            *reply.choices,
            *[None] * (most - len(reply.choices)),
            reply.target,
            *(reply.tags.get(tag) for tag in tags),
            NO_REPLY if reply.reply is None else reply.reply,
            *[reply.reasoning for _ in thinking],
        ]
        for reply in answered
    ]
    return columns, rows

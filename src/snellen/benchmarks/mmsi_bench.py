"""MMSI-Bench: spatial reasoning across several photographs, with four choices in the question.

Paper    Yang et al. 2025, MMSI-Bench: A Benchmark for Multi-Image Spatial Intelligence,
         https://arxiv.org/abs/2505.23764.
Data     RunsenXu/MMSI-Bench on the Hugging Face hub has 1,000 questions, as MMSI_bench.tsv and
         MMSI_Bench.parquet, under CC BY-NC 4.0. The choices are in the question's text.
         VLMEvalKit's MMSIBench_wo_circular.tsv has them in columns. An id is the row's `index` or
         `id`.
Prompt   `official`: the pictures, the question with its choices, and an instruction,
         InternRobotics/MMSI-Bench@5de2f3d2eb0159dbcc76790074029aa400143603:vlmeval/dataset/
         mmsi_bench.py#L100-L129. `lmms-eval` strips the question, EvolvingLMMs-Lab/lmms-eval@
         75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/mmsi_bench/utils.py#L23-L48.
         `vlmevalkit` is the official prompt for choices in columns: a comma follows each choice,
         open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/
         mmsibench.py#L56-L100. Replies are limited to 2,048 tokens.
Scoring  `official`: mmsi_bench.py#L131-L242. The letter A to D is looked for in double backticks,
         then in single ones, then in the full reply. A letter before a blank and a word does not
         count, so "A cat" has no letter. For three models of the paper, a judge found the letter.
         `lmms-eval`: the same, but also in braces, up to F, and in lowercase, utils.py#L79-L120.
         `vlmevalkit`: families/spatial_letters.py. `robust`: Snellen's own rule, which takes the
         letter that a reply settles on. A missing question is wrong.
Proof    `official`, `lmms-eval`, and `vlmevalkit` equal the authors', lmms-eval's, and VLMEvalKit's
         code on generated replies (tests/parity). No model outputs are published.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal, NoReturn

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families.spatial_letters import VLMEVALKIT, settled_letter
from snellen.core import Benchmark, Capabilities, Interop, Presentation, Reading, Reply, Sample
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Message, user

SOURCE = (
    "InternRobotics/MMSI-Bench@5de2f3d2eb0159dbcc76790074029aa400143603:"
    "vlmeval/dataset/mmsi_bench.py#L131-L242"
)
LMMS_EVAL = f"{pins.LMMS_EVAL}:lmms_eval/tasks/mmsi_bench/utils.py#L79-L120"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-4.0"
PROOF = "authors' code"
SIZE = 1000
ALIASES = {"MMSIBench_wo_circular": {"prompt": "vlmevalkit"}}
FILES_PUBLISHED = (
    File(
        name="MMSI_bench.tsv",
        url="https://huggingface.co/datasets/RunsenXu/MMSI-Bench/resolve/main/MMSI_bench.tsv",
        md5="c473f72a345f616fa68a628580b573b6",
    ),
)
NAMES = ("MMSI_bench.tsv", "MMSI_Bench.parquet", "MMSIBench_wo_circular.tsv")
LEAVES = {
    **dict.fromkeys(("Pos-Cam-Cam", "Pos-Cam-Obj", "Pos-Cam-Reg"), "perception/spatial"),
    **dict.fromkeys(("Pos-Obj-Obj", "Pos-Obj-Reg", "Pos-Reg-Reg"), "perception/spatial"),
    **dict.fromkeys(("Attr-Appr", "Attr-Meas"), "perception/attribute"),
    **{"Motion-Cam": "perception/spatial", "Motion-Obj": "reasoning/temporal"},
    **{"MSR": "reasoning/logic"},
}
INSTRUCTION = (
    "Answer with the option's letter from the given choices directly. Enclose the option's letter "
    "within ``."
)
CHOICE = re.compile(r"([A-D])\s*:\s*(.*?)(?=\s+[A-D]\s*:|,\s*[A-D]\s*:|$)")
"""A choice in a question's text, #L615-L632."""

Preset = Literal["official", "vlmevalkit", "lmms-eval"]


def mmsi_bench(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "mmsi-bench", NAMES, FILES_PUBLISHED)
    table, file = authors_files.table(data_file, not_published)
    own = {
        "official": choice_sets.rule(SOURCE, official_letter),
        "lmms-eval": choice_sets.rule(LMMS_EVAL, lmms_letter),
        "vlmevalkit": choice_sets.rule(VLMEVALKIT, settled_letter),
    }
    scorings = choice_sets.scorings(own)
    return Benchmark(
        name="mmsi-bench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: message(sample, prompt),
        scorings=choice_sets.headline(scorings, prompt),
        max_answer_tokens=2048,
        # "A B C D" ends with D, the right answer of one of the seven bundled rows.
        check=choice_sets.check(scorings, official=1 / 7, lmms_eval=1 / 7),
        presentation=Presentation(
            break_down_by=("category",),
            capabilities=Capabilities(
                tag="category", leaves=LEAVES, source="https://arxiv.org/abs/2505.23764, section 3"
            ),
        ),
        interop=Interop(files=file),
    )


def not_published(path: Path) -> NoReturn:
    raise DataError(f"{path} is not a file of MMSI-Bench. Pass one of {', '.join(NAMES)}.")


def to_sample(row: Row, data_file: DataFile) -> Sample:
    stem, choices = row["question"], choice_sets.lettered_cells(row)
    if choices:
        pairs = zip("ABCD", choices, strict=False)
        full = f"{stem}\nOptions: " + "".join(f"{letter}: {text}, " for letter, text in pairs)
    else:
        full, (stem, _, listed) = stem, stem.partition("Options:")
        texts = dict(CHOICE.findall(listed.strip()))
        choices = tuple(texts.values()) if [*texts] == [*"ABCD"[: len(texts)]] else ()
    # A question whose choices cannot be told apart has four.
    choices = choices or tuple("ABCD")
    sample = choice_sets.sample_of(row, data_file, choices=choices, question=stem.strip())
    category = category_of(row.get("category") or row["question_type"])
    return replace(sample, tags={"category": category}, data={**sample.data, "full": full})


def category_of(text: str) -> str:
    """The short name of a category: Pos-Cam-Obj for a positional relationship of camera and
    object, however the data write it."""
    words = [word for word in re.findall("[A-Za-z]+", text) if word != "Relationship"]
    return "-".join({"Positional": "Pos", "Attribute": "Attr"}.get(word, word) for word in words)


def message(sample: Sample, prompt: Preset) -> tuple[Message, ...]:
    full = str(sample.data["full"])
    text = full.strip() if prompt == "lmms-eval" else full
    return (user(*sample.media, f"{text}\n{INSTRUCTION}"),)


def official_letter(reply: Reply, _: Sample) -> Reading:
    return quoted(reply.text, (r"``([^`]*)``", r"`([^`]*)`"), r"\b[A-D]\b(?!\s[a-zA-Z])")


def lmms_letter(reply: Reply, _: Sample) -> Reading:
    # The third pattern begins at the start, so that many open braces take little time.
    quotes = (r"``([^`]*)``", r"`([^`]*)`", r"\A[^{]*\{([^}]*)\}")
    return quoted(reply.text, quotes, r"(?i)\b[A-F]\b(?!\s[a-zA-Z])")


def quoted(text: str, quotes: tuple[str, ...], letter: str) -> Reading:
    """Parse the first letter in the first quotes of the text, or in the text without quotes. Quotes
    are looked for inside of quotes, too."""
    rule = "reply"
    for quote in quotes:
        if match := re.search(quote, text):
            text, rule = match[1], "quotes"
    match = re.search(letter, text)
    return Reading(answer=match[0].upper() if match else None, rule=f"letter in the {rule}")

"""VLMEvalKit's data sets with choices, yes or no, or short answers, scored mostly by our own rules.

Paper    none. Each set has its own paper. VLMEvalKit is Duan et al. 2024,
         https://arxiv.org/abs/2407.11691.
Data     VLMEvalKit's TSV files, called sheets here. Select a data set by name, as in `name=MMStar`
         or `-b MMStar_KO`. Some sets also have a benchmark of their own, which `-b MMStar` selects.
         The data sets are those of the kinds MCQ, Y/N, and VQA in open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/
         {image_mcq,image_yorn,image_vqa}.py. The URLs and MD5s of the sheets are in
         families/vlmevalkit_sets.tsv. Each data set has a license of its own.
         Rows without a picture are left out, as in VLMEvalKit.
         A choice such as "None" is text here, while VLMEvalKit, which uses pandas, reads it as a
         missing cell.
         For BLINK, the MD5 belongs to the sheet in which the answers of the 134 rows of
         Relative_Reflectance are corrected (VLMEvalKit#1539, May 2026). The older sheet, which
         earlier published scores use, has the MD5 3b6649b6a662184ea046908e5506260e.
Prompt   `vlmevalkit`: the prompt from build_prompt of the data set's class in these files, except
         where that prompt depends on the model. Pictures come first.
         `short`: Snellen's own prompt, with the pictures, the hint, the question, the choices, and
         a line on the form of the answer.
         Replies are limited to 2,048 tokens (vlmeval/api/gpt.py#L93).
         MMStar's authors use their own sheet, with the choices in the question, and another prompt.
Scoring  `official` (MMStar): MMStar-Benchmark/MMStar@88f243ab4a39cb339530085c33aecb22819881a1:eval/
         vlmeval/evaluate/mmstar.py#L41-L81. The answer is the letter at the beginning of the reply.
         The letter may follow "(", "option ", or "the answer is ". Missing rows are wrong. They are
         also wrong in the authors' code, except in its scores by l2-category, which leave missing
         rows out.
         `generic`: Snellen's own rule, which is not the official scoring of any set. For MCQ, the
         answer is the letter that the reply settles on. For Y/N, the answer is the word yes or no
         at the beginning of the reply. If the reply begins with neither word, but contains exactly
         one of them, that word is the answer. For VQA, the whole reply is compared with the right
         answer, without case, punctuation, and articles. If there are three or more right answers,
         the score is min(1, number of equal answers / 3).
         `robust` (VQA): like generic, but applied to the text after "the answer is".
         `judged` (VQA): a judge compares the reply with the answers and gives it a grade from 0 to
         10 (`snellen judge`).
         Published scores on data sets other than MMStar use other rules. Some of these rules score
         pairs of rows, or use a judge. A note on each result states the rule that is lacking, with
         its lines at the commit above (families/vlmevalkit_rules.tsv).
Proof    For all data sets, the prompts are compared with those of VLMEvalKit's build_prompt on
         3,000 generated rows.
         The official scoring is compared with MMStar's code on 1,500 generated replies
         (tests/parity).
         The other scorings are checked on examples worked out by hand.
"""

import ast
from hashlib import blake2b
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.answers.others import MMSTAR, mmstar_letter
from snellen.benchmarks.families.choice_sets import (
    DIRECTLY,
    LISTED,
    PROMPTS,
    choice_lines,
    filled,
    in_text,
    lettered_cells,
)
from snellen.benchmarks.families.tasks import (
    ASK,
    EXPECT,
    WRONG,
    Task,
    as_reading,
    is_target,
    scorings,
    verdict,
    yes_no,
)
from snellen.benchmarks.families.vlmevalkit_sets import Kind, missing_rule, published_set
from snellen.core import Benchmark, Check, Interop, Presentation, Reading, Reply, Sample, Scoring
from snellen.data import Filtered, Row, find, vlmevalkit_tsv
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, Message, Slice, user
from snellen.metrics import mean

# fmt: off
KIND = "mixed"
LANGUAGES = ("en", "ar", "ja", "ko", "pt", "ru", "tr", "zh")
LICENSE = "mixed"
PROOF = "own"
SIZE = 1500
ALIASES = {
    "3DSRBench": {"name": "3DSRBench"},
    "A-Bench_TEST": {"name": "A-Bench_TEST"},
    "A-Bench_VAL": {"name": "A-Bench_VAL"},
    "AesBench_TEST": {"name": "AesBench_TEST"},
    "AesBench_VAL": {"name": "AesBench_VAL"},

    "CMMU_MCQ": {"name": "CMMU_MCQ"},
    "CVQA_EN": {"name": "CVQA_EN"},
    "CVQA_LOC": {"name": "CVQA_LOC"},
    "GMAI-MMBench_VAL": {"name": "GMAI-MMBench_VAL"},
    "K-DTCBench": {"name": "K-DTCBench"},
    "MicroVQA": {"name": "MicroVQA"},
    "MLLMGuard_DS": {"name": "MLLMGuard_DS"},
    "MMMB_ar": {"name": "MMMB_ar"},
    "MMMB_cn": {"name": "MMMB_cn"},
    "MMMB_en": {"name": "MMMB_en"},
    "MMMB_pt": {"name": "MMMB_pt"},
    "MMMB_ru": {"name": "MMMB_ru"},
    "MMMB_tr": {"name": "MMMB_tr"},
    "MMSci_DEV_MCQ": {"name": "MMSci_DEV_MCQ"},
    "MMStar_KO": {"name": "MMStar_KO"},
    "MMStar_TR": {"name": "MMStar_TR"},

    "MSEarthMCQ": {"name": "MSEarthMCQ"},

    "PathMMU_TEST": {"name": "PathMMU_TEST"},
    "PathMMU_VAL": {"name": "PathMMU_VAL"},
    "Q-Bench1_TEST": {"name": "Q-Bench1_TEST"},
    "Q-Bench1_VAL": {"name": "Q-Bench1_VAL"},
    "R-Bench-Dis": {"name": "R-Bench-Dis"},
    "R-Bench-Ref": {"name": "R-Bench-Ref"},
    "SEEDBench2": {"name": "SEEDBench2"},
    "SEEDBench2_Plus": {"name": "SEEDBench2_Plus"},
    "SEEDBench_IMG_KO": {"name": "SEEDBench_IMG_KO"},
    "SpatialEval": {"name": "SpatialEval"},
    "StaticEmbodiedBench": {"name": "StaticEmbodiedBench"},
    "TaskMeAnything_v1_imageqa_random": {"name": "TaskMeAnything_v1_imageqa_random"},
    "tdbench_cs_depth": {"name": "tdbench_cs_depth"},
    "tdbench_cs_height": {"name": "tdbench_cs_height"},
    "tdbench_cs_integrity": {"name": "tdbench_cs_integrity"},
    "tdbench_cs_zoom": {"name": "tdbench_cs_zoom"},
    "tdbench_rot0": {"name": "tdbench_rot0"},
    "tdbench_rot180": {"name": "tdbench_rot180"},
    "tdbench_rot270": {"name": "tdbench_rot270"},
    "tdbench_rot90": {"name": "tdbench_rot90"},
    "TopViewRS": {"name": "TopViewRS"},
    "VisOnlyQA-VLMEvalKit": {"name": "VisOnlyQA-VLMEvalKit"},
    "VMCBench_DEV": {"name": "VMCBench_DEV"},
    "VMCBench_TEST": {"name": "VMCBench_TEST"},

    "WorldMedQA-V": {"name": "WorldMedQA-V"},
    "AMBER": {"name": "AMBER"},
    "VSR-zeroshot": {"name": "VSR-zeroshot"},

    "TallyQA": {"name": "TallyQA"},
    "VizWiz": {"name": "VizWiz"},
}
# fmt: on
TASKS: dict[Kind, Task] = {"MCQ": "mcq", "Y/N": "yesno", "VQA": "vqa"}

Preset = Literal["vlmevalkit", "short"]
WORDS: dict[Kind, str] = {
    "MCQ": PROMPTS["vlmevalkit"],
    "Y/N": "{question}",
    "VQA": "{question}\nAnswer the question using a single word or phrase.",
}
CVQA = (
    "Question: {question}\nOptions:\n{choices}Select the best answer to the above multiple-choice "
    "question based on the image. Respond with only the letter of the correct option "
    "(A, B, C, or D).\nThe best answer is: "
)
OTHER_WORDS = {
    "AMBER": "{question}\nPlease answer yes or no.",
    "CV-Bench-2D": "{prompt}",
    "CV-Bench-3D": "{prompt}",
    "CVQA_EN": CVQA,
    "CVQA_LOC": CVQA,
    "CountBenchQA": "{question} Note that: answer with a number directly e.g. 3. "
    "Do not include any additional text.",
    "MSEarthMCQ": "You are tasked with answering a multiple-choice question about the given input "
    "image.\n\n{hint}Caption:\n {question}\nOptions:\n{choices}Based on the image, select the "
    "correct option (e.g., 'A', 'B', 'C', 'D') or directly state the correct option content, Do "
    "not give any explaination.",
    "MUIRBench": "{question}\n{choices}" + DIRECTLY,
    "TallyQA": "{question}\nAnswer the question using a single number.",
    "TreeBench": LISTED + "Answer with the correct option's letter directly. \n",
    "VMCBench_DEV": "Question: {question}\nOptions:\n{choices}" + DIRECTLY + " \n",
    "VMCBench_TEST": "Question: {question}\nOptions:\n{choices}" + DIRECTLY + " \n",
    "VizWiz": "{question}",
    "WeMath": LISTED,
    "WeMath_COT": LISTED + "\n{requirement}",
}
"""The prompts of data sets whose prompt differs from that of other data sets of their kind."""
INTERLEAVED = ("MUIRBench",)
"""The data sets whose pictures replace the marks `<image>` in the text."""


def vlmevalkit(
    name: str = "MMStar", prompt: Preset = "vlmevalkit", data: Path | None = None
) -> Benchmark:
    kind = published_set(name).kind
    task = TASKS[kind]
    words = OTHER_WORDS.get(name, WORDS[kind])
    files = published(name)
    data_file = find(data, "vlmevalkit", [file.name for file in files], files, name)
    table = vlmevalkit_tsv(data_file)
    called = {"default": "generic"}
    official = {"official": OFFICIAL[name]} if name in OFFICIAL else {}
    # "A B C D" begins with A, which is the right answer in two of the eight bundled rows.
    begins_with_a = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 2 / 8}
    return Benchmark(
        name="vlmevalkit",
        asks=1,
        data=Filtered(table, lambda row: bool(row["image"])),
        sample=lambda _, row: to_sample(row, name, kind, words),
        prompt=lambda sample, _: (
            short_message(sample, task)
            if prompt == "short"
            else kit_message(sample, words, interleaved=name in INTERLEAVED)
        ),
        scorings={
            **official,
            **{called.get(key, key): scoring for key, scoring in scorings(task).items()},
        },
        max_answer_tokens=2048,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=WRONG[task],
            expect={
                **dict.fromkeys(official, begins_with_a),
                **{called.get(key, key): values for key, values in EXPECT[task].items()},
            },
            verdict=verdict,
        ),
        presentation=Presentation(
            break_down_by=("category", "l2-category", "split"),
            notes=notes(name),
        ),
        interop=Interop(files=data_file),
    )


def notes(name: str) -> tuple[str, ...]:
    """What every result says about how the set is scored."""
    if name not in ALIASES:
        return (f"{name} also has a benchmark of its own, with its own rules: `-b {name}`",)
    return (
        f"{name} is scored by our rules, not by its authors' rules",
        f"VLMEvalKit's rule for {name}, which is not implemented here: {missing_rule(name)}",
    )


def mmstar_answer(reply: Reply, sample: Sample) -> Reading:
    return as_reading(mmstar_letter(reply.text, sample.choices))


OFFICIAL = {
    "MMStar": Scoring(
        version=1,
        source=MMSTAR,
        parse=mmstar_answer,
        score=is_target,
        metrics={"accuracy": mean},
        missing="wrong",
    )
}
"""The official scorings that are implemented here, keyed by data set."""


def published(name: str = "MMStar", **_: object) -> tuple[File, ...]:
    """The published sheet of a set, with its name in VLMEvalKit's folder.

    Raises:
        CatalogError: the set is not supported here.
    """
    sheet = published_set(name)
    return (File(name=f"{name}.tsv", url=sheet.url, md5=sheet.md5),)


# -- rows to samples


def to_sample(row: Row, name: str, kind: Kind, words: str) -> Sample:
    """Make a sample from a row. Raises DataError if the row is not of the set's kind."""
    where = f"row {row.position + 1} of {name}"
    choices = choices_of(row, where) if kind == "MCQ" else ("yes", "no") if kind == "Y/N" else ()
    target, references = right(row, kind, choices, where)
    extra = {column for column in ("prompt", "requirement") if f"{{{column}}}" in words}
    return Sample(
        id=row["index"],
        question=row["question"],
        choices=choices,
        media=row["image"],
        target=target,
        references=references,
        tags={
            "category": row.get("category", ""),
            "l2-category": row.get("l2-category") or row.get("l2_category", ""),
            "split": row.get("split", ""),
        },
        data={
            "hint": row.get("hint", ""),
            "image": which(row["image"][0]),
            **{column: row[column] for column in extra},
        },
    )


def which(image: Image) -> str:
    """A key that is the same for all rows with the same picture: the picture's location or
    digest."""
    if isinstance(image.source, Slice):
        return f"{image.source.path.name}:{image.source.offset}"
    if isinstance(image.source, bytes):
        return blake2b(image.source, digest_size=8).hexdigest()
    return image.label or str(image.source)


def choices_of(row: Row, where: str) -> tuple[str, ...]:
    """The choices: the cells A, B, ... up to the last nonempty cell."""
    choices = lettered_cells(row)
    if not choices:
        raise DataError(
            f"{where} has no choices: its columns A, B, ... are empty or missing. Download the "
            "sheet again."
        )
    return choices


def right(
    row: Row, kind: Kind, choices: tuple[str, ...], where: str
) -> tuple[str | None, tuple[str, ...]]:
    """The target or, if several people answered, their answers. None and () if the right answer is
    hidden."""
    cell = (row.get("answer") or row.get("answers", "")).strip()
    if not cell:
        return None, ()
    if kind == "VQA":
        several = texts(cell)
        return (None, several) if several else (cell, ())
    meant = yes_no(cell) if kind == "Y/N" else cell
    letters = [letter for letter, choice in zip(ascii_uppercase, choices, strict=False) if choice]
    if meant is None or (kind == "MCQ" and meant not in letters):
        allowed = "Yes or No" if kind == "Y/N" else ", ".join(letters)
        raise DataError(
            f"{where} has the answer {cell[:80]!r}, which is not one of {allowed}. Check that the "
            "file is VLMEvalKit's sheet, as described in `snellen show vlmevalkit`."
        )
    return meant, ()


def texts(cell: str) -> tuple[str, ...]:
    """The texts of a list that is written as a Python literal; () for anything else."""
    if not cell.startswith("["):
        return ()
    try:
        value = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    return tuple(value) if all(isinstance(text, str) for text in value) else ()


# -- prompts


def kit_message(sample: Sample, words: str, *, interleaved: bool) -> tuple[Message, ...]:
    """The data set's prompt with its fields filled in. Pictures come first, or replace their
    marks."""
    text = filled(words, sample)
    return in_text(sample, text) if interleaved else (user(*sample.media, text),)


def short_message(sample: Sample, task: Task) -> tuple[Message, ...]:
    """Build Snellen's own prompt, with the pictures first and then one line for each part of the
    text."""
    choices = choice_lines(sample.choices).rstrip("\n") if task == "mcq" else ""
    lines = (str(sample.data["hint"]), sample.question, choices, ASK[task])
    return (user(*sample.media, "\n".join(filter(None, lines))),)

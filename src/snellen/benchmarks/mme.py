"""MME: two questions about each image, one with the answer yes and one with no, in fourteen tasks.

Paper    Fu et al. 2023, MME: A Comprehensive Evaluation Benchmark for Multimodal Large Language
         Models, https://arxiv.org/abs/2306.13394 (NeurIPS 2025, Datasets and Benchmarks).
Data     MME_Benchmark_release_version.zip, in darkyarding/MME on the Hugging Face hub, has a folder
         of images for each task. The data may be used only for research.
         The questions are read from the eval_tool's Your_Results/TASK.txt, with three columns, or
         from the archive's text files, one for each image.
         There are 2,374 questions on 1,187 images.
         VLMEvalKit's MME.tsv can also be read.
         An id is TASK/IMAGE/1 or TASK/IMAGE/2.
Prompt   `official`, `vlmevalkit`: the picture, then the question, which ends in "Please answer yes
         or no.".
         `llava`: LLaVA's sentence "Answer the question using a single word or phrase." replaces
         that ending, as in LLaVA's llava_mme.jsonl.
         `lmms-eval`: the same text as `llava`, EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/mme/utils.py#L37-L45.
         Replies are limited to 128 tokens, as in LLaVA.
Scoring  `official`: calculation.py in BradyFU/
         Awesome-Multimodal-Large-Language-Models@dd2950902889cd614d4edf606827240166d29381:tools/
         eval_tool.zip. The answer is yes if the first four characters of the lowercase reply
         contain "yes", and no if they contain "no".
         `acc` is the share of questions answered correctly. `acc+` is the share of images with both
         questions answered correctly. The score of a task is 100 acc + 100 acc+, so it is at most
         200. `perception` is the sum over ten tasks, `cognition` the sum over four, and `score` the
         sum over all.
         `precision` and `recall` are for the answer yes. Replies that contain neither "yes" nor
         "no" are left out.
         The authors' script pairs lines by their order, while Snellen pairs lines by image. If the
         two ways of pairing differ for a file, a note in the result says so.
         `vlmevalkit`: the answer is yes or no if the reply contains exactly one of these two words.
         Any other reply is wrong, since VLMEvalKit's judge is not used.
         `lmms-eval`: like official, after spaces and full stops are stripped. The letters y and n
         alone also count, as yes and no.
         `robust`: Snellen's own rule.
Proof    For the published outputs of LaVIN, all results of the fourteen tasks, and both sums
         (perception and cognition), equal those of the authors' script (tests/parity).
         On 2,800 generated replies, the official rule and the sums equal those of the authors'
         script (tests/parity).
         The other rules are checked on examples worked out by hand from their code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from snellen import stats
from snellen.benchmarks.families import pins
from snellen.benchmarks.families.tasks import is_target
from snellen.benchmarks.families.yes_no import (
    KIT_RULE,
    SHORT,
    YES_NO,
    robust_answer,
    vlmevalkit_answer,
    wrong_answer,
)
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Published,
    Reading,
    Reply,
    ReplyTable,
    Resolution,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Drawn, Row, Table, file_content, find, jsonl, vlmevalkit_tsv
from snellen.data.locations import data_folder
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, user
from snellen.metrics import Columns, Metric, mean, metric
from snellen.metrics.groups import groups, is_single_category
from snellen.metrics.yes_no import precision, recall
from snellen.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND = "yes-no"
LANGUAGES = ("en",)
LICENSE = "research only"
PROOF = "published outputs"
SIZE = 2374
ALIASES = {"MME": {"prompt": "vlmevalkit"}}
REVISION = "dd2950902889cd614d4edf606827240166d29381"
AUTHORS = "BradyFU/Awesome-Multimodal-Large-Language-Models"
SOURCE = f"{AUTHORS}@{REVISION}:tools/eval_tool.zip"
PERCEPTION = (
    *("existence", "count", "position", "color", "posters", "celebrity", "scene", "landmark"),
    *("artwork", "OCR"),
)
COGNITION = (
    *("commonsense_reasoning", "numerical_calculation", "text_translation", "code_reasoning"),
)
TASKS = (*PERCEPTION, *COGNITION)
LEAVES = {
    "existence": "perception/object",
    "count": "perception/counting",
    "position": "perception/spatial",
    "color": "perception/attribute",
    "scene": "perception/scene",
    **dict.fromkeys(("posters", "celebrity", "landmark"), "knowledge/world"),
    "artwork": "knowledge/cultural",
    "OCR": "OCR/text",
    "commonsense_reasoning": "reasoning/commonsense",
    "numerical_calculation": "reasoning/mathematical",
    "text_translation": "knowledge/cultural",
    "code_reasoning": "reasoning/logic",
}
OF_COCO = ("existence", "count", "position", "color")
ROOT = "MME_Benchmark_release_version"
SUFFIX = " Please answer yes or no."
FILES_PUBLISHED = (
    # The authors' own archive is on the hub, but no digest of it is published.
    File(
        name="MME.tsv",
        url="https://opencompass.openxlab.space/utils/VLMEval/MME.tsv",
        md5="b36b43c3f09801f5d368627fb92187c3",
        note="questions and images, as VLMEvalKit publishes them",
    ),
)
FILES = (
    *(
        f"{folder}Your_Results/{PERCEPTION[0]}.txt"
        for folder in ("", "eval_tool/", f"{ROOT}/eval_tool/", "annotations/")
    ),
    "MME.tsv",
)

Preset = Literal["official", "vlmevalkit", "llava", "lmms-eval"]


def mme(prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    data_file = find(data, "mme", FILES, FILES_PUBLISHED)
    folder = release_folder(data)
    if str(data_file).endswith(".tsv"):
        table: Table = vlmevalkit_tsv(data_file)
        places = cache(lambda: in_pairs(table))
        sample = partial(of_sheet, places)
    else:
        table = Drawn(str(data_file), lambda: questions(data_file, folder), REVISION)
        sample = partial(to_sample, lambda: folder or data_file.folder)
    return Benchmark(
        name="mme",
        asks=1,
        data=table,
        sample=lambda _, row: sample(row),
        prompt=lambda sample, _: (user(*sample.media, PROMPTS[prompt](sample.question)),),
        scorings={
            "official": replace(
                scoring(SOURCE, official_answer, also=OF_YES),
                resolve=line_pairs,
                on_missing=ON_MISSING,
            ),
            "vlmevalkit": scoring(KIT_RULE, vlmevalkit_answer),
            "lmms-eval": scoring(
                f"{pins.LMMS_EVAL}:lmms_eval/tasks/mme/utils.py#L48-L122", lmms_answer
            ),
            "robust": scoring("ours", robust_answer),
        },
        max_answer_tokens=128,
        cluster_by=picture_of,
        check=Check(says=lambda _, answer: answer, wrong=wrong_answer, expect=EXPECT),
        procedure=Procedure(
            group_by=image_of,
            together=image_of,
        ),
        presentation=Presentation(
            break_down_by=("task",),
            metric_tags=("question",),
            capabilities=Capabilities(
                tag="task", leaves=LEAVES, source="https://arxiv.org/abs/2306.13394, section 2.3"
            ),
        ),
        interop=Interop(
            files=data_file,
            layout=lambda path: results(path, map(sample, table)),
        ),
    )


def scoring(
    source: str,
    parse: Callable[[Reply, Sample], Reading],
    *,
    also: Mapping[str, Metric] | None = None,
) -> Scoring:
    return Scoring(
        version=1,
        source=source,
        parse=parse,
        score=is_target,
        metrics={
            "score": points(TASKS, single=True),
            "perception": points(PERCEPTION),
            "cognition": points(COGNITION),
            "acc": Metric(mean, better="higher"),
            "acc_plus": acc_plus,
            **(also or {}),
        },
    )


OF_YES: Mapping[str, Metric] = {
    "precision": precision.with_arguments(otherwise=0.0),
    "recall": recall.with_arguments(otherwise=0.0, answered_only=True),
}
"""Further metrics of calculation.py for each task. Replies that contain neither yes nor no are left
out."""


# -- data


def release_folder(data: Path | None) -> Path | None:
    """The folder that contains the tasks' folders. None if the authors' archive was not
    unpacked."""
    start = data or data_folder("mme")
    return next((path for path in (start / ROOT, start) if (path / TASKS[0]).is_dir()), None)


def questions(data_file: DataFile, folder: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the questions of all tasks, from Your_Results or else from the text files next to the
    images."""
    try:
        tables = data_file.path.parent
    except DataError:
        if folder is None:
            raise
        yield from questions_by_image(folder)
        return
    for task in TASKS:
        pairs: Counter[str] = Counter()
        for number, columns in lines_of(tables / f"{task}.txt"):
            if len(columns) < 3:
                raise DataError(
                    f"{tables / task}.txt: line {number} has {len(columns)} columns but needs "
                    "three, separated by tabs: image, question, and answer. Download the file "
                    "again."
                )
            image, question, answer, *_ = columns
            pairs[image] += 1
            yield {
                "task": task,
                "image": image,
                "question": question,
                "answer": answer,
                "place": pairs[image],
            }


def questions_by_image(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions from the archive's text files. Each file has two lines, and is named
    after its image."""
    for task in TASKS:
        texts = folder / task / "questions_answers_YN"
        images = folder / task / "images"
        images, texts = (images, texts) if texts.is_dir() else (folder / task, folder / task)
        names = {path.stem: path.name for path in sorted(images.glob("*")) if path.suffix != ".txt"}
        for text in sorted(texts.glob("*.txt")):
            for number, columns in lines_of(text):
                if len(columns) != 2 or text.stem not in names:
                    raise DataError(
                        f"{text}: line {number} is not a question and an answer separated by a "
                        "tab, or the file's image is missing. Unpack the archive again."
                    )
                yield {
                    "task": task,
                    "image": names[text.stem],
                    "question": columns[0],
                    "answer": columns[1],
                    "place": number,
                }


def lines_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the nonempty lines of a text file, split into columns, with line numbers that count
    from 1."""
    # splitlines is not used, since it also splits at other characters.
    text = file_content(path).decode()
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if line.strip():
            yield number, line.split("\t")


def to_sample(folder: Callable[[], Path], row: Row) -> Sample:
    task, image = row["task"], row["image"]
    root = folder()
    root = root / ROOT if (root / ROOT).is_dir() else root
    inside = "images/" if (root / task / "images").is_dir() else ""
    name = f"{task}/{inside}{image}"
    return build_sample(
        f"{task}/{image}/{row['place']}", row, image, row["place"],
        (Image(root / name, label=name, within=root),),
    )  # fmt: skip


def of_sheet(places: Callable[[], Mapping[str, int]], row: Row) -> Sample:
    """Make a sample from a row of VLMEvalKit's TSV. The sample's id is the row's index."""
    fields = {**row, "task": row["category"]}
    return build_sample(
        row["index"], fields, row["image_path"], places()[row["index"]], tuple(row["image"])
    )


def in_pairs(table: Table) -> Mapping[str, int]:
    """The position of each row's question among the questions about the same image, counted from 1,
    keyed by the row's `index` in the TSV."""
    seen: Counter[tuple[str, str]] = Counter()
    positions = {}
    for row in table:
        key = (row["category"], row["image_path"])
        seen[key] += 1
        positions[row["index"]] = seen[key]
    return positions


def build_sample(
    name: str, row: Mapping[str, Any], image: str, position: int, media: tuple[Image, ...]
) -> Sample:
    return Sample(
        id=name,
        question=row["question"],
        choices=YES_NO,
        media=media,
        target={"yes": "yes", "no": "no"}[row["answer"].strip().lower()],
        tags={"task": row["task"], "question": f"question {position}"},
        data={"image": image},
    )


def image_of(sample: Sample) -> str:
    return f"{sample.tags['task']}/{sample.data['image']}"


def picture_of(sample: Sample) -> str:
    """The key of a picture, which tasks may share. Four tasks use pictures from COCO, of which ten
    occur in more than one task."""
    image = str(sample.data["image"])
    return Path(image).name if sample.tags["task"] in OF_COCO else image_of(sample)


# -- prompts


def llava(question: str) -> str:
    return question.removesuffix(SUFFIX.strip()).rstrip() + f"\n{SHORT}"


def lmms_eval(question: str) -> str:
    # If the suffix has two spaces before it, one of them stays.
    return question.strip().replace(SUFFIX, "") + f"\n{SHORT}"


PROMPTS: Mapping[Preset, Callable[[str], str]] = {
    "official": str,
    "vlmevalkit": str,
    "llava": llava,
    "lmms-eval": lmms_eval,
}


# -- scoring


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the word in the first four characters. By this rule, "eyes" is yes, "know" is no,
    and " no" is neither."""
    return in_first_four(reply.text.lower())


def lmms_answer(reply: Reply, sample: Sample) -> Reading:
    text = reply.text.lower().strip().replace(".", "")
    if text in ("y", "n"):
        return Reading(answer="yes" if text == "y" else "no", rule="letter")
    return in_first_four(text)


def in_first_four(text: str) -> Reading:
    for word in YES_NO:
        if word in text[:4]:
            return Reading(answer=word, rule=f"begins with {word}")
    return Reading(answer=None, rule="begins with neither")


def points(tasks: Sequence[str], *, single: bool = False) -> Metric:
    """The sum over tasks of 100 acc + 100 acc+, in points. At most 200 per task; higher is better.

        S = Σ_t 100 (a_t + b_t)

    a_t is the share of right questions in task t. b_t is the share of images with both questions
    right. An image with only one question is not included in b_t. There is no value if a task has
    no replies. If the data have only one task, the value is that task's points, provided that
    `single` is true. If `single` is false, data with only one task have no value (n = 0). The
    bootstrap for the interval resamples images, across all tasks.
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        alone = is_single_category(columns, "task")
        if alone and not single:
            return Estimate(value=None, unit="points", n=0, reason="all rows have the same task")
        tag = columns.tags["task"]
        names = [tag.names[code] for code in np.unique(tag.codes)]
        wanted = names if alone else tasks
        if absent := [task for task in wanted if task not in names]:
            reason = f"no replies to {len(absent)} of its {len(wanted)} tasks: {', '.join(absent)}"
            return Estimate(value=None, unit="points", n=0, reason=reason)
        columns = columns.tagged("task", wanted)
        by_image = groups(columns, "task", "question")
        clusters, cluster = np.unique(columns.cluster, return_inverse=True)
        shape = len(clusters), len(tag.names)
        both = by_image.size == PAIR
        kept = [code for code, name in enumerate(tag.names) if name in wanted]

        def by_task(
            of: NDArray[np.intp], task: NDArray[Any], what: NDArray[np.float64]
        ) -> NDArray[np.float64]:
            cell = of * shape[1] + task
            sums = np.bincount(cell, weights=what, minlength=shape[0] * shape[1])
            return sums.reshape(shape)[:, kept].astype(np.float64, copy=False)

        task = columns.tags["task"].codes
        pairs = np.searchsorted(clusters, by_image.cluster[both]), by_image.code[both]
        sums = [
            by_task(cluster, task, np.asarray(columns.score)),
            by_task(cluster, task, np.ones(columns.n)),
            by_task(*pairs, by_image.all_right[both]),
            by_task(*pairs, np.ones(int(both.sum()))),
        ]

        def total(totals: NDArray[np.float64]) -> NDArray[np.float64]:
            right, rows, pairs_right, pairs = np.split(totals, 4, axis=1)
            value: NDArray[np.float64] = 100 * (right / rows + pairs_right / pairs).sum(axis=1)
            return value

        return stats.bootstrap_sums(
            np.concatenate(sums, axis=1), total, n=columns.n, unit="points", clusters=clusters
        )

    return Metric(metric, better="higher", unit="points", name="points")


ON_MISSING = (
    "The authors' script, calculation.py, leaves out no rows: it stops if a task has no file, "
    "an odd number of lines, or a line without a reply. It pairs all other lines two by two"
)


def line_pairs(table: ReplyTable) -> Resolution:
    """Add a note if two consecutive lines of a file, which calculation.py#L99 pairs, are about
    different images."""
    tasks: dict[str, list[str]] = {}
    for line in table.lines:
        tasks.setdefault(line.sample.tags["task"], []).append(image_of(line.sample))
    pairs = [
        (images[index], images[index + 1 : index + 2])
        for images in tasks.values()
        for index in range(0, len(images), PAIR)
    ]
    split = sum([first] != second for first, second in pairs)
    if table.order == "data" or not split:
        return Resolution()
    note = (
        f"this file's lines are not in the authors' order: {split:,} of {len(pairs):,} pairs of "
        "consecutive lines are not about the same image. Snellen pairs questions by image. The "
        "authors' script pairs questions by line, so its acc+ and scores differ from Snellen's."
    )
    return Resolution(notes=(note,))


@metric(better="higher", unit="fraction")
def acc_plus(columns: Columns) -> Estimate:
    """The share of images with both questions right. `n` counts the images. Images with only one
    question are left out. In [0, 1]; higher is better."""
    by_image = groups(columns, "task", "question")
    both = by_image.size == PAIR
    return stats.mean(by_image.all_right[both], by_image.cluster[both])


# -- the authors' files of results


def results(path: Path, samples: Iterator[Sample]) -> Published | None:
    """Read the authors' or LLaVA's files of replies. The authors' calculation.py reads a folder of
    TASK.txt files with four columns, the last of which is the reply. LLaVA writes JSON lines, in
    which both questions about an image have the same id."""
    lines = four_columns(path) if path.is_dir() else llavas(path)
    if not lines:
        return None
    names = {
        (s.tags["task"], Path(str(s.data["image"])).stem, bare_question(s.question)): s.id
        for s in samples
    }
    replies: dict[str, str | None] = {}
    for where, task, image, question, text in lines:
        name = names.get((task, Path(image).stem, bare_question(question)))
        if name is None:
            raise DataError(
                f"{where}: the task {task} of the data set has no question {question!r} about "
                f"{image}. The columns must be image, question, right answer, and reply."
            )
        if name in replies:
            raise DataError(
                f"{where} is a second reply to {question!r} about {image}. Remove one of them."
            )
        replies[name] = text
    return Published(replies=replies, notes=("replies are matched by task, image, and question",))


ResultLine = tuple[str, str, str, str, str | None]
"""The location in the file, the task, the image, the question, and the reply."""


def four_columns(folder: Path) -> list[ResultLine]:
    lines: list[ResultLine] = []
    for task in TASKS:
        files = [path for end in (".txt", ".txt.gz") if (path := folder / f"{task}{end}").is_file()]
        for path in files:
            for number, columns in lines_of(path):
                where = f"{path}, line {number}"
                if len(columns) not in (3, 4):
                    raise DataError(
                        f"{where} has {len(columns)} columns, not four. A reply must not contain "
                        "tabs or newlines. Replace them with spaces."
                    )
                image, question, _, *reply = columns
                lines.append((where, task, image, question, reply[0] if reply else None))
    return lines


def llavas(path: Path) -> list[ResultLine]:
    lines: list[ResultLine] = []
    try:
        for row in jsonl(path):
            task, _, image = str(row.get("question_id", "")).partition("/")
            if task not in TASKS or not {"prompt", "text"} <= row.keys():
                return []
            lines.append(
                (f"{path}, row {row.position + 1}", task, image, row["prompt"], row["text"])
            )
    except DataError:
        return []
    return lines


def bare_question(question: str) -> str:
    """The text of a question without the instruction on how to answer. This text identifies the
    question."""
    return " ".join(question.replace(SHORT, "").replace(SUFFIX.strip(), "").split())


# -- check

PAIR = 2
"""The number of questions about each image."""
PERFECT = {"oracle": 2800.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
EXPECT = {
    # "Yes and no" begins with yes. This is right for half of the questions, but never for both
    # questions of an image.
    "official": {**PERFECT, "hedging": 14 * 50.0},
    "vlmevalkit": PERFECT,
    "lmms-eval": {**PERFECT, "hedging": 14 * 50.0},
    "robust": PERFECT,
}

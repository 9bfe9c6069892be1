"""MME: two questions to each image, one to be answered yes and one no, in fourteen tasks.

Paper    Fu et al. 2023, MME: A Comprehensive Evaluation Benchmark for Multimodal Large Language
         Models, https://arxiv.org/abs/2306.13394 (NeurIPS 2025, Datasets and Benchmarks)
Data     MME_Benchmark_release_version.zip, darkyarding/MME on the hub: a folder of images for each
         task, and the questions in the eval_tool's Your_Results/TASK.txt with three columns, or in
         a text for each image, as in the archive; research use only. 2,374 questions, 1,187 images.
         VLMEvalKit's MME.tsv is read too. An id is TASK/IMAGE/1 or 2
Prompt   official, vlmevalkit: the question, which ends in "Please answer yes or no.", after the
         picture. llava: LLaVA's line on a single word or phrase instead of that ending, as in its
         llava_mme.jsonl. lmms-eval: the same, EvolvingLMMs-Lab/
         lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/mme/utils.py#L37-L45.
         128 tokens, as LLaVA asked
Scoring  official: BradyFU/
         Awesome-Multimodal-Large-Language-Models@dd2950902889cd614d4edf606827240166d29381:tools/
         eval_tool.zip, calculation.py: the first four characters of the lowercase reply contain
         yes, or else no. A task's score is 100 acc + 100 acc+, at most 200. perception sums ten
         tasks, cognition four, score all. acc is the share of right questions, acc+ the share of
         images with both questions right. precision and recall are those of yes, without the
         replies that say neither word. The authors' script pairs lines by order; Snellen pairs them
         by image. If these differ in a file, the result says so. vlmevalkit: one of the two words
         is a word of the reply; other replies are wrong, since its judge is not asked. lmms-eval:
         as official, after stripping spaces and full stops; y and n count too. robust: ours
Proof    published outputs of LaVIN: every figure of the fourteen tasks and both sums. Also the rule
         and the sums on 2,800 made replies (tests/parity). Other rules: by hand, from their code
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from snellen import stats
from snellen.benchmarks.families.tasks import is_target
from snellen.benchmarks.families.yes_no import (
    KIT_RULE,
    LMMS,
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
    # The authors' own archive is on the hub, without a digest to verify it.
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
            "lmms-eval": scoring(f"{LMMS}:lmms_eval/tasks/mme/utils.py#L48-L122", lmms_answer),
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
"""What calculation.py also reports for each task, without the replies that say neither word."""


# -- data


def release_folder(data: Path | None) -> Path | None:
    """The folder that contains the tasks' folders, if the authors' archive was unpacked."""
    start = data or data_folder("mme")
    return next((path for path in (start / ROOT, start) if (path / TASKS[0]).is_dir()), None)


def questions(data_file: DataFile, folder: Path | None) -> Iterator[dict[str, Any]]:
    """The questions of every task, from Your_Results or else from the texts with the images."""
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
    """The questions of the archive's texts. Each text has two lines and the name of its image."""
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
    """The nonempty lines of a text, split into columns, with their numbers from 1."""
    # Not splitlines, which also splits at other characters.
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
    """A row of VLMEvalKit's sheet. Its index is the id."""
    fields = {**row, "task": row["category"]}
    return build_sample(
        row["index"], fields, row["image_path"], places()[row["index"]], tuple(row["image"])
    )


def in_pairs(table: Table) -> Mapping[str, int]:
    """For each index of a sheet, the number of the question about its image, from 1."""
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
    """The picture itself. Four tasks use pictures of COCO and share ten of them."""
    image = str(sample.data["image"])
    return Path(image).name if sample.tags["task"] in OF_COCO else image_of(sample)


# -- prompts


def llava(question: str) -> str:
    return question.removesuffix(SUFFIX.strip()).rstrip() + f"\n{SHORT}"


def lmms_eval(question: str) -> str:
    # If two spaces precede the suffix, one stays.
    return question.strip().replace(SUFFIX, "") + f"\n{SHORT}"


PROMPTS: Mapping[Preset, Callable[[str], str]] = {
    "official": str,
    "vlmevalkit": str,
    "llava": llava,
    "lmms-eval": lmms_eval,
}


# -- scoring


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """The word in the first four characters: "eyes" says yes, "know" no, and "   no" neither."""
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
    """The sum over tasks of 100 acc + 100 acc+, in points; higher is better, 200 a task at most.

        S = Σ_t 100 (a_t + b_t)

    a_t is the share of right questions of task t, b_t the share of images with both questions
    right. An image with only one question is not in b_t. There is no value if a task has no
    replies. If the data have only one task, `single` gives it its own points; otherwise it has none
    (n = 0). The interval resamples images, in all tasks together.
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        alone = is_single_category(columns, "task")
        if alone and not single:
            return Estimate(value=None, unit="points", n=0, reason="of one task alone")
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
    """Note when a file's consecutive lines, which calculation.py#L99 pairs, differ in image."""
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
        "authors' script pairs them by line, so its acc+ and scores differ from these."
    )
    return Resolution(notes=(note,))


@metric(better="higher", unit="fraction")
def acc_plus(columns: Columns) -> Estimate:
    """The share of images with both questions right. `n` counts images; images with only one
    question are left out. In [0, 1]; higher is better."""
    by_image = groups(columns, "task", "question")
    both = by_image.size == PAIR
    return stats.mean(by_image.all_right[both], by_image.cluster[both])


# -- the authors' files of results


def results(path: Path, samples: Iterator[Sample]) -> Published | None:
    """A folder of TASK.txt files with four columns, as calculation.py reads it; the last column is
    the reply. Or LLaVA's answers in JSON lines, in which one id has both questions of an image."""
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
                f"{where}: there is no question {question!r} about {image} in the task {task} of "
                "the data set. Are the columns image, question, right answer, and reply?"
            )
        if name in replies:
            raise DataError(f"{where}: a second reply to {question!r} about {image}. Keep one.")
        replies[name] = text
    return Published(replies=replies, notes=("replies are matched by task, image, and question",))


ResultLine = tuple[str, str, str, str, str | None]
"""Location, task, image, question, and reply."""


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
    """A question without the instruction on how to answer it. This form identifies the question."""
    return " ".join(question.replace(SHORT, "").replace(SUFFIX.strip(), "").split())


# -- check

PAIR = 2
"""Questions to an image."""
PERFECT = {"oracle": 2800.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
EXPECT = {
    # "Yes and no" begins with yes: right for half of the questions, and for both of no image.
    "official": {**PERFECT, "hedging": 14 * 50.0},
    "vlmevalkit": PERFECT,
    "lmms-eval": {**PERFECT, "hedging": 14 * 50.0},
    "robust": PERFECT,
}

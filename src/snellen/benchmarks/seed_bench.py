"""SEED-Bench 1, 2, and 2-Plus: questions with four choices about a picture or part of a video.

Paper    Li et al. 2023, SEED-Bench: Benchmarking Multimodal LLMs with Generative Comprehension,
         https://arxiv.org/abs/2307.16125 (CVPR 2024).
         SEED-Bench-2 is arXiv 2311.17092, and SEED-Bench-2-Plus is arXiv 2404.16790.
Data     AILab-CVC/SEED-Bench, SEED-Bench-2, and SEED-Bench-2-plus on the Hugging Face hub, under CC
         BY-NC 4.0. `version=1` has 14,233 questions on pictures in 9 dimensions, and 3,757
         questions on videos in 3 dimensions, in the JSON of November 2023.
         `version=2` has 24,371 questions in 27 dimensions. With part=image, only the questions on
         single, multiple, and interleaved images are kept.
         `version=2-plus` has 2,277 questions on charts, maps, and websites. The code for this
         version is not published, so Snellen reads the fields as other tools do.
         `rows=vlmevalkit` reads VLMEvalKit's SEEDBench_IMG.tsv, which has its own ids.
         `part=video` and `part=all` include the questions on videos. The videos of version 1 are
         from Something-Something v2, Epic-Kitchens, and Breakfast, in folders named as in the
         authors' eval.py#L12-L17. The field `segment` gives the part of the video in seconds or,
         for Breakfast, in frames at 15 frames per second.
         `videos=frames` reads the eight frames that the authors publish for each part
         (v1_video.zip.*, v1_video/task10/ssv2_8_frame/{id}/{1..8}.png). For version 2, only such
         frames are published.
         The second question with the same id gets the id `ID#2`.
         The authors' files of results contain the right answers, so they can be read as data for
         scoring.
Prompt   With ask=rank, the authors' prompts are in AILab-CVC/
         SEED-Bench@991e849be802b0de1cd4d45d929bf18e249f5b54. Version 1 uses model/
         instruct_blip_interface.py#L44-L45. Versions 2 and 2-plus use the bare question,
         SEED-Bench-2/model/llava_v2_interface.py#L81-L106. The pictures come first, or replace
         <img>. A video is shown as eight frames, from the middles of eight equal parts. Each of
         these frames is at most three frames away from the one that
         instruct_blip_interface.py#L62-L123 chooses. With ask=generate, the authors publish no
         prompt.
         `official`: LLaVA's prompt, haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:
         docs/Evaluation.md#L22-L29. Replies are limited to 128 tokens, llava/eval/
         model_vqa_loader.py#L141.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/seedbench/utils.py#L8-L14 and #L49-L51. Versions 2 and 2-plus use
         seedbench_2/utils.py#L8-L25, where the text follows the pictures and keeps <img>. With the
         prompt lmms-eval, replies to these versions are limited to 16 tokens. The tasks in
         lmms-eval include the questions on videos, so version 1 has 17,990 questions there. Here,
         lmms-eval's task names ask only the questions on pictures.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L212-L247.
Scoring  The following scorings are for ask=rank.
         `official`: the answer is the choice with the smallest loss, eval.py#L110-L114. For version
         1, the loss is the sum over the tokens of the choice (lavis/models/blip2_models/
         modeling_t5.py#L1874-L1877). For version 2, the loss is the mean over the tokens. The code
         for 2-plus is not published, and we assume the mean.
         `mean` (version 1): like official, but the loss is the mean over the tokens, model/
         huggingface_instructblip_interface.py#L208-L225.
         For version 2, the authors also rank the letters (InternLM_Xcomposer_VL_interface.py).
         Ranking of letters is not implemented here.
         The following scorings are for ask=generate.
         `letters`: the rule of LLaVA's published scores. The whole reply must be the letter,
         scripts/convert_seed_for_submission.py#L22-L35.
         `lmms-eval`: the answer is the first character, utils.py#L17-L34. For version 2, this
         character must be a capital letter.
         `vlmevalkit`: vlmeval/utils/matching_util.py#L18-L127. Replies that VLMEvalKit leaves to
         its judge are wrong.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
         With the prompts lmms-eval and vlmevalkit, the scoring of the same name is the headline
         scoring. The metric `accuracy` is the mean over all questions, eval.py#L125-L142. The loop
         in the authors' published code fails, because it reads fields that the records do not have.
         `dimension_average` is the mean of the dimensions' accuracies.
Proof    For the published outputs of GPT-4V on all of version 1, the counts equal those that the
         authors' rule gives for the authors' own records, and the accuracy on pictures equals the
         leaderboard's 69.1 (tests/parity).
         The results by dimension, and the scorings for ask=rank, are checked on examples worked out
         by hand. No model outputs with dimensions or log-likelihoods are published.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Literal

import orjson

from snellen.benchmarks.families import pins
from snellen.benchmarks.families.tasks import is_target, parse_letter, parse_letter_as_vlmevalkit
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.core.prompts import lettered
from snellen.data import DataFile, Drawn, Row, Table, file_content, find, vlmevalkit_tsv
from snellen.data.published import File
from snellen.errors import DataError, UsageError
from snellen.media.content import Image, Part, Video, user
from snellen.metrics import Metric, macro_average, mean

AUTHORS = "AILab-CVC/SEED-Bench@991e849be802b0de1cd4d45d929bf18e249f5b54"
LLAVA = "haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-4.0"
PROOF = "published outputs"
SIZE = 14_233
OTHER_SIZES = {"version=2-plus": 2277}
ALIASES = {
    "SEEDBench_IMG": {"version": "1", "rows": "vlmevalkit", "prompt": "vlmevalkit"},
    "seedbench": {"version": "1", "prompt": "lmms-eval"},
    "seedbench_ppl": {"version": "1", "ask": "rank", "prompt": "lmms-eval"},
    "seedbench_2": {"version": "2", "prompt": "lmms-eval"},
    "seedbench_2_plus": {"version": "2-plus", "prompt": "lmms-eval"},
}
HUB = "https://huggingface.co/datasets/AILab-CVC"
UNCHECKED = "no digest of it is published"
FILES = {
    "1": (
        File(
            name="SEED-Bench.json",
            url=f"{HUB}/SEED-Bench/resolve/main/SEED-Bench.json",
            note=f"{UNCHECKED}. Eight frames of each video are v1_video.zip.* beside it: get the "
            "parts by hand, join them, and unpack them here",
        ),
        File(
            name="SEED-Bench-image.zip",
            url=f"{HUB}/SEED-Bench/resolve/main/SEED-Bench-image.zip",
            unpack=True,
            note=UNCHECKED,
        ),
    ),
    "2": (
        File(
            name="SEED-Bench_v2_level1_2_3.json",
            url=f"{HUB}/SEED-Bench-2/resolve/main/SEED-Bench_v2_level1_2_3.json",
            note="the pictures of dimensions 10 on are SEED-Bench-2-image.zip.* beside it: get the "
            "parts by hand, join them, and unpack them here",
        ),
        File(
            name="cc3m-image.zip",
            url=f"{HUB}/SEED-Bench-2/resolve/main/cc3m-image.zip",
            unpack=True,
            note=UNCHECKED,
        ),
    ),
    "2-plus": (
        File(
            name="SEED-Bench-2-plus-text-rich.json",
            url=f"{HUB}/SEED-Bench-2-plus/resolve/main/SEED-Bench-2-plus-text-rich.json",
            note=UNCHECKED,
        ),
        File(
            name="text_rich.zip",
            url=f"{HUB}/SEED-Bench-2-plus/resolve/main/text_rich.zip",
            unpack=True,
            note=UNCHECKED,
        ),
    ),
}
ANSWERS = (
    "evaluate_result/SEED-Bench-{}/GPT-4V.json",
    "outputs/SEED-Bench-{}/GPT-4V.json.gz",
)
"""Result files that also contain the right answers. The first is a path in the authors' repository.
The second is a path among the outputs that are kept for parity tests."""
SHEET = File(
    name="SEEDBench_IMG.tsv",
    url="https://opencompass.openxlab.space/utils/benchmarks/SEEDBench/SEEDBench_IMG.tsv",
    md5="68017231464752261a2526d6ca3a10c0",
)
FOLDERS = {
    "1": ("SEED-Bench-image",),
    "cc3m": ("cc3m-image", "SEED-Bench-image"),
    "SEED-Bench v2": ("SEED-Bench-2-image",),
}
"""The folders in the authors' archives, keyed by version or by the field `data_source` of a row."""
OF_1 = (
    "Scene Understanding", "Instance Identity", "Instance Attributes", "Instance Location",
    "Instances Counting", "Spatial Relation", "Instance Interaction", "Visual Reasoning",
    "Text Understanding", "Action Recognition", "Action Prediction", "Procedure Understanding",
)  # fmt: skip
OF_2 = (
    *OF_1[:9], "Celebrity Recognition", "Landmark Recognition", "Chart Understanding",
    "Visual Referring Expression", "Science Knowledge", "Emotion Recognition",
    "Visual Mathematics", "Difference Spotting", "Meme Comprehension",
    "Global Video Understanding", "Action Recognition", "Action Prediction",
    "Procedure Understanding", "In-Context Captioning", "Interleaved Image-Text Analysis",
    "Text-to-Image Generation", "Next Image Prediction", "Text-Image Creation",
)  # fmt: skip
DIMENSIONS: Mapping[str, tuple[str, ...]] = {"1": OF_1, "2": OF_2, "2-plus": ()}
"""The dimension of each question_type_id, which counts from 1. The spelling is the same as in the
authors' DATASET.md."""
LEAVES = {
    "Scene Understanding": "perception/scene",
    "Instance Identity": "perception/object",
    "Instance Interaction": "perception/object",
    "Instance Attributes": "perception/attribute",
    "Emotion Recognition": "perception/attribute",
    "Difference Spotting": "perception/attribute",
    "Instance Location": "perception/spatial",
    "Spatial Relation": "perception/spatial",
    "Visual Referring Expression": "perception/spatial",
    "Instances Counting": "perception/counting",
    "Visual Reasoning": "reasoning/commonsense",
    "Text Understanding": "OCR/text",
    "Chart Understanding": "OCR/table",
    "Action Recognition": "reasoning/temporal",
    "Action Prediction": "reasoning/temporal",
    "Procedure Understanding": "reasoning/temporal",
    "Global Video Understanding": "reasoning/temporal",
    "Celebrity Recognition": "knowledge/world",
    "Landmark Recognition": "knowledge/world",
    "Science Knowledge": "knowledge/domain",
    "Visual Mathematics": "reasoning/mathematical",
    "Meme Comprehension": "knowledge/cultural",
    "In-Context Captioning": "reasoning/logic",
    "Interleaved Image-Text Analysis": "reasoning/logic",
    "Text-to-Image Generation": UNMAPPED,
    "Next Image Prediction": UNMAPPED,
    "Text-Image Creation": UNMAPPED,
    # 2-Plus
    "chart": "OCR/table",
    "map": "OCR/document",
    "web": "OCR/document",
}
"""The capability of each dimension."""
PICTURES = ("image", "Single Image", "Multiple Images", "Interleaved Image")
VIDEOS = ("video", "Video")
"""The data types of questions on videos. If a question has a data type that is neither here nor in
`PICTURES`, the choices are pictures, and nothing is shown."""
OF_VIDEOS = {
    "Action Recognition": ("SSV2/videos", "v1_video/task10/ssv2_8_frame"),
    "Action Prediction": (
        "EPIC-KITCHENS/3h91syskeag572hl6tvuovwv4d/videos/test",
        "v1_video/task11/kitchen_8_frame",
    ),
    "Procedure Understanding": ("BreakfastII_15fps_qvga_sync", "v1_video/task12/breakfast_8_frame"),
}
"""The folder of the videos and the folder of the authors' frames, keyed by dimension. Only version
1 has videos in these dimensions."""
FRAMES = 8
FPS = 15
"""The frame rate of Breakfast's videos, in frames per second."""
MARK = "<img>"
ASK = "Answer with the option's letter from the given choices directly."
SELECT = "Please select the correct answer from the options above. \n"

Version = Literal["1", "2", "2-plus"]
Kept = Literal["image", "video", "all"]
Videos = Literal["source", "frames"]
Preset = Literal["official", "vlmevalkit", "lmms-eval"]


def seed_bench(
    version: Version = "1",
    part: Kept = "image",
    ask: Literal["generate", "rank"] = "generate",
    prompt: Preset = "official",
    rows: Literal["authors", "vlmevalkit"] = "authors",
    videos: Videos = "source",
    data: Path | None = None,
) -> Benchmark:
    if ask == "rank" and prompt == "vlmevalkit":
        raise UsageError(
            "seed-bench:ask=rank has no prompt=vlmevalkit, since VLMEvalKit does not rank choices."
        )
    files = published(version, rows)
    spec = f"seed-bench:version={version},rows={rows}"
    names = [files[0].name, *(name.format(version) for name in ANSWERS if rows == "authors")]
    data_file = find(data, "seed-bench", names, files, spec)
    table: Table = vlmevalkit_tsv(data_file)
    if rows == "authors":
        table = Drawn(str(data_file), lambda: questions(data_file, version, part))
    return Benchmark(
        name="seed-bench",
        asks=1,
        data=table,
        sample=lambda _, row: (
            of_sheet(row) if rows == "vlmevalkit" else to_sample(row, data_file, version, videos)
        ),
        prompt=lambda sample, _: (user(*prompt_parts(sample, version, ask, prompt)),),
        scorings=scorings(version, ask, prompt),
        max_answer_tokens=16 if prompt == "lmms-eval" and version != "1" else 128,
        cluster_by=lambda sample: str(sample.data["shown"]),
        check=Check(says=lambda _, answer: answer, wrong=wrong_answer, expect=EXPECT),
        procedure=Procedure(
            kind=ask,
            group_by=lambda sample: str(sample.data["shown"]),
            frames=(
                f"uniform:{FRAMES},at=middles"
                if version == "1" and part != "image" and videos == "source"
                else None
            ),
        ),
        presentation=Presentation(
            break_down_by=("dimension", "subpart"),
            capabilities=Capabilities(
                tag="dimension", leaves=LEAVES, source=f"{AUTHORS}:DATASET.md"
            ),
        ),
        interop=Interop(
            files=data_file,
            layout=lambda path: with_repeats(results(path), table if rows == "authors" else ()),
        ),
    )


def published(
    version: Version = "1", rows: Literal["authors", "vlmevalkit"] = "authors", **_: object
) -> tuple[File, ...]:
    if rows == "authors":
        return FILES[version]
    if version != "1":
        raise UsageError(
            f"seed-bench:rows=vlmevalkit needs version=1, but the version is {version}."
        )
    return (SHEET,)


# -- data


def questions(data_file: DataFile, version: Version, part: Kept) -> Iterator[dict[str, Any]]:
    """Yield the questions from the data set's JSON object, or from a file of results that contains
    the right answers."""
    try:
        every = orjson.loads(file_content(data_file.path))["questions"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        records = records_of(data_file.path)
        if records is None or not all("gt_answer" in record for _, record in records):
            raise DataError(
                f"{data_file.path} is neither a JSON object with a list of questions ({error!r}) "
                "nor a file of results with question_id and gt_answer in each line. Use the "
                f"complete file {FILES[version][0].name} of the data set."
            ) from error
        every = [as_question(record) for record in dict(records).values()]
    seen: Counter[str] = Counter()
    for row in every:
        try:
            name = str(row["question_id"])
            dimension, shown = dimension_of(row, version), row.get("data_type") or "image"
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise DataError(
                f"{data_file.path}: a question cannot be read: {error!r}. Its content: "
                f"{row!s:.200}."
            ) from error
        seen[name] += 1
        again = f"{name}#{seen[name]}" if seen[name] > 1 else name
        if part == "all" or shown in (PICTURES if part == "image" else VIDEOS):
            yield {**row, "id": again, "dimension": dimension, "data_type": shown}


def as_question(record: Mapping[str, Any]) -> dict[str, Any]:
    """The question that a line of results is about, with the right answer but without the
    question's text."""
    name = str(record["question_id"])
    dimension = re.match(r"(\d+)_", name)
    video = name.startswith("v") or bool(dimension and 19 <= int(dimension[1]) <= 22)
    return {
        "question_id": name,
        "answer": record["gt_answer"],
        "data_type": "video" if video else "image",
        **({"question_type_id": int(dimension[1])} if dimension else {}),
    }


def dimension_of(row: Mapping[str, Any], version: Version) -> str:
    if version == "2-plus":
        return str(row.get("question_image_type", ""))
    number = row.get("question_type_id")
    return "" if number is None else DIMENSIONS[version][number - 1]


def to_sample(row: Row, data_file: DataFile, version: Version, videos: Videos) -> Sample:
    data_id = row.get("data_id") or ()
    names = (data_id,) if isinstance(data_id, str) else tuple(data_id)
    folder = data_file.path.parent
    media: tuple[Image | Video, ...] = ()
    if row["data_type"] == "video" and names:
        media = film(row, folder, videos)
    elif row["data_type"] in (*PICTURES, *VIDEOS):
        source = row.get("data_source", "") if version == "2" else version
        inside = existing(folder, FOLDERS.get(source, ()))
        media = tuple(picture(folder, f"{inside}{name}") for name in names)
    # In 2-Plus, the fields of the choices end in capitals. Files of results have only letters.
    small = "choice_a" in row
    choices = [row.get(f"choice_{c.lower() if small else c}", c) for c in "ABCD"]
    return Sample(
        id=row["id"],
        question=row.get("question", ""),
        choices=tuple(choices),
        media=media,
        target=row["answer"],
        tags={"dimension": row["dimension"], "subpart": row.get("subpart", "")},
        data={"shown": " ".join(names) or row["id"]},
    )


def existing(folder: Path, names: Iterable[str]) -> str:
    """The first of the folders `names` that exists, as the beginning of a path, or "" if none
    exists."""
    return next((f"{name}/" for name in names if (folder / name).is_dir()), "")


def picture(folder: Path, name: str) -> Image:
    return Image(folder / name, label=name, within=folder)


def film(row: Row, folder: Path, videos: Videos) -> tuple[Image | Video, ...]:
    """The part of a video that a question of version 1 is about, or the authors' frames of this
    part."""
    source, frames = OF_VIDEOS[row["dimension"]]
    if videos == "frames":
        of = f"{frames}/{row['question_id']}"
        return tuple(picture(folder, f"{of}/{number}.png") for number in range(1, FRAMES + 1))
    name = f"{existing(folder, [source])}{row['data_id']}"
    start, end = row.get("segment") or (0.0, None)
    if row["dimension"] == "Procedure Understanding" and end is not None:
        # From the first to the last frame, both half a frame early, since frame times may be
        # rounded.
        start, end = max(0.0, (start - 0.5) / FPS), (end - 0.5) / FPS
    return (Video(folder / name, start=float(start), end=end, label=name, within=folder),)


def of_sheet(row: Row) -> Sample:
    return Sample(
        id=row["index"],
        question=row["question"],
        choices=tuple(row[letter] for letter in "ABCD"),
        media=row["image"],
        target=row["answer"],
        tags={"dimension": row.get("category", ""), "subpart": ""},
        data={"shown": row["image"][0].label or row["index"]},
    )


# -- prompts


def prompt_parts(sample: Sample, version: Version, ask: str, preset: Preset) -> list[Part]:
    """The parts of the prompt. The pictures come before the text, or replace the marks in the text.

    Raises:
        DataError: the choices are pictures, or the data do not have the question's text.
    """
    if not sample.question or not sample.media:
        why = "has no text in the data" if not sample.question else "has no picture or video"
        raise DataError(
            f"seed-bench: question {sample.id} {why}. The question can be scored, but not asked. "
            "Use part=image or part=video of the data set's own file."
        )
    text = (
        ranked_words(sample, version, preset)
        if ask == "rank"
        else lettered_words(sample, version, preset)
    )
    if MARK not in sample.question or (ask == "generate" and preset == "lmms-eval"):
        return [*sample.media, text]
    words = text.split(MARK)
    pairs = zip_longest(words, sample.media[: len(words) - 1], fillvalue="")
    rest = sample.media[len(words) - 1 :]
    return [*rest, *(part for part in chain.from_iterable(pairs) if part != "")]


def ranked_words(sample: Sample, version: Version, preset: Preset) -> str:
    if preset == "lmms-eval":
        return f"{sample.question} Answer :"
    return f"Question: {sample.question}\nAnswer:" if version == "1" else sample.question


def lettered_words(sample: Sample, version: Version, preset: Preset) -> str:
    labels = sample.choices
    if preset == "lmms-eval" and version != "1":
        # A choice that is a file name is a picture.
        labels = tuple(
            "<image>" if "jpg" in choice or "png" in choice else choice for choice in labels
        )
    choices = lettered(labels)
    if preset == "vlmevalkit":
        return f"Question: {sample.question}\nOptions:\n{choices}\n{SELECT}"
    return f"{sample.question}\n{choices}\n{ASK}"


# -- scoring

METRICS = {
    "accuracy": mean,
    "dimension_average": Metric(macro_average("dimension"), better="higher"),
}
LMMS_EVAL_RULES: Mapping[Version, str] = {
    "1": "seedbench/utils.py#L17-L34",
    "2": "seedbench_2/utils.py#L28-L46",
    "2-plus": "seedbench_2_plus/utils.py#L27-L45",
}


def scorings(version: Version, ask: str, prompt: Preset) -> Mapping[str, Scoring]:
    """All scorings. The scoring that belongs to the prompt comes first, followed by the other
    scorings for this value of `ask`."""
    by_token = Scoring(
        version=1,
        source=f"{AUTHORS}:model/huggingface_instructblip_interface.py#L208-L225",
        parse=lambda reply, _: least_loss(reply, per_token=True),
        score=is_target,
        metrics=METRICS,
        reads="rank",
    )
    summed = replace(
        by_token,
        source=f"{AUTHORS}:eval.py#L110-L114",
        parse=lambda reply, _: least_loss(reply, per_token=False),
    )
    in_2 = replace(by_token, source=f"{AUTHORS}:SEED-Bench-2/eval.py#L98-L102")
    ranked = {"official": summed, "mean": by_token} if version == "1" else {"official": in_2}
    generated = {
        "letters": Scoring(
            version=1,
            source=f"{LLAVA}:scripts/convert_seed_for_submission.py#L22-L35",
            parse=lambda reply, _: letter_alone(reply),
            score=is_target,
            metrics=METRICS,
            missing="wrong",
        ),
        "robust": Scoring(
            version=2, source="ours", parse=parse_letter, score=is_target, metrics=METRICS
        ),
        "lmms-eval": Scoring(
            version=1,
            source=f"{pins.LMMS_EVAL}:lmms_eval/tasks/{LMMS_EVAL_RULES[version]}",
            parse=lambda reply, _: first_character(reply, any_case=version != "2"),
            score=is_target,
            metrics=METRICS,
        ),
        "vlmevalkit": Scoring(
            version=1,
            source=f"{pins.VLMEVALKIT}:vlmeval/utils/matching_util.py#L18-L127",
            parse=parse_letter_as_vlmevalkit,
            score=is_target,
            metrics=METRICS,
        ),
    }
    if ask == "rank":
        return {**ranked, **generated}
    first = str(prompt) if prompt in generated else "letters"
    return {first: generated[first], **generated, **ranked}


def least_loss(reply: Reply, *, per_token: bool) -> Reading:
    """Parse the letter of the most likely choice. If choices are equally likely, the first counts.
    If a published result has a letter instead of likelihoods, this letter is the answer."""
    if not reply.choices:
        return letter_alone(reply)
    values = [
        choice.logprob / choice.tokens if per_token else choice.logprob for choice in reply.choices
    ]
    rule = "likeliest by token" if per_token else "likeliest"
    return Reading(answer="ABCD"[values.index(max(values))], rule=rule)


def letter_alone(reply: Reply) -> Reading:
    # LLaVA's script that queries the model strips the replies.
    text = reply.text.strip()
    if text in ("A", "B", "C", "D"):
        return Reading(answer=text, rule="letter")
    return Reading(answer=None, rule="no letter alone")


def first_character(reply: Reply, *, any_case: bool) -> Reading:
    """Parse the first character, if it is a letter of a choice. By this rule, "Blue" is B, and "The
    answer is B" is unparsed."""
    first = reply.text.strip()[:1]
    first = first.upper() if any_case else first
    if first and first in "ABCD":
        return Reading(answer=first, rule="first character")
    return Reading(answer=None, rule="other first character")


# -- results

NO_TEXT = (".xlsx", ".eval")
"""The extensions of files that are not text: spreadsheets, as VLMEvalKit writes them, and logs of
Inspect."""


def results(path: Path) -> Published | None:
    """Read a file of results in the authors' format: a line {"question_id", "prediction"} for each
    question, with or without a trailing comma. If a file has several lines for a question, the last
    line counts.

    Raises:
        DataError: a line of such a file cannot be read.
    """
    records = records_of(path)
    if records is None:
        return None
    replies: dict[str, str | None] = {}
    again = other = 0
    for number, (name, record) in enumerate(records, 1):
        answer = record.get("prediction")
        if answer is not None and not isinstance(answer, str):
            raise DataError(
                f"{path.name}: the prediction of result {number} must be text. Correct the "
                "text, or remove the line."
            )
        again += name in replies
        other += name in replies and replies[name] != answer
        replies[name] = answer
    note = f"{again} lines repeat a question, {other} with a different answer: the last line counts"
    return Published(replies=replies, notes=(note,) if again else ())


def with_repeats(content: Published | None, table: Iterable[Row]) -> Published | None:
    """Copy the replies of a file to all questions with the same id."""
    if content is None:
        return None
    ids = ((row["id"], str(row["question_id"])) for row in table)
    again = {name: content.replies[of] for name, of in ids if of in content.replies}
    return replace(content, replies={**content.replies, **again})


def records_of(path: Path) -> list[tuple[str, dict[str, Any]]] | None:
    """The lines of a file of results, each with its question id. None if the first line is not in
    the format of results."""
    if not path.is_file() or path.suffix in NO_TEXT:
        return None
    records: list[tuple[str, dict[str, Any]]] = []
    for number, line in enumerate(file_content(path).split(b"\n"), 1):
        text = line.strip().removesuffix(b",")
        if not text:
            continue
        try:
            record = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            if not records:
                return None
            raise DataError(
                f"{path.name}: line {number} is not a JSON object ({error}), unlike the lines "
                "before it. Download the file again."
            ) from error
        if not isinstance(record, dict) or not {"question_id", "prediction"} <= record.keys():
            if not records:
                return None
            raise DataError(
                f"{path.name}: line {number} lacks question_id or prediction, unlike the lines "
                "before it. Download the file again."
            )
        records.append((str(record["question_id"]), record))
    return records or None


# -- check

# A is the answer to a quarter of the bundled questions. "A B C D" begins with A, and A is the first
# of equally likely choices.
FIRST = {"oracle": 1.0, "wrong": 0.0, "silent": 1 / 4, "hedging": 1 / 4}
LETTER = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
EXPECT = {
    "official": FIRST,
    "mean": FIRST,
    "letters": LETTER,
    "robust": LETTER,
    "vlmevalkit": LETTER,
    "lmms-eval": LETTER | {"hedging": 1 / 4},
}


def wrong_answer(sample: Sample) -> str:
    return "ABCD"["ABCD".index(sample.target or "A") - 1]

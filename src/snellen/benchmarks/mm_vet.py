"""MM-Vet: open questions about pictures, each of which needs one to four of six abilities.

Paper    Yu et al. 2023, MM-Vet: Evaluating Large Multimodal Models for Integrated Capabilities,
         https://arxiv.org/abs/2308.02490 (ICML 2024).
         MM-Vet v2 is https://arxiv.org/abs/2408.00765.
Data     yuweihao/MM-Vet, releases v1 and v2: mm-vet.json (218 questions), mm-vet-v2.json (517
         questions), and images/. The license is CC BY-NC 4.0.
         `subset=bard` is limited to the questions that Bard agreed to answer at the time,
         bard_set.json. LLaVA's llava-mm-vet.jsonl has only the questions, without answers. These
         questions can be asked, but replies to them cannot be judged.
         In a right answer, <OR> separates alternatives, and <AND> separates requirements.
         In v2, `<IMG>` separates the texts and picture names of a question.
Prompt   `official`: the bare question, then the picture, yuweihao/
         MM-Vet@acde843e02dae30047bb456ee4a8ab28dee7e0ae:inference/claude.py#L23-L42. Replies are
         limited to 512 tokens (#L14). In v2, texts and pictures are in the order of the question,
         v2/inference/claude.py#L28-L63.
         `gpt4v`: like official, but with a system message first. For v1, the prompt is
         inference/gpt4v.py#L15-L61, with 300 tokens. For v2, the prompt is
         v2/inference/gpt4.py#L12-L71, with 500 tokens.
         `llava` (v1): the picture, then the question, with 1,024 tokens, haotian-liu/
         LLaVA@c121f0432da27facab705978f83c4ada465e46fd:llava/eval/model_vqa.py#L44-L71. The scores
         that LLaVA and VLMEvalKit publish use this prompt, and so do the authors' scores of Gemini
         (inference/gemini_vision.py#L29-L36).
         `lmms-eval` (v1): EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
         lmms_eval/tasks/mmvet/mmvet.yaml. This prompt asks the model to think step by step. The
         task mmvetv2 in lmms-eval asks for this too, but reads rows in another format. Here, the
         name mmvetv2 uses the official prompt.
Scoring  `official`: a judge, gpt-4-0613 at temperature 0, gives a grade from 0 to 1 after seven
         graded examples. The code for v1 is mm-vet_evaluator.py#L15-L26 and #L188-L275. The code
         for v2 is v2/mm-vet-v2_evaluator.py#L13-L25 and #L196-L268.
         The grades of several judge runs are averaged (#L302-L343). The paper uses five runs.
         If no grade can be parsed, the authors ask the judge up to five more times and then count
         0. Here, the reply stays unjudged.
         The published scores are percentages over all questions, by ability, and by set of
         abilities. A question counts for each ability that it needs. In the authors' results, the
         abilities in the name of a set are in another order each time the code runs.
         Grades from other judges are not comparable.
         `graded` (on request): Snellen's own rule. Another judge gives a grade from 0 to 10, with a
         reason.
Proof    For the published grades of LLaVA-1.5-7B, from one run and from three runs, every total
         equals the authors' (tests/parity).
         Scores by ability and by set of abilities were compared once with the published tables: all
         44 agree to the published decimal. No test repeats this comparison, since the abilities of
         questions are only in mm-vet.json.
         The scoring of v2 is checked on examples worked out by hand.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.judges import graded as graded_0_to_10
from snellen.benchmarks.families.results import of_json
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Judge,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Drawn, Row, find, jsonl, unreadable
from snellen.data.published import File
from snellen.errors import DataError, UsageError
from snellen.media.content import Image, Message, system, user
from snellen.metrics import Metric, mean

REVISION = "acde843e02dae30047bb456ee4a8ab28dee7e0ae"
SOURCE: Mapping[str, str] = {
    "v1": f"yuweihao/MM-Vet@{REVISION}:mm-vet_evaluator.py#L188-L275",
    "v2": f"yuweihao/MM-Vet@{REVISION}:v2/mm-vet-v2_evaluator.py#L196-L268",
}
KIND = "chat"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-4.0"
PROOF = "published outputs"
SIZE = 218
OTHER_SIZES = {"version=v2": 517}
ALIASES = {
    "MMVet": {"version": "v1", "prompt": "llava"},
    "mmvet": {"version": "v1", "prompt": "lmms-eval"},
    "mmvetv2": {"version": "v2"},
}
FILES = {
    "v1": (
        "mm-vet.json",
        "mm-vet/mm-vet.json",
        "llava-mm-vet.jsonl",
        "annotations/llava-mm-vet.jsonl",
    ),
    "v2": ("mm-vet-v2.json", "mm-vet-v2/mm-vet-v2.json"),
}
RELEASES = "https://github.com/yuweihao/MM-Vet/releases/download"
ABILITIES = ("rec", "ocr", "know", "gen", "spat", "math", "seq")
"""The abilities, in the order of the published tables. Only v2 has `seq`."""

HARDEST = {
    "math": "reasoning/mathematical",
    "seq": "reasoning/temporal",
    "ocr": "OCR/text",
    "spat": "perception/spatial",
    "know": "knowledge/world",
    "rec": "perception/object",
    "gen": UNMAPPED,
}
"""The capability that stands for each ability. If a question needs several abilities, the ability
that comes first here determines the question's capability."""


def together(needed: Sequence[str]) -> str:
    """The name of a set of abilities. The name of a set with only one ability ends in `_only`,
    since the bare name of an ability stands for all questions that need this ability, alone or with
    others."""
    return "_".join(needed) if len(needed) != 1 else f"{needed[0]}_only"


LEAVES = {
    together(needed): next(leaf for ability, leaf in HARDEST.items() if ability in needed)
    for n in range(1, len(ABILITIES) + 1)
    for needed in combinations(ABILITIES, n)
}

Version = Literal["v1", "v2"]
Preset = Literal["official", "gpt4v", "llava", "lmms-eval"]
SYSTEM = (
    "You are a helpful assistant. Generate a short and concise response to the following image "
    "text pair."
)
STEPS = (
    "First please perform reasoning, and think step by step to provide best answer to the "
    "following question: \n\n"
)
MOST_TOKENS: Mapping[tuple[Preset, Version], int] = {
    ("official", "v1"): 512,
    ("official", "v2"): 512,
    ("gpt4v", "v1"): 300,
    ("gpt4v", "v2"): 500,
    ("llava", "v1"): 1024,
    ("lmms-eval", "v1"): 1024,
}


def mm_vet(
    version: Version = "v1",
    subset: Literal["all", "bard"] = "all",
    prompt: Preset = "official",
    data: Path | None = None,
) -> Benchmark:
    if (prompt, version) not in MOST_TOKENS:
        raise UsageError(
            f"mm-vet:version={version} has no prompt {prompt!r}. Choose official or gpt4v."
        )
    if version == "v2" and subset == "bard":
        raise UsageError("mm-vet:subset=bard is only in version=v1.")
    data_file = find(
        data, "mm-vet", FILES[version], published(version), f"mm-vet:version={version}"
    )
    abilities = ABILITIES if version == "v2" else ABILITIES[:-1]
    return Benchmark(
        name="mm-vet",
        asks=1,
        data=Drawn(str(data_file), lambda: questions(data_file, subset)),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: PROMPTS[prompt](sample),
        scorings={
            "official": Scoring(
                version=1,
                source=SOURCE[version],
                parse=lambda *_: Reading(answer=None, rule="for the judge"),
                score=lambda reading, _: None if reading.answer is None else as_score(reading),
                metrics={"score": Metric(mean, better="higher")},
                # The authors divide the sum of the grades by the number of questions, #L302-L325.
                missing="wrong",
                judge=grader(version),
                partial=True,
            ),
            **graded_0_to_10(in_words),
        },
        max_answer_tokens=MOST_TOKENS[prompt, version],
        cluster_by=lambda sample: str(sample.data["images"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            verdict=lambda sample, reply: "1.0" if reply.text == sample.target else "0.0",
            expect={"official": PERFECT, "graded": PERFECT},
        ),
        presentation=Presentation(
            break_down_by=(*abilities, "abilities"),
            capabilities=Capabilities(
                tag="abilities",
                leaves=LEAVES,
                source="https://arxiv.org/abs/2308.02490, section 3.1",
            ),
        ),
        interop=Interop(
            files=data_file,
            layout=layout,
        ),
    )


def grader(version: Version) -> Judge:
    """The judge that grades each reply from 0 to 1."""
    return Judge(
        name="gpt-4-0613",
        authors_model="gpt-4-0613",
        prompt=lambda sample, reply: (user(GRADED[version](sample, reply)),),
        parse=lambda words, _: Reading(answer=grade(words), rule="grade"),
        when=lambda _: True,
        max_answer_tokens=3,
        reads_cut=True,
        needs_target=False,
    )


def published(version: Version = "v1", **_: object) -> tuple[File, ...]:
    """The published archive of a version, which contains the questions, and the pictures in
    images/."""
    name = "mm-vet" if version == "v1" else "mm-vet-v2"
    return (File(name=f"{name}.zip", url=f"{RELEASES}/{version}/{name}.zip", unpack=True),)


# -- rows


def questions(data_file: DataFile, subset: str) -> Iterator[dict[str, Any]]:
    """Yield the questions from the authors' JSON object, which maps ids to questions, or from
    LLaVA's JSON lines."""
    if ".jsonl" in data_file.path.suffixes:
        if subset != "all":
            raise DataError(
                f"{data_file.path} has no subsets. For subset={subset}, use mm-vet.json and "
                "bard_set.json."
            )
        for number, row in enumerate(jsonl(data_file), 1):
            try:
                yield {
                    "id": f"v1_{row['question_id']}",
                    "imagename": row["image"],
                    "question": row["text"],
                }
            except KeyError as error:
                raise unreadable(f"row {number} of {data_file.path}", row, error) from error
        return
    every = of_json(data_file.path)
    if not isinstance(every, dict) or not all(isinstance(entry, dict) for entry in every.values()):
        raise DataError(
            f"{data_file.path} is not a JSON object that maps ids to questions, or it is "
            "incomplete. Download it again."
        )
    kept = every if subset == "all" else bard_set(data_file)
    for name, fields in every.items():
        if name in kept:
            yield {"id": name, **fields}


def bard_set(data_file: DataFile) -> set[str]:
    path = data_file.path.with_name("bard_set.json")
    names = of_json(path)
    if not isinstance(names, list | dict):
        raise DataError(f"{path} is missing, or it is not a list of ids. Take it from mm-vet.zip.")
    return set(names)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    # v1 has the picture's name in a field of its own; v2 has the names in the question.
    image_name = row.get("imagename")
    names = (
        [image_name]
        if image_name
        else [text for is_image, text in parts(row["question"]) if is_image]
    )
    folder = data_file.path.parent
    needed = sorted(set(row.get("capability", ())), key=ABILITIES.index)
    return Sample(
        id=row["id"],
        question=row["question"],
        media=tuple(
            Image(folder / "images" / name, label=f"images/{name}", within=folder) for name in names
        ),
        target=row.get("answer"),
        tags={
            **{ability: ability if ability in needed else "" for ability in ABILITIES},
            "abilities": together(needed),
        },
        data={"images": " ".join(names)},
    )


def parts(question: str) -> Iterator[tuple[bool, str]]:
    """Yield the texts and picture names of a question in order, stripped. The first item of each
    pair is true if the second item is a picture name."""
    for part in map(str.strip, question.split("<IMG>")):
        if part:
            yield part.endswith((".jpg", ".png", ".jpeg")), part


# -- prompts


def in_order(sample: Sample) -> Message:
    """Put the picture after the text. If the text has marks for pictures, each picture replaces its
    mark."""
    if "<IMG>" not in sample.question:
        return user(sample.question, *sample.media)
    media = iter(sample.media)
    return user(*(next(media) if image else text for image, text in parts(sample.question)))


PROMPTS: Mapping[Preset, Callable[[Sample], tuple[Message, ...]]] = {
    "official": lambda sample: (in_order(sample),),
    "gpt4v": lambda sample: (system(SYSTEM), in_order(sample)),
    "llava": lambda sample: (user(*sample.media, sample.question),),
    "lmms-eval": lambda sample: (user(*sample.media, f"{STEPS}{sample.question}"),),
}


# -- the judge

TASK = (
    "Compare the ground truth and prediction from AI models, to give a correctness score for the "
    "prediction. {image}<AND> in the ground truth means it is totally right only when all elements "
    "in the ground truth are present in the prediction, and <OR> means it is totally right when "
    "any one element in the ground truth is present in the prediction. The correctness score is "
    "0.0 (totally wrong), 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, or 1.0 (totally right). "
    "Just complete the last space of the correctness score.\n\n"
)
EQUATION = ("What is x in the equation?", "-1 <AND> -5")
MEME = (
    "Can you explain this meme?",
    "This meme is poking fun at the fact that the names of the countries Iceland and Greenland are "
    "misleading. Despite its name, Iceland is known for its beautiful green landscapes, while "
    "Greenland is mostly covered in ice and snow. The meme is saying that the person has trust "
    "issues because the names of these countries do not accurately represent their landscapes.",
)
EXAMPLES = (
    (*EQUATION, "x = 3", "0.0"),
    (*EQUATION, "x = -1", "0.5"),
    (*EQUATION, "x = -5", "0.5"),
    (*EQUATION, "x = -5 or 5", "0.5"),
    (*EQUATION, "x = -1 or x = -5", "1.0"),
    (
        *MEME,
        "The meme talks about Iceland and Greenland. It's pointing out that despite their names, "
        "Iceland is not very icy and Greenland isn't very green.",
        "0.4",
    ),
    (
        *MEME,
        "The meme is using humor to point out the misleading nature of Iceland's and Greenland's "
        "names. Iceland, despite its name, has lush green landscapes while Greenland is mostly "
        "covered in ice and snow. The text 'This is why I have trust issues' is a playful way to "
        "suggest that these contradictions can lead to distrust or confusion. The humor in this "
        "meme is derived from the unexpected contrast between the names of the countries and their "
        "actual physical characteristics.",
        "1.0",
    ),
)
HEADER = ("Question", "Ground truth", "Prediction", "Correctness")


def graded_v1(sample: Sample, reply: Reply) -> str:
    """The judge's prompt, with a table of graded examples and a row to complete. Newlines and `|`
    in a reply are kept."""
    table = [HEADER, ("---",) * 4, *EXAMPLES]
    lines = [" | ".join(row) for row in table]
    # The authors' scripts that query models for v1 strip the replies.
    row = " | ".join([sample.question, alternatives(sample), reply.text.strip(), ""])
    return TASK.format(image="") + "\n".join(lines) + "\n\n" + row


def graded_v2(sample: Sample, reply: Reply) -> str:
    """The judge's prompt for v2. Unlike the prompt for v1, it has bars around the rows, marks for
    pictures, and `<br>` for newlines."""
    examples = [(f"{question}<image>", *rest) for question, *rest in EXAMPLES]
    lines = [f"| {' | '.join(row)} |" for row in (HEADER, ("---",) * 4, *examples)]
    # `parts` is not used here: it strips first, so a name with a space after it would match.
    question = "".join(
        "<image>" if part.endswith((".jpg", "jpeg", ".png")) else part
        for part in sample.question.split("<IMG>")
    )
    cells = [question, alternatives(sample), reply.text]
    row = " | ".join([*(cell.replace("\n", "<br>") for cell in cells), ""])
    marks = "<image> in the question indicates where an image is. "
    return TASK.format(image=marks) + "\n".join(lines) + "\n| " + row


GRADED: Mapping[Version, Callable[[Sample, Reply], str]] = {"v1": graded_v1, "v2": graded_v2}


def alternatives(sample: Sample) -> str:
    return (sample.target or "").replace("<AND>", " <AND> ").replace("<OR>", " <OR> ")


def in_words(sample: Sample) -> str:
    """The right answer, with words instead of the authors' marks."""
    return (sample.target or "").replace("<AND>", " and ").replace("<OR>", " or ")


def grade(words: str) -> float | None:
    """The number before the first space, if it is between 0 and 1. None for anything else,
    including `nan`."""
    try:
        number = float(words.split(" ")[0])
    except ValueError:
        return None
    return number if 0.0 <= number <= 1.0 else None


def as_score(reading: Reading) -> float:
    assert isinstance(reading.answer, float)
    return reading.answer


# -- published results

GRADES = re.compile(r"(?P<model>.+)_[^_]+-grade-\d+runs(?:_dev8)?\.json(?:\.gz)?")


def layout(path: Path) -> Published | None:
    """Read the authors' files of grades, or LLaVA's files of answers. The replies to which the
    grades belong are read from the model's file in the same folder. A file that maps ids to replies
    is left to the default reader."""
    if path.is_dir():
        grades = [file for file in sorted(path.iterdir()) if GRADES.fullmatch(file.name)]
        if len(grades) > 1:
            names = ", ".join(file.name for file in grades)
            raise DataError(f"{path} has several files of grades: {names}. Pass one of them.")
        return graded(grades[0]) if grades else None
    return answers(path) if ".jsonl" in path.suffixes else graded(path)


def graded(path: Path) -> Published | None:
    rows = of_json(path)
    if not isinstance(rows, dict) or not rows:
        return None
    if not all(isinstance(row, dict) and {"content", "score"} <= set(row) for row in rows.values()):
        return None
    verdicts = {name: words_of(row, f"{path}: {name!r}") for name, row in rows.items()}
    runs = {len(words) for words in verdicts.values()}
    if len(runs) != 1:
        raise DataError(
            f"{path} has {min(runs)} to {max(runs)} grades per question, so its averages would "
            "differ from the authors'. Complete all runs first."
        )
    notes = [f"graded {max(runs)} times by {', '.join(judges_of(rows)) or 'an unnamed judge'}"]
    forced = sum(
        word != original
        for name, row in rows.items()
        for word, original in zip(verdicts[name], row["content"], strict=True)
    )
    if forced:
        notes.append(f"{forced:,} grades were filled in by the authors, since none could be parsed")
    replies = replies_of(path)
    if not replies:
        notes.append("this file and its folder do not have the replies: only the grades are used")
    texts = {name: replies.get(name, "") for name in verdicts}
    return Published(
        replies={**replies, **texts}, verdicts={"official": verdicts}, notes=tuple(notes)
    )


def words_of(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """The judge's text in each run. If the text does not give the stored grade, the stored grade is
    used instead."""
    words, scores = row["content"], row["score"]
    if (
        not isinstance(words, list)
        or not isinstance(scores, list)
        or len(words) != len(scores)
        or not all(isinstance(word, str) for word in words)
        or not all(isinstance(score, int | float) for score in scores)
        or any(grade(str(score)) is None for score in scores)
    ):
        raise DataError(
            f"{where} must have a list of texts as `content`, and an equally long list of grades "
            "from 0 to 1 as `score`. Correct or remove it."
        )
    return tuple(
        word if grade(word) == score else str(score)
        for word, score in zip(words, scores, strict=True)
    )


def judges_of(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return sorted({str(name) for row in rows.values() for name in row.get("model", ())})


def replies_of(path: Path) -> dict[str, str]:
    """The replies of the model whose name is in the name of the file of grades. Empty if the
    model's file is missing."""
    match = GRADES.fullmatch(path.name)
    for ending in (".json", ".json.gz") if match else ():
        replies = of_json(path.with_name(f"{match['model'] if match else ''}{ending}"))
        if isinstance(replies, dict) and all(isinstance(text, str) for text in replies.values()):
            return replies
    return {}


def answers(path: Path) -> Published | None:
    """Read LLaVA's answers, whose ids are only the number in the authors' ids (scripts/
    convert_mmvet_for_eval.py#L15)."""
    rows = list(jsonl(path))
    if not all(isinstance(row.get("question_id"), int) and "text" in row for row in rows):
        return None
    return Published(replies={f"v1_{row['question_id']}": row["text"] for row in rows})

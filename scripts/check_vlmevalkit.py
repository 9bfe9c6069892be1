"""Compare VLMEvalKit's figures with ours for the data sets of an installed VLMEvalKit.

usage: python scripts/check_vlmevalkit.py [NAME...]

VLMEvalKit is in no package registry. Clone https://github.com/open-compass/VLMEvalKit, and install
it (`pip install -e .` in the clone) together with Snellen and its extras xlsx and video.

The rows are drawn here, in the columns of each data set, and written to a temporary data folder.
A made model answers each question by a rule on the question's text. VLMEvalKit asks it with its own
runner (vlmeval/inference*.py) and scores the replies with `evaluate`. Snellen asks it as
`vlmevalkit:NAME`. The script prints every data set's primary figure, and how many figures are
equal to the last digit. Exit status: 1 if a figure differs.

The script clears the checksums of the data files, so that VLMEvalKit accepts the drawn rows, and
gives it the drawn videos and a made judge. Everything else is VLMEvalKit's own code.
"""

import base64
import io
import json
import os
import random
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

HOME = Path(tempfile.mkdtemp(prefix="snellen-vlmevalkit-"))
os.environ["LMUData"] = str(HOME)  # noqa: SIM112 - VLMEvalKit's own spelling
N = 40
BAR = "\\|"
LETTERS = "ABCD"
WORDS = ("red", "blue", "green", "yellow")
Row = dict[str, Any]


def pick(text: str, options: Sequence[Any]) -> Any:
    """Choose an option by the digest of a text."""
    return options[int(blake2b(text.encode(), digest_size=4).hexdigest(), 16) % len(options)]


def picture(number: int) -> str:
    """Draw a square whose color depends on the number; return a PNG in base64."""
    from PIL import Image

    image = Image.new("RGB", (48, 48), (number * 9 % 256, number * 31 % 256, 90))
    with io.BytesIO() as file:
        image.save(file, format="PNG")
        return base64.b64encode(file.getvalue()).decode()


# -- rows, each with the columns that the data set's class reads


def row_of(number: int, **cells: Any) -> Row:
    return {"index": number, "image": picture(number), "question": f"Question {number}?", **cells}


def choices(number: int, **cells: Any) -> Row:
    answer = LETTERS[number % 4]
    return row_of(number, **dict(zip(LETTERS, WORDS, strict=True)), answer=answer, **cells)


def circular() -> Iterator[Row]:
    """Draw MMBench's circular rows: each question again with its choices rotated."""
    for number in range(N // 4):
        for shift in range(4):
            words = dict(zip(LETTERS, WORDS[shift:] + WORDS[:shift], strict=True))
            yield row_of(
                number + 1_000_000 * shift,
                **words,
                image=picture(number),
                question=f"Question {number}, rotated by {shift}?",
                answer=LETTERS[(number - shift) % 4],
                category=("attribute", "relation")[number % 2],
                **{"l2-category": "coarse", "split": "dev"},
            )


def several(make: Callable[[int], Row]) -> Callable[[], list[Row]]:
    return lambda: [make(number) for number in range(N)]


def videos(number: int, **cells: Any) -> Row:
    row = {"index": number, "question": f"Question {number}?", "video": f"film{number % 3}"}
    return {**row, **cells}


OCR = ("Regular Text Recognition", "Scene Text-centric VQA", "Doc-oriented VQA")
VMC = (
    *("SEEDBench", "MMStar", "A-OKVQA", "VizWiz", "MMVet", "VQAv2", "OKVQA", "MMMU", "MathVista"),
    *("ScienceQA", "RealWorldQA", "GQA", "MathVision", "TextVQA", "OCRVQA", "AI2D", "ChartQA"),
    *("DocVQA", "InfoVQA", "TableVQABench"),
)
MME = (
    *("OCR", "artwork", "celebrity", "color", "count", "existence", "landmark", "position"),
    *("posters", "scene", "code_reasoning", "commonsense_reasoning", "numerical_calculation"),
    "text_translation",
)
VISULOGIC = (
    *("Quantitative Reasoning", "Spatial Reasoning", "Positional Reasoning"),
    *("Attribute Reasoning", "Stylistic Reasoning", "Other"),
)
TEMPORAL = ("action", "speed", "direction", "order", "attribute_change")
VIDEO_MME = {
    "duration": lambda n: ("short", "medium", "long")[n % 3],
    "domain": lambda n: ("Knowledge", "Film & Television")[n % 2],
    "sub_category": lambda n: ("Humanity & History", "Movie & TV Show")[n % 2],
    "task_type": lambda n: ("Counting Problem", "OCR Problems")[n % 2],
}
SETS: Mapping[str, Callable[[], Any]] = {
    "RealWorldQA": several(lambda n: choices(n, category="street")),
    "MMBench_DEV_EN": lambda: [*circular()],
    "MMMU_DEV_VAL": several(
        lambda n: choices(n, split="validation", category="Art", **{"l2-category": "Art & Design"})
    ),
    "HRBench4K": several(
        lambda n: choices(n, category=("single", "cross")[n % 2], cycle_category=n % 4)
    ),
    "CV-Bench-2D": several(
        lambda n: choices(n, prompt=f"Prompt {n}?", source="ADE20K", split="2D", category="Count")
    ),
    "VMCBench_DEV": several(lambda n: choices(n, category=VMC[n % len(VMC)])),
    "POPE": several(
        lambda n: row_of(n, answer=("Yes", "No")[n % 2], category=("random", "popular")[n // 2 % 2])
    ),
    "MME": several(
        lambda n: row_of(
            n, answer=("Yes", "No")[n % 2], category=MME[n // 2 % 14], image_path=f"{n // 2}.png"
        )
    ),
    "ChartQA_TEST": several(
        lambda n: row_of(n, answer=f"['{n % 10}']", split=("test_human", "test_augmented")[n % 2])
    ),
    "OCRBench": several(lambda n: row_of(n, answer=f"['{WORDS[n % 4]}']", category=OCR[n % 3])),
    "MTVQA_TEST": several(
        lambda n: row_of(n, answer=WORDS[n % 4], category=("DE", "FR")[n % 2], split="test")
    ),
    "CountBenchQA": several(lambda n: row_of(n, answer=n % 10)),
    "TallyQA": several(lambda n: row_of(n, answer=n % 10)),
    "CRPE_RELATION": several(
        lambda n: {
            **row_of(n, answer=LETTERS[n // 4 % 4], category=("subject", "predicate")[n // 4 % 2]),
            "image_path": f"{n}.png",
        }
    ),
    "VisuLogic": several(lambda n: choices(n, category=VISULOGIC[n % 6])),
    "MMDU": several(
        lambda n: row_of(
            n,
            image=f"['{picture(n)}', '{picture(n + 40)}']",
            image_path=f"['{n}_0.png', '{n}_1.png']",
            question=f"['What is <ImageHere> in {n}?', 'And <ImageHere> in {n}?', 'Why {n}?']",
            answer="['a square', 'a square, too', 'it was drawn']",
        )
    ),
    "Video-MME_8frame": several(
        lambda n: videos(
            n,
            answer=LETTERS[n % 4],
            candidates=str([f"{a}. {b}" for a, b in zip(LETTERS, WORDS, strict=True)]),
            video_path=f"./video/film{n % 3}.mp4",
            subtitle_path=f"./subtitle/film{n % 3}.srt",
            **{name: cell(n) for name, cell in VIDEO_MME.items()},
        )
    ),
    "TempCompass_YorN": several(
        lambda n: videos(
            n,
            answer=("yes", "no")[n % 2],
            dim=TEMPORAL[n % 5],
            task_type="yes_no",
            prefix="video",
            suffix=".mp4",
        )
    ),
}
"""The rows of each data set. TempCompass_YorN gets video files, Video-MME_8frame gets frames."""


def draw_videos(folder: Path) -> None:
    """Write three films of 24 frames, whose brightness changes."""
    import av
    import numpy as np

    folder.mkdir(parents=True)
    for film in range(3):
        with av.open(str(folder / f"film{film}.mp4"), "w") as container:
            stream = container.add_stream("mpeg4", rate=8)
            stream.width = stream.height = 64
            for number in range(24):
                pixels = np.full((64, 64, 3), 10 * number + film, dtype=np.uint8)
                for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
                    container.mux(packet)
            for packet in stream.encode():
                container.mux(packet)


# -- the made model and the made judge

RIGHT: dict[str, str] = {}
"""The right answers of the data set that is being asked, keyed by the question."""


def reply_to(text: str) -> str:
    """Answer a question by a rule on its text. About two thirds of the replies are right."""
    key = "".join(text.split())
    right = RIGHT.get("".join(re.findall(r"(?:Question|Prompt) \d+[^?]*\?", text)[:1]))
    if right is not None and pick(key + "r", range(3)):
        return str(pick(key + "g", (right, f"{right}.", f"The answer is {right}.")))
    letter, word = pick(key, LETTERS), pick(key + "w", WORDS)
    forms = (
        *(
            letter,
            f"{letter}. {word}",
            f"The answer is ({letter}).",
            f"Answer: \\boxed{{{letter}}}",
        ),
        *(word, f"I see a {word} square.", pick(key, ("Yes", "No", "Yes, it is.", "no"))),
        *(str(len(key) % 10), f"There are {len(key) % 10}.", "I cannot tell.", "=1+1"),
        # pandas reads "None" as a missing cell, on which evaluate of TempCompass fails.
        "None" if "yes or no:" not in text else "?",
    )
    return str(pick(key + "f", forms))


class Judge:
    """A made judge, which grades a conversation's turns by a rule on the prompt."""

    DIMS = (
        *("Creativity", "Richness", "Visual Perception", "Logical Coherence"),
        *("Answer Accuracy", "Image Relationship Understanding", "Overall Score"),
    )

    def generate(self, prompt: str) -> str:
        return json.dumps({name: pick(prompt + name, range(11)) for name in self.DIMS})


class Model:
    """The made model with the interface of vlmeval/vlm/base.py."""

    is_api = False

    def __init__(self, has_files: bool) -> None:
        self.VIDEO_LLM = has_files

    def set_dump_image(self, function: object) -> None:
        pass

    def generate(self, message: Any, dataset: str | None = None) -> str:
        return reply_to("\n".join(part["value"] for part in message if part["type"] == "text"))

    def chat_inner(self, message: Any, dataset: str | None = None) -> str:
        return self.chat(message, dataset)

    def chat(self, message: Any, dataset: str | None = None) -> str:
        return self.generate(message[-1]["content"])


def answer(messages: Any) -> str:
    """The made model as Snellen calls it."""
    return reply_to(messages[-1].text)


# -- both tools


def prepare() -> Any:
    """Write the videos, and let VLMEvalKit accept the drawn rows. Return its package."""
    import vlmeval.dataset as package
    from vlmeval.dataset import image_mt

    for kind in package.DATASET_CLASSES:
        sums = getattr(kind, "DATASET_MD5", None)
        if isinstance(sums, dict):
            kind.DATASET_MD5 = dict.fromkeys(sums)
    for video_class in (package.VideoMME, package.TempCompass_YorN):
        video_class.prepare_dataset = drawn_videos
    image_mt.build_judge = lambda **_: Judge()
    draw_videos(HOME / "video")
    return package


def drawn_videos(self: Any, name: str, *_: object) -> dict[str, str]:
    """Name the drawn files, in place of a data set's prepare_dataset."""
    return {"root": str(HOME), "data_file": str(HOME / f"{name}.tsv")}


def write_rows(name: str) -> None:
    import pandas as pd

    rows = SETS[name]()
    RIGHT.clear()
    for row in rows:
        answer = str(row["answer"]).strip("[]").split("', '")[0].strip("'")
        RIGHT[row.get("prompt", row["question"])] = answer
    pd.DataFrame(rows).to_csv(HOME / f"{file_name(name)}.tsv", sep="\t", index=False)


def file_name(name: str) -> str:
    return name.removesuffix("_8frame")


def their_figures(package: Any, name: str) -> tuple[dict[str, float], dict[str, float]]:
    """Ask and score with VLMEvalKit. Return all its figures, and its primary figure."""
    import numpy as np
    from vlmeval.inference import infer_data_job
    from vlmeval.inference_mt import infer_data_job_mt
    from vlmeval.inference_video import infer_data_job_video
    from vlmeval.smp import get_pred_file_path
    from vlmeval.smp.status_report import flatten_summary_metrics

    folder = HOME / "theirs" / name
    folder.mkdir(parents=True)
    data_set = package.build_dataset(name)
    is_video = data_set.MODALITY == "VIDEO"
    ask = infer_data_job_video if is_video else infer_data_job
    if data_set.TYPE == "MT":
        ask = infer_data_job_mt
    path = get_pred_file_path(str(folder), "made", name)
    has_files = is_video and not getattr(data_set, "split_frame", True)
    more = {"result_file": path} if is_video else {}
    ask(Model(has_files), str(folder), "made", data_set, **more)
    random.seed(0)
    np.random.seed(0)
    result = data_set.evaluate(path, model=judge_of(name), nproc=4, verbose=False)
    figures = flatten_summary_metrics(result)
    return figures, data_set.report_primary_metric(dict(figures))


def judge_of(name: str) -> str:
    return "made-judge" if name == "MMDU" else "exact_matching"


def our_figures(name: str) -> dict[str, float | None]:
    """Ask and score with Snellen."""
    import snellen

    spec = f"vlmevalkit:{name}" + (f":judge={judge_of(name)}" if name == "MMDU" else "")
    result = snellen.evaluate(spec, answer, run_toolkit_code=True, out=HOME / "ours")
    metrics = result.report.scorings["evaluate"].metrics
    return {key: metric.value for key, metric in metrics.items()}


def main(names: Sequence[str]) -> int:
    package = prepare()
    differing = 0
    lines = ["| data set | class | n | primary figure | VLMEvalKit | ours | figures equal |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name in names or SETS:
        write_rows(name)
        try:
            theirs, primary = their_figures(package, name)
            ours = our_figures(name)
        except Exception:
            traceback.print_exc(limit=-2)
            differing += 1
            continue
        equal = sum(ours.get(key) == value for key, value in theirs.items())
        for key, value in theirs.items():
            if ours.get(key) != value:
                print(f"{name}: {key}: VLMEvalKit {value!r}, ours {ours.get(key)!r}")
        first, value = next(iter(primary.items()), ("", None))
        differing += (len(theirs) - equal) + (ours["primary"] != value)
        kind = type(package.build_dataset(name)).__name__
        lines.append(
            f"| {name} | {kind} | {len(SETS[name]())} | {first.replace('|', BAR)} | {value!r} | "
            f"{ours['primary']!r} | {equal} of {len(theirs)} |"
        )
    print("\n".join(lines))
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A stand-in for an installed VLMEvalKit: a package `vlmeval` with the shapes of its classes.

`vlmeval.dataset` has `build_dataset`, `SUPPORTED_DATASETS`, and data sets with the attributes and
methods of vlmeval/dataset/{image_base,image_mcq,image_mt,video_base}.py: rows with pictures, a
conversation whose assistant turns are the right answers, and videos as frames or as files. The rows
are lists instead of data frames. `evaluate` reads the sheet that VLMEvalKit's `load` would read,
and writes what it read to the file `sheet.json` next to this package.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from snellen.media.drawing import Canvas
from tests.videos import cfr

DATA_SETS = """
import ast
import json
import random
from pathlib import Path

from openpyxl import load_workbook

HERE = Path(__file__).parents[2]
INFER_FAIL_MSG = "Failed to obtain answer"
SUPPORTED_DATASETS = ["MMStar", "MMDU", "Video-MME", "Unsure"]


def load(eval_file):
    head, *rows = load_workbook(eval_file).active.values
    rows = [dict(zip(head, row)) for row in rows]
    (HERE / "sheet.json").write_text(json.dumps([eval_file, rows]))
    return rows


class ImageBaseDataset:
    MODALITY = "IMAGE"
    TYPE = "MCQ"
    JUDGE_FAIL_MARKERS = (INFER_FAIL_MSG,)

    def __init__(self, dataset="MMStar"):
        print("Downloading", dataset)
        self.dataset_name = dataset
        self.data = self.load_data(dataset)

    def load_data(self, dataset):
        return [
            dict(index=i, question=f"Which {i}?", A="x", B="y", answer="AB"[i % 2], image="iVBO")
            for i in range(4)
        ]

    def dump_image(self, line):
        return [str(HERE / "a.png")]

    def build_prompt(self, line):
        parts = [dict(type="image", value=path) for path in self.dump_image(line)]
        return [*parts, dict(type="text", value=f"Question: {line['question']}")]

    def report_judge_err(self, prediction_file, *, total_samples, judge_model=None):
        judged = HERE / "judged.txt"
        failed = judged.read_text().count(INFER_FAIL_MSG) if judged.exists() else 0
        return dict(failed=failed, total=total_samples)

    @classmethod
    def report_primary_metric(cls, metrics):
        return {name: value for name, value in metrics.items() if name == "Overall"}

    def evaluate(self, eval_file, **judge_kwargs):
        rows = load(eval_file)
        hits = [row["prediction"] == row["answer"] for row in rows]
        return {"n": len(rows), "Overall": 100 * sum(hits) / len(hits)}


class Unsure(ImageBaseDataset):
    def evaluate(self, eval_file, **judge_kwargs):
        rows = load(eval_file)
        hits = [
            (row["prediction"] if row["prediction"] in ("A", "B") else random.choice("AB"))
            == row["answer"]
            for row in rows
        ]
        return {"Overall": 100 * sum(hits) / len(hits)}


class MMDUDataset(ImageBaseDataset):
    TYPE = "MT"

    def load_data(self, dataset):
        return [
            dict(index=i, question=str([f"What is {i}?", f"And {i}?"]), answer="['a', 'b']")
            for i in range(3)
        ]

    def build_prompt(self, line):
        dialogue = []
        for question, answer in zip(
            ast.literal_eval(line["question"]), ast.literal_eval(line["answer"])
        ):
            images = [dict(type="image", value=path) for path in self.dump_image(line)]
            content = [*images, dict(type="text", value=question)]
            dialogue.append(dict(role="user", content=content))
            dialogue.append(dict(role="assistant", content=[dict(type="text", value=answer)]))
        return dialogue

    def evaluate(self, eval_file, **judge_kwargs):
        (HERE / "judged.txt").write_text(judge_kwargs["model"] + ": 7")
        if judge_kwargs["model"] == "broken":
            (HERE / "judged.txt").write_text("Failed to obtain answer via API.")
        rows = load(eval_file)
        hits = [
            mine == right
            for row in rows
            for mine, right in zip(
                ast.literal_eval(row["prediction"]), ast.literal_eval(row["answer"])
            )
        ]
        return {"Overall": 100 * sum(hits) / len(hits)}


class VideoMME(ImageBaseDataset):
    MODALITY = "VIDEO"
    TYPE = "Video-MCQ"

    def __init__(self, dataset="Video-MME", pack=False, nframe=0, fps=-1):
        super().__init__(dataset)
        self.pack, self.nframe, self.fps = pack, nframe, fps

    def load_data(self, dataset):
        return [
            dict(index=i, question=f"When {i}?", video="film", answer="AB"[i % 2])
            for i in range(2)
        ]

    def build_prompt(self, line, video_llm):
        if isinstance(line, int):
            line = self.data[line]
        message = [dict(type="text", value="Watch.", role="system")]
        if video_llm:
            message.append(dict(type="video", value=str(HERE / "film.mp4"), nframes=4))
        else:
            for _ in range(self.nframe):
                message.append(dict(type="image", value=str(HERE / "a.png")))
        message.append(dict(type="text", value=line["question"]))
        message.append(dict(type="text", value="Best option:(", role="assistant"))
        return message


def build_dataset(dataset_name, **kwargs):
    if dataset_name == "Video-MME_2frame":
        return VideoMME(dataset="Video-MME", nframe=2, **kwargs)
    if dataset_name == "Video-MME_pack":
        return VideoMME(dataset="Video-MME", nframe=2, pack=True)
    for kind in (ImageBaseDataset, MMDUDataset, VideoMME, Unsure):
        if dataset_name == {ImageBaseDataset: "MMStar", MMDUDataset: "MMDU",
                            VideoMME: "Video-MME", Unsure: "Unsure"}[kind]:
            return kind(dataset=dataset_name, **kwargs)
    return None
"""


def installed(folder: Path) -> Path:
    """Write the package, a picture, and a video to a folder, and return the folder."""
    package = folder / "site" / "vlmeval"
    (package / "dataset").mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.2rc1"\n')
    (package / "dataset" / "__init__.py").write_text(DATA_SETS)
    (package.parent / "a.png").write_bytes(Canvas(8, 8).png())
    cfr(package.parent / "film.mp4", n=24, fps=8)
    return package.parent


@contextmanager
def importable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the stand-in for one test. Yield the folder in which `sheet.json` will be."""
    site = installed(folder)
    monkeypatch.syspath_prepend(str(site))
    try:
        yield site
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "vlmeval"]:
            del sys.modules[name]

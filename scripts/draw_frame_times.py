"""Writes tests/data/frame_indexes.json.gz: the frames that makers' own code takes from 50 videos.

usage: python scripts/draw_frame_times.py [--longvideobench FILE]

Run it with a Python that has transformers (5.23.0) and torch. Their processors are called with the
number of frames and the frame rate of 50 videos, from a second to two hours. --longvideobench is
longvideobench_dataset.py of longvideobench/LongVideoBench. Its loader needs a video, so the line
that computes the indexes is run alone.

The file has, for each sampler, its policy and for each video the indexes as differences, or null
where the maker's code refuses the video.
"""

import argparse
import gzip
import importlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TARGET = Path(__file__).parents[1] / "tests/data/frame_indexes.json.gz"
RATES = ((24000, 1001), (24, 1), (25, 1), (30000, 1001), (30, 1), (50, 1), (60000, 1001), (10, 1))
PROCESSORS = {
    "qwen2.5-vl:2": ("qwen2_vl", "Qwen2VLVideoProcessor", {"fps": 2}),
    "qwen3-vl:2": ("qwen3_vl", "Qwen3VLVideoProcessor", {"fps": 2}),
    "internvl:16": ("internvl", "InternVLVideoProcessor", {"num_frames": 16}),
    "smolvlm2:64": ("smolvlm", "SmolVLMVideoProcessor", {"num_frames": 64, "fps": 1}),
    "glm-4.1v:2": ("glm4v", "Glm4vVideoProcessor", {"fps": 2}),
    "glm-4.6v:2": ("glm46v", "Glm46VVideoProcessor", {"fps": 2}),
    "molmo2:64": ("molmo2", "Molmo2VideoProcessor", {"num_frames": 64}),
    "minicpm-v-4.6:128": ("minicpmv4_6", "MiniCPMV4_6VideoProcessor", {"max_num_frames": 128}),
    "ernie-4.5-vl:2": ("ernie4_5_vl_moe", "Ernie4_5_VLMoeVideoProcessor", {"fps": 2}),
    "kimi-k2.5:2": ("kimi_k25", None, {"fps": 2}),
    "llava-onevision:32": ("llava_onevision", None, {"num_frames": 32}),
}


def videos() -> list[tuple[int, int, int]]:
    """The number of frames, and the frame rate as a fraction, of 50 videos."""
    draw = random.Random(26)
    lengths = [1.0, 1.5, 2.0, 3.1, 7.9, 16.0, 29.97, 30.0, 30.5, 64.0, 66.5, 128.0, 299.9, 300.0]
    lengths += [300.4, 2399.9, 2400.0, 2400.6, 3600.0, 7200.0]
    lengths += [round(10 ** draw.uniform(0.1, 3.85), 2) for _ in range(50 - len(lengths))]
    shown = []
    for number, seconds in enumerate(lengths):
        above, below = RATES[number % len(RATES)]
        shown.append((max(2, round(seconds * above / below)), above, below))
    return shown


def processor(name: str, class_name: str | None) -> Any:
    module = importlib.import_module(f"transformers.models.{name}.video_processing_{name}")
    if class_name is None:
        class_name = next(
            n for n in dir(module) if n.endswith("VideoProcessor") and name[:4] in n.lower()
        )
    return getattr(module, class_name)()


def of_processor(name: str, class_name: str | None, options: dict[str, Any]) -> Callable[..., Any]:
    from transformers.video_utils import VideoMetadata

    sampler = processor(name, class_name)

    def indexes(total: int, fps: float) -> list[int]:
        metadata = VideoMetadata(total_num_frames=total, fps=fps, duration=total / fps)
        return [int(index) for index in sampler.sample_frames(metadata, **options)]

    return indexes


def of_longvideobench(path: Path) -> Callable[..., Any]:
    lines = path.read_text().splitlines()
    (line,) = (line.strip() for line in lines if line.strip().startswith("frame_indices = "))
    code = compile(line, str(path), "exec")

    def indexes(total: int, fps: float) -> list[int]:
        seconds = int(total / fps)
        names: dict[str, Any] = {"total_valid_frames": total, "num_frames": min(256, seconds)}
        exec(code, names)
        return [int(index) for index in names["frame_indices"]]

    return indexes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--longvideobench", type=Path)
    args = parser.parse_args()
    samplers = {policy: of_processor(*how) for policy, how in PROCESSORS.items()}
    if args.longvideobench:
        samplers["longvideobench:256"] = of_longvideobench(args.longvideobench)
    document: dict[str, Any] = {"videos": videos(), "samplers": {}}
    for policy, indexes in samplers.items():
        rows: list[list[int] | None] = []
        for total, above, below in videos():
            try:
                taken = indexes(total, above / below)
            except (ValueError, ZeroDivisionError, RuntimeError):
                rows.append(None)
            else:
                rows.append([taken[0], *(int(step) for step in np.diff(taken))])
        document["samplers"][policy] = rows
        print(policy, sum(row is not None for row in rows))
    TARGET.write_bytes(gzip.compress(json.dumps(document).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()

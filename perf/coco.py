"""Seconds on one core from captions to BLEU, ROUGE-L, and CIDEr with their intervals, for as many
captions as COCO's val2014 has: 40,504 images with 5 references each, with generated text.

    python perf/coco.py [--images 40504]
"""

import argparse
import random
import time

import numpy as np

from snellen.metrics import Category, Columns
from snellen.metrics.captions import caption_metrics
from snellen.text.ptb import tokens

ALLOWED = 30.0
WORDS = 12_000
"""The number of different words, whose frequencies follow Zipf's law; val2014 has some 18,000."""


def draw_captions(images: int, seed: int = 7) -> tuple[list[str], list[tuple[str, ...]]]:
    """Generate a candidate and five references per image, of 8 to 14 words each; the texts of an
    image share most words."""
    draw = random.Random(seed)
    words = [
        "".join(draw.choices("aeioubcdfghlmnprst", k=draw.randint(2, 9))) for _ in range(WORDS)
    ]
    weights = [1 / rank for rank in range(1, WORDS + 1)]
    ends = (".", "", " .", "!", ", it's 5 o'clock.", " (left).")
    every = draw.choices(words, weights, k=20 * images)
    captions = []
    for image in range(images):
        about = every[20 * image : 20 * image + 20]
        for _ in range(6):
            draws = draw.sample(about, draw.randint(8, 14))
            captions.append(" ".join(draws).capitalize() + draw.choice(ends))
    return captions[::6], [
        tuple(captions[position + 1 : position + 6]) for position in range(0, 6 * images, 6)
    ]


def columns(answers: list[str], references: list[tuple[str, ...]]) -> Columns:
    n = len(answers)
    text, right = np.empty(n, dtype=object), np.empty(n, dtype=object)
    text[:], right[:] = answers, references
    return Columns(
        score=None,
        answer=text,
        target=np.empty(n, dtype=object),
        references=right,
        state=Category(codes=np.zeros(n, dtype=np.int32), names=("answered",)),
        tags={},
        cluster=np.arange(n, dtype=np.int32),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=40_504)
    images = parser.parse_args().images
    candidates, references = draw_captions(images)
    wall, cpu = time.perf_counter(), time.process_time()
    answers = [tokens(candidate) for candidate in candidates]
    inputs = columns(answers, references)
    for name, metric in caption_metrics(tokens).items():
        before = time.process_time()
        estimate = metric(inputs)
        print(
            f"{name:8} {estimate.value:.6f}  {estimate.ci95}  {time.process_time() - before:.2f} s"
        )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{images:,} images: {cpu:.1f} CPU s, {wall:.1f} s; allowed {ALLOWED:.0f} s")


if __name__ == "__main__":
    main()

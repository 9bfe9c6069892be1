"""Near-duplicates: which pictures are found, which matches are false, and how fast the search is.

usage: python perf/duplicates.py [--golden FOLDER] [--only found|speed]

The pictures are 300 of random shapes (`tests/scenes.py`). If the golden folder is next to the
checkout, there are also the 304 line drawings of MathVision's testmini and the 34 pictures (most of
them photographs) of MMBench's and CCBench's published samples. Each picture is changed in every way
and looked up among those of its own kind. The hardest pictures to tell apart are those with the
same layout and different content (charts, pages of a form, a word in the middle).
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from PIL import ImageDraw, ImageFont

from snellen import registry
from snellen.analysis.contamination import contamination
from snellen.analysis.contamination.pictures import SIDE, PictureIndex, _Band
from snellen.media import images
from snellen.media.content import Image
from tests.scenes import CHANGES, jpeg, scene

DRAWN, SAME_LAYOUT = 300, 60
GOLDEN = {"line drawings": "mathvision/images", "photographs": "mmbench_samples"}
Picture = PIL.Image.Image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--golden", type=Path, default=Path("../shared/golden"))
    parser.add_argument("--only", choices=("found", "speed"))
    args = parser.parse_args()
    if args.only != "speed":
        count_matches(args.golden)
    if args.only != "found":
        speed()


# -- which pictures are found


def count_matches(golden: Path) -> None:
    sets = {"drawn shapes": [scene(seed) for seed in range(DRAWN)]}
    for name, folder in (
        ("line drawings", "mathvision/images"),
        ("photographs", "mmbench_samples"),
    ):
        if paths := sorted((golden / folder).rglob("*.jp*g")):
            sets[name] = [PIL.Image.open(path).convert("RGB") for path in paths]
    indexes = {name: PictureIndex(greys(map(jpeg, pictures))) for name, pictures in sets.items()}
    print(f"| change | {' | '.join(f'{name} ({len(sets[name])})' for name in sets)} |")
    print("|---" * (len(sets) + 1) + "|")
    others = dict.fromkeys(sets, 0)
    for change, make in CHANGES.items():
        cells = []
        for name, pictures in sets.items():
            near = list(indexes[name].near(greys(map(make, pictures))))
            cells.append(f"{sum(pair == other for pair, other, _ in near) / len(pictures):.1%}")
            others[name] += sum(pair != other for pair, other, _ in near)
        print(f"| {change} | {' | '.join(cells)} |")
    wrong = " | ".join(map(str, others.values()))
    print(f"| wrong pictures found, over all of these changes | {wrong} |")
    print("\n| pairs of different pictures | pairs | matched |\n|---|---|---|")
    for name, pictures in sets.items():
        print(f"| {name} | {pairs(len(pictures)):,} | {len(list(indexes[name].pairs()))} |")
    for name, draw in LAYOUTS.items():
        index = PictureIndex(greys(jpeg(draw(seed)) for seed in range(SAME_LAYOUT)))
        print(f"| {name} | {pairs(SAME_LAYOUT):,} | {len(list(index.pairs()))} |")


def pairs(n: int) -> int:
    return n * (n - 1) // 2


def greys(files: Iterable[bytes]) -> NDArray[np.uint8]:
    return np.stack([images.gray(Image(file), SIDE) for file in files])


def word(draw: np.random.Generator, n: int) -> str:
    return "".join(chr(97 + letter) for letter in draw.integers(0, 26, n).tolist())


def chart(seed: int) -> Picture:
    """Draw six bars of random heights between the same axes."""
    draw = np.random.default_rng(seed)
    picture = PIL.Image.new("RGB", (640, 480), "white")
    pen = ImageDraw.Draw(picture)
    for line in range(6):
        pen.line((60, 440 - line * 70, 620, 440 - line * 70), fill=(220, 220, 220))
        pen.text((20, 432 - line * 70), str(line * 20), fill="black")
    pen.line((60, 20, 60, 440, 620, 440), fill="black", width=2)
    for bar, height in enumerate(draw.integers(20, 380, 6).tolist()):
        pen.rectangle((90 + bar * 90, 440 - height, 140 + bar * 90, 439), fill=(60, 90, 200))
    return picture


def page(seed: int) -> Picture:
    """Draw a page of random words under the same heading."""
    draw = np.random.default_rng(seed)
    picture = PIL.Image.new("RGB", (850, 1100), "white")
    pen = ImageDraw.Draw(picture)
    pen.rectangle((40, 40, 810, 110), outline="black", width=2)
    pen.text((60, 60), "FORM 1040", fill="black", font=ImageFont.load_default(30))
    for y in range(140, 1050, 26):
        line = " ".join(word(draw, int(draw.integers(2, 9))) for _ in range(11))
        pen.text((50, y), line, fill="black", font=ImageFont.load_default(18))
    return picture


def other_number(seed: int) -> Picture:
    """Draw the same page with a different number in it."""
    picture = page(0)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((300, 500, 520, 560), fill="white")
    pen.text((310, 505), str(1000 + 137 * seed), fill="black", font=ImageFont.load_default(44))
    return picture


def single_word(seed: int) -> Picture:
    """Draw a word of five letters on white."""
    picture = PIL.Image.new("RGB", (336, 336), "white")
    text = word(np.random.default_rng(seed), 5).upper()
    ImageDraw.Draw(picture).text((80, 140), text, fill="black", font=ImageFont.load_default(40))
    return picture


def other_color(seed: int) -> Picture:
    """Draw a disc of a random color with the same brightness as the others."""
    picture = PIL.Image.new("RGB", (336, 336), "white")
    red, green = (seed * 37) % 160, (seed * 61) % 80
    blue = round((76 - 0.299 * red - 0.587 * green) / 0.114)
    ImageDraw.Draw(picture).ellipse((80, 80, 250, 250), fill=(red, green, max(0, min(255, blue))))
    return picture


LAYOUTS: Mapping[str, Callable[[int], Picture]] = {
    "charts with the same axes": chart,
    "pages of one form, other words": page,
    "a word of 5 letters on white": single_word,
    "a page with another number in one place": other_number,
    "a disc of another color": other_color,
}


# -- speed


def speed() -> None:
    print("\n| what | measured |\n|---|---|")
    rates = {}
    for size in ((640, 480), (1600, 1200)):
        files = [jpeg(textured(seed, size), 85) for seed in range(20)]
        started = time.process_time()
        for _ in range(5):
            greys(files)
        rates[size] = 5 * len(files) / (time.process_time() - started)
        kB = sum(map(len, files)) / len(files) / 1000
        print(f"| JPEGs of {size[0]} x {size[1]} ({kB:.0f} kB) per CPU s | {rates[size]:,.0f} |")
    draw = np.random.default_rng(0)
    hashed = draw.integers(0, 1 << 63, (100_000, 2)).astype(np.uint64)
    index = PictureIndex(np.zeros((0, SIDE, SIDE), np.uint8))
    started = time.process_time()
    index._hashes = hashed
    index._bands = [[_Band(hashed[:, kind], band) for band in range(4)] for kind in (0, 1)]
    n = len(index.candidates(hashed[::-1])[0])
    used = time.process_time() - started
    print(f"| 100,000 x 100,000 pairs of hashes, {n:,} candidates: CPU s | {used:.1f} |")
    pair = greys([jpeg(scene(1)), jpeg(scene(1), 30)] * 200)
    started = time.process_time()
    near = len(list(PictureIndex(pair).pairs()))
    print(
        f"| a pair of candidates, laid over and compared: ms | "
        f"{(time.process_time() - started) / near * 1000:.2f} |"
    )
    print(f"| text of a corpus (LLaVA's layout): MB per CPU second | {texts():.1f} |")


def textured(seed: int, size: tuple[int, int]) -> Picture:
    """Draw a picture with as many kB as a photograph."""
    noise = np.random.default_rng(seed).integers(-12, 13, (size[1], size[0], 3))
    return PIL.Image.fromarray(
        np.clip(np.asarray(scene(seed, size)).astype(int) + noise, 0, 255).astype(np.uint8)
    )


def texts() -> float:
    """The MB of JSONL text per CPU second that are searched for 3,000 questions of 8 to 19
    words."""
    draw = np.random.default_rng(0)
    known = [word(draw, int(draw.integers(2, 9))) for _ in range(5_000)]

    def sentence(most: int) -> str:
        return " ".join(known[at] for at in draw.integers(0, len(known), draw.integers(8, most)))

    with TemporaryDirectory() as folder:
        rows = [{"id": str(n), "question": sentence(20), "answer": "x"} for n in range(3_000)]
        questions, corpus = Path(folder, "questions.jsonl"), Path(folder, "corpus.jsonl")
        questions.write_text("\n".join(map(json.dumps, rows)))
        turn = ("human", "gpt")
        with corpus.open("w") as file:
            for _ in range(20_000):
                conversation = [{"from": turn[n % 2], "value": sentence(60)} for n in range(4)]
                file.write(json.dumps({"conversations": conversation}) + "\n")
        benchmark = registry.benchmark(str(questions))
        started = time.process_time()
        contamination([benchmark])
        before = time.process_time() - started
        started = time.process_time()
        contamination([benchmark], corpus=[corpus])
        return corpus.stat().st_size / 1e6 / (time.process_time() - started - before)


if __name__ == "__main__":
    main()

"""Draw the rows that are bundled with VCR-wiki: `python scripts/draw_vcr_wiki.py`.

The captions and pictures are our own; only their format is that of the data sets.
"""

import base64
import io
from collections.abc import Iterator

from draw_choices import (
    ROWS,
    Scene,
    bars,
    coin,
    disc,
    face,
    ice,
    jar,
    map_of_islands,
    sheet,
    slope,
    square_over_disc,
    two_bars,
)
from PIL import Image, ImageDraw

WIDE, HIGH, LINE = 240, 72, 14
ASK = {
    "en": "What is the covered texts in the image? Please restore the covered texts without "
    "outputting the explanations.",
    "zh": "图像中被覆盖的文本是什么？请在不输出解释的情况下还原被覆盖的文本。",
}
# A scene, and the pieces of a caption; every second piece is covered.
ENGLISH: tuple[tuple[Scene, tuple[str, ...]], ...] = (
    (map_of_islands, ("The islands P and Q", "lie in a small bay", "north of the old harbour",
                      "and are joined at low tide")),
    (coin, ("A coin with a square hole,", "cast in bronze and worn", "on a string by traders")),
    (disc, ("A blue disc", "on a white background,", "the club's first badge")),
    (bars, ("Four bars show", "how many boats were built", "in each of the four years,",
            "3.5% more than before.")),
    (jar, ("The jar holds nine balls", "(one of them painted)", "and a paper lid.")),
    (face, ("A face that Ada drew", "for her sister's book,", "in 1911")),
    (slope, ("The ball rests", "on a slope of wood", "until it is let go")),
    (square_over_disc, ("A green square", "above a red disc", "in the U.S. museum")),
    (ice, ("A block of ice", "that doesn't melt", "in the winter sun", "of the far north")),
)  # fmt: skip
CHINESE: tuple[tuple[Scene, tuple[str, ...]], ...] = (
    (map_of_islands, ("两座小岛", "位于港口以北", "退潮时", "彼此相连")),
    (coin, ("方孔铜钱", "曾在各地流通", "如今多为收藏")),
    (two_bars, ("两条横杠", "下面一条更长")),
)


def covered(scene: Scene, pieces: tuple[str, ...], lang: str) -> str:
    """Draw the scene, and next to it the caption with every second piece under a gray bar."""
    picture = Image.new("RGB", (WIDE, HIGH), "white")
    draw = ImageDraw.Draw(picture)
    for line, piece in enumerate(pieces):
        top = 4 + line * (LINE + 2)
        if lang == "en":
            draw.text((100, top), piece, fill="black")
        if line % 2:
            draw.rectangle((98, top + 3, 236, top + LINE - 3), fill="#999999")
    small = Image.new("RGB", (96, 96), "white")
    scene(ImageDraw.Draw(small))
    picture.paste(small.resize((HIGH, HIGH)), (8, 0))
    with io.BytesIO() as file:
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=8).save(file, format="PNG")
        return base64.b64encode(file.getvalue()).decode()


def rows(lang: str) -> Iterator[dict[str, str]]:
    for index, (scene, pieces) in enumerate(ENGLISH if lang == "en" else CHINESE):
        yield {
            "index": str(index),
            "image": covered(scene, pieces, lang),
            "question": ASK[lang],
            "answer": repr(list(pieces[1::2])),
        }


def main() -> None:
    folder = ROWS / "vcr_wiki"
    folder.mkdir(parents=True, exist_ok=True)
    for lang in ("en", "zh"):
        name = f"VCR-wiki-{lang}-easy-test.tsv"
        sheet(folder / name, ("index", "image", "question", "answer"), rows(lang))


if __name__ == "__main__":
    main()

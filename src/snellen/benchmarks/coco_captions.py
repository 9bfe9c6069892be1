"""COCO captions: one sentence about a photograph, compared with five people's captions.

Paper    Chen et al. 2015, Microsoft COCO Captions: Data Collection and Evaluation Server,
         https://arxiv.org/abs/1504.00325.
         The Karpathy splits are from Karpathy and Fei-Fei 2015, Deep Visual-Semantic Alignments,
         https://arxiv.org/abs/1412.2306 (CVPR).
Data     The files are at https://cocodataset.org, under CC BY 4.0: captions_val{2014,2017}.json
         (40,504 and 5,000 images), image_info_test{2014,2017}.json (without captions), and the
         images, in folders such as val2014/.
         `karpathy-test` and `karpathy-val` each have 5,000 images of val2014. Both splits are read
         from dataset_coco.json of https://cs.stanford.edu/people/karpathy/deepimagesent, or from
         LAVIS's coco_karpathy_test.json, which has the same captions.
         `vlmevalkit` is VLMEvalKit's COCO_VAL.tsv.
         Scores on different splits are not comparable.
Prompt   The authors prescribe no prompt. The picture comes first in all prompts.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/coco_cap/coco2014_cap_val.yaml#L8 and coco_karpathy_test.yaml#L7.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_caption.py#L52-L59.
         `instructblip`: salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:lavis/projects/
         instructblip/caption_coco_vicuna7b_eval_test.yaml#L10.
         `blip2`: lavis/projects/blip2/train/caption_coco_ft.yaml#L25, also in LAVIS.
         Replies are limited to 64 tokens, as in coco2014_cap_val.yaml#L11.
Scoring  `official`: tylin/coco-caption@3a9afb2682141a03e1cdc02b0df6770d2c884f6f:pycocoevalcap/. The
         metrics are BLEU, ROUGE-L, and CIDEr. As in coco-caption's demo, images without a reply are
         left out. Captions are split into lowercase Penn Treebank tokens without punctuation
         (snellen.text.ptb).
         `vlmevalkit`: the same metrics on the words as they are written, with capitals and
         punctuation, image_caption.py#L61-L76.
         As on the evaluation server, CIDEr is not multiplied by 100, although papers print 100
         times this value. CIDEr depends on how rare a phrase is in the references of all scored
         images. Therefore, CIDEr on part of a split is not comparable with CIDEr on the whole
         split.
         METEOR and SPICE are not computed, because they are Java programs whose values no other
         code reproduces. METEOR also needs a stemmer, WordNet, and paraphrase tables, and SPICE
         needs a dependency parser.
Proof    On 2,500 generated captions, all metrics are within 1e-9 of coco-caption's, both for each
         image and for all images together (tests/parity). For all 11,653 captions in the tests, the
         tokens equal coco-caption's. The published figures for the demo's captions were not
         checked, because the demo's reference file was too large to obtain.
         The scores of the bundled rows are from coco-caption's code.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, pins
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
    Submission,
)
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import user
from snellen.metrics.captions import caption_metrics
from snellen.text.ptb import tokens

COCO = "tylin/coco-caption@3a9afb2682141a03e1cdc02b0df6770d2c884f6f"
KIND = "caption"
LANGUAGES = ("en",)
LICENSE = "CC-BY-4.0"
PROOF = "authors' code"
SIZE = 5000
ALIASES = {
    "COCO_VAL": {"split": "vlmevalkit", "prompt": "vlmevalkit"},
    "coco_karpathy_test": {"split": "karpathy-test"},
    "coco_karpathy_val": {"split": "karpathy-val"},
    "coco2014_cap_val": {"split": "val2014"},
    "coco2014_cap_test": {"split": "test2014"},
    "coco2017_cap_val": {"split": "val2017"},
    "coco2017_cap_test": {"split": "test2017"},
}
LAVIS = "https://storage.googleapis.com/sfr-vision-language-research/datasets"
IMAGES = "http://images.cocodataset.org"
KARPATHY_MD5 = {
    "test": "3ff34b0ef2db02d01c37399f6a2a6cd1",
    "val": "b273847456ef5580e33713b1f7de52a0",
}
LONG = "several GB; the pictures"

Split = Literal[
    "karpathy-test", "karpathy-val", "val2014", "val2017", "test2014", "test2017", "vlmevalkit"
]
Preset = Literal["lmms-eval", "vlmevalkit", "instructblip", "blip2"]
PROMPTS = {
    "lmms-eval": "Provide a one-sentence caption for the provided image.",
    "vlmevalkit": "Please describe this image in general. Directly provide the description, do not "
    'include prefix like "This image depicts". ',
    "instructblip": "A short image caption.",
    "blip2": "a photo of ",
}
BRIEFLY = "Describe the image briefly."
"""lmms-eval's prompt for the Karpathy splits."""


def coco_captions(
    split: Split = "karpathy-test", prompt: Preset = "lmms-eval", data: Path | None = None
) -> Benchmark:
    files = published(split)
    data_file = find(data, "coco-captions", names(split), files, f"coco-captions:split={split}")
    table, file = authors_files.table(data_file, lambda path: rows(path, split))
    text = BRIEFLY if prompt == "lmms-eval" and "karpathy" in split else PROMPTS[prompt]
    wrong = {"wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="coco-captions",
        asks=1,
        data=table,
        sample=lambda row_index, row: to_sample(row_index, row, data_file),
        prompt=lambda sample, _: (user(*sample.media, text),),
        scorings={
            "official": Scoring(
                version=1,
                source=f"{COCO}:pycocoevalcap/eval.py#L18-L62",
                parse=official_tokens,
                score=lambda *_: None,
                metrics=caption_metrics(tokens),
            ),
            "vlmevalkit": Scoring(
                version=1,
                source=f"{pins.VLMEVALKIT}:vlmeval/dataset/image_caption.py#L61-L76",
                parse=as_written,
                score=lambda *_: None,
                metrics=caption_metrics(str),
            ),
        },
        max_answer_tokens=64,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nonsense",
            expect={
                "official": {"oracle": ORACLE, **wrong},
                "vlmevalkit": {"oracle": ORACLE_AS_WRITTEN, **wrong},
            },
        ),
        presentation=Presentation(
            capabilities=Capabilities(
                tag="", leaves={"": "perception/scene"}, source="https://arxiv.org/abs/1504.00325"
            ),
            notes=("CIDEr's interval holds the document frequencies of the scored images fixed",),
        ),
        interop=Interop(
            files=file,
            submission=Submission(
                name=f"captions_{split}_snellen_results.json",
                columns=("image_id", "caption"),
                row=lambda sample, reply: (int(sample.id), reply),
            ),
        ),
    )


ORACLE = 3.829436134329384
ORACLE_AS_WRITTEN = 3.258585044251182
"""The scores that coco-caption's code gives the three bundled images if the first caption of each
image is used as the reply."""


def names(split: Split) -> list[str]:
    """The names of files that may contain the rows of a split."""
    if split == "vlmevalkit":
        return ["COCO_VAL.tsv"]
    if split.startswith("karpathy"):
        part = split.removeprefix("karpathy-")
        own = ["dataset_coco.json", f"coco_karpathy_{part}.json"]
    elif split.startswith("test"):
        own = [f"image_info_{split}.json"]
    else:
        own = [f"captions_{split}.json"]
    return [f"{folder}{name}" for name in own for folder in ("annotations/", "")]


def published(split: Split = "karpathy-test", **_: object) -> tuple[File, ...]:
    """The published files with the captions and the pictures of a split."""
    if split == "vlmevalkit":
        url = "https://opencompass.openxlab.space/utils/VLMEval/COCO_VAL.tsv"
        return (File(name="COCO_VAL.tsv", url=url, md5="72a5079dead060269ac222c5aa5128af"),)
    if split.startswith("karpathy"):
        part = split.removeprefix("karpathy-")
        name, pictures = f"coco_karpathy_{part}.json", "val2014"
        captions = File(name=name, url=f"{LAVIS}/{name}", md5=KARPATHY_MD5[part])
    else:
        pictures, year = split, split[-4:]
        kind = f"image_info_{split}" if split.startswith("test") else f"annotations_trainval{year}"
        url = f"{IMAGES}/annotations/{kind}.zip"
        captions = File(name=f"{kind}.zip", url=url, unpack=True)
    url = f"{IMAGES}/zips/{pictures}.zip"
    return captions, File(name=f"{pictures}.zip", url=url, unpack=True, note=LONG)


# -- rows


def rows(path: Path, split: Split) -> Iterator[dict[str, Any]]:
    """Yield one row for each image, with `id`, `image` (its file name), and `captions`."""
    content = authors_files.of_json(path)
    if isinstance(content, list):
        yield from of_lavis(content)
    elif split.startswith("karpathy"):
        yield from of_karpathy(content["images"], split.removeprefix("karpathy-"))
    else:
        yield from of_coco(content, split)


def of_coco(content: dict[str, Any], folder: str) -> Iterator[dict[str, Any]]:
    by_image: dict[int, list[str]] = {}
    for annotation in content.get("annotations", ()):
        by_image.setdefault(annotation["image_id"], []).append(annotation["caption"])
    for image in content["images"]:
        name = image["id"]
        captions = by_image.get(name, [])
        yield {"id": name, "image": f"{folder}/{image['file_name']}", "captions": captions}


def of_karpathy(images: list[dict[str, Any]], part: str) -> Iterator[dict[str, Any]]:
    for image in images:
        if image["split"] == part:
            yield {
                "id": image["cocoid"],
                "image": f"{image['filepath']}/{image['filename']}",
                "captions": [sentence["raw"] for sentence in image["sentences"]],
            }


def of_lavis(images: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for image in images:
        number = int(Path(image["image"]).stem.rpartition("_")[2])
        yield {"id": number, "image": image["image"], "captions": image["caption"]}


def to_sample(row_index: int, row: Row, data_file: DataFile) -> Sample:
    """Make a sample from a row. For a TSV, the sample's id is the row's `index`."""
    has_path = isinstance(row.get("image"), str)
    captions = row["captions"] if "captions" in row else row.get("answer")
    return Sample(
        id=str(row.get("index", row.get("id", row_index))),
        question="",
        media=(data_file.image(row["image"]) if has_path else authors_files.picture(row),),
        references=authors_files.texts(captions),
    )


# -- scoring


def official_tokens(reply: Reply, _: Sample) -> Reading:
    """Split a caption into tokens. Line breaks count as spaces."""
    return reading(tokens(reply.text.replace("\n", " ")))


def as_written(reply: Reply, _: Sample) -> Reading:
    return reading(reply.text)


def reading(answer: str) -> Reading:
    return Reading(answer=answer or None, rule="whole reply" if answer else "nothing said")

"""VCR-wiki: restore the covered words of a caption that is part of the picture.

Paper    Zhang et al. 2024, VCR: A Task for Pixel-Level Complex Reasoning in Vision Language Models
         via Restoring Occluded Text, https://arxiv.org/abs/2406.06462 (ICLR 2025).
Data     vcr-org/VCR-wiki-{en,zh}-{easy,hard}-test[-500,-100] on the Hugging Face hub, under CC
         BY-SA 4.0.
         There are 5,000, 500, or 100 pictures, each with several covered texts.
         The TSV files on the hub, for which VLMEvalKit gives MD5s, have only the complete picture
         (`shown=stacked_image`). The parquet files have all three pictures of a question.
Prompt   The picture comes first in all prompts.
         `official`: tianyu-z/VCR@b3be5a9e6ad73edb8f6b612d94a83f958dd5c8cb:src/evaluation/
         inference.py#L67-L71. The prompt in lmms-eval is the same.
         `focused`: #L72-L76.
         `vlmevalkit`: the question in the TSV.
         Replies are limited to 256 tokens (closed_source_eval.py#L71).
Scoring  `official` (English): src/evaluation/evaluation_metrics.py#L57-L187, utils.py#L330-L342,
         gather_results.py#L44-L62. For each covered text, the answer is the run of consecutive
         tokens in the reply that is most similar to the text.
         `exact_match` and `jaccard` are computed from these runs, over all covered texts, not over
         pictures. `precision`, `recall`, and `f1` are computed in the same way. The authors' code
         stores these three metrics but does not print them.
         A reply that contains "sorry" scores 0. To find such replies, the authors have a separate
         filter for each of several models. The filter here is the authors' filter for all other
         models (#L199-L329). VLMEvalKit's rules are the same as the authors'. Our rules in
         text/english.py reproduce spaCy's tokens.
         `characters` (Chinese): Snellen's own rule, with characters as tokens. The authors' scoring
         of Chinese needs the model zh_core_web_sm, whose tokens no rule can reproduce, so there is
         no official scoring for Chinese.
         ROUGE-1, which the authors compute but do not report, is left out.
Proof    On 1,500 generated English pairs of a reply and a covered text, the similarity, the run of
         tokens, and all five metrics equal those of the authors' code (find_best_match and others;
         tests/parity).
         No model outputs are published.
         The scoring of Chinese is checked on examples worked out by hand.
"""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Literal, NamedTuple

from snellen import stats
from snellen.benchmarks.families.results import of_json
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import Row, Table, find, parquet, vlmevalkit_tsv
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import user
from snellen.metrics import Columns, Metric, metric
from snellen.stats import Estimate
from snellen.text.english import english_tokens

AUTHORS = "tianyu-z/VCR@b3be5a9e6ad73edb8f6b612d94a83f958dd5c8cb"
# fmt: off
KIND = "words"
LANGUAGES = ("en", "zh")
LICENSE = "CC-BY-SA-4.0"
PROOF = "authors' code"
SIZE = 5000
OTHER_SIZES = {"size=500": 500, "size=100": 100}
ALIASES = {
    "VCR_EN_EASY_ALL": {"lang": "en", "difficulty": "easy", "size": "all", "prompt": "vlmevalkit"},
    "VCR_EN_EASY_500": {"lang": "en", "difficulty": "easy", "size": "500", "prompt": "vlmevalkit"},
    "VCR_EN_EASY_100": {"lang": "en", "difficulty": "easy", "size": "100", "prompt": "vlmevalkit"},
    "VCR_EN_HARD_ALL": {"lang": "en", "difficulty": "hard", "size": "all", "prompt": "vlmevalkit"},
    "VCR_EN_HARD_500": {"lang": "en", "difficulty": "hard", "size": "500", "prompt": "vlmevalkit"},
    "VCR_EN_HARD_100": {"lang": "en", "difficulty": "hard", "size": "100", "prompt": "vlmevalkit"},
    "VCR_ZH_EASY_ALL": {"lang": "zh", "difficulty": "easy", "size": "all", "prompt": "vlmevalkit"},
    "VCR_ZH_EASY_500": {"lang": "zh", "difficulty": "easy", "size": "500", "prompt": "vlmevalkit"},
    "VCR_ZH_EASY_100": {"lang": "zh", "difficulty": "easy", "size": "100", "prompt": "vlmevalkit"},
    "VCR_ZH_HARD_ALL": {"lang": "zh", "difficulty": "hard", "size": "all", "prompt": "vlmevalkit"},
    "VCR_ZH_HARD_500": {"lang": "zh", "difficulty": "hard", "size": "500", "prompt": "vlmevalkit"},
    "VCR_ZH_HARD_100": {"lang": "zh", "difficulty": "hard", "size": "100", "prompt": "vlmevalkit"},
    "vcr_wiki_en_easy": {"lang": "en", "difficulty": "easy", "size": "all"},
    "vcr_wiki_en_easy_500": {"lang": "en", "difficulty": "easy", "size": "500"},
    "vcr_wiki_en_easy_100": {"lang": "en", "difficulty": "easy", "size": "100"},
    "vcr_wiki_en_hard": {"lang": "en", "difficulty": "hard", "size": "all"},
    "vcr_wiki_en_hard_500": {"lang": "en", "difficulty": "hard", "size": "500"},
    "vcr_wiki_en_hard_100": {"lang": "en", "difficulty": "hard", "size": "100"},
    "vcr_wiki_zh_easy": {"lang": "zh", "difficulty": "easy", "size": "all"},
    "vcr_wiki_zh_easy_500": {"lang": "zh", "difficulty": "easy", "size": "500"},
    "vcr_wiki_zh_easy_100": {"lang": "zh", "difficulty": "easy", "size": "100"},
    "vcr_wiki_zh_hard": {"lang": "zh", "difficulty": "hard", "size": "all"},
    "vcr_wiki_zh_hard_500": {"lang": "zh", "difficulty": "hard", "size": "500"},
    "vcr_wiki_zh_hard_100": {"lang": "zh", "difficulty": "hard", "size": "100"},
}
# fmt: on
MD5 = {
    "en-easy-test": "8a9b96885f251d1c85f42f84073327f1",
    "en-easy-test-500": "fd9258db52f8685dc710619a0ea0a261",
    "en-easy-test-100": "9df5d7266683458621ecbe122beb72f0",
    "en-hard-test": "2d8b8b1ee0eba0e0b618fd3aa7d9710e",
    "en-hard-test-500": "0a22a85080b6a1f52b1f95e302d43df4",
    "en-hard-test-100": "1b20f5cbcbeae0b0bec77f7a36143958",
    "zh-easy-test": "5050fe7f0027ad2068fd4c7f220edaea",
    "zh-easy-test-500": "beca5fd54176adf44cf94bd9b50cf048",
    "zh-easy-test-100": "4a86a5678a79844d6d22ab0629c51cd5",
    "zh-hard-test": "54bbfef448206518b03127ef8b61404c",
    "zh-hard-test-500": "617e3360f75c54455625cb0a8da5c1e7",
    "zh-hard-test-100": "b0e38c85f5d5e63894a3b881c372a62b",
}
ASK = {
    "en": "What is the covered texts in the image? Please restore the covered texts without "
    "outputting the explanations.",
    "zh": "图像中被覆盖的文本是什么？请在不输出解释的情况下还原被覆盖的文本。",
}
FOCUS = {
    "en": " Please focus only on the description text below the image.",
    "zh": "请只关注图片下方的描述性文字。",
}

LACKS = (
    "there is no official scoring for Chinese: the authors' scoring needs the tokens of spaCy's "
    "zh_core_web_sm, which no rule reproduces. Figures of the scoring `characters` cannot be "
    "compared with published ones"
)

Lang = Literal["en", "zh"]
Difficulty = Literal["easy", "hard"]
Size = Literal["all", "500", "100"]
Shown = Literal["stacked_image", "only_it_image", "only_it_image_small"]
Preset = Literal["official", "focused", "vlmevalkit"]


def vcr_wiki(
    lang: Lang = "en",
    difficulty: Difficulty = "easy",
    size: Size = "all",
    shown: Shown = "stacked_image",
    prompt: Preset = "official",
    data: Path | None = None,
) -> Benchmark:
    files = published(lang, difficulty, size)
    spec = f"vcr-wiki:lang={lang},difficulty={difficulty},size={size}"
    also = f"VCR_{lang.upper()}_{difficulty.upper()}_{size.upper()}.tsv"
    data_file = find(data, "vcr-wiki", [files[0].name, also], files, spec)
    packed = data is not None and (data.suffix == ".parquet" or any(data.glob("*.parquet")))
    table: Table = parquet(data) if data and packed else vlmevalkit_tsv(data_file)
    rule = ENGLISH if lang == "en" else CHINESE
    scoring = Scoring(
        version=1,
        source=f"{AUTHORS}:src/evaluation/evaluation_metrics.py#L57-L187"
        if lang == "en"
        else "ours",
        parse=lambda reply, sample: restored(reply, sample, rule),
        score=lambda reading, sample: overlap(reading, sample, rule),
        metrics={
            "exact_match": over_texts(is_same, rule),
            "jaccard": jaccard,
            "precision": over_texts(precision, rule),
            "recall": over_texts(recall, rule),
            "f1": over_texts(f1, rule),
        },
        partial=True,
    )
    return Benchmark(
        name="vcr-wiki",
        asks=1,
        data=table,
        sample=lambda row_index, row: to_sample(row_index, row, shown),
        prompt=lambda sample, _: (user(*sample.media, words(sample, lang, prompt)),),
        scorings={"official" if lang == "en" else "characters": scoring},
        max_answer_tokens=256,
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "0000",
            expect={"official": EXPECT, "characters": EXPECT},
        ),
        presentation=Presentation(
            capabilities=Capabilities(
                tag="", leaves={"": "OCR/text"}, source="https://arxiv.org/abs/2406.06462, abstract"
            ),
            notes=() if lang == "en" else (LACKS,),
        ),
        interop=Interop(
            files=None if packed else data_file,
            layout=lambda path: results(path, shown),
        ),
    )


def published(
    lang: Lang = "en", difficulty: Difficulty = "easy", size: Size = "all", **_: object
) -> tuple[File, ...]:
    """The published TSV file for these options."""
    name = f"{lang}-{difficulty}-test{'' if size == 'all' else f'-{size}'}"
    full = f"VCR-wiki-{name}"
    url = f"https://huggingface.co/datasets/vcr-org/{full}/resolve/main/{full}.tsv"
    return (File(name=f"{full}.tsv", url=url, md5=MD5[name]),)


def to_sample(row_index: int, row: Row, shown: Shown) -> Sample:
    if "crossed_text" in row:
        name, covered, media = str(row_index), row["crossed_text"], (row[shown],)
    else:
        if shown != "stacked_image":
            raise ValueError(f"a TSV has only the whole picture; use the parquet files for {shown}")
        name, covered, media = row["index"], listed(row["answer"]), row["image"]
    if not isinstance(covered, list) or not all(isinstance(text, str) for text in covered):
        raise TypeError("the covered texts are not a list of texts")
    return Sample(
        id=name,
        question=row.get("question") or "",
        media=media,
        target="\n".join(covered),
        references=tuple(covered),
    )


def listed(cell: str) -> object:
    """The value of a TSV cell that contains a Python literal."""
    try:
        return ast.literal_eval(cell)
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"the answer is not a Python list: {error}") from error


def words(sample: Sample, lang: Lang, prompt: Preset) -> str:
    """The text of the prompt.

    Raises:
        DataError: the prompt is the question in the data, but the data have no question.
    """
    if prompt == "vlmevalkit":
        if not sample.question:
            raise DataError(
                "vcr-wiki:prompt=vlmevalkit needs the questions of a TSV, which parquet files "
                "lack. Use the TSV, or another prompt."
            )
        return sample.question
    return ASK[lang] + (FOCUS[lang] if prompt == "focused" else "")


# -- scoring


class Rule(NamedTuple):
    """The functions that split texts of a language into tokens and join tokens again."""

    tokens: Callable[[str], Sequence[str]]
    """A function that splits a text into tokens."""
    joint: str
    """The text between two tokens in a joined run."""
    parts: Callable[[str], Sequence[str]]
    """A function that splits a joined run of tokens into tokens again."""

    def run(self, text: str) -> str:
        return self.joint.join(self.tokens(text))


def with_blanks(run: str) -> list[str]:
    """Split a run that was joined by spaces into its tokens. A token may itself be whitespace."""
    parts = re.split(r"(\S+)", run)
    if len(parts) == 1:
        return parts
    blanks = [parts[0][:-1], *(blank[1:-1] for blank in parts[2:-1:2]), parts[-1][1:]]
    parts[::2] = blanks
    return [part for part in parts if part]


def signs(text: str) -> list[str]:
    return [sign for sign in text if not sign.isspace()]


ENGLISH = Rule(english_tokens, " ", with_blanks)
CHINESE = Rule(signs, "", signs)
REFUSALS = ("I can't", "I cannot", "无法", "抱歉")


def restored(reply: Reply, sample: Sample, rule: Rule) -> Reading:
    """For each covered text, parse the most similar run of tokens in the reply. The run is "" if no
    run shares a token with the text."""
    text = reply.text.split("Assistant: ")[-1]
    if "sorry" in text.lower() or any(refusal in text for refusal in REFUSALS):
        return Reading(answer=None, rule="refusal")
    tokens = rule.tokens(text)
    runs = tuple(best_run(covered, tokens, rule)[0] for covered in sample.references)
    if not any(runs):
        return Reading(answer=None, rule="no shared token")
    return Reading(answer=runs, rule="most alike")


def best_run(covered: str, tokens: Sequence[str], rule: Rule) -> tuple[str, float]:
    """The run of tokens that is most similar to the covered text, and the similarity. Only runs
    that have as many tokens as the covered text, and share at least one token with the text, are
    considered. If runs are equally similar, the first counts."""
    wanted = rule.tokens(covered)
    length = len(wanted)
    # counts[i] is the number of wanted tokens before index i.
    names = set(wanted)
    counts = [0, *accumulate(token in names for token in tokens)]
    matcher = SequenceMatcher(None, "", covered)
    best = ("", 0.0)
    seen = set()
    for start in range(len(tokens) - length + 1 if wanted else 0):
        if counts[start] == counts[start + length]:
            continue
        text = rule.joint.join(tokens[start : start + length])
        if text in seen:
            continue
        seen.add(text)
        matcher.set_seq1(text)
        # Two upper bounds are computed first, since they are enough to reject most runs.
        if matcher.real_quick_ratio() > best[1] and matcher.quick_ratio() > best[1]:
            ratio = matcher.ratio()
            if ratio > best[1]:
                best = text, ratio
    return best


def overlap(reading: Reading, sample: Sample, rule: Rule) -> float | None:
    """The mean Jaccard index over the covered texts of a picture: the number of distinct shared
    tokens, divided by the number of all distinct tokens. None if the picture has no covered
    text."""
    if not sample.references:
        return None
    if not isinstance(reading.answer, tuple):
        return 0.0
    pairs = zip(reading.answer, sample.references, strict=True)
    shares = [of_sets(rule.parts(run), rule.tokens(covered)) for run, covered in pairs if run]
    return sum(shares) / len(sample.references)


def of_sets(tokens: Sequence[str], other: Sequence[str]) -> float:
    return len({*tokens} & {*other}) / len({*tokens} | {*other})


class SharedTokens(NamedTuple):
    """The numbers of distinct tokens in a run, in a covered text, and in both of them."""

    shared: int
    """The number of distinct tokens that occur in both the run and the covered text."""
    run: int
    """The number of distinct tokens in the run."""
    covered: int
    """The number of distinct tokens in the covered text."""

    @property
    def precision(self) -> float:
        return self.shared / self.run if self.run else 0.0

    @property
    def recall(self) -> float:
        return self.shared / self.covered if self.covered else 0.0

    @property
    def f1(self) -> float:
        # This is the authors' formula. 2 * shared / (run + covered) may differ in the last bit.
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@lru_cache(maxsize=1 << 16)
def compare_sets(run: str, covered: str, rule: Rule) -> SharedTokens:
    if not run:
        return SharedTokens(0, 0, 0)
    tokens, others = {*rule.parts(run)}, {*rule.tokens(covered)}
    return SharedTokens(len(tokens & others), len(tokens), len(others))


def precision(run: str, covered: str, rule: Rule) -> float:
    return compare_sets(run, covered, rule).precision


def recall(run: str, covered: str, rule: Rule) -> float:
    return compare_sets(run, covered, rule).recall


def f1(run: str, covered: str, rule: Rule) -> float:
    return compare_sets(run, covered, rule).f1


def is_same(run: str, covered: str, rule: Rule) -> float:
    return float(run == rule.run(covered))


def over_texts(measure: Callable[[str, str, Rule], float], rule: Rule) -> Metric:
    """The mean of a measure over all covered texts, not over pictures; in [0, 1].

    The measure is `is_same` (the run has exactly the tokens of the text), or `precision`, `recall`,
    or `f1` of the two sets of tokens. A text for which the reply has no such run scores 0.
    """

    def metric(columns: Columns) -> Estimate:
        import numpy as np

        values: list[float] = []
        rows: list[int] = []
        known = np.zeros(columns.n) if columns.score is None else columns.score
        for row, (runs, covered) in enumerate(zip(columns.answer, columns.references, strict=True)):
            rows += [row] * len(covered)
            if isinstance(runs, tuple):
                values += [
                    measure(run, text, rule) for run, text in zip(runs, covered, strict=True)
                ]
            else:
                values += [float(known[row])] * len(covered)
        cluster = columns.cluster[np.array(rows, dtype=np.intp)]
        return replace(stats.mean(np.array(values, dtype=np.float64), cluster), n=columns.n)

    return Metric(metric, better="higher", unit="fraction", name="over_texts")


@metric(better="higher", unit="fraction")
def jaccard(columns: Columns) -> Estimate:
    """The mean Jaccard index over all covered texts: the share of distinct tokens that the run and
    the text have in common. In [0, 1]; higher is better."""
    import numpy as np

    scores = np.zeros(columns.n) if columns.score is None else columns.score
    weight = np.array([float(len(covered)) for covered in columns.references])
    return stats.mean(scores, columns.cluster, weight)


# -- results


def results(path: Path, shown: Shown) -> Published | None:
    """Read the authors' results: a JSON object that maps the positions of pictures to objects with
    a reply for each value of `shown`.

    As in the authors' code, a list with a single text is read as that text, and an object is read
    as an empty reply.

    Raises:
        DataError: the file has only replies for other values of `shown`, or a reply is not text.
    """
    every = of_json(path)
    if not isinstance(every, dict) or not all(isinstance(entry, dict) for entry in every.values()):
        return None
    key = f"res_{shown}"
    kinds = {kind for replies in every.values() for kind in replies if kind.startswith("res_")}
    if not kinds:
        return None
    if key not in kinds:
        others = ", ".join(sorted(kind.removeprefix("res_") for kind in kinds))
        raise DataError(f"{path.name} has no {key}. It has replies for shown={others}.")
    texts: dict[str, str | None] = {}
    for name, replies in every.items():
        reply = replies.get(key)
        if isinstance(reply, list) and len(reply) == 1:
            (reply,) = reply
        if isinstance(reply, dict):
            reply = ""
        if reply is not None and not isinstance(reply, str):
            raise DataError(
                f"{path.name}: {key} of {name!r} must be text, or a list with a single text. "
                "Correct or remove it."
            )
        texts[name] = reply
    return Published(replies=texts)


# -- check

EXPECT = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}

"""Reads the facts that a benchmark's file states in constants, and lists the possible values.

The constants are `KIND`, `NEEDS_JUDGE`, `LANGUAGES`, `LICENSE`, `PROOF`, `SIZE`, and `OTHER_SIZES`.
All of them are optional for a benchmark outside Snellen. Snellen's own benchmarks use only the
values that are listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

KINDS: Mapping[str, str] = {
    "choice": "a letter or a choice",
    "yes-no": "yes or no",
    "number": "a number",
    "words": "a word, a number, or a phrase",
    "caption": "a sentence about the picture",
    "box": "a box in the picture",
    "point": "a point in the picture",
    "span": "a part of the video, in seconds",
    "text": "the text of a page",
    "chat": "a free answer of any length",
    "mixed": "answers of several of these kinds",
}
"""Maps each kind of answer to a description."""
PROOFS: Mapping[str, str] = {
    "published outputs": "equal to the authors' results for model outputs that they published",
    "authors' code": "equal to the authors' code on generated replies",
    "toolkit's code": "equal to another project's code on generated replies, because the authors "
    "published no scorer",
    "by hand": "checked only on examples worked out by hand",
    "own": "a rule of Snellen's own, because there is no official rule or because it is lacking",
}
"""Maps each proof of a headline scoring to a description, from the strongest to the weakest."""
LANGUAGES: Mapping[str, str] = {
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "pt": "Portuguese",
    "ru": "Russian",
    "th": "Thai",
    "tr": "Turkish",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
"""Maps the ISO 639-1 code of each language to the language's name."""
LICENSES: Mapping[str, str] = {
    "Apache-2.0": "",
    "BSD-3-Clause": "",
    "CC-BY-4.0": "",
    "CC-BY-NC-4.0": "",
    "CC-BY-NC-SA-4.0": "",
    "CC-BY-ND-4.0": "",
    "CC-BY-SA": "the authors do not state the version",
    "CC-BY-SA-4.0": "",
    "GPL-3.0": "",
    "MIT": "",
    "mixed": "parts of the data have different licenses, or none",
    "research only": "the authors' own terms, which allow only research",
    "unknown": "the authors state no license, or we do not know it",
}
"""Maps each license of data to a description, which is empty for SPDX identifiers."""
UNRELATED = ("prompt", "subtitles")
"""The options that change how samples are asked, but never the number of samples."""


class BenchmarkFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a benchmark's file states about the benchmark. A fact that the file does not state is
    empty."""

    kind: str = ""
    """The kind of answers, a key of `KINDS`."""
    needs_judge: bool = False
    """Whether the headline scoring needs a judge for at least some replies."""
    languages: tuple[str, ...] = ()
    """The languages of the questions, keys of `LANGUAGES`. The language of the default options
    comes first."""
    license: str = ""
    """The license of the data, a key of `LICENSES`."""
    proof: str = ""
    """How the headline scoring was checked, a key of `PROOFS`."""
    size: int | None = None
    """The number of samples with the default options; None if unknown."""
    other_sizes: Mapping[str, int] = {}
    """The number of samples with other options, keyed by these options (`split=testmini`)."""

    def size_with(self, options: Mapping[str, Any]) -> int | None:
        """Return the number of samples with the options that differ from the defaults, or None if
        it is unknown."""
        relevant = {f"{name}={value}" for name, value in options.items() if name not in UNRELATED}
        if not relevant:
            return self.size
        matches = (n for text, n in self.other_sizes.items() if {*text.split(",")} == relevant)
        return next(matches, None)


def facts_of(constants: Mapping[str, Any]) -> BenchmarkFacts:
    """Return the facts in a file's constants. A constant with a value of another type is ignored,
    because the file may be a stranger's."""
    languages = constants.get("LANGUAGES")
    other_sizes = constants.get("OTHER_SIZES")
    size = constants.get("SIZE")
    return BenchmarkFacts(
        kind=_text(constants.get("KIND")),
        needs_judge=constants.get("NEEDS_JUDGE") is True,
        languages=tuple(map(_text, languages)) if isinstance(languages, list | tuple) else (),
        license=_text(constants.get("LICENSE")),
        proof=_text(constants.get("PROOF")),
        size=size if _is_size(size) else None,
        other_sizes={
            text: n for text, n in other_sizes.items() if isinstance(text, str) and _is_size(n)
        }
        if isinstance(other_sizes, dict)
        else {},
    )


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0

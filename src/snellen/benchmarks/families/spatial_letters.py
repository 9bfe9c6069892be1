"""Shared by BLINK, EmbSpatial-Bench, and MMSI-Bench: other toolkits' rules for the letter of a
reply.

`first_letter`      EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
                    tasks/{blink/utils.py#L10-L28,embspatial/utils.py#L23-L41}
`settled_letter`    open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
                    dataset/utils/spatial_bench/matching_func.py#L39-L203, the rule of its sets
                    about space
"""

import re
from collections.abc import Iterable

from snellen.benchmarks.families import pins
from snellen.core import Reading, Reply, Sample

VLMEVALKIT = f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/spatial_bench/matching_func.py#L39-L203"
LINES = 6
TAIL = 800
"""The characters of the reply's end in which some rules look for a letter."""

_INVISIBLE = re.compile("[\u200b\u200c\u200d\ufeff]")
_CLOSE = r"[)\]}）】]?"
_FIRST = re.compile(r"[(\s]*([A-Z])", re.IGNORECASE)
_TAGGED = re.compile(r"<\s*answer\b[^>]*>\s*([A-J])", re.IGNORECASE)
_TAG_ENDS = re.compile(r"<\s*/\s*answer\s*>", re.IGNORECASE)
_BEFORE = [
    re.compile(rf"(?<![A-Za-z])([A-F])\s*{_CLOSE}\s*</\s*{tag}\s*>", re.IGNORECASE)
    for tag in ("answer", "think")
]
_THINKING = [re.compile(rf"<{end}\s*think\s*>", re.IGNORECASE) for end in (r"/", "")]
_OPTION = re.compile(r"[*_>\-\s]*(?:option|选项)\s+[A-J]\s*[:：]", re.IGNORECASE)
# "*+" gives nothing back, so that many blanks take little time.
_MARKS = r"\s*+[*_`（）\[\]【】()]*+\s*+"
_ALONE = re.compile(rf"{_MARKS}([A-F]){_MARKS}", re.IGNORECASE)
_LABEL = re.compile(r"([A-F])\s*[.\uff0e:：)\]】、-]\s+", re.IGNORECASE)
_WORD = re.compile(r"(?<![A-Za-z])([A-F])\s*[*_`）\]})]*(?=$|[\s.,:;!?)\]》」』，。；、：）】])")
_STATED = re.compile(
    r"(?:answer(?:\s*is)?|答案|结论|所以|因此|选择?)\s*+[:：>\uff1d=]?\s*+[(\[{（【]?\s*+([A-F])"
    rf"\s*{_CLOSE}(?:\b|[.)、。])",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(rf"(?<![A-Za-z])([A-F])\s*{_CLOSE}(?![A-Za-z])")


def first_letter(reply: Reply, _: Sample) -> Reading:
    """Parse the letter at the beginning, which may be the beginning of a word: "The" gives T."""
    match = _FIRST.match(reply.text.strip())
    return Reading(answer=match[1].upper() if match else None, rule="first letter")


def settled_letter(reply: Reply, _: Sample) -> Reading:
    """Parse the letter that VLMEvalKit's rules for sets about space find.

    The rules are tried in this order: a letter after the tag <answer>; a letter before the end of
    a tag; in the last lines, from the last one up, a line with only one letter; "answer is A"; the
    only letter of the reply. Letters are A to F, whatever the choices
    are.
    """
    text = _INVISIBLE.sub("", reply.text.strip())
    tagged, tail = _TAGGED.search(text), text[-TAIL:]
    if tagged and _TAG_ENDS.search(text, tagged.end()):
        return Reading(answer=tagged[1].upper(), rule="after the tag")
    for before in _BEFORE:
        if match := before.search(tail):
            return Reading(answer=match[1].upper(), rule="before the end of a tag")
    for part in (_after_thinking(text), tail):
        if letter := _of_lines(part.splitlines()[-LINES:]):
            return Reading(answer=letter, rule="last lines")
    if match := _STATED.search(text):
        return Reading(answer=match[1].upper(), rule="answer is")
    lines = (line for line in text.splitlines() if not _OPTION.match(line))
    letters = sorted(set(_ANYWHERE.findall("\n".join(lines))))
    if len(letters) == 1:
        return Reading(answer=letters[0], rule="only letter")
    return Reading(answer=None, rule="several letters" if letters else "no letter")


def _after_thinking(text: str) -> str:
    """The text after the last end of thinking or, if thinking does not end, after its last
    beginning."""
    for mark in _THINKING:
        if ends := [match.end() for match in mark.finditer(text)]:
            return text[ends[-1] :].strip()
    return text


def _of_lines(lines: Iterable[str]) -> str | None:
    for line in reversed([line.strip() for line in lines if line.strip()]):
        if _OPTION.match(line):
            continue
        if match := _ALONE.fullmatch(line) or _LABEL.match(line):
            return match[1].upper()
        if len(letters := set(_WORD.findall(line))) == 1:
            return str(letters.pop())
    return None

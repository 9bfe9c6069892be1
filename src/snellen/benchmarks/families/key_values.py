"""Donut's scores of key information in JSON: F1 of fields, and accuracy by tree edit distance.

Kim et al. 2022, https://arxiv.org/abs/2111.15664. The code is that of CC-OCR: AlibabaResearch/
AdvancedLiterateMachinery@fb6187ebe5374d5682ac0bc05f31e3639ab6fb15:Benchmarks/CC-OCR/evaluation/
evaluator/kie_evaluator.py.
"""

from __future__ import annotations

import json
import re
from typing import Any

from snellen.benchmarks.families.trees import Tree, tree_distance

FENCE = re.compile(r"```json(.*?)```", re.DOTALL)
LEAF = "<leaf>"
DEEPEST = 100
"""How often a reply's JSON may be nested. Deeper JSON is not read."""
WIDE = {0x3000: " ", 0x3001: ",", **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}}
CJK, WORD = "[\u4e00-\u9fff]", "[a-zA-Z0-9]"
SPACES = (
    (rf"(?<={CJK})\s+(?={CJK})", ""),
    (rf"(?<={CJK})\s+(?={WORD})", ""),
    (rf"(?<={WORD})\s+(?={CJK})", ""),
    (r"(?<![0-9])\s*([,.!?:;])\s*", r"\1 "),
    (r"(?<=[0-9])(?=[a-zA-Z])", " "),
    (r"(?<=[a-zA-Z])(?=[0-9])", " "),
    (r"\s+", " "),
)
Fields = list[tuple[str, Any]]


def of_reply(text: str) -> object:
    """The JSON in a reply or in its first closed fence. None if it cannot be read (#L310-L327)."""
    if "```json" in text:
        match = FENCE.search(text)
        if match is None:
            return None
        text = match[1]
    try:
        value = json.loads(text.strip().replace("\n", ""))
    except (ValueError, RecursionError):
        return None
    return value if _is_shallow(value) else None


def _is_shallow(value: object) -> bool:
    """Whether a value is nested at most `DEEPEST` times."""
    level = [value]
    for _ in range(DEEPEST):
        nested = [part for part in level if isinstance(part, dict | list)]
        if not nested:
            return True
        level = [
            part
            for parts in nested
            for part in (parts.values() if isinstance(parts, dict) else parts)
        ]
    return False


def normalized(value: object) -> dict[str, Any] | list[Any]:
    """The value with even spaces and widths, sorted keys, and all texts in lists (#L92-L119,
    #L281-L291, #L330-L358)."""
    result: dict[str, Any] | list[Any] = _sorted(_even(value))
    return result


def _even(value: Any) -> Any:
    """Texts in lists are left as they are."""
    if isinstance(value, dict):
        return {key: _even(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_even(part) if isinstance(part, dict) else part for part in value]
    if not isinstance(value, str):
        return value
    value = value.translate(WIDE)
    for pattern, text in SPACES:
        value = re.sub(pattern, text, value)
    return value


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        fields = {key: _sorted(value[key]) for key in sorted(value, key=lambda k: (len(k), k))}
        return {
            key: part if isinstance(part, list) else [part] for key, part in fields.items() if part
        }
    if not isinstance(value, list):
        return [str(value).strip()]
    if all(isinstance(part, dict) for part in value):
        return [part for part in map(_sorted, value) if part]
    texts = (str(part).strip() for part in value if type(part) in (str, int, float))
    return [text for text in texts if text]


def fields(value: Any, key: str = "") -> Fields:
    """The paths and values of all leaves (#L23-L55)."""
    if isinstance(value, dict):
        pairs = ((f"{key}.{name}" if key else name, part) for name, part in value.items())
        return [field for name, part in pairs for field in fields(part, name)]
    if isinstance(value, list):
        return [field for part in value for field in fields(part, key)]
    return [(key, value)]


def counts(answer: object, right: object) -> tuple[int, int]:
    """The number of right fields, and of missing and extra ones (#L122-L173)."""
    rest, extra, hits = fields(normalized(right)), 0, 0
    for field in fields(normalized(answer)):
        if field in rest:
            rest.remove(field)
            hits += 1
        else:
            extra += 1
    return hits, extra + len(rest)


def accuracy(answer: object, right: object) -> float:
    """1 minus the tree edit distance over that of an empty answer, at least 0 (#L226-L259)."""
    trees = [_tree("<root>", normalized(value)) for value in (answer, right, {})]
    most = tree_distance(trees[2], trees[1], _extra, _change)
    if not most:
        return 0.0
    return max(0.0, 1 - tree_distance(trees[0], trees[1], _extra, _change) / most)


def _tree(name: str, value: dict[str, Any] | list[Any]) -> Tree[str]:
    if isinstance(value, dict):
        return Tree(name, [_tree(key, part) for key, part in value.items()])
    if all(isinstance(part, dict) for part in value):
        return Tree(name, [_tree("<subtree>", part) for part in value])
    return Tree(name, [Tree(f"{LEAF}{part}") for part in value])


def _extra(label: str) -> float:
    return len(label.replace(LEAF, "")) if LEAF in label else 1


def _change(label: str, other: str) -> float:
    from rapidfuzz.distance import Levenshtein

    leaves = LEAF in label, LEAF in other
    if leaves == (True, True):
        return Levenshtein.distance(label.replace(LEAF, ""), other.replace(LEAF, ""))
    if True in leaves:
        return 1 + _extra(label if leaves[0] else other)
    return int(label != other)

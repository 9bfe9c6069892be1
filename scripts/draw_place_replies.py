"""Write tests/truth/places.jsonl, replies that name a box or a point, each with its numbers:
`python scripts/draw_place_replies.py`.

The numbers are put into the forms that models use, so the labels do not come from a parser. The
replies at the end are labelled by hand. The labels are the numbers as the reply writes them, in its
own order and scale.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "tests/truth/places.jsonl"
VARIANTS = 11

BOXES = {
    "Qwen-VL": "<ref>the cat</ref><box>({0},{1}),({2},{3})</box>",
    "Qwen2-VL": "<|object_ref_start|>the cat<|object_ref_end|>"
    "<|box_start|>({0},{1}),({2},{3})<|box_end|>",
    "InternVL": "<ref>the cat</ref><box>[[{0}, {1}, {2}, {3}]]</box>",
    "InternVL without tags": "the cat[[{0}, {1}, {2}, {3}]]",
    "MiniCPM-V": "<box>{0} {1} {2} {3}</box>",
    "Seed": "<bbox>{0} {1} {2} {3}</bbox>",
    "list": "[{0}, {1}, {2}, {3}]",
    "sentence": "The cat is at [{0}, {1}, {2}, {3}].",
    "Qwen2.5-VL": '```json\n[\n\t{{"bbox_2d": [{0}, {1}, {2}, {3}], "label": "cat"}}\n]\n```',
    "Qwen2.5-VL without a fence": '{{"bbox_2d": [{0}, {1}, {2}, {3}], "label": "cat"}}',
    "Gemini": '```json\n[{{"box_2d": [{0}, {1}, {2}, {3}], "label": "cat"}}]\n```',
    "prose": "I looked at all 3 animals. Answer: [{0}, {1}, {2}, {3}]",
    "GLM": "The cat is here: <|begin_of_box|>[[{0},{1},{2},{3}]]<|end_of_box|>",
    "bare": "{0}, {1}, {2}, {3}",
}
POINTS = {
    "pyautogui": "pyautogui.click(x={0}, y={1})",
    "click": "click({0}, {1})",
    "UI-TARS": "Thought: The button is blue.\nAction: click(start_box='({0},{1})')",
    "Molmo": '<point x="{0}" y="{1}" alt="cat">cat</point>',
    "Molmo several": '<points x1="{0}" y1="{1}" alt="cats">cats</points>',
    "tuple": "({0}, {1})",
    "tuple in a list": "[({0}, {1})]",
    "point_2d": '[{{"point_2d": [{0}, {1}], "label": "cat"}}]',
    "point": '```json\n[{{"point": [{0}, {1}], "label": "cat"}}]\n```',
    "tool call": '<tool_call>\n{{"name": "computer_use", "arguments": {{"action": "left_click", '
    '"coordinate": [{0}, {1}]}}}}\n</tool_call>',
    "x and y": "x: {0}, y: {1}",
    "x and y in JSON": '{{"x": {0}, "y": {1}}}',
    "sentence of a point": "You can click the button at ({0}, {1}).",
    "tagged point": "<point>{0} {1}</point>",
    "thinking": "<think>Maybe (1, 2)? No, that is the menu.</think>\n({0}, {1})",
    "bare point": "{0} {1}",
}
BY_HAND: tuple[tuple[str, list[list[float]]], ...] = (
    ("", []),
    ("I can't find the cat.", []),
    ("The target does not exist.", []),
    ("There are 2 cats and 3 dogs.", []),
    ("The cat is in the upper left corner.", []),
    ("The picture has 640x480 pixels.", []),
    ("It was taken on 2024-05-06 at 12:30.", []),
    ("See figure (3).", []),
    ("[12, 30, 45]", []),
    ("[10, 20, 30, 40, 50]", []),
    ("The version is 1.2.3.4.", []),
    ("<box>the cat</box>", []),
    ('{"bbox_2d": [10, 20, 30]}', []),
    ('{"bbox_2d": null}', []),
    ('{"label": "cat", "score": 0.9}', []),
    ("<think>It is at (10, 20)", []),
    ("A, B, C, D", []),
    ("50%", []),
    ("The cat is 30% from the left and 40% from the top.", []),
    ("(a, b)", []),
    ("click(button)", []),
    ("f(x) = 3", []),
    ("Either (10, 20) or (30, 40).", [[10, 20], [30, 40]]),
    ("[10, 20, 30, 40] and [50, 60, 70, 80]", [[10, 20, 30, 40], [50, 60, 70, 80]]),
    ('<points x1="10.5" y1="20.5" x2="30.0" y2="40.0" alt="cats">', [[10.5, 20.5], [30, 40]]),
    ('[{"bbox_2d": [1, 2, 3, 4]}, {"bbox_2d": [5, 6, 7, 8]}]', [[1, 2, 3, 4], [5, 6, 7, 8]]),
    ("[(10, 20), (30, 40), (50, 60)]", [[10, 20], [30, 40], [50, 60]]),
    ("<box>(1,2),(3,4)</box><box>(5,6),(7,8)</box>", [[1, 2, 3, 4], [5, 6, 7, 8]]),
    ("First I saw (10, 20). Final answer: (30, 40)", [[30, 40]]),
    ("The answer is [10, 20, 30, 40].", [[10, 20, 30, 40]]),
    ("**Answer:** (30, 40)", [[30, 40]]),
    ("(10, 20), that is (10, 20)", [[10, 20]]),
    ("[-1, -1]", [[-1, -1]]),
    ("[.5, .25]", [[0.5, 0.25]]),
    ("I look at [0.112, 0.443] first. Answer:", []),
    ("(nan,103),(600,249)", []),
    ("(490,560,660),(885,5)", []),
    ('[{"point": [1, 2, 3]}, {"box": [1, 2]}]', []),
    ("<box>(10,20)</box>", [[10, 20]]),
    ("[10%, 20%]", []),
    ("<box>[[1, 2, 3, 4], [5, 6, 7, 8]]</box>", [[1, 2, 3, 4], [5, 6, 7, 8]]),
    ("<bbox>187 867 285</bbox>", []),
)  # fmt: skip


def numbers(rng: random.Random, count: int, variant: int) -> list[str]:
    """Numbers in one of three scales: shares, thousandths, or pixels."""
    first = [rng.randint(0, 480) for _ in range(2)]
    values = first if count == 2 else [*first, *(value + rng.randint(20, 500) for value in first)]
    if variant % 3 == 0:
        return [f"{value / 1000:.3f}" for value in values]
    return [str(value * (2 if variant % 3 == 2 else 1)) for value in values]


def replies() -> Iterator[dict[str, Any]]:
    rng = random.Random(25)
    for forms, count in ((BOXES, 4), (POINTS, 2)):
        for name, form in forms.items():
            for variant in range(VARIANTS):
                texts = numbers(rng, count, variant)
                labels = [[float(text) for text in texts]]
                yield {"form": name, "text": form.format(*texts), "places": labels}
    for text, places in BY_HAND:
        yield {"form": "by hand", "text": text, "places": places}


if __name__ == "__main__":
    lines = [json.dumps(reply, ensure_ascii=False) for reply in replies()]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")

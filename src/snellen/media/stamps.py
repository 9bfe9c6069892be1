"""Forms of time stamps: the text that stands before or after each frame of a video.

Unless a form states another source, it is from huggingface/transformers@v5.23.0:src/transformers/
models. There, the text belongs to the model's own form of a video. Here, each frame is a picture.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

Stamp = Callable[[int, float], tuple[str, str]]
"""Returns the texts before and after a frame. The arguments are the number of the frame, from 1,
and its time in seconds."""


def _clock(seconds: float) -> str:
    """Format seconds as 00:01:02.345, with the milliseconds cut off.

    >>> _clock(62.3456)
    '00:01:02.345'
    """
    return f"{time.strftime('%H:%M:%S', time.gmtime(seconds))}.{int(seconds % 1 * 1000):03d}"


STAMPS: Mapping[str, Stamp] = {
    # OpenGVLab/InternVL@2410d1dbf208f0e799459aff9376e5747dbf41a2:internvl_chat/eval/mvbench/
    # evaluate_mvbench.py#L183-L193
    "internvl": lambda number, _: (f"Frame{number}: ", "\n"),
    # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/vlm/internvl/
    # internvl_chat.py
    "internvl-vlmevalkit": lambda number, _: (f"Frame-{number}: ", "\n"),
    # qwen3_vl/processing_qwen3_vl.py#L99-L103. The maker stamps pairs of frames with the mean of
    # their times, because the model joins two frames of a video.
    "qwen3-vl": lambda _, seconds: (f"<{seconds:.1f} seconds>", ""),
    # glm4v/processing_glm4v.py#L181-L182
    "glm-4.1v": lambda _, seconds: ("", f"{int(seconds)}"),
    # glm46v/processing_glm46v.py
    "glm-4.6v": lambda _, seconds: ("", f"{seconds:.1f} seconds"),
    # kimi_k25/processing_kimi_k25.py#L88-L93
    "kimi-k2.5": lambda _, seconds: (_clock(seconds), ""),
    # molmo2/processing_molmo2.py#L116-L118
    "molmo2": lambda number, seconds: (f"{' ' if number > 1 else ''}{seconds:.1f} ", ""),
    # smolvlm/processing_smolvlm.py#L33 and #L181-L189
    "smolvlm2": lambda _, seconds: (
        f"\nFrame from {int(seconds // 60):02d}:{int(seconds % 60):02d}:",
        "",
    ),
}
"""The forms, keyed by the name of the model whose maker uses them."""

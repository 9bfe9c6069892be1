"""Which frames the processors and loaders of makers take from a video.

A sampler gets the number of frames of a video, its frame rate, and its own settings. Unless a
sampler states another source, it is from huggingface/transformers@v5.23.0:src/transformers/models.
Where a maker's code refuses a video with fewer frames than it takes, all frames are taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_float
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

LONG = 300
LONGEST = 2400
BLOCK = 8
"""The numbers that torch computes together on processors with AVX2. With other processors, an index
may differ by one in long videos."""
ROUNDED = 0.0015
"""Times are rounded by less than this, in seconds: Matroska rounds to milliseconds."""


@dataclass(frozen=True, kw_only=True)
class SampledVideo:
    """A video, and how a frame policy samples it."""

    total: int
    """The number of frames of the video."""
    fps: float
    """The frame rate of the video, in frames per second."""
    amount: float = 0.0
    """The number of frames, or of frames per second, depending on the sampler."""
    min: int = 0
    """The minimum number of frames."""
    max: int = 0
    """The maximum number of frames."""

    @property
    def duration(self) -> float:
        """The length of the video in seconds."""
        return self.total / self.fps


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """How a maker's code takes frames."""

    takes: Literal["n", "rate"]
    """What a policy states after the sampler's name: how many frames, or frames per second."""
    pick: Callable[[SampledVideo], Sequence[int]]
    """Returns the ascending indexes of the frames. The last frame may occur twice."""
    limits: Mapping[str, int]
    """The defaults of the options `min` and `max` that the sampler has."""


# -- numbers


def _linspace(first: int, last: int, n: int, *, nearest: bool = False) -> list[int]:
    """n evenly spaced indexes, as numpy's linspace gives them, cut off or rounded half to even."""
    if n == 1:
        return [first]
    step = (last - first) / (n - 1)
    spots = [first + index * step for index in range(n - 1)]
    return [*(round(spot) if nearest else int(spot) for spot in spots), last]


def _arange(start: float, end: int, step: float) -> list[int]:
    """The indexes of torch's arange(start, end, step).int(), which counts in single precision, in
    blocks of `BLOCK` numbers. An index after the last frame, at which makers' code would fail, is
    that of the last frame."""
    n = math.ceil((end - start) / step)
    first_of_block = [c_float(start + step * index).value for index in range(0, n, BLOCK)]
    spots = (first_of_block[index // BLOCK] + index % BLOCK * step for index in range(n))
    return [min(int(c_float(spot).value), end - 1) for spot in spots]


def _even(indexes: Sequence[int]) -> list[int]:
    """Distinct indexes, with the last one twice if their number is odd."""
    distinct = list(dict.fromkeys(indexes))
    return [*distinct, distinct[-1]] if len(distinct) % 2 else distinct


# -- samplers


def _qwen2(video: SampledVideo) -> list[int]:
    # qwen2_vl/video_processing_qwen2_vl.py#L206-L236, with two frames in a temporal patch
    most = min(video.max, video.total) // 2 * 2
    n = min(max(video.total / video.fps * video.amount, video.min), most, video.total)
    n = max(1, math.floor(n / 2) * 2)
    return _arange(0, video.total, video.total / n)


def _qwen3(video: SampledVideo) -> list[int]:
    # qwen3_vl/video_processing_qwen3_vl.py#L163-L188
    n = int(video.total / video.fps * video.amount)
    n = min(max(n, video.min), video.max, video.total)
    return _linspace(0, video.total - 1, n, nearest=True)


def _internvl(video: SampledVideo) -> list[int]:
    # internvl/video_processing_internvl.py#L78-L102
    n = min(int(video.amount), video.total)
    return _arange(video.total / n / 2, video.total, video.total / n)


def _smolvlm(video: SampledVideo) -> list[int]:
    # smolvlm/video_processing_smolvlm.py#L256-L292, at one frame per second
    n = max(1, min(round(video.duration), int(video.amount)))
    first, last = 0, video.total - 1
    if video.duration - 2 > int(video.amount):
        first = int(video.fps)
        last = min(int(video.total - video.fps), last)
    if first >= last:
        first, last = 0, video.total - 1
    return list(dict.fromkeys(_linspace(first, last, n)))


def _glm41(video: SampledVideo) -> list[int]:
    # glm4v/video_processing_glm4v.py#L140-L173
    last = video.total - 1
    if video.duration <= LONG:
        n = max(math.floor(video.duration * video.amount), 1)
        spots = [index * video.fps / video.amount for index in range(n)]
    else:
        n = int(LONG * video.amount)
        if n >= video.total:
            return _even(range(video.total))
        step = video.duration / (n - 1)
        seconds = [*(index * step for index in range(n - 1)), video.duration]
        spots = [second * video.fps for second in seconds]
    return _even([min(last, math.ceil(spot)) for spot in spots])


def _glm46(video: SampledVideo) -> list[int]:
    # glm46v/video_processing_glm46v.py#L136-L195, with two frames in a temporal patch
    shown = min(video.duration, LONGEST)
    rate = 3 if shown <= 30 else 1 if shown <= LONG else 0.5
    n = min(int(shown * rate * 2), 640)
    if video.total < n:
        return _even(_linspace(0, video.total - 1, n))
    indexes: list[int] = []
    due = 0.0
    for index in range(video.total):
        if index * (1 / video.fps) >= due:
            due += 1 / (2 * rate)
            indexes.append(index)
            if due >= int(video.duration):
                break
    if len(indexes) < n:
        indexes = _linspace(indexes[0], indexes[-1], n)
    elif len(indexes) > n:
        indexes = _linspace(0, video.total - 1, n)
    return _even(indexes)


def _molmo2(video: SampledVideo) -> list[int]:
    # molmo2/video_processing_molmo2.py#L165-L205, at no more than two frames per second
    n = int(video.amount)
    if video.fps > 2:
        n = min(n, int(video.duration * 2))
    n = max(min(n, video.total), 1)
    return _arange(0, video.total, video.total / n)


def _minicpm(video: SampledVideo) -> list[int]:
    # minicpmv4_6/video_processing_minicpmv4_6.py#L121-L165, without stacked frames
    n = int(video.amount)
    if video.duration <= n:
        return [int(index * video.fps) for index in range(math.ceil(video.duration))]
    seconds = [round(index * 0.1, 1) for index in range(int(video.duration / 0.1))]
    indexes = [min(int(second * video.fps), video.total - 1) for second in seconds]
    if len(indexes) > n:
        indexes = [indexes[index] for index in _linspace(0, len(indexes) - 1, n)]
    return indexes


def _ernie(video: SampledVideo) -> list[int]:
    # ernie4_5_vl_moe/video_processing_ernie4_5_vl_moe.py. The number need not be whole.
    n = min(max(video.total / video.fps * video.amount, video.min), video.max, video.total)
    return _arange(0, video.total, video.total / n)


def _by_rate(video: SampledVideo) -> list[int]:
    # video_utils.py (default_sample_indices_fn), which Kimi K2.5's processor uses
    n = min(max(1, int(video.total / video.fps * video.amount)), video.total)
    return [index * video.total // n for index in range(n)]


def _by_number(video: SampledVideo) -> list[int]:
    # The same, which the processors of LLaVA-OneVision and LLaVA-NeXT-Video use
    n = min(int(video.amount), video.total)
    return [index * video.total // n for index in range(n)]


def _longvideobench(video: SampledVideo) -> list[int]:
    # longvideobench/LongVideoBench@2aa4f91aec801c43962f90a20f137ca0c00cdeb7:longvideobench/
    # longvideobench_dataset.py#L16-L33. The data set states whole seconds.
    n = max(1, min(int(video.amount), int(video.duration)))
    return [video.total // n * index for index in range(n)]


def _vlmevalkit(video: SampledVideo) -> list[int]:
    # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/videomme.py
    # (save_video_frames)
    n = min(int(video.amount), video.total)
    return [int(index * (video.total / (n + 1))) for index in range(1, n + 1)]


SAMPLERS: Mapping[str, Sampler] = {
    "qwen2.5-vl": Sampler(takes="rate", pick=_qwen2, limits={"min": 4, "max": 768}),
    "qwen3-vl": Sampler(takes="rate", pick=_qwen3, limits={"min": 4, "max": 768}),
    "internvl": Sampler(takes="n", pick=_internvl, limits={}),
    "smolvlm2": Sampler(takes="n", pick=_smolvlm, limits={}),
    "glm-4.1v": Sampler(takes="rate", pick=_glm41, limits={}),
    "glm-4.6v": Sampler(takes="rate", pick=_glm46, limits={}),
    "molmo2": Sampler(takes="n", pick=_molmo2, limits={}),
    "minicpm-v-4.6": Sampler(takes="n", pick=_minicpm, limits={}),
    "ernie-4.5-vl": Sampler(takes="rate", pick=_ernie, limits={"min": 16, "max": 180}),
    "kimi-k2.5": Sampler(takes="rate", pick=_by_rate, limits={}),
    "llava-onevision": Sampler(takes="n", pick=_by_number, limits={}),
    "longvideobench": Sampler(takes="n", pick=_longvideobench, limits={}),
    "vlmevalkit": Sampler(takes="n", pick=_vlmevalkit, limits={}),
}
"""The samplers, keyed by the name of the model or toolkit whose code takes frames so."""


def frame_rate(times: Sequence[float]) -> float:
    """The mean frame rate of a video from the times of its frames. If it differs from a usual rate
    by less than the rounding error of the times, the usual rate is returned."""
    seconds = times[-1] - times[0] if times else 0.0
    if not seconds:
        return 24.0
    rate = (len(times) - 1) / seconds
    usual = (float(round(rate)), float(round(rate * 1.001) * Fraction(1000, 1001)))
    nearest = min(usual, key=lambda candidate: abs(candidate - rate))
    return nearest if nearest and abs(rate / nearest - 1) * seconds < ROUNDED else rate

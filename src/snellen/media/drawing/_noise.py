"""Generates noise that is the same on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GAMMA = 0x9E3779B97F4A7C15
MEAN, DEVIATION = 8 * 255 // 2, 209
"""The mean and the standard deviation of the sum of eight uniformly distributed bytes. The variance
is 8 (256² - 1) / 12 = 209.02²."""


def normal(seed: int, n: int, deviation: int) -> NDArray[np.int64]:
    """`n` integers with mean 0 and this standard deviation, nearly normally distributed: (n,).

    The integers are sums of eight bytes, so they deviate from the mean by at most 4.9 standard
    deviations.
    """
    drawn = _bits(seed, n).view(np.uint8).reshape(n, 8).sum(axis=1, dtype=np.int64) - MEAN
    scaled: NDArray[np.int64] = (drawn * deviation + DEVIATION // 2) // DEVIATION
    return scaled


def _bits(seed: int, n: int) -> NDArray[np.uint64]:
    """The first n outputs of SplitMix64 (Steele, Lea and Flood 2014, doi
    10.1145/2660193.2660195), (n,)."""
    steps = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(GAMMA)
    z = steps + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed

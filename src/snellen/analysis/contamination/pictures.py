"""Finds pictures that are nearly the same. Hashes find candidates, which are then verified by their
pixels.

The thresholds were chosen on recompressed, scaled, cropped, and brightened pictures, and on
different pictures with the same layout. `docs/contamination.md` shows the results of this test,
which `perf/duplicates.py` generates.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from snellen.analysis.contamination.texts import NEARLY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIDE = 64
"""The width and height, in pixels, of the gray thumbnails that are compared."""
FLAT = 2.0
"""A picture is flat if the standard deviation of its gray values (0 to 255) is below this
threshold. The hash of a flat picture is noise."""
MOST_BITS = 11
"""The maximum number of bits, out of 64, in which the hashes of two candidates may differ. If two
hashes differ in at most 11 bits, at least one of their 4 bands of 16 bits differs in at most 2
bits, so the search misses no candidate."""
BANDS, BITS, IN_BAND = 4, 16, 2
SHIFT = 4.0
"""The maximum number of pixels, out of SIDE, that may be cut off or added at an edge (6 %)."""
STEP = 0.5
BLOCK = 8
CONTENT = 0.25
"""A block has content if its standard deviation is above this share of the picture's standard
deviation."""
BLOCK_ALIKE = 0.5
LEAST_CORRELATION = 0.85
LEAST_BLOCKS = 0.9
AT_ONCE = 128
"""The number of pairs that are compared in one step. They take 10 MB."""
MOST_CANDIDATES = 2_000_000
"""The maximum number of candidates. Further candidates are left out, which may be necessary if all
pictures of a data set look alike."""
EXPANDED = 4_000_000
COARSE = 8
LEAST_COARSE = 0.5


def hashes(grays: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Compute two 64-bit hashes of each picture. `grays` is (n, SIDE, SIDE), the hashes are (n, 2).

    The bits of the first hash, pHash (Zauner 2010), state which of the 8 x 8 lowest frequencies of
    the cosine transform are above their median. The bits of the second hash, dHash, state which of
    9 x 8 pixels are brighter than the previous pixel.
    """
    import numpy as np

    half = grays.reshape(-1, SIDE // 2, 2, SIDE // 2, 2).mean((2, 4), dtype=np.float32)
    low = _cosines() @ half @ _cosines().T
    low = low.reshape(-1, 64)
    by_frequency = low > np.median(low[:, 1:], axis=1, keepdims=True)
    rows = _means(8) @ half @ _means(9).T
    by_difference = (rows[:, :, 1:] > rows[:, :, :-1]).reshape(-1, 64)
    packed = np.packbits(np.stack([by_frequency, by_difference], axis=1), axis=2)
    return packed.view(np.uint64)[:, :, 0]


@cache
def _cosines() -> NDArray[np.float32]:
    """The cosines of the 8 lowest frequencies, as an array (8, SIDE / 2)."""
    import numpy as np

    n = SIDE // 2
    k, x = np.arange(8)[:, None], np.arange(n)[None]
    cosines: NDArray[np.float32] = np.cos(np.pi * (2 * x + 1) * k / (2 * n)).astype(np.float32)
    return cosines


@cache
def _means(parts: int) -> NDArray[np.float32]:
    """A matrix (parts, SIDE / 2) that maps SIDE / 2 pixels to the means of `parts` equal parts."""
    import numpy as np

    n = SIDE // 2
    edges = np.linspace(0, n, parts + 1)
    covered = np.minimum(edges[1:, None], np.arange(1, n + 1)) - np.maximum(
        edges[:-1, None], np.arange(n)
    )
    means: NDArray[np.float32] = (np.maximum(covered, 0) / (n / parts)).astype(np.float32)
    return means


def flat(grays: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """A mask (n,) of the pictures that are flat."""
    mask: NDArray[np.bool_] = grays.reshape(len(grays), -1).std(axis=1) < FLAT
    return mask


class PictureIndex:
    """An index of pictures, built from their gray pixels (n, SIDE, SIDE). Flat pictures never
    match."""

    def __init__(self, grays: NDArray[np.uint8]) -> None:
        import numpy as np

        self._grays = grays
        (self._places,) = np.nonzero(~flat(grays)) if len(grays) else (np.zeros(0, np.intp),)
        self._hashes = hashes(grays[self._places])
        self.cut = False
        """Whether some candidates were left out because there were more than MOST_CANDIDATES."""
        self._bands = [
            [_Band(self._hashes[:, kind], band) for band in range(BANDS)] for kind in (0, 1)
        ]

    def near(self, grays: NDArray[np.uint8]) -> Iterator[tuple[int, int, float]]:
        """Find the pictures in the index that are nearly the same as one of `grays`. For each pair,
        yields the position of the picture in `grays`, the number of the picture in the index, and
        the correlation of their pixels."""
        import numpy as np

        (places,) = np.nonzero(~flat(grays)) if len(grays) else (np.zeros(0, np.intp),)
        if not len(places) or not len(self._places):
            return
        ours, theirs = self.candidates(hashes(grays[places]))
        ours, theirs = places[ours], self._places[theirs]
        yield from _verified(grays, self._grays, ours, theirs)

    def pairs(self) -> Iterator[tuple[int, int, float]]:
        """Find pairs of pictures in the index that are nearly the same. In each pair, the lower
        number comes first."""
        if not len(self._places):
            return
        ours, theirs = self.candidates(self._hashes)
        once = ours < theirs
        ours, theirs = self._places[ours[once]], self._places[theirs[once]]
        yield from _verified(self._grays, self._grays, ours, theirs)

    def candidates(self, queries: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Find pairs in which one of the two hashes differs in at most MOST_BITS bits. `queries` is
        (m, 2). For each pair, returns the number of the picture in `queries`, and the number of the
        other picture among the index's pictures that are not flat."""
        import numpy as np

        n = len(self._hashes)
        codes = np.zeros(0, np.intp)
        for kind, bands in enumerate(self._bands):
            theirs, ours = queries[:, kind], self._hashes[:, kind]
            for band in bands:
                parts = [codes]
                for i, j in band.within(theirs):
                    close = np.bitwise_count(theirs[i] ^ ours[j]) <= MOST_BITS
                    parts.append(i[close] * n + j[close])
                    if sum(map(len, parts)) > 2 * MOST_CANDIDATES:
                        parts = [np.unique(np.concatenate(parts))]
                        if len(parts[0]) > MOST_CANDIDATES:
                            self.cut = True
                            codes = parts[0][:MOST_CANDIDATES]
                            return codes // n, codes % n
                codes = np.unique(np.concatenate(parts))
        return codes // n, codes % n


class _Band:
    """An index of hashes (n,). The key of a hash is one of its four bands of 16 bits, and `band` is
    the index of this band, from 0 to 3."""

    def __init__(self, of: NDArray[np.uint64], band: int) -> None:
        import numpy as np

        self._shift = np.uint64(BITS * band)
        keys = self._keys(of)
        self._order = np.argsort(keys, kind="stable")
        self._starts = np.searchsorted(keys[self._order], np.arange((1 << BITS) + 1))

    def _keys(self, of: NDArray[np.uint64]) -> NDArray[np.int64]:
        import numpy as np

        return ((of >> self._shift) & np.uint64((1 << BITS) - 1)).astype(np.int64)

    def within(
        self, queries: NDArray[np.uint64]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Find pairs of a query and a hash of the index whose keys differ in at most IN_BAND bits.
        Pairs are yielded in blocks, and all pairs of a block differ in the same bits."""
        import numpy as np

        keys = self._keys(queries)
        for mask in _masks():
            other = keys ^ mask
            first = self._starts[other]
            n = self._starts[other + 1] - first
            ends = np.cumsum(n)
            start = 0
            while start < len(keys):
                before = ends[start] - n[start]
                stop = max(start + 1, int(np.searchsorted(ends, before + EXPANDED, "right")))
                size = n[start:stop]
                i = np.repeat(np.arange(start, stop), size)
                # A counter within each query's matches, which restarts at 0 when i changes.
                within = np.arange(len(i)) - np.repeat(ends[start:stop] - size - before, size)
                yield i, self._order[first[i] + within]
                start = stop


@cache
def _masks() -> tuple[int, ...]:
    return tuple(mask for mask in range(1 << BITS) if mask.bit_count() <= IN_BAND)


def _verified(
    first: NDArray[np.uint8],
    second: NDArray[np.uint8],
    ours: NDArray[np.intp],
    theirs: NDArray[np.intp],
) -> Iterator[tuple[int, int, float]]:
    import numpy as np

    for start in range(0, len(ours), AT_ONCE):
        i, j = ours[start : start + AT_ONCE], theirs[start : start + AT_ONCE]
        a, b = first[i].astype(np.float32), second[j].astype(np.float32)
        likely = _correlation(_coarse(a), _coarse(b)) >= LEAST_COARSE
        i, j = i[likely], j[likely]
        for number, other, alike in zip(i, j, similarity(a[likely], b[likely]), strict=True):
            if alike:
                yield int(number), int(other), float(alike)


def _coarse(grays: NDArray[np.float32]) -> NDArray[np.float32]:
    size = SIDE // COARSE
    means: NDArray[np.float32] = grays.reshape(-1, COARSE, size, COARSE, size).mean((2, 4))
    return means


def similarity(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each pair of pictures, the correlation (below 1) of the pixels of `a` and `b` after
    alignment; 0 if the pictures are not nearly the same. `a` and `b` are (n, SIDE, SIDE).

    To align `a` with `b`, each edge of `a` is moved by up to 6 %, to the position at which the mean
    row and the mean column of the two pictures fit best. Two pictures are nearly the same if all
    pixels have a correlation of at least 0.85, and 90 % of the 8 x 8 blocks with content have a
    correlation of at least 0.5. The second condition distinguishes pictures with the same layout
    that differ in one part.
    """
    import numpy as np

    rows, columns = _best(a.mean(2), b.mean(2)), _best(a.mean(1), b.mean(1))
    over = np.matmul(np.matmul(_warps()[rows], a), _warps()[columns].transpose(0, 2, 1))
    a, b = _standard(over), _standard(b)
    correlation = (a * b).mean((1, 2))
    a, b = _blocks(a), _blocks(b)
    spread_a, spread_b = np.sqrt((a * a).mean(2)), np.sqrt((b * b).mean(2))
    shows = np.maximum(spread_a, spread_b) > CONTENT
    alike = (a * b).mean(2) > BLOCK_ALIKE * np.maximum(spread_a * spread_b, 1e-6)
    share = (alike & shows).sum(1) / np.maximum(1, shows.sum(1))
    near = (correlation >= LEAST_CORRELATION) & (share >= LEAST_BLOCKS)
    return np.where(near, np.minimum(correlation, NEARLY), 0)


@cache
def _warps() -> NDArray[np.float32]:
    """The linear maps (k, SIDE, SIDE) for all k ways to move the two ends of a line of SIDE
    pixels."""
    import numpy as np

    moves = np.arange(-SHIFT, SHIFT + STEP / 2, STEP)
    warps = np.zeros((len(moves) ** 2, SIDE, SIDE), np.float32)
    pixel = np.arange(SIDE)
    for number, (left, right) in enumerate((a, b) for a in moves for b in moves):
        at = np.clip(np.linspace(left, SIDE - 1 - right, SIDE), 0, SIDE - 1)
        below = np.minimum(at.astype(int), SIDE - 2)
        warps[number, pixel, below] = 1 - (at - below)
        warps[number, pixel, below + 1] = at - below
    return warps


def _best(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.intp]:
    """For each line of `a` (n, SIDE), the number of the linear map in `_warps` that gives the line
    its highest correlation with the same line of `b`."""
    import numpy as np

    ways = len(_warps())
    lines = (a @ _warps().reshape(ways * SIDE, SIDE).T).reshape(len(a), ways, SIDE)
    lines -= lines.mean(2, keepdims=True)
    lines /= np.maximum(np.sqrt((lines * lines).sum(2, keepdims=True)), 1e-6)
    other = b - b.mean(1, keepdims=True)
    best: NDArray[np.intp] = np.einsum("nks,ns->nk", lines, other).argmax(1)
    return best


def _standard(grays: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each picture to mean 0 and standard deviation 1, so that brightness and contrast do not
    matter."""
    import numpy as np

    centered = grays - grays.mean((1, 2), keepdims=True)
    spread = np.sqrt((centered * centered).mean((1, 2), keepdims=True))
    standard: NDArray[np.float32] = centered / np.maximum(spread, 1e-6)
    return standard


def _correlation(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    correlation: NDArray[np.float32] = (_standard(a) * _standard(b)).mean((1, 2))
    return correlation


def _blocks(grays: NDArray[np.float32]) -> NDArray[np.float32]:
    """Split pictures into blocks (n, blocks, pixels of a block), and shift each block to mean 0."""
    n = SIDE // BLOCK
    parts = grays.reshape(-1, n, BLOCK, n, BLOCK).swapaxes(2, 3).reshape(-1, n * n, BLOCK * BLOCK)
    blocks: NDArray[np.float32] = parts - parts.mean(2, keepdims=True)
    return blocks

"""Bounds the memory that encoded frames take, over all videos that are decoded at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from threading import Condition

from snellen.media.content import Frame


class FramePool:
    """Counts the bytes of the frames that its shares hold. If these are more than `most`, a share
    waits before it takes more frames. The first share waits only if waiting helps."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.changed = Condition()
        """Notified when frames are dropped, or when a share is closed."""
        self._total = 0
        self._shares: list[PoolShare] = []

    @property
    def is_over(self) -> bool:
        """Whether the frames have more than `most` bytes."""
        return self._total > self.most

    def share(self, progresses: Callable[[], bool] = lambda: False) -> PoolShare:
        """Create a share, which comes after all shares so far. `progresses` returns whether frames
        of the share will be dropped without further decoding. It is called with the pool locked."""
        share = PoolShare(self, progresses)
        with self.changed:
            self._shares.append(share)
        return share

    def count(self, size: int) -> None:
        with self.changed:
            self._total += size
            if size < 0:
                self.changed.notify_all()

    def is_first(self, share: PoolShare) -> bool:
        return not self._shares or self._shares[0] is share

    def remove(self, share: PoolShare) -> None:
        with self.changed:
            if share in self._shares:
                self._shares.remove(share)
            self.changed.notify_all()


class PoolShare:
    """The frames of one group of questions in a pool. A frame that several holders hold is counted
    once."""

    def __init__(self, pool: FramePool, progresses: Callable[[], bool]) -> None:
        self._pool = pool
        self._progresses = progresses
        self._holders: Counter[int] = Counter()
        self._size = 0
        self._is_closed = False

    @property
    def is_over(self) -> bool:
        """Whether the frames of all shares take more memory than the pool allows."""
        return self._pool.is_over

    def hold(self, frames: Iterable[Frame]) -> None:
        with self._pool.changed:
            if self._is_closed:
                return
            for frame in frames:
                self._holders[id(frame)] += 1
                if self._holders[id(frame)] == 1:
                    self._count(_size(frame))

    def drop(self, frames: Iterable[Frame]) -> None:
        """Undo a call of `hold` with the same frames."""
        with self._pool.changed:
            if self._is_closed:
                return
            for frame in frames:
                self._holders[id(frame)] -= 1
                if not self._holders[id(frame)]:
                    del self._holders[id(frame)]
                    self._count(-_size(frame))

    def must_wait(self, has_ended: Callable[[], bool]) -> bool:
        """Whether `wait` would not return at once."""
        with self._pool.changed:
            return not self._may_continue(has_ended)

    def wait(self, has_ended: Callable[[], bool]) -> None:
        """Wait until the pool has room. The first share does not wait if none of its frames will be
        dropped meanwhile."""
        with self._pool.changed:
            self._pool.changed.wait_for(lambda: self._may_continue(has_ended))

    def close(self) -> None:
        """Drop all frames of the share. Frames that are held later are not counted."""
        with self._pool.changed:
            self._count(-self._size)
            self._holders.clear()
            self._is_closed = True
            self._pool.remove(self)

    def _may_continue(self, has_ended: Callable[[], bool]) -> bool:
        if has_ended() or not self._pool.is_over:
            return True
        return self._pool.is_first(self) and not self._progresses()

    def _count(self, size: int) -> None:
        self._size += size
        self._pool.count(size)


def _size(frame: Frame) -> int:
    assert isinstance(frame.image.source, bytes)
    return len(frame.image.source)

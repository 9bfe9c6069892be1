"""One bound of memory for the frames of several groups."""

from collections.abc import Callable
from threading import Thread

from snellen.media.content import Frame, Image
from snellen.media.frame_pool import FramePool, PoolShare


def frame(size: int) -> Frame:
    return Frame(time=0.0, image=Image(bytes(size)))


def never() -> bool:
    return False


def waiting(share: PoolShare, has_ended: Callable[[], bool] = never) -> Thread:
    thread = Thread(target=share.wait, args=(has_ended,))
    thread.start()
    thread.join(0.05)
    return thread


def test_a_frame_of_two_holders_counts_once_until_both_drop_it() -> None:
    pool = FramePool(10)
    share = pool.share()
    shown = frame(11)
    share.hold([shown])
    share.hold([shown])
    assert share.is_over
    share.drop([shown])
    assert share.is_over
    share.drop([shown])
    assert not share.is_over


def test_a_later_share_waits_until_an_earlier_one_drops_frames() -> None:
    pool = FramePool(10)
    first, second = pool.share(), pool.share()
    shown = frame(11)
    first.hold([shown])

    thread = waiting(second)
    assert thread.is_alive()
    first.drop([shown])
    thread.join(10)
    assert not thread.is_alive()


def test_the_first_share_waits_only_for_its_own_answers() -> None:
    answers = [True]
    pool = FramePool(10)
    first = pool.share(lambda: bool(answers))
    second = pool.share()
    shown = [frame(6), frame(7)]
    first.hold(shown[:1])
    second.hold(shown[1:])

    thread = waiting(first)
    assert thread.is_alive()
    answers.clear()
    first.drop(shown[:1])
    second.hold([frame(9)])
    thread.join(10)
    assert not thread.is_alive()


def test_a_closed_share_makes_room_and_makes_the_next_one_the_first() -> None:
    pool = FramePool(10)
    first, second = pool.share(), pool.share()
    first.hold([frame(11)])
    second.hold([frame(11)])

    thread = waiting(second)
    assert thread.is_alive()
    first.close()
    thread.join(10)
    assert not thread.is_alive()
    assert second.is_over
    first.hold([frame(100)])  # a thread that has not noticed the end yet
    second.close()
    assert not pool.is_over


def test_a_wait_ends_when_nobody_needs_the_frames() -> None:
    pool = FramePool(10)
    first, second = pool.share(lambda: True), pool.share()
    first.hold([frame(11)])
    ended = [False]

    thread = waiting(second, lambda: ended[0])
    assert thread.is_alive()
    ended[0] = True
    with pool.changed:
        pool.changed.notify_all()
    thread.join(10)
    assert not thread.is_alive()

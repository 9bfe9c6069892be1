"""How the `auto` searches of several drivers settle on one server, on a simulated clock.

usage: python perf/settling.py [--drivers 1,2,4,8] [--knee 600] [--latency 2] [--seconds 600]
[--rounds 3] [--noise 0.1]

Each driver has a limiter of its own, as with `--drivers N --concurrency auto`, and starts with its
share of the first number within the first second. A reply takes `--latency` seconds, `--noise` (a
fraction) more or less, and longer if all drivers together have more than `--knee` requests in
flight (`_slow.py`). `--rounds` is the number of seeds, whose medians are printed: the replies per
second in the second minute and in the last five minutes, as ratios to what the server can send with
`--knee` requests in flight; for the last five minutes also the requests in flight of all drivers
together, and of the driver with the fewest and with the most.
"""

import argparse
import asyncio
import random
import selectors
from statistics import median

from _commands import table
from _slow import slower

from snellen.run import Limiter
from snellen.run.limiter import START
from snellen.run.parts import share
from snellen.store import RunPart

MINUTE = 60
SERVERS = ("queue", "half")
"""How servers slow down. `once` is left out, since more requests bring more again far beyond the
knee."""


class Simulated(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__(selectors.SelectSelector())
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self._now = max(self._now, self._scheduled[0].when())
        super()._run_once()


class Server:
    """Counts the replies, and the requests in flight of each driver, in every second."""

    def __init__(self, args: argparse.Namespace, beyond: str, drivers: int, seed: int) -> None:
        self._args = args
        self._beyond = beyond
        self._random = random.Random(f"{beyond} {drivers} {seed}")
        self.in_flight = [0] * drivers
        self.replies = [0] * (args.seconds + 1)
        self.levels: list[list[int]] = []

    async def drive(self, number: int) -> None:
        """Send questions as one driver until the time is over."""
        loop, args = asyncio.get_running_loop(), self._args
        n = len(self.in_flight)
        limiter = Limiter(start=max(1, share(START, RunPart(number + 1, n))), others=n - 1)
        await asyncio.sleep(self._random.random())
        tasks = set()

        async def ask(slot: object) -> None:
            self.in_flight[number] += 1
            load = sum(self.in_flight) / args.knee
            noise = 1 + args.noise * (2 * self._random.random() - 1)
            await asyncio.sleep(args.latency * noise * slower(load, self._beyond))
            self.in_flight[number] -= 1
            if loop.time() < args.seconds:
                self.replies[int(loop.time())] += 1
            limiter.release()
            limiter.replied(slot)

        while loop.time() < args.seconds:
            task = asyncio.create_task(ask(await limiter.acquire(new=True)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)

    async def run(self) -> None:
        drivers = [asyncio.create_task(self.drive(i)) for i in range(len(self.in_flight))]
        for _ in range(self._args.seconds):
            await asyncio.sleep(1)
            self.levels.append([*self.in_flight])
        await asyncio.gather(*drivers)


def settled(args: argparse.Namespace, beyond: str, drivers: int, seed: int) -> list[float]:
    """The figures of one seed."""
    loop = Simulated()
    server = Server(args, beyond, drivers, seed)
    try:
        loop.run_until_complete(server.run())
    finally:
        loop.close()
    best = args.knee / args.latency
    end = args.seconds
    tail = max(0, end - 5 * MINUTE)
    means = [sum(levels) / (end - tail) for levels in zip(*server.levels[tail:], strict=True)]
    return [
        sum(server.replies[MINUTE : 2 * MINUTE]) / MINUTE / best,
        sum(server.replies[tail:end]) / (end - tail) / best,
        sum(means),
        min(means),
        max(means),
    ]


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    ap.add_argument("--drivers", default="1,2,4,8")
    ap.add_argument("--knee", type=int, default=600)
    ap.add_argument("--latency", type=float, default=2.0)
    ap.add_argument("--seconds", type=int, default=600)
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--noise", type=float, default=0.1)
    args = ap.parse_args()
    lines = []
    for beyond in SERVERS:
        for drivers in map(int, args.drivers.split(",")):
            rounds = [settled(args, beyond, drivers, seed) for seed in range(args.rounds)]
            early, late, together, fewest, most = map(median, zip(*rounds, strict=True))
            lines.append([beyond, f"{drivers}", f"{early:.2f}", f"{late:.2f}", f"{together:.0f}",
                          f"{fewest:.0f} to {most:.0f}"])  # fmt: skip
            print(*lines[-1], flush=True)
    head = ["beyond", "drivers", "second minute", "last 5 min", "in flight", "per driver"]
    print(table(head, lines))


if __name__ == "__main__":
    main()

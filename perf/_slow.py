"""How much slower a server becomes that is asked more at the same time than suits it."""

from collections.abc import Callable, Mapping

BEYOND: Mapping[str, Callable[[float], float]] = {
    "once": lambda load: 2.0,
    "queue": lambda load: load,
    "half": lambda load: 2.0 * load,
}
"""How many times longer a reply takes if `load` times as many requests are in flight as suit the
server, and `load` is above 1. `once`: twice as long. `queue`: the server sends replies at a
constant rate. `half`: at half of that rate."""


def slower(load: float, beyond: str) -> float:
    """How many times longer a reply takes under this load."""
    return BEYOND[beyond](load) if load > 1 else 1.0

"""Snellen measures vision-language models on public benchmarks.

>>> import snellen
>>> snellen.__all__
['Profile', 'ask', 'compare', 'evaluate', 'load_run', 'score']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snellen.api import Profile, ask, compare, evaluate, load_run, score

__version__ = "0.1.0"
__all__ = ["Profile", "ask", "compare", "evaluate", "load_run", "score"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    # They are imported when they are first used, so that `import snellen` costs nothing.
    if name in __all__:
        from snellen import api

        return getattr(api, name)
    raise AttributeError(f"module 'snellen' has no attribute {name!r}")

"""Snellen measures vision-language models on public benchmarks.

>>> import snellen
>>> snellen.__all__
['Profile', 'SnellenError', 'ask', 'card', 'compare', 'evaluate', 'load_run', 'score']

Errors that the caller can fix are raised as a `SnellenError`. Its message says what to do:

>>> try:
...     snellen.load_run("no-such-folder")
... except snellen.SnellenError as error:
...     print(error)
no-such-folder is not a run folder: it has no manifest.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snellen.api import Profile, ask, card, compare, evaluate, load_run, score
    from snellen.errors import SnellenError

__version__ = "0.1.0"
__all__ = ["Profile", "SnellenError", "ask", "card", "compare", "evaluate", "load_run", "score"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    # The functions are imported when they are first used, so that `import snellen` is fast.
    if name in __all__:
        from snellen import api, errors

        return getattr(errors if name == "SnellenError" else api, name)
    raise AttributeError(f"module 'snellen' has no attribute {name!r}")

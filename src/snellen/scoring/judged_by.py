"""Names the judges of a scoring, and states whether these judges may replace the authors' judge."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

import msgspec


class JudgedBy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The judges whose verdicts a scoring's metrics use."""

    judges: list[str]
    """The names of the judge models."""
    authors: str | None = None
    """The judge model of the benchmark's authors; None if the judge prompt is not theirs."""
    qualified: bool | None = None
    """Whether every judge is qualified, which means that it agrees well enough with published
    verdicts. None for the authors' own judge, and None if `authors` is None and no judge was
    measured."""
    reason: str = ""
    """Why the judges are qualified or not."""
    qualifications: list[str] = []
    """The digests and times of the qualifications on which `qualified` is based."""

    @property
    def name(self) -> str:
        """The judges as reports name them, such as `official prompt, judge openai/NAME`."""
        models = ", ".join(self.judges)
        return f"judge {models}" if self.authors is None else f"official prompt, judge {models}"

    @property
    def remark(self) -> str:
        """A remark for tables, such as `judge openai/NAME is not qualified`; empty if no judge is
        known to be unqualified."""
        if self.qualified is not False:
            return ""
        verb = "is" if len(self.judges) == 1 else "are"
        return f"judge {', '.join(self.judges)} {verb} not qualified"

    def note(self, scoring: str) -> str:
        """Write a note for the report which states whether the judges are qualified; empty if
        `qualified` is None."""
        if self.qualified is None:
            return ""
        state = "qualified" if self.qualified else "not qualified"
        if self.authors is None:
            return f"{scoring}: {self.name}; {state}: {self.reason}"
        day = retired().get(self.authors)
        gone = "" if day is None else f", which was shut down on {day}"
        return (
            f"{scoring}: {self.name}, instead of the authors' {self.authors}{gone}; {state}: "
            f"{self.reason}"
        )


@cache
def retired() -> dict[str, str]:
    """Map each authors' judge that is no longer available to the day on which it was shut down."""
    text = resources.files(__package__).joinpath("judge/retired.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def is_authors_judge(model: str, authors: str) -> bool:
    """Whether two names mean the same judge. `model` is a name in Snellen, such as
    `openai/gpt-4-0613`, and `authors` is the authors' name, such as `gpt-4-0613`."""
    return model.partition("/")[2] == authors

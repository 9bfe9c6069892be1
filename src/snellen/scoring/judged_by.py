"""Names the judges of a scoring, and says whether they may stand in for the authors' judge."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

import msgspec


class JudgedBy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The judges whose verdicts are in a scoring's metrics."""

    judges: list[str]
    """The judge models."""
    authors: str | None = None
    """The judge of the benchmark's authors; None if the prompt is not theirs."""
    qualified: bool | None = None
    """Whether every judge is qualified against published verdicts. None for the authors' own judge,
    and, if the prompt has no authors' judge, for judges that were not measured."""
    reason: str = ""
    """Why the judges are, or are not, qualified."""
    qualifications: list[str] = []
    """The qualifications that were used: the digest and the time of each."""

    @property
    def name(self) -> str:
        """What the scoring is called: `official prompt, judge openai/NAME`."""
        models = ", ".join(self.judges)
        return f"judge {models}" if self.authors is None else f"official prompt, judge {models}"

    @property
    def remark(self) -> str:
        """A remark for tables, such as `judge openai/NAME is not qualified`; empty if a headline
        needs none."""
        if self.qualified is not False:
            return ""
        verb = "is" if len(self.judges) == 1 else "are"
        return f"judge {', '.join(self.judges)} {verb} not qualified"

    def note(self, scoring: str) -> str:
        """A note for the report; empty for the authors' own judge, and without a qualification."""
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
    """For each judge of authors that can no longer be asked, the day of its shutdown."""
    text = resources.files(__package__).joinpath("judge/retired.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def is_authors_judge(model: str, authors: str) -> bool:
    """Whether a model of Snellen (`openai/gpt-4-0613`) is the authors' judge (`gpt-4-0613`)."""
    return model.partition("/")[2] == authors

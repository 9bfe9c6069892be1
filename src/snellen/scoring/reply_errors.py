"""The errors for exceptions in a benchmark's code while replies are scored.

If a rule fails for a reply, there is no report: a mean without that reply would look like the mean
of all replies, and a score of 0 would be a score for a failure of the rule.
"""

from __future__ import annotations

from snellen.core.benchmark import Benchmark
from snellen.core.rule_errors import RuleError, quoted, rule_error
from snellen.scoring.replies import Scored

ADVICE = (
    "There is no report, since a scoring must not leave out a reply silently. All replies are "
    "kept. Correct the code, and score them again: snellen score RUN, with -b FILE.py if the "
    "benchmark is in a file."
)


def reply_error(error: Exception, benchmark: Benchmark, scoring: str, scored: Scored) -> RuleError:
    """The error for an exception in a scoring's function for one reply."""
    assert scored.reply is not None
    repeat = f", repeat {scored.repeat + 1}" if scored.repeat else ""
    what = f"{benchmark.name}: the scoring {scoring} of sample {scored.sample.id!r}{repeat}"
    return rule_error(error, what, f"The reply is {quoted(scored.reply.text)}. {ADVICE}")


def table_error(error: Exception, benchmark: Benchmark, what: str) -> RuleError:
    """The error for an exception in a function that gets all replies of a run. `what` names the
    function."""
    return rule_error(error, f"{benchmark.name}: {what}", ADVICE)

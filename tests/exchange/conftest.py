"""Every Eval Ever has no package for Python 3.11, so that its tests are not collected there."""

from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("every_eval_ever") else ["test_every_eval_ever.py"]


def pytest_report_header(config: pytest.Config) -> list[str]:
    left_out = (
        "every-eval-ever is not installed: tests/exchange/test_every_eval_ever.py is left out"
    )
    return [left_out] * bool(collect_ignore)

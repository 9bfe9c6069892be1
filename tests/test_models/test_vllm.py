"""`vllm/NAME` where vLLM is not installed; `tests/heavy/test_vllm.py` has the engine."""

import sys

import pytest

from snellen import catalog
from snellen.errors import UsageError


def test_without_vllm_its_extra_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(UsageError, match=r"vllm/some/model needs.*snellen\[vllm\]"):
        catalog.model("vllm/some/model")

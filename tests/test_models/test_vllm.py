"""`vllm/NAME` where vLLM is not installed; `tests/heavy/test_vllm.py` has the engine."""

import re
import sys

import pytest

from snellen import registry
from snellen.core.profile import Profile
from snellen.errors import UsageError, install


def test_without_vllm_its_extra_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(UsageError, match=f"vllm/some/model needs.*{re.escape(install('vllm'))}"):
        registry.model("vllm/some/model")


def test_a_key_is_none_of_the_options_that_are_stored() -> None:
    with pytest.raises(UsageError, match="contains hf_token, and it is stored"):
        registry.model("vllm/some/model", Profile(extra={"hf_token": "hf_0123456789"}))

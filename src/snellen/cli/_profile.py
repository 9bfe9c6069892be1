"""What the command line says of a model, over what its profile says."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from snellen.models._profile import Profile


def flagged(
    profile: Profile,
    *,
    base_url: str | None,
    api_key_env: str | None,
    timeout: Mapping[str, float],
) -> Profile:
    """A profile with the flags over it."""
    return msgspec.structs.replace(
        profile,
        base_url=base_url or profile.base_url,
        api_key_env=api_key_env or profile.api_key_env,
        timeout=msgspec.structs.replace(profile.timeout, **timeout),
    )

"""What the command line says of a model, over what its profile says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from snellen.core.profile import Profile, Serve
from snellen.errors import UsageError


def flagged(
    profile: Profile,
    *,
    base_url: str | None,
    api_key_env: str | None,
    timeout: Mapping[str, float],
    serve: str | None = None,
    serve_args: Sequence[str] = (),
    trust_remote_code: bool = False,
) -> Profile:
    """A profile with the flags over it.

    Raises:
        UsageError: there are arguments of a server, and no server.
    """
    if serve_args and not serve:
        raise UsageError("--serve-arg is for the server that --serve starts; name one.")
    return msgspec.structs.replace(
        profile,
        base_url=base_url or profile.base_url,
        api_key_env=api_key_env or profile.api_key_env,
        timeout=msgspec.structs.replace(profile.timeout, **timeout),
        serve=msgspec.convert({"kind": serve, "args": serve_args}, Serve)
        if serve
        else profile.serve,
        trust_remote_code=trust_remote_code or profile.trust_remote_code,
    )

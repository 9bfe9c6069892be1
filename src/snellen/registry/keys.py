"""The only module that reads API keys, addresses, and settings for models from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from snellen.core.profile import Profile
from snellen.errors import UsageError

SERVERS: Mapping[str, tuple[str, Sequence[str]]] = {
    "openai": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "openai-responses": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "anthropic": ("https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",)),
    "google": (
        "https://generativelanguage.googleapis.com/v1beta",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
}
"""The official server of each kind of model, and the environment variables that may contain the
server's API key."""
FOR_WORKERS = ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
"""The environment variables that `worker:` processes get, for finding programs, libraries, and
devices."""
SECRET_ENDINGS = ("KEY", "KEYS", "TOKEN", "SECRET", "PASSWORD")
"""An environment variable whose name has one of these endings is treated as a secret."""
HUB_PREFIXES = ("HF_", "HUGGING_FACE_")
"""The prefixes of the Hugging Face hub's environment variables. A server that Snellen starts may
need these variables."""


def key_variable(spec: str, kind: str, profile: Profile) -> str | None:
    """Return the environment variable that contains the API key for a model on a server, or None if
    the model needs no key.

    The variables of a service are read only for the service's official server.

    Raises:
        UsageError: the variable is not set.
    """
    if profile.api_key_env:
        variables: Sequence[str] = [profile.api_key_env]
    else:
        variables = [] if profile.base_url else SERVERS[kind][1]
    variable = next((name for name in variables if os.environ.get(name, "").strip()), None)
    if variable is not None or not variables:
        return variable
    names = " or ".join(variables)
    if profile.api_key_env and not names.isidentifier():
        raise UsageError(
            f"{spec}: the value of --api-key-env is not the name of an environment variable. The "
            "value is not shown here, because it may be the key itself. Put the key in an "
            "environment variable, and pass the name of that variable."
        )
    if profile.base_url:
        raise UsageError(
            f"{spec}: the environment variable {names} is not set. Set the variable to the API key."
        )
    raise UsageError(
        f"{spec}: there is no --base-url, and no key for the official service in {names}. "
        "Name a server with --base-url, or set the key."
    )


def key_of_profile(spec: str, profile: Profile) -> str | None:
    """Return the API key in the variable that the profile names, or None if the profile names no
    variable.

    Raises:
        UsageError: the variable is not set.
    """
    if not profile.api_key_env:
        return None
    return key_in(key_variable(spec, "", profile))


def key_in(variable: str | None) -> str | None:
    """Return the API key in an environment variable."""
    # A key that was read from a file often ends in a line break, which HTTP headers cannot contain.
    return None if variable is None else os.environ[variable].strip()


def hub_token() -> str | None:
    """Return the token for downloads from the Hugging Face hub, or None if no token is set."""
    return os.environ.get("HF_TOKEN", "").strip() or None


def keys_set() -> Mapping[str, bool]:
    """Return the default environment variables for API keys, and whether each variable is set."""
    names = [name for _, variables in SERVERS.values() for name in variables]
    return {name: bool(os.environ.get(name)) for name in (*names, "HF_TOKEN")}


def without_keys() -> dict[str, str]:
    """Return the environment for a server that Snellen starts, without secrets except those of the
    Hugging Face hub."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(HUB_PREFIXES) or not name.endswith(SECRET_ENDINGS)
    }


def for_workers() -> dict[str, str]:
    """Return the environment for `worker:` processes."""
    return {name: value for name in FOR_WORKERS if (value := os.environ.get(name))}


def log_to_stderr() -> None:
    """Send vLLM's log to standard error, because standard output is for the report or JSON."""
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")


def known_cluster(address: str | None, settings: Mapping[str, str]) -> str | None:
    """Return the address of an existing Ray cluster, or None if no address is set.

    `settings` are environment variables for Ray, which are set unless the user has set them.
    """
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    return address or os.environ.get("RAY_ADDRESS") or None


def cluster_address(address: str | None, settings: Mapping[str, str]) -> str | None:
    """Return the address of the Ray cluster, or None if Snellen should start a private cluster.

    `settings` are environment variables for Ray, which are set unless the user has set them.
    """
    address = known_cluster(address, settings)
    if address is None and not any(name.startswith("RAY_AUTH_") for name in os.environ):
        # Ray runs code from anyone who can reach its ports, so the cluster requires a token.
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=os.urandom(32).hex())
    return address


def setting(name: str) -> str | None:
    """Return the value of an environment variable that is not a secret."""
    return os.environ.get(name)

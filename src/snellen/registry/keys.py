"""Keys, addresses, and settings from the environment: the one file that reads them for models."""

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
"""The official server of each kind, and the variables that may hold its key."""
FOR_WORKERS = ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
"""The variables that `worker:` processes get: those for programs, libraries, and devices."""
SECRET_ENDINGS = ("KEY", "KEYS", "TOKEN", "SECRET", "PASSWORD")
"""The endings of the names of variables that hold secrets."""
HUB_PREFIXES = ("HF_", "HUGGING_FACE_")
"""The prefixes of the hub's variables, which a started server may need."""


def key_variable(spec: str, kind: str, profile: Profile) -> str | None:
    """The variable that holds the key for a model on a server; None if it needs no key.

    A service's own variables are read for its official server only.

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
            f"{spec}: what stands for the key (--api-key-env) is not a name of a variable, and is "
            "not shown, for it may be the key. Put the key into an environment variable, and "
            "give that one's name."
        )
    if profile.base_url:
        raise UsageError(
            f"{spec}: the environment variable {names} is not set; it is to hold the key."
        )
    raise UsageError(
        f"{spec}: no --base-url, and no key in {names} for the official service. "
        "Name a server with --base-url, or set the key."
    )


def key_of_profile(spec: str, profile: Profile) -> str | None:
    """The key in the variable that the profile names; None if it names none.

    Raises:
        UsageError: the variable is not set.
    """
    if not profile.api_key_env:
        return None
    return key_in(key_variable(spec, "", profile))


def key_in(variable: str | None) -> str | None:
    """The key that a variable holds."""
    # A key read from a file often ends in a line break, which no header can carry.
    return None if variable is None else os.environ[variable].strip()


def hub_token() -> str | None:
    """The key for the hub from which data sets are fetched; None if there is none."""
    return os.environ.get("HF_TOKEN", "").strip() or None


def keys_set() -> Mapping[str, bool]:
    """The variables that are searched for keys by default, and whether they are set."""
    names = [name for _, variables in SERVERS.values() for name in variables]
    return {name: bool(os.environ.get(name)) for name in (*names, "HF_TOKEN")}


def without_keys() -> dict[str, str]:
    """The environment for a server that is started, without secrets except the hub's."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(HUB_PREFIXES) or not name.endswith(SECRET_ENDINGS)
    }


def for_workers() -> dict[str, str]:
    """The environment for processes of `worker:`."""
    return {name: value for name in FOR_WORKERS if (value := os.environ.get(name))}


def log_to_stderr() -> None:
    """Keep vLLM's log out of standard output, which carries the report or JSON."""
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")


def cluster_address(address: str | None, settings: Mapping[str, str]) -> str | None:
    """The address of the Ray cluster; None for a private cluster of our own.

    `settings` are variables for Ray, set unless the user has set them.
    """
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    address = address or os.environ.get("RAY_ADDRESS") or None
    if address is None and not any(name.startswith("RAY_AUTH_") for name in os.environ):
        # Ray runs code from anyone who reaches its ports, so nobody else may reach this cluster's.
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=os.urandom(32).hex())
    return address


def setting(name: str) -> str | None:
    """A variable that holds no secret."""
    return os.environ.get(name)

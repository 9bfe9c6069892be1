"""What is known of a model beyond its name: where it is, how it is sampled, what it takes and
costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from snellen.errors import UsageError


class Timeouts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Seconds to connect, until the first byte of the reply, and for the whole request."""

    connect: float = 10.0
    first: float = 600.0
    total: float = 1200.0


class Prices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Money for a million tokens."""

    input: float
    output: float


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model's profile, from a TOML file or from flags.

    `api_key_env` names the environment variable that holds the key; the key itself is never here.
    `token_floor` is the least `max_tokens` to ask for, whatever the benchmark says: thinking models
    need room. `extra` is sent to the server as it is.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    revision: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    token_floor: int | None = None
    extra: dict[str, Any] = {}
    prices: Prices | None = None
    concurrency: int | None = None
    timeout: Timeouts = Timeouts()

    def changes_answers(self) -> dict[str, object]:
        """The fields that are part of a run's identity, those that are set."""
        fields = ("token_floor", "extra")
        return {name: value for name in fields if (value := getattr(self, name)) not in (None, {})}


def read_profile(path: Path) -> Profile:
    """The profile in a TOML file.

    Raises:
        UsageError: the file is missing, is no TOML, or has a field that a profile has not.
    """
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Profile)
    except OSError as error:
        raise UsageError(f"{path}: the profile cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        fields = ", ".join(Profile.__struct_fields__)
        raise UsageError(f"{path}: {error}. A profile has the fields {fields}.") from error

"""Code that the back ends for OpenAI's two APIs share: errors, pictures, and the API key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from snellen.core.model import Reply, Usage
from snellen.core.profile import Profile
from snellen.errors import Overloaded, Rejected
from snellen.media.content import Image, Message, Video
from snellen.models.parts import parts_of
from snellen.models.service import (
    Encoded,
    OnServer,
    Service,
    count,
    encoded,
    service,
    string,
    times,
    words_of,
)
from snellen.models.tool_calls import continued, sent_name, sent_text
from snellen.transport import Response

VARIABLE = "OPENAI_API_KEY"
FILTERED = ("content_filter", "image_content_policy_violation", "bio_policy")
"""Error codes that mean that the service withheld the reply."""
STATUS = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "insufficient_quota": 429,
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "data_residency_mismatch": 400,
    "authentication_error": 401,
}
"""The HTTP status to assume for an error inside a reply of status 200, by the error's code or
type."""
BAD_REQUEST = ("invalid_", "image_", "unsupported_", "empty_", "failed_to_download_")
"""Prefixes of further error codes for which status 400 is assumed (openai/openai-python@e43b422:
src/openai/types/responses/response_error.py)."""


def opened(name: str, *, profile: Profile, api_key: str | None, path: str) -> Service:
    return service(name, profile=profile, api_key=api_key, path=path, variable=VARIABLE)


class OpenAIService(OnServer):
    """A model behind one of OpenAI's two APIs. An error of the content filter becomes a reply. All
    other errors are raised."""

    def _withheld(self, status: int, error: Mapping[str, Any], response: Response) -> Reply:
        if status == 400 and error.get("code") in FILTERED:
            return Reply(text="", stop="filter", times=times(response))
        raise self._error(status, error, response)

    def _error(
        self, status: int, error: Mapping[str, Any], response: Response
    ) -> Overloaded | Rejected:
        return self._there.error(
            status,
            words_of(error, response.body),
            wait=response.retry_after,
            is_unpaid=error.get("code") == "insufficient_quota",
        )


def status_of(error: Mapping[str, Any]) -> int:
    """Return the HTTP status to assume for an error inside a reply. For an unknown error, the
    status is 500 (server error)."""
    code = error.get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return code
    for name in (string(code), string(error.get("type"))):
        if name in STATUS:
            return STATUS[name]
        if name and name.startswith(BAD_REQUEST):
            return 400
    return 500


def data_url(image: Image) -> Encoded:
    """Return a `data:` URL with exactly the bytes that were loaded."""
    mime, data = encoded(image)
    return Encoded((f"data:{mime};base64,".encode(), data))


def chat_message(
    message: Message,
    url: Callable[[Image], object],
    video_url: Callable[[Video], object] | None = None,
) -> dict[str, Any]:
    """Convert a message for the chat completions API. `url` is a function that returns the URL of
    an image. `video_url` returns the URL of a whole video; without it, frames are sent."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.tool_calls:
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": sent_name(call), "arguments": sent_text(call)},
            }
            for call in message.tool_calls
        ]
        fields = {"role": message.role, "content": message.text or None, "tool_calls": calls}
        return fields | (continued(message) or {})
    if all(isinstance(part, str) for part in message.content):
        return {"role": message.role, "content": message.text}
    parts = parts_of(
        message,
        lambda text: {"type": "text", "text": text},
        lambda image: {"type": "image_url", "image_url": {"url": url(image)}},
        None
        if video_url is None
        else lambda video: {"type": "video_url", "video_url": {"url": video_url(video)}},
    )
    return {"role": message.role, "content": parts}


def usage_of(counts: object, read: str, written: str) -> Usage | None:
    """Return the server's token counts. `read` and `written` are the prefixes of the fields that
    count input and output tokens, such as `prompt` for the field `prompt_tokens`."""
    if not isinstance(counts, dict):
        return None
    return Usage(
        input=count(counts, f"{read}_tokens"),
        output=count(counts, f"{written}_tokens"),
        reasoning=count(counts.get(f"{written}_tokens_details"), "reasoning_tokens"),
        cached=count(counts.get(f"{read}_tokens_details"), "cached_tokens"),
    )

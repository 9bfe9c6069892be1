"""OpenAI's Responses API, and servers that speak it.

Takes text and images (JPEG, PNG, WebP, still GIF) in any order, a system message and several turns.
Images go as `data:` addresses of exactly the bytes that were loaded, in the places where the
messages have them; a video goes as its frames, an image each. A seed is not sent: there is no such
field; nor are there words to stop at, so that a request with some is turned down. Nothing is kept
there (`store: false`).

A profile's `extra` is merged into the request and wins over our own fields, None leaves one out:
`reasoning = { effort = "low", summary = "auto" }`. What the model thought comes as far as the
service tells it, in summaries. The key's header on Azure is as in `openai.py`.

Fields and errors: openai/openai-python@e43b422: src/openai/types/responses (response_create_
params.py, response.py, response_usage.py, response_error.py, response_stream_event.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snellen.core.model import Reply, Request
from snellen.core.profile import Profile
from snellen.errors import Rejected
from snellen.media.content import Image, Message
from snellen.models._openai import OpenAIService, data_url, opened, status_of, usage_of
from snellen.models.parts import parts_of
from snellen.models.service import (
    are_parts,
    are_texts,
    body_of,
    objects,
    string,
    times,
)
from snellen.transport import Response

PATH = "responses"
STOPS = {"max_output_tokens": "length", "content_filter": "filter"}
SILENT = {"message", "reasoning", "output_text", "refusal"}
"""Types of items and parts that are text or say nothing."""
ENDS = ("response.completed", "response.incomplete", "response.failed")
"""Events that end a stream, each with the whole response."""
PIECES = (
    "response.output_text.delta",
    "response.refusal.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
)


def open_model(name: str, *, profile: Profile, api_key: str | None) -> OpenAIResponses:
    """The model of that name on the profile's server."""
    return OpenAIResponses(opened(name, profile=profile, api_key=api_key, path=PATH))


class OpenAIResponses(OpenAIService):
    """A model behind the Responses API."""

    what = "response"

    # -- there

    def _body(self, request: Request) -> bytes:
        if request.stop:
            raise Rejected(
                f"{self._there.transport.where}: the Responses API takes no words to stop at, and "
                "the request has some. Ask the model by openai/NAME.",
                hopeless=True,
            )
        generation = request.generation
        body: dict[str, Any] = {
            "model": self.name,
            "input": [_turn(message) for message in request.messages],
            "max_output_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "store": False,
            "stream": self._there.stream or None,
        }
        return body_of({**body, **generation.extra})

    # -- and back

    def _streamed(self, response: Response) -> Reply:
        """The reply that a stream's last event has."""
        first = None
        for event in response.events:
            found = self._there.json(event.data, "event of a response")
            kind = found.get("type")
            if kind == "error":
                nested = found.get("error")
                error = nested if isinstance(nested, dict) else found
                return self._withheld(status_of(error), error, response)
            if kind in PIECES and first is None:
                first = event.at
            if kind in ENDS and isinstance(found.get("response"), dict):
                return self._reply(found["response"], response, first)
        raise self._there.cut()

    def _reply(
        self, found: Mapping[str, Any], response: Response, first: float | None = None
    ) -> Reply:
        status = string(found.get("status"))
        if status == "failed":
            error = next(iter(objects([found.get("error")])), {})
            return self._withheld(status_of(error), error, response)
        if not isinstance(found.get("output"), list) or status not in ("completed", "incomplete"):
            raise self._there.unreadable("no whole response", response.body)
        output = objects(found["output"])
        if not _is_output(found["output"]):
            raise self._there.unreadable("not a response in the API's format", response.body)
        said = [part for one in _of_kind("message", output) for part in objects(one.get("content"))]
        # Where the service gives no summary, other servers give the thoughts themselves.
        thoughts = _of_kind("reasoning", output)
        told = [part for one in thoughts for part in objects(one.get("summary"))]
        told = told or [part for one in thoughts for part in objects(one.get("content"))]
        text = _texts("output_text", said)
        details = next(iter(objects([found.get("incomplete_details")])), {})
        reason = string(details.get("reason"))
        if status == "incomplete" and reason is None:
            raise self._there.unreadable("not clear on why it is incomplete", response.body)
        stop = reason or status
        if not text and _of_kind("refusal", said):
            stop = "filter"
        elif not text and (others := {part["type"] for part in (*output, *said)} - SILENT):
            raise self._there.without_text(others)
        return Reply(
            text=text,
            reasoning="\n".join(string(part.get("text")) or "" for part in told) or None,
            stop=STOPS.get(stop, stop),
            usage=usage_of(found.get("usage"), "input", "output"),
            times=times(response, first),
        )


def _turn(message: Message) -> dict[str, Any]:
    if all(isinstance(part, str) for part in message.content):
        return {"role": message.role, "content": message.text}
    parts = parts_of(message, lambda text: {"type": "input_text", "text": text}, _image)
    return {"role": message.role, "content": parts}


def _image(image: Image) -> dict[str, Any]:
    return {"type": "input_image", "image_url": data_url(image), "detail": "auto"}


def _is_output(output: object) -> bool:
    """Whether messages say what they say as parts with text."""
    if not are_parts(output):
        return False
    contents = [message.get("content") for message in _of_kind("message", objects(output))]
    if not all(are_parts(content) for content in contents):
        return False
    parts = [part for content in contents for part in objects(content)]
    return are_texts(parts, "output_text") and are_texts(parts, "refusal", "refusal")


def _of_kind(name: str, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in found if one.get("type") == name]


def _texts(name: str, parts: list[dict[str, Any]]) -> str:
    return "".join(string(part.get("text")) or "" for part in _of_kind(name, parts))

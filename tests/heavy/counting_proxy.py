"""A loopback proxy that passes requests on unchanged and keeps their bodies' digests and texts."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import aiohttp
from aiohttp import web


class Seen:
    """What passed through: each request by the digest of its body, the bodies, and the number of
    answers by status."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.bodies: list[bytes] = []
        self.url = ""

    @property
    def total(self) -> int:
        return sum(self.requests.values())


@contextmanager
def counting_proxy(target: str, answer: Callable[[Any, Any], str] | None = None) -> Iterator[Seen]:
    """A proxy in front of `target` (http://127.0.0.1:PORT); its own address is in `url`. From the
    bodies of a request and of the reply to it, `answer` creates the text that replaces that of the
    reply; None: replies are passed on unchanged."""
    seen = Seen()
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    stop = asyncio.Event()

    async def serve() -> None:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=600)) as session:

            async def pass_on(request: web.Request) -> web.Response:
                body = await request.read()
                if request.method == "POST":
                    json.loads(body)
                    seen.bodies.append(body)
                    seen.requests[sha256(body).hexdigest()] += 1
                headers = {"Content-Type": "application/json"}
                async with session.request(
                    request.method, target + request.path, data=body, headers=headers
                ) as reply:
                    seen.statuses[reply.status] += 1
                    returned = await reply.read()
                    if answer is not None and request.method == "POST" and reply.ok:
                        document = json.loads(returned)
                        message = document["choices"][0]["message"]
                        message["content"] = answer(json.loads(body), document)
                        returned = json.dumps(document).encode()
                    return web.Response(
                        status=reply.status,
                        body=returned,
                        headers={"Content-Type": reply.headers.get("Content-Type", "text/plain")},
                    )

            app = web.Application(client_max_size=1 << 28)
            app.router.add_route("*", "/{path:.*}", pass_on)
            runner = web.AppRunner(app)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            seen.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            ready.set()
            await stop.wait()
            await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait(30)
    try:
        yield seen
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()

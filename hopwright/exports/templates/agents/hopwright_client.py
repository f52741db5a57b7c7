"""Talks to `hopwright environment serve`. Needs nothing beyond the standard library.

The address is given, or stands in the environment variable HOPWRIGHT_ENVIRONMENT.
"""

import asyncio
import base64
import json
import os
import time
import urllib.error
import urllib.request

DEFAULT_URL = "http://127.0.0.1:8100"
TRIES = 6
"""A server that is being started again answers within some seconds; a turn may be sent twice."""


class ServerError(RuntimeError):
    """The server refused a request, or did not answer."""


class Environment:
    """A server of episodes."""

    def __init__(self, url=None, timeout=120.0):
        self.url = (url or os.environ.get("HOPWRIGHT_ENVIRONMENT") or DEFAULT_URL).rstrip("/")
        self.timeout = timeout

    def tools(self):
        """Name, description and schema of the arguments of every tool."""
        return [one["function"] for one in self.get("tools")["tools"]]

    def picture(self, media):
        """A picture of a question as a data URL, by its SHA-256 or by the address in the reply to a reset."""
        data = self._send(f"pictures/{media.rpartition('/')[2]}", None, bytes)
        return f"data:image/png;base64,{base64.b64encode(data).decode()}"

    def reset(self, **asked):
        """Begin episodes: `count`, `seed`, `group`, `split`, `form`, or `episodes` by name. One reply each."""
        return self.post("reset", asked)["episodes"]

    def step(self, steps):
        """Take turns in: `episode`, `turn`, `text`, `calls`. One reply each."""
        return self.post("step", {"steps": steps})["results"]

    def call(self, name, arguments, task="", taken=0, messages=()):
        """Carry out one call of a loop that keeps its own turns, after `taken` others.

        `messages`: the chat so far in OpenAI's form, this turn last; by it the budgets of turns and tokens hold.
        """
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        asked = {"task": task, "taken": taken, "name": name, "arguments": text, "messages": list(messages)}
        return self.post("call", {"calls": [asked]})["results"][0]

    def score(self, task, messages, form="tools"):
        """What a rollout is worth, from its chat messages in OpenAI's form: every reward by its name."""
        result = self.post("score", {"rollouts": [{"task": task, "messages": messages, "form": form}]})["results"][0]
        if "error" in result:
            raise ServerError(result["error"])
        return result

    async def acall(self, *args, **kwargs):
        """`call` in a thread."""
        return await asyncio.to_thread(self.call, *args, **kwargs)

    async def ascore(self, *args, **kwargs):
        """`score` in a thread."""
        return await asyncio.to_thread(self.score, *args, **kwargs)

    def get(self, path):
        """Ask for what a page says."""
        return self._send(path, None)

    def post(self, path, body):
        """Send a request until it is answered."""
        return self._send(path, json.dumps(body).encode())

    def _send(self, path, data, read=json.loads):
        headers = {"Content-Type": "application/json"}
        for attempt in range(TRIES):
            request = urllib.request.Request(f"{self.url}/{path}", data=data, headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    return read(answer.read())
            except urllib.error.HTTPError as error:
                if error.code < 500:
                    said = error.read()[:500].decode(errors="replace")
                    raise ServerError(f"{path}: {error.code}: {said}") from None
                reason = str(error)
            except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
                reason = str(error)
            if attempt + 1 < TRIES:
                time.sleep(min(0.5 * 2**attempt, 8.0))
        raise ServerError(f"{self.url}/{path} does not answer: {reason}; is `hopwright environment serve` running?")

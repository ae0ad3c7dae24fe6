"""Tells a Weir gateway which agent makes a call and whose answers it follows, so that the gateway learns what your
application's workflow looks like. Standard library only, Python 3.8 and newer. Copy it into your application.

    with message("report"):
        with agent("researcher") as headers:
            client.chat.completions.create(..., extra_headers=headers)  # openai; headers=headers for httpx and requests
        with agent("writer") as headers:
            ...

Threads do not inherit the message: run their work by `contextvars.copy_context().run`. asyncio's tasks do.
"""

import re
import time
import uuid
from contextlib import contextmanager
from contextvars import ContextVar

_current = ContextVar("weir_message", default=None)

# Of the names of one call's upstream, as many are read.
_MOST_UPSTREAM = 64


def _one_word(name):
    """A name as one word of at most 63 letters, digits, dots, lines and dashes, as headers carry it; empty where nothing of it is left."""
    return re.sub(r"^[^A-Za-z0-9]+", "", re.sub(r"[^A-Za-z0-9._-]+", "-", name))[:63]


class Message:
    """One run of an application: what it is asked, and all calls of models that it makes to answer."""

    def __init__(self, application, id=None, started_at_ms=None, last=()):
        self.application = application
        self.id = id or str(uuid.uuid4())
        self.started_at_ms = int(time.time() * 1000) if started_at_ms is None else started_at_ms
        self._last = last  # What ended last here, and the next call follows: a list of the agent's name for each call.

    def headers(self, agent, upstream=()):
        """Headers for one call:
        `x-session-id` which message it belongs to, `x-weir-workflow` which application, `x-weir-agent` which agent calls,
        `x-weir-parents` the agents whose answers it follows, an agent once for each answer (left out: the gateway takes the call
        that ended last), and `x-weir-started-at` when the message began, in Unix milliseconds.
        """
        follows = [word for word in map(_one_word, upstream) if word][-_MOST_UPSTREAM:]
        said = {
            "x-session-id": self.id,
            "x-weir-started-at": str(self.started_at_ms),
            "x-weir-workflow": _one_word(self.application),
            "x-weir-agent": _one_word(agent),
            "x-weir-parents": ",".join(follows),
        }
        return {name: value for name, value in said.items() if value}

    def _end(self, before, ended):
        """What these calls themselves followed is behind them; what ended beside them is followed too."""
        beside = tuple(call for call in self._last if all(call is not other for other in before))
        self._last = (beside + ended)[-_MOST_UPSTREAM:]


@contextmanager
def message(application, id=None):
    """Begins a message: calls inside belong to it. `id` joins calls that several processes make for one message."""
    token = _current.set(Message(application, id))
    try:
        yield _current.get()
    finally:
        _current.reset(token)


@contextmanager
def agent(name):
    """Headers of a call that follows what ended last in the current message; of calls made side by side, the next one follows all.
    Outside of any message the call is one of its own."""
    current = _current.get() or Message("")
    before = current._last
    try:
        yield current.headers(name, [call[0] for call in before])
    finally:
        current._end(before, ([name],))


@contextmanager
def branch():
    """Several calls in turn beside others, as in a task of its own; without it these would follow what ended beside them too."""
    whole = _current.get() or Message("")
    before = whole._last
    own = Message(whole.application, whole.id, whole.started_at_ms, before)
    token = _current.set(own)
    try:
        yield own
    finally:
        _current.reset(token)
        if own._last is not before:
            whole._end(before, own._last)

"""What every client is asked and what must come of it. The test in Go, which starts the servers, tells it on standard input:

model, alias       names of the served model
query, passages    the ranking asked for
logits             what the Task itself answered, asked directly: a float32 for each passage
open               URL of a proxy without keys, before the real Task
faulty             URL of one without keys, before a Task that fails on request
locked             URL of one that demands key, before the same Task
stopped            URL of one without keys, whose Task has ended
key                the key
refusals           by status: the query that provokes it, and words that the server says then
"""

import json
import math
import struct
import sys
from types import SimpleNamespace


def float32(decimal):
    return struct.unpack("f", struct.pack("f", decimal))[0]


told = SimpleNamespace(**json.load(sys.stdin))
told.logits = [float32(logit) for logit in told.logits]


def logistic(logit):
    return 1 / (1 + math.exp(-logit))


def check_order(hits):
    """hits are (place in told.passages, score) in the client's order, of all passages."""
    got = [place for place, _ in hits]
    want = sorted(range(len(told.logits)), key=lambda place: -told.logits[place])
    assert got == want, f"order {got}, want {want}"


def check_ranking(hits, logistic_scores=False):
    check_order(hits)
    for place, score in hits:
        if logistic_scores:
            want = logistic(told.logits[place])
            assert math.isclose(score, want, rel_tol=1e-12), f"passage {place}: {score!r}, want {want!r}"
        else:
            assert float32(score) == told.logits[place], f"passage {place}: {score!r}, want {told.logits[place]!r}"


def check_refusals(rank, errors, shows):
    """rank(url, key, query) must fail with the error type of each status, of which shows(error, status, words) tells whether the reader sees why.
    A client that cannot send a key takes no part in 401."""
    for status, error_type in errors.items():
        url = {400: told.open, 401: told.locked, 503: told.stopped}.get(status, told.locked if 401 in errors else told.faulty)
        key = "another-key" if status == 401 else told.key
        asked = told.refusals[str(status)]
        error = failure(rank, url, key, asked["query"])
        assert type(error) is error_type, f"{status} came as {error!r}, want {error_type}"
        assert shows(error, status, asked["words"]), f"{status} does not show in {error!r}"


def failure(rank, url, key, query):
    try:
        hits = rank(url, key, query)
    except Exception as error:
        return error
    raise AssertionError(f"no failure: {hits}")

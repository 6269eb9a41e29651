"""A ranking Task in Python, written from ipc/PROTOCOL.md alone: the score of a passage is what it shares with the
query, in words and a little in letters.

    python3 task.py SOCKET

One thread per connection reads frames; the dispatcher starts one call after the other and answers pings. Sections named below are those of
PROTOCOL.md.
"""

import collections
import fcntl
import os
import queue
import signal
import socket
import struct
import sys
import threading
import time

from frames import ProtocolError, decode, encode, read_frame, TYPES

MODEL = "word-overlap"
MAX_PASSAGES = 512
ADMITTED_MAX = 1024
LETTERS_MAX = 1_000_000

WELCOME = {
    "protocol": 1, "server": "word-overlap/1", "task": "text_query_documents_to_relevance", "task_version": "1.0",
    "model": MODEL, "revision": "", "family": "overlap", "backend": "python", "precision": "f32", "bundle_digest": "",
    "score_kind": "unbounded", "max_tokens": 0, "max_passages": MAX_PASSAGES, "pointwise": True,
}


def score(query, passage):
    """The share of the query's words, and a hundredth of the likeness of letter pairs, which tells passages of equal shares apart."""
    return overlap(query.split(), passage.split()) + overlap(zip(query, query[1:]), zip(passage, passage[1:])) / 100


def overlap(wanted, found):
    wanted, found = set(wanted), set(found)
    return len(wanted & found) / (len(wanted | found) or 1)


class Dispatcher(threading.Thread):
    """Starts calls, one at a time and on a thread of their own, and answers pings: also while a call runs, never if this loop is stuck."""

    def __init__(self):
        super().__init__(daemon=True)
        self.events = queue.Queue()  # functions to run here, so that the fields below belong to this thread
        self.waiting = collections.deque()
        self.admitted = 0  # ranks without an answer; shared with the connections, so locked
        self.running_since = None
        self.ranks_total = 0
        self.draining = False
        self.lock = threading.Lock()

    def admit(self, connection, exchange, rank):
        """Returns the error that refuses a rank, or None when it waits."""
        pairs = len(rank["passages"])
        if not 1 <= pairs <= MAX_PASSAGES:
            return error("invalid_request", f"{pairs} passages, this Task takes 1 to {MAX_PASSAGES}")
        longest = max(map(len, rank["passages"]))
        if longest > LETTERS_MAX:  # one such call would hold the interpreter, and with it every pong
            return error("backend_rejected_request", f"a passage of {longest} letters, this Task takes {LETTERS_MAX}")
        with self.lock:
            if self.draining:
                return error("backend_unavailable", "this Task is shutting down")
            if self.admitted >= ADMITTED_MAX:
                return error("server_busy", f"{self.admitted} requests wait already", retry_after_ms=100)
            self.admitted += 1
        call = Call(connection, exchange, rank)
        self.events.put(lambda: self.waiting.append(call))
        return None

    def ping(self, connection, exchange):
        self.events.put(lambda: connection.answer(exchange, "pong", self.health()))

    def run(self):
        while True:
            self.events.get()()
            if self.waiting and self.running_since is None:
                self.running_since = time.monotonic_ns()
                threading.Thread(target=self.call, args=[self.waiting.popleft()], daemon=True).start()

    def call(self, call):
        call.run()
        self.events.put(self.called)

    def called(self):
        self.running_since = None
        self.ranks_total += 1
        with self.lock:
            self.admitted -= 1

    def health(self):
        running = self.running_since is not None
        return {
            "ready": not self.draining, "oldest_call_ms": (time.monotonic_ns() - self.running_since) // 10**6 if running else 0,
            "queued_requests": len(self.waiting), "queued_pairs": sum(len(call.rank["passages"]) for call in self.waiting),
            "queued_tokens": 0, "queued_tokens_max": 0, "running_batches": int(running), "counters": {"ranks_total": self.ranks_total},
        }


class Call:
    """One rank, from its admission to its answer."""

    def __init__(self, connection, exchange, rank):
        self.connection, self.exchange, self.rank = connection, exchange, rank
        self.admitted = time.monotonic_ns()

    def run(self):
        started = time.monotonic_ns()
        request_id, deadline_ms = self.rank["id"], self.rank.get("deadline_ms", 0)
        if self.connection.was_cancelled(self.exchange):
            self.answer("error", error("cancelled", "the client withdrew it", request_id))
        elif deadline_ms and started - self.admitted > deadline_ms * 10**6:
            self.answer("error", error("deadline_exceeded", "waited too long", request_id))
        else:
            scores = [score(self.rank["query"], passage) for passage in self.rank["passages"]]
            self.answer("scores", {
                "id": request_id,
                "scores": struct.pack(f"<{len(scores)}f", *scores),
                "queue_us": (started - self.admitted) // 1000,
                "public_task_call_wall_us": (time.monotonic_ns() - started) // 1000,
            })

    def answer(self, name, fields):
        self.connection.answer(self.exchange, name, fields)


def error(code, message, request_id=None, **numbers):
    fields = {"code": code, "message": message, **numbers}
    return {"id": request_id, **fields} if request_id else fields


class Connection(threading.Thread):
    """Reads the frames of one client. Writing is shared with the calls, so it is locked."""

    def __init__(self, stream, dispatcher):
        super().__init__(daemon=True)
        self.stream, self.dispatcher = stream, dispatcher
        self.open = set()  # exchanges of ranks without an answer
        self.cancelled = set()
        self.last_exchange = 0
        self.going = False
        self.lock = threading.Lock()

    def run(self):
        try:
            self.greet()
            while self.serve(*read_frame(self.stream)):
                pass
        except ProtocolError as fault:
            self.answer(0, "error", error(fault.code, str(fault)))
        except (EOFError, OSError):
            pass  # the client has left: section 8, half-close
        self.close()

    def greet(self):
        exchange, kind, payload = read_frame(self.stream)
        if kind != TYPES["hello"]:
            raise ProtocolError("the first frame must be hello")
        hello = decode(kind, payload)
        if hello["protocol"] != 1:
            raise ProtocolError("this Task speaks version 1", "unsupported_version")
        self.answer(0, "welcome", WELCOME)

    def serve(self, exchange, kind, payload):
        fields = decode(kind, payload)
        if kind == TYPES["cancel"]:
            with self.lock:
                if exchange in self.open:
                    self.cancelled.add(exchange)
            return True
        if kind == TYPES["hello"]:
            raise ProtocolError("hello comes once")
        if exchange <= self.last_exchange:
            raise ProtocolError("exchanges count up")
        self.last_exchange = exchange
        if kind == TYPES["ping"]:
            self.dispatcher.ping(self, exchange)
            return True
        with self.lock:
            self.open.add(exchange)
        refusal = self.dispatcher.admit(self, exchange, fields)
        if refusal:
            self.answer(exchange, "error", {"id": fields["id"], **refusal})
        return True

    def was_cancelled(self, exchange):
        with self.lock:
            return exchange in self.cancelled or self.stream is None

    def answer(self, exchange, name, fields):
        frame = encode(exchange, name, fields)
        with self.lock:
            self.open.discard(exchange)
            self.cancelled.discard(exchange)
            if self.stream is None:
                return
            try:
                self.stream.sendall(frame)
            except OSError:
                return  # the reading thread sees the end as well
            if self.going and not self.open:
                self.stream.shutdown(socket.SHUT_RDWR)

    def goaway(self):
        self.going = True
        self.answer(0, "goaway", {"reason": "shutdown"})

    def close(self):
        with self.lock:
            stream, self.stream = self.stream, None
        stream.close()


def listen(path):
    """Section 1: lock first, then a stale socket may go, and nothing else."""
    if path.startswith("@"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("\0" + path[1:])
        listener.listen()
        return listener, None
    lock = open(path + ".lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if os.path.lexists(path):
        if not is_socket(path):
            sys.exit(f"{path} is no socket, it stays")
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o660)
    listener.listen()
    return listener, lock


def is_socket(path):
    return (os.lstat(path).st_mode & 0o170000) == 0o140000


def main():
    dispatcher = Dispatcher()
    dispatcher.start()
    listener, lock = listen(sys.argv[1])
    connections = []

    def drain(*_):
        dispatcher.draining = True
        listener.shutdown(socket.SHUT_RDWR)  # ends accept below

    signal.signal(signal.SIGTERM, drain)
    signal.signal(signal.SIGINT, drain)
    while not dispatcher.draining:
        try:
            stream, _ = listener.accept()
        except OSError:
            break
        connections = [c for c in connections if c.is_alive()]
        connections.append(Connection(stream, dispatcher))
        connections[-1].start()
    for connection in connections:
        connection.goaway()
    for connection in connections:
        connection.join(timeout=10)
    del lock  # held until here


if __name__ == "__main__":
    main()

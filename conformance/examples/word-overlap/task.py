"""A ranking Task in Python, written from ipc/PROTOCOL.md alone: the score of a passage is what it shares with the
query, in words and a little in letters.

    python3 task.py SOCKET

One thread per connection reads frames and puts ranks into a bounded queue; one worker thread takes them out, so that a pong, which the
worker answers, proves that ranks are being worked on. Sections below name those of PROTOCOL.md.
"""

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
WAITING_MAX = 1024

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


class Worker(threading.Thread):
    """The part that computes. Everything that it is given is answered through the connection that brought it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.jobs = queue.Queue()
        self.waiting = 0  # ranks and their pairs not yet started
        self.waiting_pairs = 0
        self.ranks_total = 0
        self.draining = False
        self.lock = threading.Lock()

    def admit(self, connection, exchange, rank):
        """Returns the error that refuses a rank, or None when it waits."""
        pairs = len(rank["passages"])
        if not 1 <= pairs <= MAX_PASSAGES:
            return error("invalid_request", f"{pairs} passages, this Task takes 1 to {MAX_PASSAGES}")
        with self.lock:
            if self.draining:
                return error("backend_unavailable", "this Task is shutting down")
            if self.waiting >= WAITING_MAX:
                return error("server_busy", f"{self.waiting} requests wait already", retry_after_ms=100)
            self.waiting += 1
            self.waiting_pairs += pairs
        self.jobs.put((connection, exchange, rank, time.monotonic_ns()))
        return None

    def ping(self, connection, exchange):
        self.jobs.put((connection, exchange, None, 0))

    def run(self):
        while True:
            connection, exchange, rank, admitted = self.jobs.get()
            if rank is None:
                connection.answer(exchange, "pong", self.health())
            else:
                self.rank(connection, exchange, rank, admitted)

    def rank(self, connection, exchange, rank, admitted):
        with self.lock:
            self.waiting -= 1
            self.waiting_pairs -= len(rank["passages"])
            self.ranks_total += 1
        started = time.monotonic_ns()
        deadline_ms = rank.get("deadline_ms", 0)
        if connection.was_cancelled(exchange):
            connection.answer(exchange, "error", error("cancelled", "the client withdrew it", rank["id"]))
        elif deadline_ms and started - admitted > deadline_ms * 1_000_000:
            connection.answer(exchange, "error", error("deadline_exceeded", "waited too long", rank["id"]))
        else:
            scores = [score(rank["query"], passage) for passage in rank["passages"]]
            connection.answer(exchange, "scores", {
                "id": rank["id"],
                "scores": struct.pack(f"<{len(scores)}f", *scores),
                "queue_us": (started - admitted) // 1000,
                "public_task_call_wall_us": (time.monotonic_ns() - started) // 1000,
            })

    def health(self):
        with self.lock:
            return {
                "ready": not self.draining, "oldest_call_ms": 0,  # the worker is here, so no call runs
                "queued_requests": self.waiting, "queued_pairs": self.waiting_pairs, "queued_tokens": 0, "queued_tokens_max": 0,
                "running_batches": 0, "counters": {"ranks_total": self.ranks_total},
            }


def error(code, message, request_id=None, **numbers):
    fields = {"code": code, "message": message, **numbers}
    return {"id": request_id, **fields} if request_id else fields


class Connection(threading.Thread):
    """Reads the frames of one client. Writing is shared with the worker, so it is locked."""

    def __init__(self, stream, worker):
        super().__init__(daemon=True)
        self.stream, self.worker = stream, worker
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
            self.worker.ping(self, exchange)
            return True
        with self.lock:
            self.open.add(exchange)
        refusal = self.worker.admit(self, exchange, fields)
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
    worker = Worker()
    worker.start()
    listener, lock = listen(sys.argv[1])
    connections = []

    def drain(*_):
        worker.draining = True
        listener.shutdown(socket.SHUT_RDWR)  # ends accept below

    signal.signal(signal.SIGTERM, drain)
    signal.signal(signal.SIGINT, drain)
    while not worker.draining:
        try:
            stream, _ = listener.accept()
        except OSError:
            break
        connections = [c for c in connections if c.is_alive()]
        connections.append(Connection(stream, worker))
        connections[-1].start()
    for connection in connections:
        connection.goaway()
    for connection in connections:
        connection.join(timeout=10)
    del lock  # held until here


if __name__ == "__main__":
    main()

"""A client of Watch in a thread of its own."""

import threading
import time

import grpc

from replica import Replica, Violation
from rpc import Failure

WAIT_SECONDS = 60


class Watcher:
    """Reads a stream into a Replica until it is stopped. While it is paused it takes nothing, so
    that the server cannot send after the connection's buffers are full."""

    def __init__(self, client, request, resumed=None, paused=False):
        self.replica = Replica(request, resumed)
        self.violation = None
        self.failure = None  # how the server ended the stream
        self.ended = False
        self._gate = threading.Event()
        if not paused:
            self._gate.set()
        self._changed = threading.Condition()
        self._call = client.Watch(request)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def pause(self):
        self._gate.clear()

    def resume(self):
        self._gate.set()

    def stop(self):
        """Ends the stream, and raises what it did wrong."""
        self._call.cancel()
        self._gate.set()
        self._thread.join()
        self.check()

    def check(self):
        if self.violation is not None:
            raise self.violation

    def wait(self, predicate, what, seconds=WAIT_SECONDS):
        """Returns what `predicate(replica)` says once that is true. Fails if the stream ends
        before, or after `seconds`."""
        end = time.monotonic() + seconds
        with self._changed:
            while True:
                self.check()
                found = predicate(self.replica)
                if found:
                    return found
                if self.ended:
                    raise AssertionError(f"the stream ended ({self.failure}) before: {what}")
                rest = end - time.monotonic()
                if rest <= 0:
                    raise AssertionError(f"not after {seconds} s: {what}")
                self._changed.wait(rest)

    def wait_synced(self):
        self.wait(lambda replica: replica.synced, "synced")
        return self

    def wait_end(self, seconds=WAIT_SECONDS):
        """How the server ended the stream."""
        self._gate.set()
        self._thread.join(seconds)
        self.check()
        if not self.ended:
            raise AssertionError(f"the stream goes on after {seconds} s")
        return self.failure

    def wait_revision(self, revision, seconds=WAIT_SECONDS):
        """Returns when the replica has everything up to `revision`."""
        self.wait(
            lambda replica: replica.synced
            and replica.checkpoint is not None
            and replica.checkpoint.number >= revision.number,
            f"a checkpoint at {revision.number} or later",
            seconds,
        )

    def locked(self, function):
        """What `function(replica)` says, while nothing is applied."""
        with self._changed:
            self.check()
            return function(self.replica)

    def _read(self):
        try:
            for response in self._call:
                self._gate.wait()
                with self._changed:
                    self.replica.apply(response)
                    self._changed.notify_all()
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.CANCELLED or self._gate.is_set():
                self.failure = Failure(error)
        except Violation as violation:
            self.violation = violation
            self._call.cancel()
        finally:
            with self._changed:
                self.ended = True
                self._changed.notify_all()

"""linkvaned as a process in a network namespace."""

import os
import signal
import socket
import subprocess
import time

LINKVANED = os.environ.get("LINKVANED", "linkvaned")


class ServerFailed(Exception):
    """linkvaned did not start, or did not end as it should."""


class Linkvaned:
    """A running server. Its log goes to a file; it dies with the test process."""

    def __init__(self, namespace, directory, *flags, listen=None, environment=None, prefix=()):
        self.socket_path = os.path.join(directory, "linkvane.sock")
        self.target = f"unix:{self.socket_path}"
        self.log_path = os.path.join(directory, f"log.{time.monotonic_ns()}")
        self._last_log = None
        words = [f"--listen={listen or self.target}"] if listen != "" else []
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [
                    "setpriv",
                    "--pdeathsig=KILL",
                    "ip",
                    "netns",
                    "exec",
                    namespace.name,
                    *prefix,
                    LINKVANED,
                    *words,
                    *flags,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
            )
        self.pid = self.process.pid

    def log(self):
        """What it has written; also after stop(), when the file may be gone."""
        if self._last_log is not None:
            return self._last_log
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def wait_listening(self, deadline=60):
        """Returns when the socket accepts connections."""
        end = time.monotonic() + deadline
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise ServerFailed(f"linkvaned ended with {self.process.returncode}:\n{self.log()}")
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                try:
                    probe.connect(self.socket_path)
                    return
                except OSError:
                    time.sleep(0.005)
        raise ServerFailed(f"linkvaned does not listen after {deadline} s:\n{self.log()}")

    def state(self):
        """The letter that the kernel shows of it: R, S, T (stopped), ..."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0]

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, deadline=60):
        """The exit status."""
        return self.process.wait(deadline)

    def kill(self):
        """Ends it at once, and leaves behind what it leaves."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Asks it to end; a server that was not ended before has to do so with status 0."""
        try:
            self._stop()
        finally:
            self._last_log = self.log()

    def _stop(self):
        if self.process.poll() is not None:
            return
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"linkvaned does not end on SIGTERM:\n{self.log()}") from None
        if status != 0:
            raise ServerFailed(f"linkvaned ended with status {status}:\n{self.log()}")

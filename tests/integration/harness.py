"""What the integration tests stand on: namespaces, servers, clients and watchers of one test, which
end with it.

Environment:
  LINKVANED, LINKVANE    the binaries
  LINKVANE_TEST_PROTOS   where the generated Python of the contract is
  LINKVANE_TEST_SCALE    how much to do, 1 unless set; smaller for slow builds
  LINKVANE_TEST_SEED     the seed of random tests, which print theirs
"""

import os
import random
import re
import sys
import tempfile
import time
import unittest

import grpc

from agreement import addr_differences, interface_differences
from netns import Namespace, remove_leftovers
from protos import CACHED, FRESH, WatchRequest
from rpc import Client, Failure
from server import Linkvaned
from watcher import Watcher

SCALE = float(
    os.environ.get("LINKVANE_TEST_SCALE") or os.environ.get("LINKVANE_TEST_DEFAULT_SCALE") or 1
)
DEADLINE_SECONDS = 60


def scaled(number, least=1):
    """`number`, or less where the tests are to do less."""
    return max(least, round(number * SCALE))


def wait_until(predicate, what, seconds=DEADLINE_SECONDS):
    """Returns what `predicate` returns once that is true; fails with `what` after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        found = predicate()
        if found:
            return found
        if time.monotonic() >= end:
            raise AssertionError(f"not after {seconds} s: {what}")
        time.sleep(0.01)


def _is_silent(line):
    """Whether a difference is in what a spanning tree changes without an event."""
    return re.search(r": (root_|designated_|bridge_id|topology_change)", line) is not None


class IntegrationTest(unittest.TestCase):
    """A test with servers in namespaces. Whatever it starts is ended after it, and a server that
    crashed or did not end well fails it."""

    maxDiff = None

    def run(self, result=None):
        self._servers = []
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            for number, server in enumerate(self._servers):
                print(
                    f"--- {self.id()}: log of server {number}, its end\n{server.log()[-8000:]}",
                    file=sys.stderr,
                )

    def namespace(self):
        namespace = Namespace()
        self.addCleanup(namespace.delete)
        return namespace

    def directory(self):
        directory = tempfile.TemporaryDirectory(prefix="linkvane-")
        self.addCleanup(directory.cleanup)
        return directory.name

    def server(self, namespace, *flags, directory=None, ready=True, **options):
        """A server on a Unix socket, which listens when this returns."""
        server = Linkvaned(namespace, directory or self.directory(), *flags, **options)
        self._servers.append(server)
        self.addCleanup(server.stop)
        if ready:
            server.wait_listening()
            client = Client(server.target)
            client.info()
            client.close()
        return server

    def client(self, server, *options):
        client = Client(server.target, *options)
        self.addCleanup(client.close)
        return client

    def started(self, *flags):
        """A namespace, a server in it, and a client of that."""
        namespace = self.namespace()
        server = self.server(namespace, *flags)
        return namespace, server, self.client(server)

    def watcher(self, client, resumed=None, paused=False, **request):
        watcher = Watcher(client, WatchRequest(**request), resumed, paused)
        self.addCleanup(watcher.stop)
        return watcher

    def random(self):
        """Random numbers of a seed that the test's output names."""
        seed = int(os.environ.get("LINKVANE_TEST_SEED") or random.SystemRandom().randrange(2**32))
        print(f"{self.id()}: LINKVANE_TEST_SEED={seed}", file=sys.stderr)
        return random.Random(seed)

    def fails(self, code, reason, function, *arguments, **options):
        """The Failure of a call that has to fail with `code` and `reason`."""
        try:
            answer = function(*arguments, **{"timeout": DEADLINE_SECONDS, **options})
            if hasattr(answer, "__next__"):
                for _ in answer:
                    pass
        except grpc.RpcError as error:
            failure = Failure(error)
        else:
            self.fail(f"succeeded instead of {code.name} {reason}")
        self.assertIs(failure.code, code, failure)
        self.assert_explained(failure, reason)
        return failure

    def assert_explained(self, failure, reason):
        """The failure has details that fit it, with `reason`."""
        self.assertIsNotNone(failure.info, f"no ErrorInfo: {failure}")
        self.assertEqual(failure.info.domain, "linkvane", failure)
        self.assertEqual(failure.info.reason, reason, failure)
        self.assertEqual(failure.status.code, failure.code.value[0], failure)
        self.assertEqual(failure.status.message, failure.message)
        self.assertTrue(failure.message)

    def assert_agrees(self, namespace, client, consistencies=(FRESH, CACHED)):
        """Linkvane and ip say the same of the namespace, in each of the `consistencies`.

        It is asked between two readings of ip that are the same; while the kernel still works on
        something, they are not.
        """

        def compare():
            before = namespace.view()
            answers = [
                (client.interfaces(consistency=consistency), client.addrs(consistency=consistency))
                for consistency in consistencies
            ]
            if namespace.view().without_what_runs() != before.without_what_runs():
                return None
            lines = []
            for consistency, (interfaces, addrs) in zip(consistencies, answers):
                lines += [
                    f"{'cached' if consistency == CACHED else 'fresh'}: {line}"
                    for line in interface_differences(interfaces, before)
                    + addr_differences(addrs, before)
                ]
            return before, lines

        settled = "two readings of ip with nothing between them"
        view, lines = wait_until(compare, settled)
        if lines and all(_is_silent(line) for line in lines):
            # An event that comes while a fresh answer's dump runs outweighs the dump, and with it
            # what the kernel changed without an event. The next dump mends that.
            view, lines = wait_until(compare, settled)
        if lines:
            self.fail("\n".join(lines))
        return view


def main():
    """Runs the tests of the calling file."""
    if os.geteuid() != 0:
        print("network namespaces need root")
        sys.exit(77)  # ctest's "skipped"
    remove_leftovers()
    unittest.main(verbosity=2)

"""The README's example client in Python does what the README says."""

import os
import re
import subprocess
import sys

import harness
from harness import wait_until

_README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "README.md")


def python_blocks():
    try:
        with open(_README, encoding="utf-8") as readme:
            return re.findall(r"^```python\n(.*?)^```", readme.read(), re.MULTILINE | re.DOTALL)
    except FileNotFoundError:
        return []


class ReadmeTest(harness.IntegrationTest):
    def test_the_python_client_lists_and_watches(self):
        blocks = python_blocks()
        if not blocks:
            self.skipTest("the README has no example in Python")
        self.assertEqual(len(blocks), 1)
        namespace, server, client = self.started()
        path = os.path.join(self.directory(), "example.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(blocks[0])
        process = subprocess.Popen(
            [sys.executable, "-u", path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                **os.environ,
                "LINKVANE_SERVER": server.target,
                "PYTHONPATH": os.environ["LINKVANE_TEST_PROTOS"],
            },
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.set_blocking(process.stdout.fileno(), False)
        output = bytearray()

        def printed():
            output.extend(process.stdout.read() or b"")
            return output.decode()

        def prints(word):
            found = re.search(rf"\b{word}\b", printed())
            if not found and process.poll() is not None:
                self.fail(f"the example ended with {process.returncode}:\n{printed()}")
            return found

        wait_until(lambda: prints("lo"), "lo is printed", 30)
        wait_until(lambda: client.info().counts.watchers == 1, "it watches", 30)
        namespace.ip("link add name meanwhile0 type bridge")
        wait_until(lambda: prints("meanwhile0"), "the change is printed", 30)


if __name__ == "__main__":
    harness.main()

"""linkvaned as a process: how it starts, where it listens, what it refuses."""

import json
import os
import re
import signal
import socket
import stat

import grpc

import harness
from harness import wait_until
from rpc import Client
from server import LINKVANED, Linkvaned

_LINKVANE = os.environ.get("LINKVANE", "linkvane")


class ProcessTest(harness.IntegrationTest):
    def refused(self, namespace, *flags, status=2, environment=None):
        """The one line with which linkvaned refuses to start."""
        server = Linkvaned(namespace, self.directory(), *flags, listen="", environment=environment)
        self.addCleanup(server.kill)
        wait_until(
            lambda: server.process.poll() is not None or "listening" in server.log(),
            "it ends or listens",
            20,
        )
        ended, log = server.process.poll(), server.log()
        server.kill()
        self.assertEqual(ended, status, log)
        self.assertEqual(len(log.splitlines()), 1, log)
        return log

    def test_wrong_flags(self):
        namespace = self.namespace()
        for flag in (
            "--no_such_flag=1",
            "--listen=",
            "--listen=unix:",
            "--listen=nonsense",
            "--listen=127.0.0.1:99999",
            "--listen=127.0.0.1:x",
            "--audit_interval=soon",
            "--audit_interval=-1s",
            "--audit_interval=0",
            "--max_watchers=many",
            "--max_watchers=-1",
            "--pool_size=0",
            "--pool_size=1000",
            "--pool_size=2.5",
            "--watch_stall_timeout=-5s",
            "--grace_period=-1s",
            "--socket_mode=999",
            "--socket_group=no-such-group",
            "--log_level=loud",
            "--log_format=xml",
            "--allow_insecure_remote=perhaps",
            "--flagfile=/no/such/file",
            "--flagfile=/",
            "extra",
        ):
            with self.subTest(flag=flag):
                line = self.refused(namespace, flag)
                name, _, value = flag.lstrip("-").partition("=")
                self.assertTrue(name in line or (value and value in line), line)

    def test_wrong_environment(self):
        namespace = self.namespace()
        line = self.refused(namespace, environment={"LINKVANE_MAX_WATCHERS": "many"})
        self.assertRegex(line, "(?i)max_watchers")

    def test_help_and_version(self):
        namespace = self.namespace()
        text = namespace.execute(LINKVANED, "--help").decode()
        for flag in (
            "listen",
            "allow_insecure_remote",
            "socket_mode",
            "socket_group",
            "node_name",
            "pool_size",
            "audit_interval",
            "max_watchers",
            "watch_stall_timeout",
            "grace_period",
            "log_level",
            "log_format",
            "flagfile",
        ):
            self.assertIn(f"--{flag}", text)
        self.assertNotIn("--undefok", text)  # of the flags library
        self.assertRegex(
            namespace.execute(LINKVANED, "--version").decode(), r"^linkvaned \d+\.\d+\.\d+\n$"
        )

    def test_help_that_cannot_be_written(self):
        namespace = self.namespace()
        status = namespace.execute(
            "bash", "-c", f"{LINKVANED} --help >/dev/full; echo $?", check=False
        )
        self.assertEqual(status, b"1\n")

    def test_too_few_descriptors(self):
        namespace = self.namespace()
        for limit in (12, 16, 40):
            with self.subTest(limit=limit):
                directory = self.directory()
                server = Linkvaned(namespace, directory, prefix=["prlimit", f"--nofile={limit}"])
                self.addCleanup(server.kill)
                self.assertEqual(server.wait(20), 1, server.log())
                self.assertIn("RLIMIT_NOFILE", server.log())
                self.assertEqual(len(server.log().splitlines()), 1)
                self.assertEqual(
                    [name for name in os.listdir(directory) if name.startswith("linkvane")], []
                )

    def test_closed_standard_descriptors(self):
        """No file of the server's own takes the places of those that libraries may write to."""
        namespace = self.namespace()
        server = self.server(
            namespace, prefix=["bash", "-c", 'exec "$@" <&- >&- 2>&-', "bash"]
        )
        self.assertTrue(self.reaches(server))
        for number in (1, 2):
            self.assertEqual(os.readlink(f"/proc/{server.pid}/fd/{number}"), "/dev/null")

    def test_the_log_of_requests_that_are_no_text(self):
        """Libraries' lines have the log's form, and are not told again and again."""
        namespace = self.namespace()
        server = self.server(namespace, "--log_format=json")
        client = self.client(server)
        for _ in range(50):
            with self.assertRaises(grpc.RpcError):
                client.raw("/linkvane.v1.NetworkStateService/ListInterfaces", b"\x0a\x02\xff\xfe")
        lines = [json.loads(line) for line in server.log().splitlines()]
        warnings = [line for line in lines if line["level"] == "warning"]
        self.assertLessEqual(len(warnings), 2, warnings)

    def test_plaintext_for_others_is_refused(self):
        namespace = self.namespace()
        namespace.batch(
            [
                "link set dev lo up",
                "link add name veth0 type veth peer name veth1",
                "link set dev veth0 up",
                "addr add 192.0.2.1/24 dev veth0",
            ]
        )
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0", "192.0.2.1:50550", "[fd00::1]:0"):
            with self.subTest(address=address):
                self.assertIn(
                    "allow_insecure_remote", self.refused(namespace, f"--listen={address}")
                )
        # Also beside an address that is fine.
        self.refused(namespace, f"--listen=unix:{self.directory()}/socket,0.0.0.0:0")

    def test_plaintext_for_others_if_told_so(self):
        namespace = self.namespace()
        namespace.batch(
            [
                "link set dev lo up",
                "link add name veth0 type veth peer name veth1",
                "link set dev veth0 up",
                "addr add 192.0.2.1/24 dev veth0",
            ]
        )
        server = self.server(
            namespace, "--allow_insecure_remote", listen="192.0.2.1:0", ready=False
        )
        self.assert_answers(namespace, self.port_of(server, "192.0.2.1"))

    def test_a_port_of_loopback(self):
        namespace = self.namespace()
        namespace.ip("link set dev lo up")
        for host in ("127.0.0.1", "[::1]", "localhost"):
            with self.subTest(host=host):
                server = self.server(namespace, listen=f"{host}:0", ready=False)
                self.assert_answers(namespace, self.port_of(server, host))

    def port_of(self, server, host):
        """HOST:PORT from the line that says where the server listens."""
        pattern = re.escape(host) if host != "localhost" else r"(?:127\.0\.0\.1|\[::1\]|localhost)"
        wait_until(
            lambda: server.process.poll() is not None
            or re.search(pattern + r":[1-9]\d*", server.log()),
            "a line with the port",
            20,
        )
        self.assertIsNone(server.process.poll(), server.log())
        return re.search(pattern + r":[1-9]\d*", server.log()).group()

    def assert_answers(self, namespace, address):
        answer = namespace.execute(_LINKVANE, f"--server={address}", "interfaces", "-o", "json")
        self.assertIn(b'"lo"', answer)

    def test_several_addresses(self):
        namespace = self.namespace()
        namespace.ip("link set dev lo up")
        directory = self.directory()
        server = self.server(
            namespace,
            directory=directory,
            listen=f"unix:{directory}/linkvane.sock,unix:{directory}/other,127.0.0.1:0",
        )
        for address in (
            f"unix:{directory}/linkvane.sock",
            f"unix:{directory}/other",
            self.port_of(server, "127.0.0.1"),
        ):
            self.assert_answers(namespace, address)

    def test_a_second_server_on_a_live_socket_does_not_start(self):
        namespace = self.namespace()
        directory = self.directory()
        first = self.server(namespace, directory=directory)
        client = self.client(first)
        watcher = self.watcher(client).wait_synced()
        second = Linkvaned(namespace, directory)
        self.addCleanup(second.kill)
        self.assertNotEqual(second.wait(20), 0)
        self.assertEqual(len(second.log().splitlines()), 1, second.log())
        self.assertIn("linkvane.sock", second.log())
        # The first is as it was, also for those who come now.
        self.assertIn("lo", [i.name for i in self.client(first).interfaces()])
        namespace.ip("link add name new0 type bridge")
        watcher.wait(
            lambda replica: [i for i in replica.interfaces() if i.name == "new0"], "the change"
        )

    def test_a_port_that_is_taken(self):
        namespace = self.namespace()
        namespace.ip("link set dev lo up")
        first = self.server(namespace, listen="127.0.0.1:0", ready=False)
        address = self.port_of(first, "127.0.0.1")
        second = Linkvaned(namespace, self.directory(), listen=address)
        self.addCleanup(second.kill)
        self.assertNotEqual(second.wait(20), 0)
        self.assertIn(address, second.log())
        self.assert_answers(namespace, address)

    def test_a_stale_socket_hinders_nothing(self):
        namespace = self.namespace()
        directory = self.directory()
        first = self.server(namespace, directory=directory)
        path = first.socket_path
        first.kill()
        self.assertTrue(stat.S_ISSOCK(os.stat(path).st_mode))
        second = self.server(namespace, directory=directory)
        self.assertIn("lo", [i.name for i in self.client(second).interfaces()])
        second.stop()
        # And a server that ends well leaves none.
        self.assertFalse(os.path.exists(path))

    def test_what_is_not_a_socket_is_not_removed(self):
        namespace = self.namespace()
        directory = self.directory()
        path = os.path.join(directory, "linkvane.sock")
        with open(path, "w", encoding="utf-8") as file:
            file.write("precious")
        server = Linkvaned(namespace, directory)
        self.addCleanup(server.kill)
        self.assertNotEqual(server.wait(20), 0)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_the_mode_of_the_socket(self):
        namespace = self.namespace()
        server = self.server(namespace)
        self.assertEqual(stat.S_IMODE(os.stat(server.socket_path).st_mode), 0o660)
        server = self.server(namespace, "--socket_mode=0600", "--socket_group=daemon")
        status = os.stat(server.socket_path)
        self.assertEqual(stat.S_IMODE(status.st_mode), 0o600)
        self.assertEqual(status.st_gid, 1)

    def test_flags_from_the_environment(self):
        namespace = self.namespace()
        directory = self.directory()
        server = self.server(
            namespace,
            directory=directory,
            listen="",
            environment={
                "LINKVANE_LISTEN": f"unix:{directory}/linkvane.sock",
                "LINKVANE_NODE_NAME": "from-environment",
                "LINKVANE_MAX_WATCHERS": "7",
            },
        )
        info = self.client(server).info()
        self.assertEqual((info.node_name, info.limits.max_watchers), ("from-environment", 7))

    def test_a_flag_outweighs_the_environment(self):
        namespace = self.namespace()
        server = self.server(
            namespace,
            "--node_name=from-flag",
            environment={"LINKVANE_NODE_NAME": "from-environment"},
        )
        self.assertEqual(self.client(server).info().node_name, "from-flag")

    def test_flags_from_a_file(self):
        namespace = self.namespace()
        directory = self.directory()
        path = os.path.join(directory, "flags")
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f"# where\n--listen=unix:{directory}/linkvane.sock\n\n--node_name=from-file\n"
            )
        server = self.server(namespace, f"--flagfile={path}", directory=directory, listen="")
        self.assertEqual(self.client(server).info().node_name, "from-file")

    def test_without_any_privilege(self):
        namespace = self.namespace()
        directory = self.directory()
        os.chmod(directory, 0o777)
        namespace.batch(["link add name some0 type bridge", "addr add 10.0.0.1/24 dev some0"])
        server = self.server(
            namespace,
            directory=directory,
            prefix=(
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "--bounding-set=-all",
                "--inh-caps=-all",
                "--no-new-privs",
            ),
        )
        with open(f"/proc/{server.pid}/status", encoding="utf-8") as status:
            self.assertRegex(status.read(), r"CapEff:\t0+\n")
        client = self.client(server)
        self.assert_agrees(namespace, client)
        watcher = self.watcher(client).wait_synced()
        namespace.ip("link set dev some0 mtu 1400")
        watcher.wait(lambda replica: replica.live, "an event")

    def test_other_signals_lose_nothing(self):
        namespace, server, client = self.started()
        watcher = self.watcher(client).wait_synced()
        for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGUSR1, signal.SIGUSR2):
            with self.subTest(signal=number.name):
                server.signal(number)
                namespace.ip(f"link add name signal{number} type bridge")
                watcher.wait(
                    lambda replica: [
                        i for i in replica.interfaces() if i.name == f"signal{number}"
                    ],
                    "the change",
                )
        self.assertIsNone(server.process.poll())

    def test_a_log_of_json(self):
        namespace = self.namespace()
        server = self.server(namespace, "--log_format=json", "--log_level=debug")
        namespace.ip("link add name some0 type bridge")
        self.client(server).interfaces()
        server.stop()
        lines = server.log().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertIsInstance(json.loads(line), dict, line)
        self.assertIn("linkvane.sock", server.log())

    def test_no_more_connections_than_it_takes(self):
        """A client too many is refused or waits; the server goes on for the others."""
        namespace, server, client = self.started()
        limit = client.info().limits.max_connections
        others = []
        try:
            for _ in range(min(limit + 20, 1500)):
                connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                connection.settimeout(0.05)
                try:
                    connection.connect(server.socket_path)
                except OSError:
                    pass
                others.append(connection)
            self.assertIn("lo", [i.name for i in client.interfaces()])
        finally:
            for connection in others:
                connection.close()
        wait_until(lambda: self.reaches(server), "a new client is served", 20)
        self.assert_agrees(namespace, client)

    @staticmethod
    def reaches(server):
        client = Client(server.target)
        try:
            return client.info()
        except grpc.RpcError:
            return None
        finally:
            client.close()


if __name__ == "__main__":
    harness.main()

"""The `linkvane` command, against a server."""

import json
import os
import pty
import re
import signal
import subprocess
import time

import yaml

import harness
from harness import wait_until
from protos import Interface, Addr, network_state_service_pb2

LINKVANE = os.environ.get("LINKVANE", "linkvane")
OK, ERROR, USAGE, NOT_FOUND, DEADLINE, UNREACHABLE = range(6)


class CommandTest(harness.IntegrationTest):
    def setUp(self):
        self.namespace_ = self.namespace()
        self.server_ = self.server(self.namespace_, "--node_name=node-7")
        self.namespace_.batch(
            [
                "link set dev lo up",
                "link add name br0 index 10 type bridge",
                "link add name port0 index 11 type veth peer name port1 index 12",
                "link set dev port0 addrgenmode none",
                "link set dev port1 addrgenmode none",
                "link set dev port0 master br0",
                "link set dev port0 up",
                "link set dev port1 up",
                "link property add dev port0 altname uplink-of-the-rack",
                "addr add 10.0.0.1/24 dev br0",
                "addr add fd00::1/64 nodad dev br0",
            ]
        )
        # So that two commands one after the other print the same.
        wait_until(
            lambda: {
                link["operstate"] for link in self.namespace_.json("link", "show", "type", "veth")
            }
            == {"UP"},
            "both ends are up",
        )

    def run_command(self, *words, server=None, environment=None):
        """(exit status, standard output, standard error)"""
        done = subprocess.run(
            [LINKVANE, f"--server={server or self.server_.target}", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, **(environment or {})},
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def output(self, *words, **options):
        status, out, err = self.run_command(*words, **options)
        self.assertEqual((status, err), (OK, ""), out)
        return out

    def fails_with(self, status, *words, **options):
        """The one line that says why."""
        found, out, err = self.run_command(*words, **options)
        self.assertEqual(found, status, f"{out}{err}")
        self.assertEqual(out, "")
        self.assertRegex(err, r"^linkvane: [^\n]+\n$")
        return err

    def json(self, *words):
        return json.loads(self.output(*words, "-o", "json"))

    def yaml(self, *words):
        return yaml.safe_load(self.output(*words, "-o", "yaml"))

    def on_a_terminal(self, *words, **variables):
        """What the command writes to a terminal."""
        environment = {name: os.environ[name] for name in os.environ if name != "NO_COLOR"}
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        with subprocess.Popen(
            [LINKVANE, "-s", self.server_.target, *words],
            stdin=subprocess.DEVNULL,
            stdout=slave,
            env={**environment, "TERM": "xterm", **variables},
        ) as process:
            os.close(slave)
            output = b""
            try:
                while part := os.read(master, 65536):
                    output += part
            except OSError:  # Linux' way to say that nobody has the other end open.
                pass
        self.assertEqual(process.returncode, OK)
        return output.decode().replace("\r\n", "\n")

    def assert_fields(self, objects, message):
        names = set(message.DESCRIPTOR.fields_by_name)
        for found in objects:
            self.assertLessEqual(set(found), names)

    def test_interfaces(self):
        for command in ("interfaces", "links"):
            found = self.json(command)
            self.assertEqual([i["name"] for i in found], ["lo", "br0", "port0", "port1"])
            self.assert_fields(found, Interface)
        port = found[2]
        self.assertEqual(
            (port["index"], port["master_name"], port["alt_names"], port["admin_up"]),
            (11, "br0", ["uplink-of-the-rack"], True),
        )
        self.assertTrue(port["uid"])
        self.assertNotIn("stats", port)

    def test_filters_and_options_of_interfaces(self):
        for words, names in (
            (["--name=port*"], ["port0", "port1"]),
            (["--name=uplink*"], ["port0"]),
            (["--kind=bridge"], ["br0"]),
            (["--kind=bridge", "--kind=veth"], ["br0", "port0", "port1"]),
            (["--master=br0"], ["port0"]),
            (["--up"], ["lo", "port0", "port1"]),
            (["--down"], ["br0"]),
            (["--index=12"], ["port1"]),
            (["--name=none"], []),
            (["--oper-state=down"], ["br0"]),
            (["--cached", "--kind=veth"], ["port0", "port1"]),
            (["--page-size=1"], ["lo", "br0", "port0", "port1"]),
        ):
            with self.subTest(words=words):
                self.assertEqual([i["name"] for i in self.json("interfaces", *words)], names)
        found = self.json("interfaces", "--fields=mtu,stats.rx_bytes", "--stats")
        self.assertEqual(
            {frozenset(i) for i in found}, {frozenset({"uid", "index", "mtu", "stats"})}
        )
        self.assertEqual({frozenset(i["stats"]) for i in found}, {frozenset({"rx_bytes"})})

    def test_addrs(self):
        for command in ("addrs", "addresses"):
            found = self.json(command)
            self.assert_fields(found, Addr)
        by_address = {addr["address"]: addr for addr in found}
        self.assertLessEqual({"127.0.0.1", "::1", "10.0.0.1", "fd00::1"}, set(by_address))
        self.assertEqual(by_address["10.0.0.1"]["prefix_length"], 24)
        self.assertEqual(by_address["10.0.0.1"]["family"], "ADDRESS_FAMILY_IPV4")
        self.assertEqual(by_address["10.0.0.1"]["interface_name"], "br0")
        for words, addresses in (
            (["-4"], {"127.0.0.1", "10.0.0.1"}),
            (["-6", "--interface=br0"], {"fd00::1"}),
            (["--within=10.0.0.0/8"], {"10.0.0.1"}),
            (["--scope=host"], {"127.0.0.1", "::1"}),
        ):
            with self.subTest(words=words):
                self.assertEqual({a["address"] for a in self.json("addrs", *words)}, addresses)

    def test_get(self):
        for words in (["port0"], ["uplink-of-the-rack"], ["--index=11"], ["--cached", "port0"]):
            with self.subTest(words=words):
                found = self.json("get", *words)
                self.assertEqual((found["name"], found["index"]), ("port0", 11))
                self.assert_fields([found], Interface)
        text = self.output("get", "br0")
        for expected in ("br0", "10.0.0.1", "fd00::1", "bridge"):
            self.assertIn(expected, text)

    def groups(self, *words):
        """Titles of the groups of `get`, and of each its lines: {title: {label: text}}."""
        groups = {}
        for line in self.output("get", *words).splitlines():
            if not line.startswith(" "):
                lines = groups.setdefault(line, {})
            elif match := re.fullmatch(r"  (\S+(?: \S+)*)  +(\S.*)", line):
                lines[match[1]] = match[2]
        return groups

    def test_get_shows_groups(self):
        bridge = self.groups("br0")
        self.assertEqual(next(iter(bridge)), "br0")
        self.assertLessEqual({"state", "sizes and queues", "bridge", "addresses"}, set(bridge))
        self.assertNotIn("other", bridge)
        self.assertEqual(bridge["br0"]["kind"], "bridge")
        self.assertEqual(bridge["state"]["administrative state"], "down")
        self.assertTrue(bridge["sizes and queues"]["mtu"].startswith("1500 bytes ("))
        self.assertEqual(bridge["bridge"]["forward delay"], "15s")
        self.assertEqual(bridge["bridge"]["stp state"], "disabled")
        self.assertEqual(bridge["bridge"]["vlan filtering"], "no")
        self.assertIn("counters", bridge)
        self.assertNotIn("counters", self.groups("br0", "--cached"))
        self.assertGreater(len(self.groups("br0", "-o", "wide")["ipv6"]), len(bridge["ipv6"]))

        port = self.groups("port0")
        self.assertEqual(port["port0"]["link"], "port1 (index 12)")
        self.assertEqual(port["port0"]["alternative names"], "uplink-of-the-rack")
        self.assertEqual(port["port of br0"]["master's kind"], "bridge")
        self.assertEqual(port["port of br0"]["learning"], "yes")
        self.assertEqual(port["IPv6"]["address generation"], "none")
        self.assertEqual(
            self.groups("port0", "-o", "wide")["IPv6"]["address generation"], "none (1)"
        )

    def test_get_wide_shows_what_has_no_name(self):
        found = self.json("get", "br0").get("unknown_attributes", [])
        lines = self.groups("br0", "-o", "wide").get("unknown attributes", {})
        self.assertEqual(
            set(lines),
            {".".join(map(str, [*a.get("parents", []), a["type"]])) for a in found},
        )

    def test_wide_tables_have_more_columns(self):
        lines = self.output("interfaces", "-o", "wide", "--name=port0").splitlines()
        for column in ("GROUP", "QDISC", "TXQLEN", "ALIAS", "ALTNAMES", "DETAILS", "PORT"):
            self.assertIn(column, lines[0].split())
        self.assertRegex(lines[1], "uplink-of-the-rack .* disabled$")
        self.assertIn(" stp disabled ", self.output("interfaces", "-o", "wide", "--name=br0"))
        lines = self.output("addrs", "-owide").splitlines()
        for column in ("BROADCAST", "LABEL", "PROTOCOL", "METRIC", "CREATED", "UPDATED"):
            self.assertIn(column, lines[0].split())

    def test_yaml_is_the_json(self):
        alias = "- yes: \"no\" # \x1b[31m \t 1e3 \u00e4\u202e\U0001f309 "
        self.namespace_.ip("link", "set", "dev", "port1", "alias", alias)
        wait_until(lambda: self.json("get", "port1", "--cached").get("alias") == alias, "the alias")
        for words in (
            ["interfaces", "--cached"],
            ["addrs", "--cached"],
            ["get", "port1", "--cached"],
            ["get", "port0", "--cached", "--fields=bridge_port"],
            ["interfaces", "--cached", "--name=none"],
        ):
            with self.subTest(words=words):
                self.assertEqual(self.yaml(*words), self.json(*words))
                self.assertNotIn("\x1b", self.output(*words, "-o", "yaml"))
        self.assertEqual(set(self.yaml("info")), set(self.json("info")))

    def test_colors_only_on_a_terminal(self):
        for words in (["interfaces"], ["addrs"], ["get", "port0"], ["interfaces", "-owide"]):
            with self.subTest(words=words):
                plain = self.output(*words, "--cached")
                self.assertNotIn("\x1b", plain)
                colored = self.output(*words, "--cached", "--color=always")
                self.assertIn("\x1b[1m", colored)
                self.assertEqual(re.sub("\x1b\\[[0-9]+m", "", colored), plain)
                words = [*words, "--cached"]
                self.assertIn("\x1b[1m", self.on_a_terminal(*words))
                self.assertNotIn("\x1b", self.on_a_terminal(*words, "--color=never"))
                self.assertNotIn("\x1b", self.on_a_terminal(*words, NO_COLOR="1"))
                self.assertNotIn("\x1b", self.on_a_terminal(*words, TERM="dumb"))
                self.assertNotIn("\x1b", self.on_a_terminal(*words, "-o", "yaml"))
        self.assertIn("\x1b[32mup\x1b[0m", self.output("interfaces", "--color=always"))
        self.fails_with(USAGE, "interfaces", "--color=red")

    def test_info(self):
        found = self.json("info")
        self.assertLessEqual(
            set(found),
            set(network_state_service_pb2.GetServerInfoResponse.DESCRIPTOR.fields_by_name),
        )
        self.assertEqual(found["node_name"], "node-7")
        self.assertIn("node-7", self.output("info"))

    def test_tables_are_aligned(self):
        for words, first in (
            (["interfaces"], "INDEX"),
            (["interfaces", "--stats"], "INDEX"),
            (["addrs"], None),
        ):
            with self.subTest(words=words):
                lines = self.output(*words, "-o", "table").splitlines()
                self.assertEqual(self.output(*words).splitlines()[0], lines[0])
                if first:
                    self.assertTrue(lines[0].lstrip().startswith(first), lines[0])
                self.assertFalse([line for line in lines if line != line.rstrip() or "\t" in line])
                # Between two columns there is a gap from the first line to the last.
                width = max(map(len, lines))
                filled = [
                    "".join(line.ljust(width)[at] for line in lines).strip() != ""
                    for at in range(width)
                ]
                columns = sum(now and not before for before, now in zip([False, *filled], filled))
                self.assertEqual(columns, len(lines[0].split()), "\n".join(lines))

    def test_exit_statuses(self):
        self.assertIn("INTERFACE_NOT_FOUND", self.fails_with(NOT_FOUND, "get", "eth7"))
        self.assertIn("eth7", self.fails_with(NOT_FOUND, "get", "eth7"))
        self.fails_with(NOT_FOUND, "get", "--index=99")
        for words in (
            ["nonsense"],
            [],
            ["get"],
            ["interfaces", "extra"],
            ["interfaces", "--no-such-option"],
            ["interfaces", "-o", "xml"],
            ["info", "-o", "wide"],
            ["interfaces", "--timeout=soon"],
            ["get", "--index=x"],
            ["interfaces", "--oper-state=odd"],
            ["watch", "--require-resume"],
        ):
            with self.subTest(words=words):
                self.fails_with(USAGE, *words)
        # What only the server finds wrong is wrong usage, too.
        self.assertIn("read_mask", self.fails_with(USAGE, "interfaces", "--fields=no_such"))
        self.fails_with(USAGE, "addrs", "--within=10.0.0.0/99")
        self.fails_with(USAGE, "interfaces", "--stats", "--cached")

    def test_no_server(self):
        missing = f"unix:{self.directory()}/none"
        for words in (["interfaces"], ["addrs"], ["get", "lo"], ["watch"], ["info"]):
            with self.subTest(words=words):
                started = time.monotonic()
                self.assertIn("none", self.fails_with(UNREACHABLE, *words, server=missing))
                self.assertLess(time.monotonic() - started, 8)
        self.fails_with(UNREACHABLE, "info", server="127.0.0.1:1")

    def test_no_answer_in_time(self):
        self.server_.signal(signal.SIGSTOP)
        try:
            self.fails_with(DEADLINE, "interfaces", "--timeout=300ms")
        finally:
            self.server_.signal(signal.SIGCONT)

    def test_the_server_from_the_environment(self):
        done = subprocess.run(
            [LINKVANE, "info", "-o", "json"],
            capture_output=True,
            check=True,
            timeout=60,
            env={**os.environ, "LINKVANE_SERVER": self.server_.target},
        )
        self.assertEqual(json.loads(done.stdout)["node_name"], "node-7")
        # A bare path is a socket, too.
        self.assertEqual(self.run_command("info", server=self.server_.socket_path)[0], OK)

    def test_help(self):
        for words in (
            ["--help"],
            ["-h"],
            ["help"],
            ["interfaces", "--help"],
            ["help", "watch"],
            ["--version"],
        ):
            done = subprocess.run(
                [LINKVANE, *words], capture_output=True, text=True, check=False, timeout=60
            )
            self.assertEqual((done.returncode, done.stderr), (OK, ""))
            self.assertRegex(done.stdout, "^(Usage: |linkvane )")
        text = subprocess.run(
            [LINKVANE, "--help"], capture_output=True, text=True, check=True
        ).stdout
        for command in ("interfaces", "links", "addrs", "get", "watch", "info"):
            self.assertIn(command, text)

    def test_odd_names_do_not_reach_the_terminal(self):
        self.namespace_.batch(
            [b"link add name \x1b[31mred type bridge", b"link set dev br0 alias \x1b]0;x\x07\xff"]
        )
        for words in (["interfaces"], ["get", "br0"]):
            self.assertFalse(re.search("[\x00-\x09\x0b-\x1f\x7f]", self.output(*words)))
        names = [i["name"] for i in self.json("interfaces")]
        self.assertIn("\x1b[31mred", names)

    def test_a_closed_pipe_is_no_error(self):
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {LINKVANE} -s {self.server_.target} interfaces | :"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        self.assertEqual((done.returncode, done.stderr), (OK, ""))

    def start_watch(self, *words):
        process = subprocess.Popen(
            [LINKVANE, "-s", self.server_.target, "watch", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        os.set_blocking(process.stdout.fileno(), False)
        output = bytearray()

        def read():
            output.extend(process.stdout.read() or b"")
            return output.decode()

        def close():
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()

        self.addCleanup(close)
        return process, read

    def test_watch_as_json(self):
        process, read = self.start_watch("-o", "json", "--previous")
        wait_until(lambda: '"synced"' in read(), "synced")
        self.namespace_.ip("link set dev br0 mtu 1400")
        wait_until(lambda: "MODIFIED" in read(), "the change")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), OK)
        responses = [json.loads(line) for line in read().splitlines()]
        fields = {"created", "events", "synced", "bookmark", "gap", "resync", "checkpoint"}
        for response in responses:
            self.assertLessEqual(set(response), fields)
        self.assertIn("created", responses[0])
        events = [
            event
            for response in responses
            for event in response.get("events", {}).get("events", [])
        ]
        added = [
            e["resource"]["interface"]["name"]
            for e in events
            if e["type"] == "EVENT_TYPE_ADDED" and "interface" in e["resource"]
        ]
        self.assertEqual(added, ["lo", "br0", "port0", "port1"])
        change = next(
            e
            for e in events
            if e["type"] == "EVENT_TYPE_MODIFIED"
            and e["resource"].get("interface", {}).get("mtu") == 1400
        )
        self.assertEqual(change["previous"]["interface"]["mtu"], 1500)
        self.assertIn("mtu", change["changed"].split(","))

    def test_watch_as_yaml(self):
        process, read = self.start_watch("-o", "yaml")
        wait_until(lambda: "\nsynced: {}\n" in read(), "synced")
        self.namespace_.ip("link set dev br0 mtu 1400")
        wait_until(lambda: "MODIFIED" in read(), "the change")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), OK)
        self.assertTrue(read().startswith("---\ncreated:\n"))
        events = [
            event
            for response in yaml.safe_load_all(read())
            for event in response.get("events", {}).get("events", [])
        ]
        self.assertIn("port0", [e["resource"].get("interface", {}).get("name") for e in events])
        self.assertIn(1400, [e["resource"].get("interface", {}).get("mtu") for e in events])

    def test_watch_as_text(self):
        process, read = self.start_watch("--type=interface", "--name=new*")
        self.namespace_.ip("link add name new0 type bridge")
        wait_until(lambda: "new0" in read(), "the new interface")
        self.namespace_.ip("link set dev new0 mtu 1400")
        wait_until(lambda: re.search("mtu.*1400", read()), "the change")
        self.namespace_.ip("link del dev new0")
        lines = len(read().splitlines())
        wait_until(
            lambda: len(read().splitlines()) > lines or "emoved" in read().lower(), "the removal"
        )
        self.assertNotIn("port0", read())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), OK)

    def test_watch_resumes(self):
        process, read = self.start_watch("-o", "json")
        wait_until(lambda: '"synced"' in read(), "synced")
        checkpoint = next(r for r in map(json.loads, read().splitlines()) if "synced" in r)[
            "checkpoint"
        ]
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        self.namespace_.ip("link add name meanwhile0 type bridge")
        resume = f"--resume={checkpoint['epoch']}:{checkpoint.get('number', 0)}"
        _, read = self.start_watch("-o", "json", resume)
        wait_until(lambda: "meanwhile0" in read(), "what happened meanwhile")
        self.assertIn(
            "REVISION_AHEAD",
            self.fails_with(
                ERROR, "watch", "--require-resume", f"--resume={checkpoint['epoch']}:999999"
            ),
        )

    def test_watch_ends_with_the_server(self):
        process, read = self.start_watch()
        wait_until(lambda: "port1" in read(), "the snapshot")
        self.server_.signal(signal.SIGTERM)
        self.assertNotEqual(process.wait(20), OK)
        self.assertRegex(process.stderr.read().decode(), r"^linkvane: [^\n]+\n$")


if __name__ == "__main__":
    harness.main()

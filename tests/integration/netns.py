"""Network namespaces, and what `ip` and sysfs say of them."""

import itertools
import json
import os
import subprocess
import time

_numbers = itertools.count(1)
# Attributes in /sys/class/net/NAME that `ip -j` does not show.
_SYSFS = ("type", "carrier", "carrier_changes", "carrier_up_count", "carrier_down_count")
# Settings in linkinfo that run by themselves.
_RUNNING = (
    "fdb_n_learned",
    "forward_delay_timer",
    "gc_timer",
    "hello_timer",
    "hold_timer",
    "mcast_querier_ipv4_other_timer",
    "mcast_querier_ipv6_other_timer",
    "message_age_timer",
    "seq_nr",
    "tcn_timer",
    "topology_change_timer",
)


class CommandFailed(Exception):
    """A command did not do what it was asked."""


def run(words, stdin=b"", check=True):
    """Runs a command, whose words may be bytes, and returns its standard output as bytes."""
    done = subprocess.run(words, input=stdin, capture_output=True, check=False)
    if check and done.returncode != 0:
        raise CommandFailed(
            f"{words}: status {done.returncode}\n{done.stderr.decode(errors='replace')}"
        )
    return done.stdout


def text_of(raw):
    """Bytes as text from which raw_of() gets the same bytes again, UTF-8 or not."""
    return raw.decode("utf-8", "surrogateescape")


def raw_of(text):
    """The bytes that text_of() took."""
    return text.encode("utf-8", "surrogateescape")


def _steady(value):
    """A part of linkinfo, without what runs by itself."""
    if not isinstance(value, dict):
        return value
    return {key: _steady(inner) for key, inner in value.items() if key not in _RUNNING}


def _line(command):
    return (command if isinstance(command, bytes) else command.encode()) + b"\n"


class Namespace:
    """A network namespace. `ip -j` is read as bytes: a name or an alias need not be UTF-8."""

    def __init__(self):
        # The process id lets remove_leftovers() know whose it was.
        self.name = f"linkvane-{os.getpid()}-{next(_numbers)}"
        run(["ip", "netns", "add", self.name])

    def delete(self):
        run(["ip", "netns", "del", self.name])

    def ip(self, *words):
        """One `ip` command in the namespace, in words or as one text to be split at spaces."""
        if len(words) == 1 and isinstance(words[0], str):
            words = words[0].split()
        return run(["ip", "-n", self.name, *words])

    def batch(self, lines):
        """Many `ip` commands in one process."""
        script = b"".join(_line(line) for line in lines)
        run(["ip", "-n", self.name, "-batch", "-"], stdin=script)

    def batch_as_far_as_possible(self, lines):
        """The same; commands that ip or the kernel refuses are passed over."""
        while lines:
            # For some mistakes ip ends, also with -force. A line of output after each command tells
            # how far it came.
            script = b"".join(_line(line) + b"link show dev lo\n" for line in lines)
            done = subprocess.run(
                ["ip", "-n", self.name, "-force", "-brief", "-batch", "-"],
                input=script,
                capture_output=True,
                check=False,
            )
            lines = lines[done.stdout.count(b"\n") + 1 :]

    def start_batch(self, lines):
        """Starts `ip -force -batch` and returns the process, which reads its commands by itself."""
        script = subprocess.Popen(
            ["ip", "-n", self.name, "-force", "-batch", "-"],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        script.stdin.write("".join(line + "\n" for line in lines).encode())
        script.stdin.close()
        return script

    def execute(self, *words, check=True, stdin=b""):
        """Runs any command in the namespace; returns its output."""
        return run(["ip", "netns", "exec", self.name, *words], stdin=stdin, check=check)

    def json(self, *words):
        """What `ip -j WORDS` says, with surrogates for bytes that are not UTF-8."""
        return json.loads(text_of(run(["ip", "-n", self.name, "-j", *words])) or "[]", strict=False)

    def view(self):
        return View(self)

    def sysfs(self):
        """{interface name: {attribute: value}}, with the counters as statistics/NAME."""
        pattern = "./*/{" + ",".join(_SYSFS) + ",statistics/*}"
        # An attribute that cannot be read now (carrier of an interface that is down) is left out.
        out = self.execute(
            "bash",
            "-c",
            f"cd /sys/class/net && printf '%s\\0' {pattern} | xargs -0 grep -s -H ''",
            check=False,
        )
        found = {}
        for line in text_of(out).splitlines():
            path, _, value = line.partition(":")
            _, name, attribute = path.split("/", 2)
            found.setdefault(name, {})[attribute] = value
        return found


class View:
    """What `ip -j -d link`, `ip -j -d addr` and sysfs say of a namespace at one time."""

    def __init__(self, namespace):
        self.time = time.time()
        self.links = namespace.json("-d", "link")
        self.addrs = [
            (link, addr) for link in namespace.json("-d", "addr") for addr in link["addr_info"]
        ]
        self.sysfs = namespace.sysfs()
        self.index_of = {link["ifname"]: link["ifindex"] for link in self.links}

    def without_what_runs(self):
        """What must be equal in two views for nothing to have changed between them: all but
        counters, timers and remaining lifetimes."""
        links = []
        for link in self.links:
            link = dict(link)
            link["linkinfo"] = _steady(link.get("linkinfo", {}))
            links.append(link)
        forever = 0xFFFFFFFF
        addrs = []
        for link, addr in self.addrs:
            addr = dict(addr)
            for key in ("valid_life_time", "preferred_life_time"):
                addr[key] = {0: "over", forever: "forever"}.get(addr[key], "runs")
            addrs.append((link["ifindex"], addr))
        sysfs = {
            name: {key: value for key, value in attributes.items() if "/" not in key}
            for name, attributes in self.sysfs.items()
        }
        return links, addrs, sysfs


def remove_leftovers():
    """Deletes namespaces of test processes that were killed before they could."""
    for line in run(["ip", "netns", "list"]).decode().splitlines():
        name = line.split()[0]
        part = name.split("-")
        if part[0] == "linkvane" and len(part) == 3 and not os.path.exists(f"/proc/{part[1]}"):
            run(["ip", "netns", "del", name], check=False)

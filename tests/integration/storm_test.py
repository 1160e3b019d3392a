"""Thousands of changes at once: nothing that stays is lost."""

import signal
import unittest

import harness
from fields import key_of, masked, same_objects
from filters import addr_matches, interface_matches
from harness import SCALE, scaled, wait_until
from netns import run
from protos import ADDR, INTERFACE, IPV6, AddrFilter, FieldMask, InterfaceFilter
from rpc import NARROW
from server import LINKVANED

PROCESSES = 4
LINKS = 12  # of each process


def storm(random, process, number, generations):
    """Commands of one process, on links of its own. Links that come and go take the kernel long,
    so that most commands are others."""
    names = [f"s{process}-{link}" for link in range(LINKS)]
    lines = []
    for _ in range(number):
        which = random.randrange(LINKS)
        name = names[which]
        dev = f"dev {name}"
        address = f"10.{process}.{which}.{random.randrange(1, 30)}/24"
        address6 = f"fd00:{process}:{which}::{random.randrange(1, 30):x}/64"
        change = random.choices(
            (
                "mtu",
                "up",
                "down",
                "address",
                "length",
                "add4",
                "del4",
                "add6",
                "del6",
                "alias",
                "rename",
                "altname",
                "group",
                "flush",
                "again",
            ),
            (20, 8, 8, 10, 10, 15, 10, 15, 10, 5, 5, 5, 5, 2, generations),
        )[0]
        if change == "mtu":
            lines.append(f"link set {dev} mtu {random.randrange(1280, 1500)}")
        elif change in ("up", "down"):
            lines.append(f"link set {dev} {change}")
        elif change == "address":
            lines.append(
                f"link set {dev} address 02:00:00:{process:02x}:{which:02x}"
                f":{random.randrange(256):02x}"
            )
        elif change == "length":
            lines.append(f"link set {dev} txqueuelen {random.randrange(1, 2000)}")
        elif change in ("add4", "del4"):
            lines.append(f"addr {change[:3]} {address} {dev}")
        elif change in ("add6", "del6"):
            lines.append(f"addr {change[:3]} {address6} {dev}")
        elif change == "alias":
            lines.append(f"link set {dev} alias text{random.randrange(100)}")
        elif change == "group":
            lines.append(f"link set {dev} group {random.randrange(100)}")
        elif change == "flush":
            lines.append(f"addr flush {dev} scope global")
        elif change == "altname":
            lines.append(
                f"link property {random.choice(('add', 'add', 'del'))} {dev} altname "
                f"{name}-alt{random.randrange(10)}"
            )
        elif change == "rename":
            new = f"s{process}-{which}-{random.randrange(10**6)}"
            names[which] = new
            lines += [f"link set {dev} down", f"link set {dev} name {new}"]
        else:
            kind = random.choice(("ifb", "bridge", f"veth peer name p{random.randrange(10**9)}"))
            lines += [f"link del {dev}", f"link add name {name} type {kind}", f"link set {dev} up"]
    return lines


class StormTest(harness.IntegrationTest):
    def setUp(self):
        self.numbers = self.random()

    def set_up_links(self, namespace):
        namespace.batch(
            [
                f"link add name s{process}-{link} type "
                + ("ifb", "bridge", f"veth peer name q{process}-{link}")[link % 3]
                for process in range(PROCESSES)
                for link in range(LINKS)
            ]
        )

    def start_storm(self, namespace, number, generations=1):
        return [
            namespace.start_batch(storm(self.numbers, process, number, generations))
            for process in range(PROCESSES)
        ]

    def requests(self):
        """What four watchers ask for, and what of a list they then have to hold."""
        return (
            ({"include_previous": True}, lambda o: o),
            (
                {
                    "types": [INTERFACE],
                    "interface_filter": InterfaceFilter(names=["*-alt*", "s1-*"]),
                    "read_mask": FieldMask(paths=["name", "mtu", "alt_names"]),
                },
                lambda o: masked(o, ["name", "mtu", "alt_names"])
                if hasattr(o, "mtu")
                and interface_matches(InterfaceFilter(names=["*-alt*", "s1-*"]), o)
                else None,
            ),
            (
                {"types": [ADDR], "addr_filter": AddrFilter(family=IPV6, within="fd00:2::/32")},
                lambda o: o
                if not hasattr(o, "mtu")
                and addr_matches(AddrFilter(family=IPV6, within="fd00:2::/32"), o)
                else None,
            ),
            (
                {
                    "interface_filter": InterfaceFilter(admin_up=True),
                    "addr_filter": AddrFilter(interface_names=["s0-*", "s3-*"]),
                },
                lambda o: o
                if (
                    interface_matches(InterfaceFilter(admin_up=True), o)
                    if hasattr(o, "mtu")
                    else addr_matches(AddrFilter(interface_names=["s0-*", "s3-*"]), o)
                )
                else None,
            ),
        )

    def assert_converge(self, namespace, client, watchers):
        """In the end, ip, the lists and all watchers agree."""
        self.assert_agrees(namespace, client)

        def differences():
            objects = client.interfaces() + client.addrs()
            lines = []
            for number, (watcher, cut) in enumerate(watchers):
                wanted = [o for o in map(cut, objects) if o is not None]
                lines += [
                    f"watcher {number}: {line}"
                    for line in watcher.locked(
                        lambda replica: same_objects(list(replica.objects.values()), wanted)
                    )
                ]
            return lines

        try:
            wait_until(lambda: not differences(), "the watchers have it all", 30)
        except AssertionError:
            self.fail("\n".join(differences()[:50]))
        self.assert_agrees(namespace, client)
        for number, (watcher, _) in enumerate(watchers):
            self.assertFalse(watcher.ended, f"watcher {number} ended: {watcher.failure}")
        watchers[0][0].locked(lambda replica: replica.check_names())

    def test_four_watchers_of_which_one_stops_reading(self):
        namespace = self.namespace()
        server = self.server(namespace, "--audit_interval=1s", "--watch_stall_timeout=120s")
        client = self.client(server)
        self.set_up_links(namespace)
        watchers = [
            (self.watcher(self.client(server, NARROW), **request), cut)
            for request, cut in self.requests()
        ]
        for watcher, _ in watchers:
            watcher.wait_synced()
        before = client.info().revision.number
        watchers[3][0].pause()
        processes = self.start_storm(namespace, scaled(1500))
        for process in processes:
            process.wait()
        watchers[3][0].resume()
        self.assert_converge(namespace, client, watchers)
        self.assertGreater(client.info().revision.number - before, scaled(2000))
        self.assertEqual(client.info().counts.overruns, 0)
        if SCALE >= 1:
            self.assertGreater(max(event.coalesced for event in watchers[3][0].replica.live), 1)
        for watcher, _ in watchers:
            self.assertEqual((watcher.replica.gaps, watcher.replica.resyncs), ([], []))

    def test_lists_while_it_storms(self):
        """Every answer is a whole state: names and masters fit, and it never goes back in time."""
        namespace, server, client = self.started()
        self.set_up_links(namespace)
        processes = self.start_storm(namespace, scaled(700))
        last, rounds = 0, 0
        while any(process.poll() is None for process in processes):
            listing = client.list_interfaces()
            self.assertGreaterEqual(listing.revision.number, last)
            last = listing.revision.number
            rounds += 1
            names = {interface.index: interface.name for interface in listing.objects}
            self.assertEqual(sorted(names), list(names))
            for interface in listing.objects:
                if interface.HasField("link_name"):
                    self.assertEqual(
                        interface.link_name, names.get(interface.link_index), interface.name
                    )
            addrs = client.list_addrs()
            self.assertGreaterEqual(addrs.revision.number, last)
            last = addrs.revision.number
            keys = [key_of(addr) for addr in addrs.objects]
            self.assertEqual(len(set(keys)), len(keys))
        self.assertGreater(rounds, 0)
        self.assert_agrees(namespace, client)

    def test_links_that_come_and_go(self):
        namespace = self.namespace()
        server = self.server(namespace, "--audit_interval=1s")
        client = self.client(server)
        self.set_up_links(namespace)
        watchers = [
            (self.watcher(self.client(server), **request), cut) for request, cut in self.requests()
        ]
        processes = self.start_storm(namespace, scaled(150), generations=60)
        for process in processes:
            process.wait()
        self.assert_converge(namespace, client, watchers)

    def test_a_tiny_event_buffer(self):
        self.overrun(4096, lambda server: None, lambda server: None)

    def test_a_server_that_gets_no_time(self):
        self.overrun(
            2**18,
            lambda server: server.signal(signal.SIGSTOP),
            lambda server: server.signal(signal.SIGCONT),
        )

    def overrun(self, buffer_bytes, before, after):
        """Events are lost; the watchers are told so and end right."""
        flag = "--event_buffer_bytes"
        if flag not in run([LINKVANED, "--help"]).decode():
            raise unittest.SkipTest("this server has no flag for the size of the buffer")
        namespace = self.namespace()
        server = self.server(namespace, "--audit_interval=1s", f"{flag}={buffer_bytes}")
        client = self.client(server)
        self.set_up_links(namespace)
        watchers = [
            (self.watcher(self.client(server), **request), cut) for request, cut in self.requests()
        ]
        for watcher, _ in watchers:
            watcher.wait_synced()
        for _ in range(scaled(3)):
            before(server)
            for process in self.start_storm(namespace, 400):
                process.wait()
            after(server)
            client.interfaces()
        self.assert_converge(namespace, client, watchers)
        overruns = client.info().counts.overruns
        self.assertGreater(overruns, 0)
        self.assertTrue(watchers[0][0].replica.gaps)
        print(f"{self.id()}: {overruns} overruns, {len(watchers[0][0].replica.gaps)} gaps")


if __name__ == "__main__":
    harness.main()

"""What runs by itself makes no events."""

import harness
from fields import VOLATILE_FIELDS, same_objects
from harness import wait_until
from protos import CACHED, FRESH, INTERFACE, MODIFIED, seconds

_SEND = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
for n in range(200):
    s.sendto(b"x", s.getsockname())
    s.recv(10)
"""


class QuietTest(harness.IntegrationTest):
    def quiet_namespace(self, *flags, bridge=""):
        namespace, _, client = self.started(*flags)
        namespace.batch(
            [
                "link set dev lo up",
                f"link add name bridge0 type bridge {bridge}",
                "link add name port0 type veth peer name port1",
                "link set dev port0 master bridge0",
                "link set dev port0 up",
                "link set dev port1 up",
                "link set dev bridge0 up",
                "link add name vxlan0 type vxlan id 7 dstport 4789",
                "tuntap add dev tun0 mode tun",
                "addr add 10.0.0.1/24 dev bridge0 valid_lft 5000 preferred_lft 4000",
                "addr add 10.0.0.2/24 dev bridge0 valid_lft forever preferred_lft 3000",
                "addr add 10.0.0.3/24 dev bridge0 valid_lft 3000 preferred_lft 0",
                "addr add fd00::1/64 nodad dev port1 valid_lft 5000 preferred_lft 4000",
                "addr add fd00::2/64 nodad dev port1 valid_lft forever preferred_lft 3000",
            ]
        )
        # Duplicate address detection, and the bridge's port until it forwards, do make events.
        wait_until(lambda: self.settled(namespace), "settled")
        return namespace, client

    @staticmethod
    def settled(namespace):
        links = {link["ifname"]: link for link in namespace.json("-d", "link")}
        state = links["port0"]["linkinfo"]["info_slave_data"]["state"]
        addrs = [a for link in namespace.json("addr") for a in link["addr_info"]]
        return (
            state == "forwarding"
            and links["bridge0"]["operstate"] == "UP"
            and not any(a.get("tentative") for a in addrs)
            and sum(a["scope"] == "link" for a in addrs) == 3
        )

    def test_lifetimes_and_three_audits(self):
        namespace, client = self.quiet_namespace(
            "--audit_interval=300ms", bridge="stp_state 1 forward_delay 200"
        )  # with running timers
        before = client.addrs(consistency=FRESH), client.interfaces(consistency=FRESH)
        watcher = self.watcher(client, bookmark_interval=seconds(0.1)).wait_synced()
        dumps = client.info().counts.dumps
        lifetimes = self.lifetimes(namespace)
        differences = client.info().counts.audit_differences
        # An audit dumps the links, the addresses of both families and the VLANs of bridges. Nobody
        # else asks for dumps.
        wait_until(lambda: client.info().counts.dumps >= dumps + 4 * 4, "three whole audits")
        self.assertNotEqual(self.lifetimes(namespace), lifetimes)
        after_synced = watcher.locked(
            lambda replica: replica.contents[replica.contents.index("synced") + 1 :]
        )
        self.assertEqual(set(after_synced), {"bookmark"})
        self.assert_silent_until_a_change(namespace, watcher)
        self.assertEqual(client.info().counts.audit_differences, differences)
        for consistency in (CACHED, FRESH):
            self.assertEqual(same_objects(client.addrs(consistency=consistency), before[0]), [])
        self.assert_agrees(namespace, client)

    def test_counters(self):
        namespace, client = self.quiet_namespace("--audit_interval=300ms")
        watcher = self.watcher(client).wait_synced()
        packets = client.get(name="lo", include_stats=True).stats.rx_packets
        namespace.execute("/usr/bin/python3", "-c", _SEND)
        after = client.get(name="lo", include_stats=True)
        self.assertGreaterEqual(after.stats.rx_packets, packets + 200)
        client.interfaces(include_stats=True)
        dumps = client.info().counts.dumps
        wait_until(lambda: client.info().counts.dumps >= dumps + 2 * 4, "a whole audit")
        self.assert_silent_until_a_change(namespace, watcher)

    def test_the_same_value_again(self):
        namespace, client = self.quiet_namespace()
        watcher = self.watcher(client).wait_synced()
        namespace.batch(
            [
                "link set dev port1 up",
                "link set dev port1 mtu 1500",
                "link set dev port1 group 0",
                "link set dev port0 master bridge0",
                "addr replace fd00::2/64 nodad dev port1 valid_lft forever preferred_lft 3000",
            ]
            * 5
        )
        # The last one sets a lifetime anew, which is a change.
        watcher.wait(lambda replica: replica.live, "an event")
        for event in watcher.locked(lambda replica: list(replica.live)):
            self.assertEqual(event.resource.addr.address, "fd00::2", event)
            self.assertEqual(set(event.changed.paths) - VOLATILE_FIELDS, {"preferred_until"})

    def test_an_audit_finds_what_made_no_event(self):
        namespace, client = self.quiet_namespace("--audit_interval=300ms")
        watcher = self.watcher(client, types=[INTERFACE]).wait_synced()
        namespace.batch(
            [
                "link set dev vxlan0 alias told-by-nobody",
                "link property add dev vxlan0 altname nor-this",
            ]
        )
        found = watcher.wait(
            lambda replica: [
                i
                for i in replica.interfaces()
                if i.alias == "told-by-nobody" and list(i.alt_names) == ["nor-this"]
            ],
            "the audit's finding",
        )
        self.assertEqual(found[0].name, "vxlan0")
        kinds = watcher.locked(lambda replica: {event.type for event in replica.live})
        self.assertEqual(kinds, {MODIFIED})
        self.assertGreaterEqual(client.info().counts.audit_differences, 1)

    @staticmethod
    def lifetimes(namespace):
        return [
            (addr["valid_life_time"], addr["preferred_life_time"])
            for _, addr in namespace.view().addrs
        ]

    def assert_silent_until_a_change(self, namespace, watcher):
        """The watcher has seen no event; then the next one is that of a change made now."""
        namespace.ip("link set dev port1 mtu 1400")
        events = watcher.wait(lambda replica: list(replica.live), "an event")
        self.assertEqual(events[0].resource.interface.name, "port1", events[0])
        self.assertIn("mtu", events[0].changed.paths)


if __name__ == "__main__":
    harness.main()

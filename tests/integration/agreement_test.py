"""Whatever `ip -j -d link` and `ip -j -d addr` say, Linkvane says, fresh and cached."""

import os
import time

import harness
from agreement import addr_differences, counter_differences, interface_differences
from harness import scaled, wait_until
from protos import CACHED, FRESH, IPV6, addr_pb2
from topology import Topology


class AgreementTest(harness.IntegrationTest):
    def test_random_networks(self):
        random = self.random()
        namespace, other = self.namespace(), self.namespace()
        client = self.client(self.server(namespace))
        client_of_other = self.client(self.server(other))
        topology = Topology(random, namespace, other)
        for _ in range(scaled(4, 2)):
            topology.grow(12)
            self.assert_agrees(namespace, client)
            topology.change(60)
            self.assert_agrees(namespace, client)
            self.assert_agrees(other, client_of_other)
        view = self.assert_agrees(namespace, client)
        self.assertGreater(len(view.links), 10)
        self.assertGreater(len(view.addrs), 10)

    def test_a_network_that_was_there_before_the_server(self):
        random = self.random()
        namespace = self.namespace()
        topology = Topology(random, namespace)
        topology.grow(30)
        client = self.client(self.server(namespace))
        self.assert_agrees(namespace, client, [CACHED, FRESH])
        topology.change(100)
        self.assert_agrees(namespace, client)

    def test_the_table_alone_follows_by_events_and_audits(self):
        random = self.random()
        namespace, _, client = self.started("--audit_interval=1s")
        topology = Topology(random, namespace)
        for _ in range(scaled(3, 2)):
            topology.grow(10)
            topology.change(60)
            view = namespace.view()

            def agrees():
                nonlocal view
                view = namespace.view()
                return not self.differences(client, view, CACHED)

            try:
                wait_until(agrees, "the table agrees with ip")
            except AssertionError:
                self.fail("\n".join(self.differences(client, namespace.view(), CACHED)))
        self.assertGreater(len(view.links), 5)

    @staticmethod
    def differences(client, view, consistency):
        # Of the order within an interface, events say nothing.
        view.addrs.sort(
            key=lambda pair: (
                pair[0]["ifindex"],
                pair[1]["family"],
                pair[1]["local"],
                pair[1].get("address", ""),
                pair[1]["prefixlen"],
            )
        )
        addrs = sorted(
            client.addrs(consistency=consistency),
            key=lambda addr: (
                addr.interface_index,
                addr.family,
                addr.address,
                addr.peer_address,
                addr.prefix_length,
            ),
        )
        return interface_differences(
            client.interfaces(consistency=consistency), view
        ) + addr_differences(addrs, view)

    def test_names_that_are_not_utf8(self):
        namespace, _, client = self.started()
        odd = b"caf\xe9\xff"
        namespace.batch(
            [
                b"link add name " + odd + b" type bridge",
                b"link add name port type veth peer name \xfe\xfe",
                b"link set dev port master " + odd,
                b"link set dev port alias \xde\xad\xbe\xef",
                b"link set dev port up",
                b"link property add dev port altname plain",
                b"link property add dev port altname n\xf6n",
                b"addr add 10.1.1.1/24 label " + odd + b":1 dev " + odd,
            ]
        )
        self.assert_agrees(namespace, client)
        by_index = {interface.index: interface for interface in client.interfaces()}
        port = next(i for i in by_index.values() if i.name == "port")
        self.assertEqual(port.raw_master_name, odd)
        self.assertEqual(port.raw_name, b"")
        self.assertEqual(port.raw_link_name, b"\xfe\xfe")
        self.assertEqual(list(port.raw_alt_names), [b"plain", b"n\xf6n"])
        self.assertEqual(port.raw_alias, b"\xde\xad\xbe\xef")
        self.assertEqual(by_index[port.master_index].raw_name, odd)
        self.assertIn("\ufffd", by_index[port.master_index].name)
        addr = next(addr for addr in client.addrs() if addr.address == "10.1.1.1")
        self.assertEqual(addr.raw_label, odd + b":1")
        self.assertEqual(addr.raw_interface_name, odd)

    def test_random_names_that_are_not_utf8(self):
        random = self.random()
        namespace, _, client = self.started()
        topology = Topology(random, namespace, odd=True)
        topology.grow(30)
        topology.change(30)
        self.assert_agrees(namespace, client)

    def test_all_kinds_that_this_kernel_has(self):
        namespace, _, client = self.started()
        namespace.batch(
            [
                "link add name veth0 type veth peer name veth1",
                "link add name bridge0 type bridge",
                "link add name vxlan0 type vxlan id 7 dstport 4789 dev veth0",
                "link add name macvlan0 link veth0 type macvlan",
                "link add name macvtap0 link veth0 type macvtap",
                "link add name ifb0 type ifb",
                "tuntap add dev tun0 mode tun",
                "tuntap add dev tap0 mode tap",
                "link set dev veth1 master bridge0",
            ]
        )
        namespace.batch([f"link set dev {link['ifname']} up" for link in namespace.json("link")])
        self.assert_agrees(namespace, client)
        kinds = {interface.name: interface.kind for interface in client.interfaces()}
        self.assertEqual(
            kinds,
            {
                "lo": "",
                "veth0": "veth",
                "veth1": "veth",
                "bridge0": "bridge",
                "vxlan0": "vxlan",
                "macvlan0": "macvlan",
                "macvtap0": "macvtap",
                "ifb0": "ifb",
                "tun0": "tun",
                "tap0": "tun",
            },
        )
        by_name = {interface.name: interface for interface in client.interfaces()}
        self.assertEqual(by_name["tun0"].hardware_address, "")
        self.assertEqual(by_name["veth1"].slave_kind, "bridge")
        self.assertFalse(by_name["lo"].HasField("kind"))

    def test_a_veth_whose_ends_are_in_two_namespaces(self):
        namespace, other = self.namespace(), self.namespace()
        client, client_of_other = (self.client(self.server(n)) for n in (namespace, other))
        namespace.batch(
            [
                "link add name here type veth peer name there",
                "link set dev here up",
                f"link set dev there netns {other.name}",
            ]
        )
        other.ip("link set dev there up")
        self.assert_agrees(namespace, client)
        self.assert_agrees(other, client_of_other)
        here, there = client.get(name="here"), client_of_other.get(name="there")
        self.assertEqual((here.link_index, there.link_index), (there.index, here.index))
        for end in (here, there):
            self.assertTrue(end.HasField("link_netns_id"))
            self.assertFalse(end.HasField("link_name"))

    def test_point_to_point_addresses(self):
        namespace, _, client = self.started()
        namespace.batch(
            [
                "link add name ptp type veth peer name peer",
                "addr add 10.0.0.1 peer 10.0.0.2/32 dev ptp",
                "addr add 10.0.0.1 peer 10.0.0.3/32 dev ptp",
                "addr add 10.0.0.1/32 dev ptp",
                "addr add fd00::1 peer fd00::2/128 dev ptp",
            ]
        )
        self.assert_agrees(namespace, client)
        ours = [
            (addr.address, addr.peer_address)
            for addr in client.addrs()
            if addr.interface_name == "ptp" and addr.scope_raw == 0
        ]
        self.assertCountEqual(
            ours,
            [
                ("10.0.0.1", "10.0.0.2"),
                ("10.0.0.1", "10.0.0.3"),
                ("10.0.0.1", ""),
                ("fd00::1", "fd00::2"),
            ],
        )
        namespace.ip("addr del 10.0.0.1 peer 10.0.0.3/32 dev ptp")
        self.assert_agrees(namespace, client)

    def test_duplicate_addresses_fail(self):
        namespace, other = self.namespace(), self.namespace()
        client, client_of_other = (self.client(self.server(n)) for n in (namespace, other))
        namespace.batch(
            [
                f"link add name here type veth peer name there netns {other.name}",
                "link set dev here up",
                "addr add fd00::1/64 nodad dev here",
                "addr add fd00::2/64 dev here",
            ]
        )
        other.ip("link set dev there up")
        tentative = wait_until(
            lambda: [a for a in client.addrs() if "TENTATIVE" in self.flags_of(a)],
            "a tentative one",
        )
        self.assertTrue(tentative)
        self.assert_agrees(namespace, client)
        # The kernel takes the word of who has it already.
        other.ip("addr add fd00::1/64 dev there")

        def failed(consistency):
            return [
                a
                for a in client_of_other.addrs(consistency=consistency)
                if a.address == "fd00::1" and "DADFAILED" in self.flags_of(a)
            ]

        wait_until(lambda: failed(CACHED), "the duplicate has failed, by events alone")
        self.assertTrue(failed(FRESH))
        self.assert_agrees(other, client_of_other)
        wait_until(
            lambda: not [
                a for a in client.addrs(consistency=CACHED) if "TENTATIVE" in self.flags_of(a)
            ],
            "none is tentative, by events alone",
        )
        self.assert_agrees(namespace, client)

    @staticmethod
    def flags_of(addr):
        enum = addr_pb2.AddrFlag
        return {enum.Name(flag).removeprefix("ADDR_FLAG_") for flag in addr.flags}

    def test_lifetimes_end(self):
        namespace, _, client = self.started()
        namespace.batch(
            [
                "link add name timed type veth peer name peer",
                "link set dev timed up",
                "addr add 10.0.0.1/24 dev timed valid_lft 3 preferred_lft 1",
                "addr add fd00::1/64 nodad dev timed valid_lft 3 preferred_lft 1",
                "addr add 10.0.0.2/24 dev timed",
            ]
        )
        self.assert_agrees(namespace, client)

        def timed():
            return {
                addr.address: self.flags_of(addr)
                for addr in client.addrs(consistency=CACHED)
                if addr.address in ("10.0.0.1", "fd00::1")
            }

        wait_until(lambda: all("DEPRECATED" in flags for flags in timed().values()), "deprecated")
        wait_until(lambda: not timed(), "both are gone")
        self.assert_agrees(namespace, client)

    def test_many_alternative_names(self):
        # Their link message is larger than a kernel that is not asked for extensions sends.
        namespace, _, client = self.started()
        namespace.batch(["link add name many type bridge", "link add name after type bridge"])
        namespace.batch([f"link property add dev many altname {'x' * 120}{n}" for n in range(200)])
        self.assert_agrees(namespace, client)
        self.assertEqual(len(client.get(name="many").alt_names), 200)
        self.assertEqual(client.get(name="after").name, "after")

    def test_counters(self):
        namespace, _, client = self.started()
        namespace.batch(
            [
                "link set dev lo up",
                "link add name veth0 type veth peer name veth1",
                "link set dev veth0 up",
                "link set dev veth1 up",
                "addr add 10.0.0.1/24 dev veth0",
            ]
        )
        for _ in range(scaled(5)):
            namespace.execute(
                "/usr/bin/python3",
                "-c",
                (
                    "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                    "for n in range(100): s.sendto(b'x' * n, ('127.0.0.1', 9))"
                ),
                check=False,
            )
            before = namespace.view()
            interfaces = client.interfaces(include_stats=True)
            self.assertEqual(counter_differences(interfaces, before, namespace.view()), [])
        loopback = client.get(name="lo", include_stats=True)
        self.assertGreaterEqual(loopback.stats.rx_packets, 100)
        self.assertTrue(loopback.stats.HasField("tx_window_errors"))
        for without in client.interfaces() + client.interfaces(consistency=CACHED):
            self.assertFalse(without.HasField("stats"))

    def test_where_addresses_come_from(self):
        # Which ip may be too old to tell.
        if tuple(int(n) for n in os.uname().release.split(".")[:2]) < (5, 18):
            self.skipTest("this kernel does not tell")
        namespace, _, client = self.started()
        namespace.batch(
            [
                "link set dev lo up",
                "link add name veth0 type veth peer name veth1",
                "link set dev veth0 up",
                "link set dev veth1 up",
            ]
        )
        wait_until(lambda: len(client.addrs()) >= 4, "link-local addresses")
        protocols = {
            addr.interface_name: addr.protocol for addr in client.addrs() if addr.family == IPV6
        }
        self.assertEqual(protocols, {"lo": 1, "veth0": 3, "veth1": 3})
        for addr in client.addrs():
            self.assertLessEqual(addr.created_at.ToSeconds(), addr.updated_at.ToSeconds() + 1)
            self.assertAlmostEqual(addr.created_at.ToSeconds(), time.time(), delta=120)


if __name__ == "__main__":
    harness.main()

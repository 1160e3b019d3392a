"""Watch: the present state, then every change."""

import harness
from fields import VOLATILE_FIELDS, masked, same_objects
from filters import interface_matches
from harness import scaled, wait_until
from protos import (
    ADDED,
    ADDR,
    FRESH,
    INTERFACE,
    IPV6,
    MODIFIED,
    REMOVED,
    AddrFilter,
    FieldMask,
    InterfaceFilter,
    seconds,
)
from topology import Topology


class WatchTest(harness.IntegrationTest):
    def test_snapshot_and_events_join(self):
        """While the network changes, every new watcher ends with what a list says."""
        random = self.random()
        namespace, _, client = self.started()
        topology = Topology(random, namespace)
        topology.grow(20)
        watchers = []
        for _ in range(scaled(15)):
            changes = namespace.start_batch(
                [
                    f"link add name new{n} type bridge"
                    if n % 2 == 0
                    else f"link del dev new{n - 1}"
                    for n in range(40)
                ]
                + [f"addr add 10.77.{n}.1/32 dev lo" for n in range(40)]
                + [f"addr del 10.77.{n}.1/32 dev lo" for n in range(40)]
            )
            watchers += [self.watcher(client) for _ in range(3)]
            changes.wait()
            topology.change(20)
        self.assert_agrees(namespace, client)
        for watcher in watchers:
            self.assert_converges(client, watcher)

    def assert_converges(self, client, watcher):
        def differences():
            interfaces, addrs = client.interfaces(), client.addrs()
            return watcher.locked(
                lambda replica: same_objects(list(replica.objects.values()), interfaces + addrs)
            )

        try:
            wait_until(lambda: not differences(), "the watcher has what a list says", 30)
        except AssertionError:
            self.fail("\n".join(differences()))

    def test_the_first_responses(self):
        namespace, _, client = self.started("--node_name=node-7")
        namespace.batch(["link add name some0 type bridge", "addr add 10.0.0.1/24 dev some0"])
        listing = client.list_interfaces()
        client.addrs()
        watcher = self.watcher(client).wait_synced()
        contents = watcher.locked(lambda replica: list(replica.contents))
        self.assertEqual(contents[0], "created")
        self.assertEqual(contents[-1], "synced")
        self.assertEqual(set(contents[1:-1]), {"events"})
        replica = watcher.replica
        self.assertEqual({event.type for event in replica.events}, {ADDED})
        self.assertEqual(
            [event.resource.WhichOneof("object") for event in replica.events],
            ["interface", "interface", "addr"],
        )
        self.assertEqual(replica.created.node_name, "node-7")
        self.assertGreaterEqual(replica.checkpoint.number, listing.revision.number)
        self.assertEqual(replica.checkpoint.epoch, listing.revision.epoch)

    def test_every_step_reaches_a_reader_that_keeps_up(self):
        namespace, _, client = self.started()
        namespace.ip("link add name some0 type bridge")
        watcher = self.watcher(client, include_previous=True).wait_synced()
        mtus = [1400 + n % 50 for n in range(scaled(100))]
        for number, mtu in enumerate(mtus):
            namespace.ip(f"link set dev some0 mtu {mtu}")
            watcher.wait(
                lambda replica: len([e for e in replica.live if "mtu" in e.changed.paths]) > number,
                f"mtu {mtu}",
            )
        events = watcher.locked(
            lambda replica: [e for e in replica.live if "mtu" in e.changed.paths]
        )
        self.assertEqual([e.resource.interface.mtu for e in events], mtus)
        self.assertEqual([e.previous.interface.mtu for e in events], [1500] + mtus[:-1])
        self.assertEqual({e.coalesced for e in events}, {1})
        numbers = [e.revision.number for e in events]
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_previous_only_if_asked(self):
        namespace, _, client = self.started()
        namespace.ip("link add name some0 type bridge")
        watchers = [
            self.watcher(client, include_previous=wanted).wait_synced() for wanted in (False, True)
        ]
        namespace.ip("link set dev some0 mtu 1400")
        for watcher, wanted in zip(watchers, (False, True)):
            (event,) = watcher.wait(lambda replica: list(replica.live), "an event")
            self.assertEqual(event.HasField("previous"), wanted)
            self.assertEqual(set(event.changed.paths) - VOLATILE_FIELDS, {"mtu"})
        self.assertEqual(event.previous.interface.mtu, 1500)

    def test_types(self):
        namespace, _, client = self.started()
        namespace.batch(["link add name some0 type bridge", "addr add 10.0.0.1/24 dev some0"])
        client.addrs()
        for types, kinds in (
            ([INTERFACE], {"interface"}),
            ([ADDR], {"addr"}),
            ([ADDR, INTERFACE], {"addr", "interface"}),
            ([], {"addr", "interface"}),
        ):
            watcher = self.watcher(client, types=types).wait_synced()
            self.assertEqual(
                {e.resource.WhichOneof("object") for e in watcher.replica.events}, kinds
            )

    def test_a_filter_of_one_type_does_not_limit_the_other(self):
        namespace, _, client = self.started()
        namespace.batch(
            [
                "link add name some0 type bridge",
                "link add name other0 type bridge",
                "addr add 10.0.0.1/24 dev some0",
                "addr add fd00::1/64 nodad dev other0",
            ]
        )
        client.addrs()
        watcher = self.watcher(client, interface_filter=InterfaceFilter(names=["some0"]))
        replica = watcher.wait_synced().replica
        self.assertEqual([i.name for i in replica.interfaces()], ["some0"])
        self.assertEqual(len(replica.addrs()), 2)
        watcher = self.watcher(client, addr_filter=AddrFilter(family=IPV6))
        replica = watcher.wait_synced().replica
        self.assertEqual(len(replica.interfaces()), 3)
        self.assertEqual([a.address for a in replica.addrs()], ["fd00::1"])

    def test_entering_and_leaving_a_filter(self):
        namespace, _, client = self.started()
        namespace.batch(["link add name some0 type ifb", "link add name br0 type bridge"])
        up = self.watcher(
            client, types=[INTERFACE], interface_filter=InterfaceFilter(admin_up=True)
        ).wait_synced()
        ports = self.watcher(
            client, types=[INTERFACE], interface_filter=InterfaceFilter(master="br0")
        ).wait_synced()

        def following(watcher):
            count = 0
            while True:
                event = watcher.wait(
                    lambda replica: [e for e in replica.live if e.type != MODIFIED][count:],
                    "an event",
                )[0]
                count += 1
                yield event

        of_up, of_ports = following(up), following(ports)

        namespace.ip("link set dev some0 up")
        event = next(of_up)
        self.assertEqual((event.type, event.resource.interface.name), (ADDED, "some0"))
        self.assertTrue(event.resource.interface.admin_up)
        namespace.ip("link set dev some0 master br0")
        event = next(of_ports)
        self.assertEqual((event.type, event.resource.interface.name), (ADDED, "some0"))
        self.assertEqual(event.resource.interface.master_name, "br0")
        namespace.ip("link set dev some0 down")
        event = next(of_up)
        self.assertEqual((event.type, event.left_filter), (REMOVED, True))
        self.assertTrue(event.resource.interface.admin_up)  # the last state that matched
        # A derived name is part of the row.
        namespace.ip("link set dev br0 name br1")
        event = next(of_ports)
        self.assertEqual((event.type, event.left_filter), (REMOVED, True))
        namespace.ip("link set dev br1 name br0")
        self.assertEqual(next(of_ports).type, ADDED)
        namespace.ip("link del dev some0")
        event = next(of_ports)
        self.assertEqual((event.type, event.left_filter), (REMOVED, False))
        self.assertEqual(ports.locked(lambda replica: replica.objects), {})

    def test_a_change_outside_the_mask_makes_no_event(self):
        namespace, _, client = self.started()
        namespace.batch(["link add name some0 type bridge", "addr add 10.0.0.1/24 dev some0"])
        whole = client.interfaces() + client.addrs()
        watcher = self.watcher(client, read_mask=FieldMask(paths=["mtu", "label"])).wait_synced()
        wanted = [
            masked(o, [p for p in ("mtu", "label") if p in o.DESCRIPTOR.fields_by_name])
            for o in whole
        ]
        self.assertEqual(same_objects(watcher.replica.objects.values(), wanted), [])
        namespace.batch(
            [
                "link set dev some0 txqueuelen 77",
                "link set dev some0 address 02:00:00:00:00:01",
                "link set dev some0 up",
                "link set dev some0 mtu 1400",
            ]
        )
        events = watcher.wait(lambda replica: list(replica.live), "an event")
        first = next(e for e in events if e.resource.HasField("interface"))
        self.assertEqual(list(first.changed.paths), ["mtu"])
        self.assertEqual(first.resource.interface.mtu, 1400)
        namespace.ip("link del dev some0")
        watcher.wait(
            lambda replica: not [i for i in replica.interfaces() if i.index > 1], "removed"
        )

    def test_bookmarks_are_a_sign_of_life(self):
        _, _, client = self.started()
        watcher = self.watcher(client, bookmark_interval=seconds(0.1)).wait_synced()
        nothing = self.watcher(
            client,
            bookmark_interval=seconds(0.1),
            skip_snapshot=True,
            types=[ADDR],
            addr_filter=AddrFilter(within="192.0.2.0/24"),
        ).wait_synced()
        self.assertEqual(watcher.replica.created.bookmark_interval.ToMilliseconds(), 100)
        for each in (watcher, nothing):
            each.wait(lambda replica: replica.contents.count("bookmark") >= 5, "five bookmarks", 20)

    def test_bookmarks_move_on_when_a_filter_lets_nothing_pass(self):
        namespace, _, client = self.started()
        watcher = self.watcher(
            client,
            bookmark_interval=seconds(0.1),
            types=[ADDR],
            addr_filter=AddrFilter(within="192.0.2.0/24"),
        ).wait_synced()
        for number in range(5):
            namespace.ip(f"link add name new{number} type bridge")
            revision = client.list_interfaces().revision
            watcher.wait_revision(revision, 20)
        self.assertEqual(watcher.replica.events, [])

    def test_skip_snapshot(self):
        namespace, _, client = self.started()
        namespace.batch(["link add name some0 type bridge", "addr add 10.0.0.1/24 dev some0"])
        client.addrs()
        watcher = self.watcher(client, skip_snapshot=True, include_previous=True).wait_synced()
        self.assertEqual(watcher.locked(lambda replica: replica.contents), ["created", "synced"])
        namespace.batch(
            [
                "link set dev some0 mtu 1400",
                "link add name new0 type bridge",
                "addr del 10.0.0.1/24 dev some0",
            ]
        )
        watcher.wait(
            lambda replica: [e.type for e in replica.live if e.type != MODIFIED]
            == [ADDED, REMOVED],
            "the changes",
        )
        first = watcher.replica.live[0]
        self.assertEqual((first.type, first.resource.interface.mtu), (MODIFIED, 1400))

    def test_many_filters_at_once(self):
        random = self.random()
        namespace, _, client = self.started("--audit_interval=1s")
        topology = Topology(random, namespace)
        topology.grow(15)
        criteria = [
            {"kinds": ["veth"]},
            {"admin_up": True},
            {"names": ["*alt*", "eth*"]},
            {"oper_states": [2, 3, 7]},
            {"kinds": ["bridge"], "admin_up": False},
        ]
        watchers = [
            (
                c,
                self.watcher(
                    client,
                    types=[INTERFACE],
                    interface_filter=InterfaceFilter(**c),
                    include_previous=random.random() < 0.5,
                ),
            )
            for c in criteria
        ]
        for _ in range(scaled(5)):
            topology.change(60)
        self.assert_agrees(namespace, client)

        def differences():
            interfaces = client.interfaces()
            lines = []
            for which, watcher in watchers:
                wanted = [i for i in interfaces if interface_matches(InterfaceFilter(**which), i)]
                lines += [
                    f"{which}: {line}"
                    for line in watcher.locked(
                        lambda replica: same_objects(list(replica.objects.values()), wanted)
                    )
                ]
            return lines

        try:
            wait_until(lambda: not differences(), "all watchers have what passes their filters", 20)
        except AssertionError:
            self.fail("\n".join(differences()))

    def test_what_no_event_tells_comes_with_a_fresh_list(self):
        """A fresh answer is never ahead of what a watcher gets."""
        namespace, _, client = self.started()
        namespace.ip("link add name down0 type bridge")
        watcher = self.watcher(client, types=[INTERFACE]).wait_synced()
        namespace.ip("link set dev down0 alias text")
        listing = client.list_interfaces(consistency=FRESH)
        watcher.wait_revision(listing.revision)
        self.assertIn(
            "text", watcher.locked(lambda replica: [i.alias for i in replica.interfaces()])
        )

    def test_a_big_snapshot_is_cut_into_batches(self):
        namespace, _, client = self.started()
        number = scaled(2000)
        namespace.batch([f"link add name ifb-{n} type ifb" for n in range(number)])
        client.interfaces()
        watcher = self.watcher(client).wait_synced()
        replica = watcher.replica
        self.assertEqual(len(replica.interfaces()), number + 1)
        self.assertLessEqual(replica.largest_response, 512 * 1024)
        self.assert_converges(client, watcher)

    def test_the_order_in_a_burst(self):
        """Interfaces come before their addresses and go after them; the replica watches that."""
        namespace, _, client = self.started()
        watcher = self.watcher(client).wait_synced()
        for _ in range(scaled(10)):
            namespace.batch(
                [
                    line
                    for n in range(20)
                    for line in (
                        f"link add name new{n} type bridge",
                        f"addr add 10.1.{n}.1/24 dev new{n}",
                        f"addr add fd00:{n}::1/64 nodad dev new{n}",
                    )
                ]
                + [f"link del dev new{n}" for n in range(20)]
            )
        client.interfaces()
        listing = client.list_addrs()
        watcher.wait_revision(listing.revision)
        self.assertEqual(watcher.locked(lambda replica: len(replica.objects)), 1)


if __name__ == "__main__":
    harness.main()

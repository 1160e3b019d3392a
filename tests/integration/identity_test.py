"""What is still the same object, and what is another one."""

import harness
from fields import VOLATILE_FIELDS
from protos import ADDED, ADDR, CACHED, FRESH, MODIFIED, REMOVED, port_pb2
from replica import object_of


def summary(events):
    """(type, name or address, changed fields but the volatile ones) of each event."""
    lines = []
    for event in events:
        message = object_of(event.resource)
        name = message.address if hasattr(message, "address") else message.name
        lines.append((event.type, name, frozenset(event.changed.paths) - VOLATILE_FIELDS))
    return lines


class IdentityTest(harness.IntegrationTest):
    def watched(self, *setup):
        """A namespace after the commands of `setup`, a client, and a watcher that is up to date."""
        namespace, _, client = self.started()
        namespace.batch(setup)
        # What makes no event is in the table before the watcher comes.
        client.interfaces(consistency=FRESH)
        return namespace, client, self.watcher(client).wait_synced()

    def events_of(self, watcher, namespace, client, *commands):
        """The events that the commands make, all of them."""
        seen = watcher.locked(lambda replica: len(replica.live))
        namespace.batch(commands)
        revision = max(
            client.list_interfaces().revision.number, client.list_addrs().revision.number
        )
        return watcher.wait(
            lambda replica: replica.checkpoint.number >= revision
            and (replica.live[seen:] or [None]),
            f"a checkpoint at {revision}",
        )

    def test_a_port_that_leaves_its_bridge_is_modified(self):
        namespace, client, watcher = self.watched(
            "link add name bridge0 type bridge",
            "link add name port0 type veth peer name other0",
            "link set dev port0 master bridge0",
        )
        before = client.get(name="port0")
        events = self.events_of(watcher, namespace, client, "link set dev port0 nomaster")
        self.assertNotIn(REMOVED, [event.type for event in events])
        after = watcher.locked(lambda replica: replica.objects[before.uid])
        self.assertFalse(after.HasField("master_index"))
        self.assertFalse(after.HasField("master_name"))
        self.assertFalse(after.HasField("slave_kind"))
        changed = set().union(*(paths for _, name, paths in summary(events) if name == "port0"))
        self.assertLessEqual({"master_index", "master_name", "slave_kind"}, changed)

    def test_a_bridge_that_goes_releases_its_ports(self):
        namespace, client, watcher = self.watched(
            "link add name bridge0 type bridge",
            "link add name port0 type veth peer name other0",
            "link set dev port0 master bridge0",
            "link set dev port0 up",
        )
        before = client.get(name="port0")
        events = self.events_of(watcher, namespace, client, "link del dev bridge0")
        self.assertEqual(
            [name for kind, name, _ in summary(events) if kind == REMOVED], ["bridge0"]
        )
        after = watcher.locked(lambda replica: replica.objects[before.uid])
        self.assertFalse(after.HasField("master_index"))
        self.assertFalse(after.HasField("master_name"))

    def test_a_rename_modifies_all_that_shows_the_name(self):
        namespace, client, watcher = self.watched(
            "link add name bridge0 type bridge",
            "link add name old0 type veth peer name peer0",
            "link add name port0 type veth peer name port1",
            "link set dev port0 master bridge0",
            "link set dev old0 up",
            "link set dev peer0 up",
            "link set dev old0 down",
            "addr add 10.0.0.1/24 dev old0",
            "addr add fd00::1/64 nodad dev old0",
            "addr add 10.0.0.2/24 dev bridge0",
        )
        uid = client.get(name="old0").uid
        addrs = {addr.address: addr.uid for addr in client.addrs()}
        events = self.events_of(
            watcher,
            namespace,
            client,
            "link set dev old0 name new0",
            "link set dev bridge0 name bridge1",
        )
        self.assertEqual({event.type for event in events}, {MODIFIED})
        changes = {}
        for _, name, paths in summary(events):
            changes.setdefault(name, set()).update(paths)
        self.assertEqual(
            changes,
            {
                "new0": {"name"},
                "peer0": {"link_name"},
                "bridge1": {"name"},
                "port0": {"master_name"},
                "10.0.0.1": {"interface_name", "label"},
                "fd00::1": {"interface_name"},
                "10.0.0.2": {"interface_name", "label"},
            },
        )
        self.assertEqual(client.get(name="new0").uid, uid)
        self.assertEqual({addr.address: addr.uid for addr in client.addrs()}, addrs)
        self.assertEqual(events[0].resource.interface.name, "new0")

    def test_a_change_leaves_the_time_when_an_address_was_made(self):
        namespace, client, watcher = self.watched(
            "link add name some0 type bridge",
            "addr add fd00::1/64 nodad dev some0",
            "addr add 10.0.0.1/24 dev some0 valid_lft 5000 preferred_lft 4000",
        )
        made = {addr.uid: addr.created_at for addr in client.addrs()}
        for number in range(5):
            events = self.events_of(
                watcher,
                namespace,
                client,
                f"link set dev some{number} name some{number + 1}",
                f"addr change fd00::1/64 dev some{number + 1}"
                f" valid_lft {4000 + number} preferred_lft 9",
            )
            self.assertIn("fd00::1", [name for _, name, _ in summary(events)])
            self.assertEqual({addr.uid: addr.created_at for addr in client.addrs()}, made)

    def test_an_index_used_again_is_another_interface(self):
        namespace, client, watcher = self.watched(
            "link add name first0 index 77 type bridge", "addr add 10.0.0.1/24 dev first0"
        )
        old = client.get(index=77)
        events = self.events_of(
            watcher,
            namespace,
            client,
            "link del dev first0",
            "link add name second0 index 77 type bridge",
        )
        kinds = [(kind, name) for kind, name, _ in summary(events) if kind != MODIFIED]
        self.assertEqual(kinds, [(REMOVED, "10.0.0.1"), (REMOVED, "first0"), (ADDED, "second0")])
        new = client.get(index=77)
        self.assertNotEqual(new.uid, old.uid)
        self.assertEqual(new.carrier_changes, 0)

    def test_an_index_used_again_with_the_same_name_is_another_interface(self):
        namespace, client, watcher = self.watched("link add name same0 index 77 type bridge")
        for _ in range(harness.scaled(20)):
            old = client.get(index=77)
            events = self.events_of(
                watcher,
                namespace,
                client,
                "link del dev same0",
                "link add name same0 index 77 type bridge",
            )
            kinds = [(kind, name) for kind, name, _ in summary(events) if kind != MODIFIED]
            self.assertEqual(kinds, [(REMOVED, "same0"), (ADDED, "same0")])
            new = client.get(index=77)
            self.assertNotEqual(new.uid, old.uid)

    def test_a_name_used_again_is_another_interface(self):
        namespace, client, watcher = self.watched("link add name same0 type bridge")
        old = client.get(name="same0")
        events = self.events_of(
            watcher, namespace, client, "link del dev same0", "link add name same0 type bridge"
        )
        self.assertEqual(
            [kind for kind, _, _ in summary(events) if kind != MODIFIED], [REMOVED, ADDED]
        )
        self.assertNotEqual(client.get(name="same0").uid, old.uid)

    def test_moving_to_another_namespace_is_removed(self):
        namespace, client, watcher = self.watched(
            "link add name moves0 type veth peer name stays0",
            "addr add 10.0.0.1/24 dev moves0",
            "addr add fd00::1/64 nodad dev moves0",
        )
        other = self.namespace()
        client_of_other = self.client(self.server(other))
        watcher_of_other = self.watcher(client_of_other).wait_synced()
        events = self.events_of(
            watcher, namespace, client, f"link set dev moves0 netns {other.name}"
        )
        removed = [name for kind, name, _ in summary(events) if kind == REMOVED]
        self.assertCountEqual(removed, ["10.0.0.1", "fd00::1", "moves0"])
        self.assertEqual(removed[-1], "moves0")
        arrived = watcher_of_other.wait(
            lambda replica: [i for i in replica.interfaces() if i.name == "moves0"], "moves0 there"
        )
        stays = client.get(name="stays0")
        self.assertEqual(stays.link_index, arrived[0].index)
        self.assertTrue(stays.HasField("link_netns_id"))
        self.assertFalse(stays.HasField("link_name"))

    def test_coming_back_from_another_namespace_is_another_interface(self):
        namespace, client, watcher = self.watched(
            "link add name moves0 index 77 type veth peer name stays0"
        )
        other = self.namespace()
        old = client.get(index=77)
        self.events_of(watcher, namespace, client, f"link set dev moves0 netns {other.name}")
        other.ip(f"link set dev moves0 netns {namespace.name}")
        back = watcher.wait(
            lambda replica: [i for i in replica.interfaces() if i.name == "moves0"],
            "moves0 is back",
        )
        self.assertNotEqual(back[0].uid, old.uid)

    def test_an_address_added_again_is_another_address(self):
        namespace, client, watcher = self.watched(
            "link add name some0 type bridge",
            "addr add 10.0.0.1/24 dev some0",
            "addr add fd00::1/64 nodad dev some0",
        )
        old = {addr.address: addr.uid for addr in client.addrs()}
        events = self.events_of(
            watcher,
            namespace,
            client,
            "addr del 10.0.0.1/24 dev some0",
            "addr add 10.0.0.1/24 dev some0",
            "addr del fd00::1/64 dev some0",
            "addr add fd00::1/64 nodad dev some0",
        )
        for address in old:
            kinds = [
                kind for kind, name, _ in summary(events) if name == address and kind != MODIFIED
            ]
            self.assertEqual(kinds, [REMOVED, ADDED], address)
        new = {addr.address: addr.uid for addr in client.addrs()}
        self.assertEqual(new.keys(), old.keys())
        self.assertFalse(set(new.values()) & set(old.values()))

    def test_a_changed_lifetime_is_modified(self):
        namespace, client, watcher = self.watched(
            "link add name some0 type bridge",
            "addr add 10.0.0.1/24 dev some0 valid_lft 5000 preferred_lft 4000",
        )
        uid = client.addrs()[0].uid
        events = self.events_of(
            watcher,
            namespace,
            client,
            "addr change 10.0.0.1/24 dev some0 valid_lft 9000 preferred_lft 8000",
        )
        (event,) = [event for event in events if event.resource.HasField("addr")]
        self.assertEqual(event.type, MODIFIED)
        self.assertEqual(event.resource.addr.uid, uid)
        self.assertLessEqual({"preferred_until", "valid_until"}, set(event.changed.paths))
        events = self.events_of(watcher, namespace, client, "addr change 10.0.0.1/24 dev some0")
        (event,) = [event for event in events if event.resource.HasField("addr")]
        self.assertFalse(event.resource.addr.HasField("valid_until"))
        self.assertLessEqual({"valid_until", "flags", "flags_raw"}, set(event.changed.paths))

    def test_both_ends_of_a_veth_go_together(self):
        namespace, client, watcher = self.watched(
            "link add name one0 type veth peer name two0", "addr add 10.0.0.1/24 dev two0"
        )
        events = self.events_of(watcher, namespace, client, "link del dev one0")
        removed = [name for kind, name, _ in summary(events) if kind == REMOVED]
        self.assertCountEqual(removed, ["one0", "two0", "10.0.0.1"])
        self.assertLess(removed.index("10.0.0.1"), removed.index("two0"))

    def test_each_end_of_a_veth_names_the_other_without_a_dump(self):
        """The first end is announced before the second exists, and not again."""
        namespace, client, watcher = self.watched("link set dev lo up")
        for pair in range(3):
            namespace.ip(f"link add name v{pair} type veth peer name w{pair}")
            watcher.wait(
                lambda replica: {
                    (i.name, i.link_name)
                    for i in replica.interfaces()
                    if i.name in (f"v{pair}", f"w{pair}")
                }
                == {(f"v{pair}", f"w{pair}"), (f"w{pair}", f"v{pair}")},
                "both names",
            )
        self.assert_agrees(namespace, client, [CACHED])
        self.assertEqual(client.info().counts.audit_differences, 0)

    def test_the_end_that_stays_when_the_other_moves(self):
        """Nothing is announced of it."""
        namespace, client, watcher = self.watched("link add name v0 type veth peer name w0")
        other = self.namespace()
        namespace.ip(f"link set dev w0 netns {other.name}")
        watcher.wait(
            lambda replica: [
                i for i in replica.interfaces() if i.name == "v0" and i.HasField("link_netns_id")
            ],
            "the other end is elsewhere",
        )
        self.assert_agrees(namespace, client, [CACHED])

    def test_what_a_bridge_tells_of_its_port(self):
        """Settings made by way of the bridge, and states of the spanning tree, have messages of
        their own, which do not tell the whole of the link."""
        namespace, client, watcher = self.watched(
            "link add name br0 type bridge stp_state 1 forward_delay 200",
            "link set dev br0 up",
            "link add name port0 type veth peer name port1",
            "link set dev port0 master br0",
        )
        namespace.execute("bridge", "link", "set", "dev", "port0", "cost", "99")
        watcher.wait(
            lambda replica: [i for i in replica.interfaces() if i.bridge_port.cost == 99],
            "the cost",
        )
        namespace.batch(["link set dev port0 up", "link set dev port1 up"])
        watcher.wait(
            lambda replica: [
                i
                for i in replica.interfaces()
                if i.bridge_port.state == port_pb2.BRIDGE_PORT_STATE_FORWARDING
            ],
            "the port forwards",
        )

    def test_uids_outlive_a_resumed_stream_but_not_the_server(self):
        namespace, client, watcher = self.watched(
            "link add name some0 type bridge", "addr add 10.0.0.1/24 dev some0"
        )
        uids = watcher.locked(lambda replica: set(replica.objects))
        self.assertEqual({o.uid for o in client.interfaces() + client.addrs()}, uids)
        only_addrs = self.watcher(client, types=[ADDR]).wait_synced()
        self.assertLess(only_addrs.locked(lambda replica: set(replica.objects)), uids)
        restarted = self.client(self.server(namespace))
        self.assertFalse({o.uid for o in restarted.interfaces() + restarted.addrs()} & uids)


if __name__ == "__main__":
    harness.main()

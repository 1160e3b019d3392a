"""Filters and masks: what they let pass, against a second reading of the contract."""

import grpc

import harness
from fields import masked, same_objects, value_of, without_volatile
from filters import addr_matches, interface_matches, random_addr_filter, random_interface_filter
from harness import scaled, wait_until
from protos import (
    CACHED,
    IPV4,
    IPV6,
    Addr,
    AddrFilter,
    FieldMask,
    GetInterfaceRequest,
    Interface,
    InterfaceFilter,
    addr_pb2,
    interface_pb2,
)
from topology import Topology


class FilterTest(harness.IntegrationTest):
    def random_network(self):
        random = self.random()
        namespace, _, client = self.started()
        topology = Topology(random, namespace)
        topology.grow(30)
        self.assert_agrees(namespace, client)
        return random, client

    def assert_filters(self, client, **criteria):
        """The names of the interfaces that pass, and how many there are."""
        criteria = InterfaceFilter(**criteria)
        return self.assert_passes(client.interfaces, criteria, interface_matches, lambda i: i.name)

    def assert_filters_addrs(self, client, **criteria):
        criteria = AddrFilter(**criteria)
        return self.assert_passes(client.addrs, criteria, addr_matches, lambda a: a.address)

    def assert_passes(self, list_all, criteria, matches, name):
        """Fresh and cached, a listing with the filter has what should pass it. Meanwhile the
        kernel may finish what it was doing; then it is done again."""

        def answers():
            before = list_all()
            fresh = list_all(filter=criteria)
            cached = list_all(filter=criteria, consistency=CACHED)
            unchanged = not same_objects(before, list_all())
            return (before, fresh, cached) if unchanged else None

        everything, *passed = wait_until(answers, "nothing changes while filters are tried")
        wanted = [message for message in everything if matches(criteria, message)]
        with self.subTest(criteria=str(criteria)):
            for ours in passed:
                self.assertEqual([m.uid for m in ours], [m.uid for m in wanted])
                self.assertEqual(same_objects(ours, wanted), [])
        return [name(message) for message in wanted], len(everything)

    def test_random_interface_filters(self):
        random, client = self.random_network()
        selective = 0
        for _ in range(scaled(150)):
            criteria = random_interface_filter(random, client.interfaces())
            names, total = self.assert_filters(client, **criteria)
            selective += 0 < len(names) < total
        self.assertGreater(selective, scaled(20))

    def test_random_addr_filters(self):
        random, client = self.random_network()
        selective = 0
        for _ in range(scaled(150)):
            criteria = random_addr_filter(random, client.addrs())
            addresses, total = self.assert_filters_addrs(client, **criteria)
            selective += 0 < len(addresses) < total
        self.assertGreater(selective, scaled(20))

    def test_each_interface_criterion(self):
        namespace, _, client = self.started()
        namespace.batch(
            [
                "link add name br0 index 10 address 02:00:00:00:00:10 type bridge",
                "link add name br[0] index 11 type bridge",
                "link add name port0 index 12 address 02:00:00:00:ab:cd type ifb",
                "link set dev port0 master br0",
                "link set dev port0 up",
                "link property add dev port0 altname uplink-of-the-rack",
            ]
        )
        up = interface_pb2.OPER_STATE_UP
        for criteria, names in (
            ({"indexes": [12, 1, 99]}, ["lo", "port0"]),
            ({"names": ["port0"]}, ["port0"]),
            ({"names": ["uplink-of-the-rack"]}, ["port0"]),
            ({"names": ["up*rack"]}, ["port0"]),
            ({"names": ["uplink"]}, []),
            ({"names": ["br[0]"]}, ["br0", "br[0]"]),  # both exact and a pattern
            ({"names": ["br[1-9]", "p?rt[0-9]"]}, ["port0"]),
            ({"names": ["BR0"]}, []),
            ({"names": ["*"]}, ["lo", "br0", "br[0]", "port0"]),
            ({"kinds": ["bridge"]}, ["br0", "br[0]"]),
            ({"kinds": ["bridge", "ifb"]}, ["br0", "br[0]", "port0"]),
            ({"kinds": ["br*"]}, []),
            ({"hardware_addresses": ["02:00:00:00:AB:CD"]}, ["port0"]),
            ({"master": "br0"}, ["port0"]),
            ({"master": "port0"}, []),
            ({"admin_up": True}, ["port0"]),
            ({"admin_up": False}, ["lo", "br0", "br[0]"]),
            ({"kinds": ["ifb"], "admin_up": False}, []),
            ({"oper_states": [up, interface_pb2.OPER_STATE_UNKNOWN]}, ["port0"]),
        ):
            self.assertEqual(self.assert_filters(client, **criteria)[0], names, criteria)

    def test_patterns_count_characters(self):
        namespace, _, client = self.started()
        name = "\u540d\u524d7"
        namespace.batch([f"link add name {name} type bridge", f"addr add 10.0.0.1/24 dev {name}"])
        for pattern in ("???", "?\u524d7", "\u540d[\u524d\u5f8c]7", "\u540d*"):
            self.assertEqual(self.assert_filters(client, names=[pattern])[0], [name])
            self.assertEqual(
                self.assert_filters_addrs(client, interface_names=[pattern])[0], ["10.0.0.1"]
            )

    def test_each_addr_criterion(self):
        namespace, _, client = self.started()
        namespace.batch(
            [
                "link add name br0 index 10 type bridge",
                "link add name br1 index 11 type bridge",
                "addr add 10.1.2.3/8 dev br0",
                "addr add 10.255.0.1/32 dev br0",
                "addr add 192.0.2.1/24 scope link dev br1",
                "addr add fd00::1/64 nodad dev br1",
                "addr add ::ffff:10.1.2.3/128 nodad dev br1",
            ]
        )
        one, two, three, four = "10.1.2.3", "10.255.0.1", "192.0.2.1", "fd00::1"
        mapped = "::ffff:10.1.2.3"
        link = addr_pb2.ADDR_SCOPE_LINK
        for criteria, wanted in (
            ({"interface_indexes": [10]}, [one, two]),
            ({"interface_names": ["br1"]}, [three, mapped, four]),
            ({"interface_names": ["br*"], "family": IPV6}, [mapped, four]),
            ({"family": IPV4}, [one, two, three]),
            ({"scopes": [link]}, [three]),
            ({"within": "10.0.0.0/8"}, [one, two]),
            ({"within": "10.1.0.0/16"}, [one]),
            ({"within": "10.255.0.1/32"}, [two]),
            ({"within": "0.0.0.0/0"}, [one, two, three]),
            ({"within": "::/0"}, [mapped, four]),
            ({"within": "fd00::/8"}, [four]),
            ({"within": "fd00::/127"}, [four]),
            ({"within": "fd00::2/127"}, []),
            ({"within": "10.0.0.0/8", "family": IPV6}, []),
        ):
            self.assertCountEqual(
                self.assert_filters_addrs(client, **criteria)[0], wanted, criteria
            )

    def test_masks_of_interfaces(self):
        random, client = self.random_network()
        names = [field.name for field in Interface.DESCRIPTOR.fields if field.name != "stats"]
        self.assert_masks(client.interfaces, names, random)

    def test_masks_of_addrs(self):
        random, client = self.random_network()
        names = [field.name for field in Addr.DESCRIPTOR.fields]
        self.assert_masks(client.addrs, names, random)

    def assert_masks(self, list_all, names, random):
        for paths in [[name] for name in names] + [
            random.sample(names, random.randrange(1, 8)) for _ in range(scaled(30))
        ]:

            def answers():
                before = list_all()
                fresh = list_all(read_mask=FieldMask(paths=paths))
                cached = list_all(read_mask=FieldMask(paths=paths), consistency=CACHED)
                unchanged = not same_objects(before, list_all())
                return (before, fresh, cached) if unchanged else None

            whole, *cut = wait_until(answers, "nothing changes while masks are tried")
            with self.subTest(paths=paths):
                for ours in cut:
                    self.assertEqual(self.mask_differences(ours, whole, paths), [])

    @staticmethod
    def mask_differences(ours, whole, paths):
        """Where `ours` are not `whole` cut to `paths`. A text may bring its exact bytes along."""
        lines = [] if len(ours) == len(whole) else ["another number of objects"]
        along = [f"raw_{path}" for path in paths]
        for left, right in zip(map(without_volatile, ours), map(without_volatile, whole)):
            less, more = masked(right, paths), masked(right, [*paths, *along])
            for name in left.DESCRIPTOR.fields_by_name:
                if value_of(left, name) not in (value_of(less, name), value_of(more, name)):
                    lines.append(f"{right.uid}: {name} is {value_of(left, name)!r}")
        return lines

    def test_nested_masks(self):
        namespace, _, client = self.started()
        namespace.batch(["link set dev lo up", "link add name some0 type bridge"])
        listed = client.interfaces(
            read_mask=FieldMask(paths=["stats.rx_bytes", "name"]), include_stats=True
        )
        for interface in listed:
            self.assertEqual(
                {field.name for field, _ in interface.ListFields()},
                {"uid", "index", "name", "stats"},
            )
            self.assertEqual(
                [field.name for field, _ in interface.stats.ListFields()], ["rx_bytes"]
            )
        one = client.get(
            name="lo",
            include_stats=True,
            read_mask=FieldMask(paths=["stats.tx_packets", "stats.rx_bytes", "mtu"]),
        )
        self.assertEqual(
            {field.name for field, _ in one.ListFields()}, {"uid", "index", "mtu", "stats"}
        )
        self.assertEqual(
            {field.name for field, _ in one.stats.ListFields()}, {"tx_packets", "rx_bytes"}
        )
        whole = client.get(name="lo", include_stats=True, read_mask=FieldMask(paths=["stats"]))
        self.assertEqual(
            len(whole.stats.ListFields()),
            len(client.get(name="lo", include_stats=True).stats.ListFields()),
        )

    def test_a_mask_without_the_counters_leaves_them_out(self):
        _, _, client = self.started()
        lo = client.get(name="lo", include_stats=True, read_mask=FieldMask(paths=["name"]))
        self.assertFalse(lo.HasField("stats"))

    def test_a_filter_that_nothing_passes(self):
        _, _, client = self.started()
        listing = client.list_interfaces(filter=InterfaceFilter(names=["nobody"]))
        self.assertEqual(listing.objects, [])
        self.assertTrue(listing.revision.epoch)
        self.assertTrue(listing.pages[0].HasField("observed_at"))
        self.fails(
            grpc.StatusCode.NOT_FOUND,
            "INTERFACE_NOT_FOUND",
            client.GetInterface,
            GetInterfaceRequest(name="nobody"),
        )


if __name__ == "__main__":
    harness.main()

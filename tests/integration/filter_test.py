"""Filters and masks: what they let pass, against a second reading of the contract."""

import grpc

import harness
from fields import masked, same_objects, value_of
from filters import (addr_matches, interface_matches, random_addr_filter, random_interface_filter)
from harness import scaled
from protos import (CACHED, FRESH, IPV4, IPV6, Addr, AddrFilter, FieldMask, GetInterfaceRequest, Interface,
                    InterfaceFilter, addr_pb2, interface_pb2)
from topology import Topology


class FilterTest(harness.IntegrationTest):

    def random_network(self):
        random = self.random()
        namespace, _, client = self.started()
        topology = Topology(random, namespace)
        topology.grow(30)
        self.assert_agrees(namespace, client)
        return random, client

    def assert_filters(self, client, interfaces, **criteria):
        """The list of interfaces that pass, which is right."""
        with self.subTest(**criteria):
            wanted = [i for i in interfaces if interface_matches(InterfaceFilter(**criteria), i)]
            for consistency in (FRESH, CACHED):
                ours = client.interfaces(filter=InterfaceFilter(**criteria), consistency=consistency)
                self.assertEqual([i.index for i in ours], [i.index for i in wanted])
                self.assertEqual(same_objects(ours, wanted), [])
            return [i.name for i in wanted]

    def assert_filters_addrs(self, client, addrs, **criteria):
        with self.subTest(**criteria):
            wanted = [a for a in addrs if addr_matches(AddrFilter(**criteria), a)]
            for consistency in (FRESH, CACHED):
                ours = client.addrs(filter=AddrFilter(**criteria), consistency=consistency)
                self.assertEqual([a.uid for a in ours], [a.uid for a in wanted])
                self.assertEqual(same_objects(ours, wanted), [])
            return [a.address for a in wanted]

    def test_random_interface_filters(self):
        random, client = self.random_network()
        interfaces = client.interfaces()
        passed = 0
        for _ in range(scaled(150)):
            criteria = random_interface_filter(random, interfaces)
            passed += 0 < len(self.assert_filters(client, interfaces, **criteria) or []) < len(interfaces)
        self.assertGreater(passed, scaled(20))

    def test_random_addr_filters(self):
        random, client = self.random_network()
        addrs = client.addrs()
        passed = 0
        for _ in range(scaled(150)):
            criteria = random_addr_filter(random, addrs)
            passed += 0 < len(self.assert_filters_addrs(client, addrs, **criteria) or []) < len(addrs)
        self.assertGreater(passed, scaled(20))

    def test_each_interface_criterion(self):
        namespace, _, client = self.started()
        namespace.batch(["link add name br0 index 10 address 02:00:00:00:00:10 type bridge",
                         "link add name br[0] index 11 type bridge",
                         "link add name port0 index 12 address 02:00:00:00:ab:cd type ifb",
                         "link set dev port0 master br0", "link set dev port0 up",
                         "link property add dev port0 altname uplink-of-the-rack"])
        interfaces = client.interfaces()
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
            self.assertEqual(self.assert_filters(client, interfaces, **criteria), names, criteria)

    def test_each_addr_criterion(self):
        namespace, _, client = self.started()
        namespace.batch(["link add name br0 index 10 type bridge", "link add name br1 index 11 type bridge",
                         "addr add 10.1.2.3/8 dev br0", "addr add 10.255.0.1/32 dev br0",
                         "addr add 192.0.2.1/24 scope link dev br1",
                         "addr add fd00::1/64 nodad dev br1", "addr add ::ffff:10.1.2.3/128 nodad dev br1"])
        addrs = client.addrs()
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
            found = self.assert_filters_addrs(client, addrs, **criteria)
            self.assertCountEqual(found, wanted, criteria)

    def test_masks_of_interfaces(self):
        random, client = self.random_network()
        interfaces = client.interfaces()
        names = [field.name for field in Interface.DESCRIPTOR.fields if field.name != "stats"]
        for paths in [[name] for name in names] + [
                random.sample(names, random.randrange(1, 8)) for _ in range(scaled(30))]:
            with self.subTest(paths=paths):
                for consistency in (FRESH, CACHED):
                    ours = client.interfaces(read_mask=FieldMask(paths=paths), consistency=consistency)
                    self.assertEqual(self.mask_differences(ours, interfaces, paths), [])

    def test_masks_of_addrs(self):
        random, client = self.random_network()
        addrs = client.addrs()
        names = [field.name for field in Addr.DESCRIPTOR.fields]
        for paths in [[name] for name in names] + [
                random.sample(names, random.randrange(1, 8)) for _ in range(scaled(30))]:
            with self.subTest(paths=paths):
                ours = client.addrs(read_mask=FieldMask(paths=paths))
                self.assertEqual(self.mask_differences(ours, addrs, paths), [])

    @staticmethod
    def mask_differences(ours, whole, paths):
        """Where `ours` are not `whole` cut to `paths`. A text may bring its exact bytes along."""
        lines = [] if len(ours) == len(whole) else ["another number of objects"]
        along = [f"raw_{path}" for path in paths]
        for left, right in zip(ours, whole):
            less, more = masked(right, paths), masked(right, [*paths, *along])
            for name in left.DESCRIPTOR.fields_by_name:
                if name in ("created_at", "updated_at", "unknown_attributes"):
                    continue
                if value_of(left, name) not in (value_of(less, name), value_of(more, name)):
                    lines.append(f"{right.uid}: {name} is {value_of(left, name)!r}")
        return lines

    def test_nested_masks(self):
        namespace, _, client = self.started()
        namespace.batch(["link set dev lo up", "link add name some0 type bridge"])
        listed = client.interfaces(read_mask=FieldMask(paths=["stats.rx_bytes", "name"]),
                                   include_stats=True)
        for interface in listed:
            self.assertEqual({field.name for field, _ in interface.ListFields()},
                             {"uid", "index", "name", "stats"})
            self.assertEqual([field.name for field, _ in interface.stats.ListFields()], ["rx_bytes"])
        one = client.get(name="lo", include_stats=True,
                         read_mask=FieldMask(paths=["stats.tx_packets", "stats.rx_bytes", "mtu"]))
        self.assertEqual({field.name for field, _ in one.ListFields()}, {"uid", "index", "mtu", "stats"})
        self.assertEqual({field.name for field, _ in one.stats.ListFields()},
                         {"tx_packets", "rx_bytes"})
        whole = client.get(name="lo", include_stats=True, read_mask=FieldMask(paths=["stats"]))
        self.assertEqual(len(whole.stats.ListFields()), len(
            client.get(name="lo", include_stats=True).stats.ListFields()))

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
        self.fails(grpc.StatusCode.NOT_FOUND, "INTERFACE_NOT_FOUND", client.GetInterface,
                   GetInterfaceRequest(name="nobody"))


if __name__ == "__main__":
    harness.main()

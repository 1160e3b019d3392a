"""Listings of many pages: complete, of one snapshot, and cut as asked."""

import grpc

import harness
from fields import same_objects
from harness import scaled
from rpc import Failure
from protos import (
    CACHED,
    AddrFilter,
    FieldMask,
    InterfaceFilter,
    ListAddrsRequest,
    ListInterfacesRequest,
)

MIB = 2**20
MANY = scaled(10000, 2000)
ABORTED = grpc.StatusCode.ABORTED
INVALID = grpc.StatusCode.INVALID_ARGUMENT
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


class ManyInterfacesTest(harness.IntegrationTest):
    """With more interfaces than one message of a client's default limit can hold."""

    def test_many_interfaces(self):
        namespace = self.namespace()
        namespace.batch(
            [
                "link add name first0 type bridge",
                *(f"link add name ifb-{n} type ifb" for n in range(MANY)),
                "link add name last0 type bridge",
            ]
        )
        indexes = [link["ifindex"] for link in namespace.json("link")]
        self.assertEqual(len(indexes), MANY + 3)
        server = self.server(namespace)
        client = self.client(server)  # with gRPC's default limit of 4 MiB
        for part in (
            self.whole_with_counters,
            self.whole_cached,
            self.cut_at_size,
            self.cut_at_number,
            self.cut_differently_on_the_way,
            self.unmoved_by_changes,
            self.watched,
            self.with_deadlines,
        ):
            with self.subTest(part=part.__name__):
                part(namespace, client, sorted(indexes))

    def assert_complete(self, listing, indexes):
        self.assertEqual([interface.index for interface in listing.objects], indexes)
        self.assertEqual(len({interface.uid for interface in listing.objects}), len(indexes))
        self.assertEqual(len({(p.revision.epoch, p.revision.number) for p in listing.pages}), 1)
        self.assertEqual(len({p.observed_at.ToNanoseconds() for p in listing.pages}), 1)
        self.assertEqual(listing.pages[-1].next_page_token, "")

    def whole_with_counters(self, namespace, client, indexes):
        listing = client.list_interfaces(include_stats=True)
        self.assert_complete(listing, indexes)
        for interface in listing.objects:
            self.assertTrue(interface.HasField("stats"), interface.name)
        for page in listing.pages:
            self.assertLessEqual(page.ByteSize(), 3 * MIB)
        if harness.SCALE >= 1:
            self.assertGreater(len(listing.pages), 1)
        # As full as they can be, but for what becomes shorter when Python encodes it again: parts of
        # a message that stand apart.
        for page, following in zip(listing.pages, listing.pages[1:]):
            self.assertGreater(page.ByteSize() + following.interfaces[0].ByteSize(), 0.98 * 3 * MIB)

    def whole_cached(self, namespace, client, indexes):
        self.assert_complete(client.list_interfaces(consistency=CACHED), indexes)

    def cut_at_size(self, namespace, client, indexes):
        for most in (100_000, MIB):
            listing = client.list_interfaces(max_response_bytes=most)
            self.assert_complete(listing, indexes)
            self.assertLessEqual(max(page.ByteSize() for page in listing.pages), most)
            self.assertGreater(min(page.ByteSize() for page in listing.pages[:-1]), most * 0.9)
        # A page has at least one object.
        listing = client.list_interfaces(
            max_response_bytes=1, filter=InterfaceFilter(names=["ifb-1*5"])
        )
        self.assertEqual({len(page.interfaces) for page in listing.pages}, {1})
        # What is more than a client takes is cut at 32 MiB only.
        with self.assertRaises(grpc.RpcError) as raised:
            client.ListInterfaces(
                ListInterfacesRequest(max_response_bytes=100 * MIB, include_stats=True), timeout=60
            )
            self.assertLess(harness.SCALE, 1)
            raise grpc.RpcError
        if harness.SCALE >= 1:
            self.assertIs(raised.exception.code(), EXHAUSTED)

    def cut_at_number(self, namespace, client, indexes):
        listing = client.list_interfaces(page_size=999)
        self.assert_complete(listing, indexes)
        self.assertEqual({len(page.interfaces) for page in listing.pages[:-1]}, {999})
        self.assert_complete(client.list_interfaces(page_size=2**31 - 1), indexes)
        whole = client.list_interfaces(page_size=MANY + 3, read_mask=FieldMask(paths=["name"]))
        self.assertEqual(len(whole.pages), 1)
        self.assert_complete(whole, indexes)

    def cut_differently_on_the_way(self, namespace, client, indexes):
        request = ListInterfacesRequest()
        found = []
        sizes = iter([(1, 0), (500, 0), (0, 50_000), (7, 10**6)] * MANY)
        while True:
            request.page_size, request.max_response_bytes = next(sizes)
            page = client.ListInterfaces(request, timeout=60)
            found += [interface.index for interface in page.interfaces]
            if not page.next_page_token:
                break
            request.page_token = page.next_page_token
        self.assertEqual(found, indexes)

    def unmoved_by_changes(self, namespace, client, indexes):
        """Links added, changed and deleted between two pages do not show in the later ones."""
        request = ListInterfacesRequest(page_size=MANY // 3 + 2)
        page = client.ListInterfaces(request, timeout=60)
        found = list(page.interfaces)
        namespace.batch(
            [
                "link del dev last0",
                "link add name new0 type bridge",
                "link set dev ifb-1999 mtu 1300",
                "link set dev ifb-1998 name renamed0",
            ]
        )
        self.assertNotIn(
            "last0", [i.name for i in client.interfaces(filter=InterfaceFilter(names=["*0"]))]
        )
        while page.next_page_token:
            request.page_token = page.next_page_token
            page = client.ListInterfaces(request, timeout=60)
            found += page.interfaces
        self.assertEqual([interface.index for interface in found], indexes)
        by_name = {interface.name: interface for interface in found}
        self.assertIn("last0", by_name)
        self.assertNotIn("new0", by_name)
        self.assertNotIn("renamed0", by_name)
        self.assertEqual(by_name["ifb-1999"].mtu, 1500)
        now = {interface.name for interface in client.interfaces()}
        self.assertLess({"new0", "renamed0"}, now)
        self.assertNotIn("last0", now)

    def watched(self, namespace, client, indexes):
        watcher = self.watcher(client).wait_synced()
        self.assertEqual(same_objects(watcher.replica.interfaces(), client.interfaces()), [])
        watcher.stop()

    def with_deadlines(self, namespace, client, indexes):
        missed = 0
        for _ in range(50):
            try:
                client.ListInterfaces(ListInterfacesRequest(), timeout=0.002)
            except grpc.RpcError as error:
                self.assertIs(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
                missed += 1
        self.assertGreater(missed, 0)
        # What nobody got holds no place in the store.
        self.assertEqual(len(client.interfaces()), len(indexes))


class PagesTest(harness.IntegrationTest):
    def with_links(self, number=30, *flags):
        namespace, server, client = self.started(*flags)
        namespace.batch(
            [f"link add name ifb-{n} type ifb" for n in range(number)]
            + [f"addr add 10.0.{n}.1/24 dev ifb-{n}" for n in range(number)]
        )
        return namespace, server, client

    def first_page(self, client, **arguments):
        page = client.ListInterfaces(ListInterfacesRequest(page_size=3, **arguments), timeout=60)
        self.assertEqual(len(page.interfaces), 3)
        self.assertTrue(page.next_page_token)
        return page

    def test_addresses_too(self):
        namespace, _, client = self.with_links()
        listing = client.list_addrs(page_size=7)
        self.assertEqual([len(page.addrs) for page in listing.pages], [7, 7, 7, 7, 2])
        self.assertEqual(
            [addr.address for addr in listing.objects], [f"10.0.{n}.1" for n in range(30)]
        )
        small = client.list_addrs(max_response_bytes=300)
        self.assertGreater(len(small.pages), 5)
        self.assertEqual(same_objects(small.objects, listing.objects), [])

        page = client.ListAddrs(ListAddrsRequest(page_size=20), timeout=60)
        namespace.ip("addr del 10.0.25.1/24 dev ifb-25")
        self.assertEqual(len(client.addrs()), 29)
        rest = client.ListAddrs(ListAddrsRequest(page_token=page.next_page_token), timeout=60)
        self.assertEqual(len(rest.addrs), 10)

    def test_pages_of_a_filter(self):
        _, _, client = self.with_links()
        listing = client.list_interfaces(page_size=4, filter=InterfaceFilter(names=["ifb-1*"]))
        self.assertEqual([len(page.interfaces) for page in listing.pages], [4, 4, 3])
        self.assertEqual(
            [i.name for i in listing.objects], ["ifb-1"] + [f"ifb-1{n}" for n in range(10)]
        )
        listing = client.list_addrs(page_size=4, filter=AddrFilter(within="10.0.0.0/20"))
        self.assertEqual([len(page.addrs) for page in listing.pages], [4, 4, 4, 4])

    def test_a_full_last_page_has_no_token(self):
        _, _, client = self.with_links(5)
        page = client.ListInterfaces(ListInterfacesRequest(page_size=6), timeout=60)
        self.assertEqual((len(page.interfaces), page.next_page_token), (6, ""))

    def test_the_same_page_again(self):
        """A client that lost an answer asks once more."""
        namespace, _, client = self.with_links()
        token = self.first_page(client).next_page_token
        request = ListInterfacesRequest(page_size=5, page_token=token)
        one = client.ListInterfaces(request, timeout=60)
        namespace.ip("link del dev ifb-4")
        self.assertEqual(client.ListInterfaces(request, timeout=60), one)

    def test_a_token_binds_the_arguments(self):
        _, _, client = self.with_links()
        token = self.first_page(client, filter=InterfaceFilter(kinds=["ifb"])).next_page_token
        good = {"page_token": token, "filter": InterfaceFilter(kinds=["ifb"])}
        for changed in (
            {"filter": InterfaceFilter(kinds=["ifb", "veth"])},
            {"filter": None},
            {"read_mask": FieldMask(paths=["name"])},
            {"include_stats": True},
            {"consistency": CACHED},
        ):
            with self.subTest(changed=changed):
                failure = self.fails(
                    INVALID,
                    "BAD_ARGUMENT",
                    client.ListInterfaces,
                    ListInterfacesRequest(**{**good, **changed}),
                )
                self.assertEqual(failure.info.metadata["field"], "page_token")
        failure = self.fails(
            INVALID, "BAD_ARGUMENT", client.ListAddrs, ListAddrsRequest(page_token=token)
        )
        self.assertEqual(failure.info.metadata["field"], "page_token")
        # It still holds.
        page = client.ListInterfaces(ListInterfacesRequest(**good, page_size=100), timeout=60)
        self.assertEqual(len(page.interfaces), 27)

    def test_garbage_as_a_token(self):
        random = self.random()
        _, _, client = self.with_links()
        token = self.first_page(client).next_page_token
        garbage = ["x", "garbage", "AAAA", "=" * 9, "a" * 5000, token + "x", token[:-1], token[1:]]
        for _ in range(scaled(50)):
            at = random.randrange(len(token))
            garbage.append(
                token[:at] + random.choice("abcdefghijkABCDEFG0123456789-_") + token[at + 1 :]
            )
        for bad in garbage:
            if bad == token:
                continue
            with self.subTest(token=bad):
                try:
                    page = client.ListInterfaces(ListInterfacesRequest(page_token=bad), timeout=60)
                except grpc.RpcError as error:
                    failure = Failure(error)
                    # A token with one wrong digit may look like that of another listing.
                    self.assertIn(failure.code, (INVALID, ABORTED), failure)
                    self.assert_explained(failure, failure.info.reason)
                else:
                    self.fail(f"is accepted: {page}")
        for bad in garbage[:5]:
            self.fails(
                INVALID,
                "BAD_ARGUMENT",
                client.ListInterfaces,
                ListInterfacesRequest(page_token=bad),
            )

    def test_a_token_of_another_life(self):
        namespace, server, client = self.with_links()
        token = self.first_page(client).next_page_token
        server.stop()
        client = self.client(self.server(namespace))
        self.first_page(client)
        self.fails(
            ABORTED,
            "PAGE_TOKEN_EXPIRED",
            client.ListInterfaces,
            ListInterfacesRequest(page_token=token),
        )

    def test_a_full_store_keeps_those_that_run(self):
        namespace, _, client = self.with_links()
        limit = client.info().limits.max_listings
        self.assertGreater(limit, 0)
        started = [self.first_page(client) for _ in range(limit)]
        self.assertEqual(client.info().counts.listings, limit)
        namespace.ip("link set dev ifb-7 mtu 1300")
        for _ in range(3):
            failure = self.fails(
                EXHAUSTED,
                "TOO_MANY_LISTINGS",
                client.ListInterfaces,
                ListInterfacesRequest(page_size=3),
            )
            self.assertGreater(failure.retry_seconds, 0)
        # One page is enough for these.
        self.assertEqual(len(client.interfaces()), 31)
        self.assertEqual(len(client.addrs()), 30)
        # All that began go on to their ends, which makes room again.
        for page in started:
            rest = client.list_interfaces(page_token=page.next_page_token)
            self.assertEqual(len(rest.objects), 28)
            self.assertEqual(rest.revision, page.revision)
        for _ in range(limit):
            self.first_page(client)

    def test_many_listings_one_after_the_other(self):
        _, _, client = self.with_links()
        for _ in range(2 * client.info().limits.max_listings):
            self.assertEqual(len(client.interfaces(page_size=9)), 31)
        self.assertEqual(client.info().counts.listings, 0)
        self.first_page(client)
        self.assertEqual(client.info().counts.listings, 1)

    def test_listings_do_not_wait_for_watchers(self):
        """More snapshots than are kept at a time: each listing shows its own."""
        namespace, _, client = self.with_links()
        started = []
        for number in range(min(12, client.info().limits.max_listings)):
            started.append((number, self.first_page(client)))
            namespace.ip(f"link set dev ifb-29 mtu {1300 + number}")
        for number, page in started:
            rest = client.list_interfaces(page_token=page.next_page_token)
            last = rest.objects[-1]
            self.assertEqual(
                (last.name, last.mtu), ("ifb-29", 1500 if number == 0 else 1299 + number)
            )


if __name__ == "__main__":
    harness.main()

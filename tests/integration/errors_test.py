"""What a caller did wrong, or asked too much of: code, reason and details."""

import os
import threading

import grpc

import harness
from harness import wait_until
from protos import (
    ADDR,
    CACHED,
    FRESH,
    INTERFACE,
    AddrFilter,
    FieldMask,
    GetInterfaceRequest,
    GetServerInfoRequest,
    InterfaceFilter,
    ListAddrsRequest,
    ListInterfacesRequest,
    WatchRequest,
    seconds,
)
from rpc import Client, Failure
from watcher import Watcher

INVALID = grpc.StatusCode.INVALID_ARGUMENT


class ErrorsTest(harness.IntegrationTest):
    def assert_invalid(self, method, request, *fields, reason=None):
        """The request is refused for one of `fields`."""
        with self.subTest(request=str(request), fields=fields):
            try:
                answer = method(request, timeout=5)
                if hasattr(answer, "__next__"):
                    for _ in answer:
                        pass
            except grpc.RpcError as error:
                failure = Failure(error)
            else:
                self.fail("is accepted")
            self.assertIs(failure.code, INVALID, failure)
            self.assertIsNotNone(failure.info, failure)
            self.assert_explained(failure, reason or failure.info.reason)
            self.assertRegex(failure.info.reason, "^[A-Z][A-Z0-9_]+[A-Z0-9]$")
            self.assertIn(failure.info.metadata["field"], fields, failure)
            self.assertIsNone(failure.retry_seconds)

    def test_bad_list_arguments(self):
        _, _, client = self.started()
        for request, field in (
            (ListInterfacesRequest(page_size=-1), "page_size"),
            (ListInterfacesRequest(max_response_bytes=-1), "max_response_bytes"),
            (ListInterfacesRequest(consistency=99), "consistency"),
            (ListInterfacesRequest(include_stats=True, consistency=CACHED), "include_stats"),
            (ListInterfacesRequest(read_mask=FieldMask(paths=["no_such"])), "read_mask"),
            (
                ListInterfacesRequest(read_mask=FieldMask(paths=["name", "stats.no_such"])),
                "read_mask",
            ),
            (ListInterfacesRequest(read_mask=FieldMask(paths=["name.inner"])), "read_mask"),
            (ListInterfacesRequest(read_mask=FieldMask(paths=[""])), "read_mask"),
            (ListInterfacesRequest(read_mask=FieldMask(paths=["interfaces.name"])), "read_mask"),
            (ListInterfacesRequest(page_token="garbage"), "page_token"),
            (ListInterfacesRequest(page_token="Zm9vYmFy" * 50), "page_token"),
            (ListInterfacesRequest(filter=InterfaceFilter(indexes=[0])), "filter.indexes"),
            (ListInterfacesRequest(filter=InterfaceFilter(indexes=[-3])), "filter.indexes"),
            (
                ListInterfacesRequest(filter=InterfaceFilter(hardware_addresses=["zz"])),
                "filter.hardware_addresses",
            ),
            (ListInterfacesRequest(filter=InterfaceFilter(oper_states=[77])), "filter.oper_states"),
        ):
            self.assert_invalid(client.ListInterfaces, request, field)
        for request, field in (
            (ListAddrsRequest(page_size=-(2**31)), "page_size"),
            (ListAddrsRequest(consistency=-1), "consistency"),
            (ListAddrsRequest(read_mask=FieldMask(paths=["mtu"])), "read_mask"),
            (ListAddrsRequest(page_token="%%%"), "page_token"),
            (
                ListAddrsRequest(filter=AddrFilter(interface_indexes=[0])),
                "filter.interface_indexes",
            ),
            (ListAddrsRequest(filter=AddrFilter(family=9)), "filter.family"),
            (ListAddrsRequest(filter=AddrFilter(scopes=[66])), "filter.scopes"),
            *(
                (ListAddrsRequest(filter=AddrFilter(within=cidr)), "filter.within")
                for cidr in (
                    "",
                    "10.0.0.0",
                    "10.0.0.0/33",
                    "10.0.0.0/-1",
                    "10.0.0.0/",
                    "10.0.0/8",
                    "::/129",
                    "fe80::/x",
                    "10.0.0.0/8 ",
                    "host/8",
                    "10.0.0.0/8/8",
                    "10.0.0.0/+8",
                )
            ),
        ):
            self.assert_invalid(client.ListAddrs, request, field)

    def test_bad_get_arguments(self):
        _, _, client = self.started()
        for request, field in (
            (GetInterfaceRequest(index=0), "index"),
            (GetInterfaceRequest(index=-5), "index"),
            (GetInterfaceRequest(name=""), "name"),
            (GetInterfaceRequest(name="lo", read_mask=FieldMask(paths=["address"])), "read_mask"),
            (GetInterfaceRequest(name="lo", consistency=7), "consistency"),
            (
                GetInterfaceRequest(name="lo", include_stats=True, consistency=CACHED),
                "include_stats",
            ),
        ):
            self.assert_invalid(client.GetInterface, request, field)
        self.assert_invalid(client.GetInterface, GetInterfaceRequest(), "key", "index", "name")

    def test_bad_watch_arguments(self):
        _, _, client = self.started()
        for request, field in (
            (WatchRequest(types=[3]), "types"),
            (WatchRequest(types=[INTERFACE, 0]), "types"),
            (WatchRequest(types=[99]), "types"),
            (WatchRequest(read_mask=FieldMask(paths=["no_such"])), "read_mask"),
            (WatchRequest(types=[ADDR], read_mask=FieldMask(paths=["mtu"])), "read_mask"),
            (
                WatchRequest(interface_filter=InterfaceFilter(indexes=[-1])),
                "interface_filter.indexes",
            ),
            (WatchRequest(addr_filter=AddrFilter(within="x")), "addr_filter.within"),
            (WatchRequest(bookmark_interval=seconds(0.01)), "bookmark_interval"),
            (WatchRequest(bookmark_interval=seconds(-1)), "bookmark_interval"),
        ):
            self.assert_invalid(client.Watch, request, field)
        self.assert_invalid(
            client.Watch, WatchRequest(require_resume=True), "resume_from", "require_resume"
        )

    def test_another_namespace_is_not_served(self):
        _, _, client = self.started()
        for method, request in (
            (client.ListInterfaces, ListInterfacesRequest(netns="blue")),
            (client.ListAddrs, ListAddrsRequest(netns="blue")),
            (client.GetInterface, GetInterfaceRequest(netns="blue", name="lo")),
            (client.GetServerInfo, GetServerInfoRequest(netns="blue")),
            (client.Watch, WatchRequest(netns="blue")),
        ):
            self.assert_invalid(method, request, "netns", reason="NETNS_NOT_SERVED")

    def test_an_unknown_interface(self):
        _, _, client = self.started()
        failure = self.fails(
            grpc.StatusCode.NOT_FOUND,
            "INTERFACE_NOT_FOUND",
            client.GetInterface,
            GetInterfaceRequest(name="eth7"),
        )
        self.assertIn("eth7", failure.info.metadata.values())
        self.assertIn("eth7", failure.message)
        failure = self.fails(
            grpc.StatusCode.NOT_FOUND,
            "INTERFACE_NOT_FOUND",
            client.GetInterface,
            GetInterfaceRequest(index=4711),
        )
        self.assertIn("4711", failure.info.metadata.values())

    def test_too_many_watchers(self):
        _, _, client = self.started("--max_watchers=3")
        watchers = [self.watcher(client).wait_synced() for _ in range(3)]
        failure = self.fails(
            grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_WATCHERS", client.Watch, WatchRequest()
        )
        self.assertGreater(failure.retry_seconds, 0)
        # Those that are there go on, and one that leaves makes room.
        client.interfaces(consistency=FRESH)
        watchers[0].stop()
        wait_until(lambda: client.info().counts.watchers == 2, "the watcher is gone")
        self.watcher(client).wait_synced()

    def test_watchers_that_leave_are_forgotten(self):
        _, server, client = self.started("--max_watchers=3")
        for _ in range(harness.scaled(20)):
            other = Client(server.target)
            watchers = [Watcher(other, WatchRequest()).wait_synced() for _ in range(3)]
            other.close()  # without a word
            for watcher in watchers:
                watcher.wait_end()
            wait_until(lambda: client.info().counts.watchers == 0, "all of them are gone")

    def test_a_wrong_request_costs_no_watcher(self):
        _, _, client = self.started("--max_watchers=1")
        for _ in range(5):
            self.assert_invalid(client.Watch, WatchRequest(types=[99]), "types")
        self.watcher(client).wait_synced()

    def test_the_callers_deadline(self):
        namespace, server, client = self.started()
        for number in range(harness.scaled(200)):
            try:
                client.ListInterfaces(ListInterfacesRequest(), timeout=number / 200 * 0.002)
            except grpc.RpcError as error:
                self.assertIs(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assert_agrees(namespace, client)
        self.assertIsNone(server.process.poll())
        with self.assertRaises(grpc.RpcError) as raised:
            for _ in client.Watch(WatchRequest(), timeout=0.3):
                pass
        self.assertIs(raised.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        wait_until(lambda: client.info().counts.watchers == 0, "the watcher is gone")

    def test_a_short_deadline_is_no_reason_to_fail(self):
        _, _, client = self.started()
        requests = (
            (client.GetInterface, GetInterfaceRequest(name="lo")),
            (client.ListAddrs, ListAddrsRequest(filter=AddrFilter(interface_indexes=[1]))),
        )
        for method, request in requests:
            # Shorter than what an answer may be early by.
            wait_until(lambda: self.succeeds(method, request, timeout=0.045), "an answer in time")

    @staticmethod
    def succeeds(method, request, **options):
        try:
            return bool(method(request, **options).SerializeToString())
        except grpc.RpcError:
            return False

    def test_errors_show_the_beginning_of_what_was_wrong(self):
        """All of it would not fit into what clients take of an error."""
        _, _, client = self.started()
        long = "x" * 20_000
        for method, request, field in (
            (client.ListInterfaces, ListInterfacesRequest(netns=long), "netns"),
            (
                client.ListInterfaces,
                ListInterfacesRequest(filter=InterfaceFilter(hardware_addresses=[long])),
                "hardware_addresses",
            ),
            (
                client.ListInterfaces,
                ListInterfacesRequest(read_mask=FieldMask(paths=["\u00fc" + long])),
                "read_mask",
            ),
            (client.ListAddrs, ListAddrsRequest(filter=AddrFilter(within=long)), "within"),
        ):
            with self.subTest(field=field):
                with self.assertRaises(grpc.RpcError) as raised:
                    method(request, timeout=10)
                failure = Failure(raised.exception)
                self.assertIs(failure.code, INVALID, failure)
                self.assertIn(field, failure.message)
                self.assertLess(len(failure.message), 1000)
                self.assertIsNotNone(failure.info)

    def test_reflection_streams_are_bounded(self):
        _, server, client = self.started()
        method = client.channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        )
        done = threading.Event()

        def requests():
            yield b"\x3a\x00"
            done.wait()

        streams = [method(requests(), timeout=60) for _ in range(100)]
        try:
            ended = [stream for stream in streams if self.first_of(stream) is None]
            self.assertGreater(len(ended), 50, "most are refused")
            self.assertLess(len(os.listdir(f"/proc/{server.pid}/task")), 50)
            self.assertTrue(client.interfaces())
        finally:
            done.set()
            for stream in streams:
                stream.cancel()

    @staticmethod
    def first_of(stream):
        try:
            return next(stream)
        except grpc.RpcError:
            return None

    def test_what_is_unknown_is_unimplemented(self):
        _, _, client = self.started()
        with self.assertRaises(grpc.RpcError) as raised:
            client.raw("/linkvane.v1.NetworkStateService/NoSuch", b"")
        self.assertIs(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    def test_bytes_that_are_no_message(self):
        namespace, _, client = self.started()
        for method in ("ListInterfaces", "ListAddrs", "GetInterface", "GetServerInfo"):
            for garbage in (b"\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x12\x02\x0a"):
                with self.subTest(method=method, garbage=garbage):
                    with self.assertRaises(grpc.RpcError) as raised:
                        client.raw(f"/linkvane.v1.NetworkStateService/{method}", garbage)
                    self.assertIn(raised.exception.code(), (INVALID, grpc.StatusCode.INTERNAL))
        self.assert_agrees(namespace, client)


if __name__ == "__main__":
    harness.main()

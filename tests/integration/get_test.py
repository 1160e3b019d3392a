"""GetInterface and GetServerInfo."""

import os
import time

import grpc

import harness
from fields import same_objects
from netns import CommandFailed
from protos import (
    CACHED,
    FRESH,
    FieldMask,
    GetInterfaceRequest,
    GetServerInfoRequest,
    ListAddrsRequest,
)


class GetTest(harness.IntegrationTest):
    def test_by_index_name_and_alternative_name(self):
        namespace, _, client = self.started()
        long_name = "x" * 127
        namespace.batch(
            [
                "link add name some0 index 42 type bridge",
                "link add name other0 type bridge",
                f"link property add dev some0 altname short altname {long_name}",
                "link set dev some0 alias uplink",
                "link set dev some0 up",
            ]
        )
        listed = [i for i in client.interfaces() if i.index == 42]
        for consistency in (FRESH, CACHED):
            for key in ({"index": 42}, {"name": "some0"}, {"name": "short"}, {"name": long_name}):
                with self.subTest(key=key, consistency=consistency):
                    found = client.get(consistency=consistency, **key)
                    self.assertEqual(same_objects([found], listed), [])

    def test_a_name_that_is_not_ascii(self):
        namespace, _, client = self.started()
        namespace.ip("link add name \u540d\u524d0 type bridge")
        for consistency in (FRESH, CACHED):
            self.assertEqual(
                client.get(name="\u540d\u524d0", consistency=consistency).name, "\u540d\u524d0"
            )

    def test_by_a_name_as_it_is_shown(self):
        namespace, _, client = self.started()
        namespace.ip(b"link", b"add", b"name", b"odd\xff0", b"type", b"bridge")
        namespace.ip(b"link", b"property", b"add", b"dev", b"odd\xff0", b"altname", b"o\xfe\xfd")
        for name in ("odd\ufffd0", "o\ufffd\ufffd"):
            for arguments in ({"consistency": FRESH}, {"consistency": CACHED}):
                with self.subTest(name=name, **arguments):
                    self.assertEqual(client.get(name=name, **arguments).raw_name, b"odd\xff0")
        found = client.get(name="odd\ufffd0", include_stats=True, include_ethtool=True)
        self.assertTrue(found.HasField("stats"))
        self.fails(
            grpc.StatusCode.NOT_FOUND,
            "INTERFACE_NOT_FOUND",
            client.GetInterface,
            GetInterfaceRequest(name="even\ufffd0"),
        )
        namespace.ip(b"link", b"add", b"name", b"odd\xfe0", b"type", b"bridge")
        self.fails(
            grpc.StatusCode.INVALID_ARGUMENT,
            "BAD_ARGUMENT",
            client.GetInterface,
            GetInterfaceRequest(name="odd\ufffd0"),
        )

    def test_what_is_not_there(self):
        namespace, _, client = self.started()
        namespace.batch(
            [
                "link add name some0 index 42 type bridge",
                "link property add dev some0 altname short",
            ]
        )
        client.interfaces()
        namespace.ip("link del dev some0")
        for consistency in (FRESH, CACHED):
            for key in (
                {"index": 42},
                {"name": "some0"},
                {"name": "short"},
                {"name": "never"},
                {"index": 2**31 - 1},
                {"name": "y" * 127},
            ):
                with self.subTest(key=key, consistency=consistency):
                    self.fails(
                        grpc.StatusCode.NOT_FOUND,
                        "INTERFACE_NOT_FOUND",
                        client.GetInterface,
                        GetInterfaceRequest(consistency=consistency, **key),
                    )

    def test_a_mask(self):
        namespace, _, client = self.started()
        namespace.ip("link add name some0 index 42 type bridge")
        for consistency in (FRESH, CACHED):
            found = client.get(
                name="some0", consistency=consistency, read_mask=FieldMask(paths=["mtu", "kind"])
            )
            self.assertEqual(
                {field.name for field, _ in found.ListFields()}, {"uid", "index", "mtu", "kind"}
            )

    def test_revision_and_time(self):
        namespace, _, client = self.started()
        before = time.time()
        first = client.GetInterface(GetInterfaceRequest(name="lo"), timeout=60)
        namespace.ip("link set dev lo up")
        second = client.GetInterface(GetInterfaceRequest(name="lo"), timeout=60)
        self.assertEqual(first.revision.epoch, second.revision.epoch)
        self.assertGreater(second.revision.number, first.revision.number)
        for answer in (first, second, client.ListAddrs(ListAddrsRequest(), timeout=60)):
            self.assertAlmostEqual(answer.observed_at.ToMicroseconds() / 1e6, before, delta=60)
            self.assertGreaterEqual(answer.observed_at.ToMicroseconds() / 1e6, before - 0.01)

    def test_what_has_no_event_is_seen_fresh(self):
        namespace, _, client = self.started()
        namespace.ip("link add name down0 type bridge")
        namespace.ip("link set dev down0 alias text")
        namespace.ip("link property add dev down0 altname another")
        self.assertEqual(client.get(name="another").alias, "text")
        # And it is in the table from then on.
        self.assertEqual(client.get(name="another", consistency=CACHED).alias, "text")

    def test_server_info(self):
        namespace, _, client = self.started(
            "--node_name=node-7", "--max_watchers=5", "--pool_size=3", "--audit_interval=30s"
        )
        namespace.batch(["link add name some0 type bridge", "addr add 10.0.0.1/24 dev some0"])
        client.interfaces()
        client.addrs()
        watcher = self.watcher(client).wait_synced()
        info = client.info()
        self.assertRegex(info.version, r"^\d+\.\d+\.\d+")
        self.assertEqual(info.node_name, "node-7")
        self.assertEqual(info.kernel_release, os.uname().release)
        self.assertEqual(
            (info.counts.interfaces, info.counts.addrs, info.counts.watchers), (2, 1, 1)
        )
        self.assertEqual(info.counts.overruns, 0)
        self.assertGreater(info.counts.dumps, 0)
        self.assertEqual((info.limits.max_watchers, info.limits.pool_size), (5, 3))
        self.assertEqual(info.limits.audit_interval.ToSeconds(), 30)
        self.assertGreater(info.limits.max_connections, 0)
        self.assertEqual(info.limits.max_response_bytes, 32 * 2**20)
        self.assertLessEqual({"interfaces", "addrs", "watch", "stats"}, set(info.features))
        self.assertAlmostEqual(info.started_at.ToSeconds(), time.time(), delta=60)
        created = watcher.replica.created
        self.assertEqual(created.revision.epoch, info.revision.epoch)
        self.assertEqual(created.node_name, "node-7")
        self.assertEqual(created.netns_cookie, info.netns_cookie)
        self.assertEqual(created.max_watchers, 5)

    def test_the_node_is_named_after_the_host_unless_told(self):
        _, _, client = self.started()
        self.assertEqual(client.info().node_name, os.uname().nodename)

    def test_the_cookie_is_that_of_the_namespace(self):
        namespace, _, client = self.started()
        other = self.namespace()
        script = (
            "import socket; print(int.from_bytes(socket.socket().getsockopt(1, 71, 8), 'little'))"
        )
        try:
            cookie = int(namespace.execute("/usr/bin/python3", "-c", script))
        except CommandFailed:
            self.skipTest("this kernel has no SO_NETNS_COOKIE")
        self.assertEqual(client.info().netns_cookie, cookie)
        self.assertNotEqual(self.client(self.server(other)).info().netns_cookie, cookie)

    def test_malformed_attributes_are_not_there(self):
        namespace, _, client = self.started()
        self.assert_agrees(namespace, client)
        self.assertEqual(client.info().counts.malformed_attributes, 0)
        self.assertEqual(
            client.GetServerInfo(GetServerInfoRequest(), timeout=60).counts.listings, 0
        )


if __name__ == "__main__":
    harness.main()

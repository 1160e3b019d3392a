"""What is read for one answer only: what drivers tell of the physical link, virtual functions.

No device of a build machine has virtual functions; what the kernel says of those is tested on
recordings, in the kernel layer.
"""

import grpc

import harness
from protos import (
    CACHED,
    FieldMask,
    GetInterfaceRequest,
    InterfaceFilter,
    ListInterfacesRequest,
    device_pb2,
)


class LiveValuesTest(harness.IntegrationTest):
    def setUp(self):
        self.namespace_, _, self.client_ = self.started()

    def fill(self, pairs):
        self.namespace_.batch(
            [f"link add name v{i} type veth peer name w{i}" for i in range(pairs)]
            + ["link set dev v0 up", "link set dev w0 up", "link add name br0 type bridge"]
        )

    def sysfs(self, name):
        """{speed, duplex}, without what is not told: nothing of an interface that is down."""
        found = {}
        for key in ("speed", "duplex"):
            out = self.namespace_.execute("cat", f"/sys/class/net/{name}/{key}", check=False)
            value = out.decode().strip()
            if value not in ("", "-1", "unknown"):
                found[key] = value
        return found

    def assert_like_sysfs(self, interface):
        expected = self.sysfs(interface.name)
        if interface.name == "v0":
            self.assertEqual(set(expected), {"speed", "duplex"})
        settings = interface.ethtool
        ours = {}
        if settings.HasField("speed_mbps"):
            ours["speed"] = str(settings.speed_mbps)
        if settings.HasField("duplex"):
            name = device_pb2.DuplexMode.Name(settings.duplex)
            ours["duplex"] = name.removeprefix("DUPLEX_MODE_").lower()
        self.assertEqual({**ours, **expected}, ours, interface.name)

    def test_few_and_many_interfaces(self):
        for pairs in (2, 20):  # Asked about one by one, and all at once.
            with self.subTest(pairs=pairs):
                self.setUp()
                self.fill(pairs)
                found = {i.name: i for i in self.client_.interfaces(include_ethtool=True)}
                self.assertEqual(len(found), 2 * pairs + 2)
                self.assertEqual(found["v0"].ethtool.speed_mbps, 10000)
                self.assertEqual(found["v0"].ethtool.duplex, device_pb2.DUPLEX_MODE_FULL)
                self.assertEqual(found["v0"].ethtool.duplex_raw, 1)
                self.assertEqual(found["v0"].ethtool.port, device_pb2.ETHTOOL_PORT_TP)
                self.assertIs(found["v0"].ethtool.autonegotiation, False)
                self.assertFalse(found["lo"].HasField("ethtool"))
                for interface in found.values():
                    self.assert_like_sysfs(interface)

    def test_only_if_asked_for(self):
        self.fill(1)
        for interface in self.client_.interfaces():
            self.assertFalse(interface.HasField("ethtool"))
        self.assertFalse(self.client_.get(name="v0").HasField("ethtool"))
        watcher = self.watcher(self.client_).wait_synced()
        self.assertFalse(
            watcher.locked(lambda replica: [o for o in replica.interfaces() if o.HasField("ethtool")])
        )

    def test_get(self):
        self.fill(1)
        for key in ({"name": "v0"}, {"index": self.client_.get(name="v0").index}):
            found = self.client_.get(include_ethtool=True, include_vfs=True, **key)
            self.assertEqual(found.ethtool.speed_mbps, 10000)
            self.assertEqual(len(found.vfs), 0)
        found = self.client_.get(
            name="v0", include_ethtool=True, read_mask=FieldMask(paths=["ethtool.speed_mbps", "mtu"])
        )
        self.assertEqual(found.ethtool, device_pb2.EthtoolSettings(speed_mbps=10000))
        self.assertEqual((found.mtu, found.name), (1500, ""))

    def test_with_counters_pages_and_a_filter(self):
        self.fill(20)
        listing = self.client_.list_interfaces(
            include_ethtool=True,
            include_vfs=True,
            include_stats=True,
            page_size=7,
            filter=InterfaceFilter(names=["v*"]),
        )
        self.assertEqual(len(listing.pages), 3)
        self.assertEqual({i.ethtool.speed_mbps for i in listing.objects}, {10000})
        self.assertTrue(all(i.HasField("stats") for i in listing.objects))

    def test_not_with_cached(self):
        for field in ("include_vfs", "include_ethtool"):
            for method, request in (
                (self.client_.ListInterfaces, ListInterfacesRequest(**{field: True})),
                (self.client_.GetInterface, GetInterfaceRequest(name="lo", **{field: True})),
            ):
                with self.subTest(request=request):
                    method(request)
                    request.consistency = CACHED
                    failure = self.fails(
                        grpc.StatusCode.INVALID_ARGUMENT, "BAD_ARGUMENT", method, request
                    )
                    self.assertEqual(failure.info.metadata["field"], field)


if __name__ == "__main__":
    harness.main()

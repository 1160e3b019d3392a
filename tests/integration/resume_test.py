"""Watch that goes on where an earlier stream, or a list, ended."""

import grpc

import harness
from fields import same_objects
from harness import scaled
from protos import (
    ADDED,
    INTERFACE,
    MODIFIED,
    REMOVED,
    InterfaceFilter,
    Revision,
    WatchRequest,
    watch_pb2,
)
from replica import Replica
from topology import Topology

OUT_OF_RANGE = grpc.StatusCode.OUT_OF_RANGE


class ResumeTest(harness.IntegrationTest):
    def test_it_goes_on_after_the_checkpoint(self):
        """Each change is seen once, by the stream before or by the one after, or there is a whole
        snapshot; never is one missing."""
        random = self.random()
        namespace, _, client = self.started()
        topology = Topology(random, namespace)
        topology.grow(10)
        watcher = self.watcher(client).wait_synced()
        for _ in range(scaled(15)):
            topology.change(15)
            watcher.stop()  # anywhere in the stream
            earlier = watcher.replica
            if earlier.checkpoint is None:
                earlier = None
            topology.change(15)
            watcher = self.watcher(
                client, resumed=earlier, resume_from=earlier and earlier.checkpoint
            )
            self.assert_converges(client, watcher)

    def assert_converges(self, client, watcher):
        client.list_interfaces()
        revision = client.list_addrs().revision
        watcher.wait(
            lambda replica: replica.checkpoint is not None
            and replica.checkpoint.number >= revision.number,
            "a checkpoint",
        )

        def differences():
            objects = client.interfaces() + client.addrs()
            return watcher.locked(
                lambda replica: same_objects(list(replica.objects.values()), objects)
            )

        try:
            harness.wait_until(lambda: not differences(), "the watcher has what a list says", 30)
        except AssertionError:
            self.fail("\n".join(differences()))

    def changed_meanwhile(self, client, namespace):
        """A replica, after whose last checkpoint some changes were made."""
        namespace.ip("link add name some0 type bridge")
        listing = client.list_interfaces()
        watcher = self.watcher(client, types=[INTERFACE]).wait_synced()
        watcher.wait_revision(listing.revision)
        watcher.stop()
        namespace.batch(
            [
                "link set dev some0 mtu 1400",
                "link set dev some0 mtu 1300",
                "link add name new0 type ifb",
                "link del dev new0",
            ]
        )
        client.interfaces()
        return watcher.replica

    def test_of_this_epoch(self):
        """Exactly what happened since, every step; or a resync. Never silently less."""
        namespace, _, client = self.started()
        before = self.changed_meanwhile(client, namespace)
        watcher = self.watcher(
            client, resumed=before, resume_from=before.checkpoint, types=[INTERFACE]
        )
        self.assert_holds_all(client, watcher)
        replica = watcher.replica
        if replica.resyncs:
            self.assertEqual(replica.resyncs, [watch_pb2.RESYNC_REASON_REVISION_COMPACTED])
            self.assertTrue(replica.synced)
            return
        self.assertEqual(
            [
                (e.type, e.resource.interface.name)
                for e in replica.live
                if "mtu" in e.changed.paths or e.type != MODIFIED
            ],
            [(MODIFIED, "some0"), (MODIFIED, "some0"), (ADDED, "new0"), (REMOVED, "new0")],
        )

    def assert_holds_all(self, client, watcher):
        revision = client.list_interfaces().revision
        watcher.wait(
            lambda replica: replica.checkpoint is not None
            and replica.checkpoint.number >= revision.number,
            "a checkpoint",
        )
        self.assertEqual(same_objects(watcher.replica.objects.values(), client.interfaces()), [])

    def test_of_this_epoch_or_not_at_all(self):
        namespace, _, client = self.started()
        before = self.changed_meanwhile(client, namespace)
        try:
            self.fails(
                OUT_OF_RANGE,
                "REVISION_COMPACTED",
                client.Watch,
                WatchRequest(resume_from=before.checkpoint, require_resume=True),
                timeout=5,
            )
        except AssertionError as error:
            if "DEADLINE_EXCEEDED" not in str(error):
                raise
            # It goes on.
            watcher = self.watcher(
                client,
                resumed=before,
                resume_from=before.checkpoint,
                require_resume=True,
                types=[INTERFACE],
            )
            self.assert_holds_all(client, watcher)
            self.assertEqual(watcher.replica.resyncs, [])

    def test_from_another_epoch(self):
        namespace, server, client = self.started()
        namespace.ip("link add name some0 type bridge")
        client.interfaces()
        before = self.watcher(client).wait_synced()
        checkpoint = before.replica.checkpoint
        before.stop()
        server.stop()
        client = self.client(self.server(namespace))
        self.assertNotEqual(client.info().revision.epoch, checkpoint.epoch)
        for skip in (False, True):
            watcher = self.watcher(
                client, resumed=before.replica, resume_from=checkpoint, skip_snapshot=skip
            ).wait_synced()
            self.assertEqual(watcher.replica.resyncs, [watch_pb2.RESYNC_REASON_EPOCH_CHANGED])
            self.assertEqual(watcher.replica.contents[:2], ["created", "resync"])
            self.assertEqual(
                same_objects(
                    watcher.replica.objects.values(), client.interfaces() + client.addrs()
                ),
                [],
            )
        self.fails(
            OUT_OF_RANGE,
            "EPOCH_CHANGED",
            client.Watch,
            WatchRequest(resume_from=checkpoint, require_resume=True),
        )

    def test_from_the_future(self):
        namespace, _, client = self.started()
        namespace.ip("link add name some0 type bridge")
        revision = client.list_interfaces().revision
        ahead = Revision(epoch=revision.epoch, number=revision.number + 1000)
        self.fails(
            OUT_OF_RANGE,
            "REVISION_AHEAD",
            client.Watch,
            WatchRequest(resume_from=ahead, require_resume=True),
        )
        watcher = self.watcher(client, resume_from=ahead)
        watcher.wait(lambda replica: replica.resyncs and replica.synced, "resync and snapshot")
        self.assertEqual(watcher.replica.resyncs, [watch_pb2.RESYNC_REASON_REVISION_AHEAD])
        self.assertEqual(
            same_objects(watcher.replica.objects.values(), client.interfaces() + client.addrs()), []
        )

    def test_from_the_revision_of_a_list(self):
        """List, then watch: with a resync nothing is missing; without one, nothing either."""
        namespace, _, client = self.started()
        namespace.ip("link add name some0 type bridge")
        listing = client.list_interfaces()
        namespace.ip("link set dev some0 mtu 1400")
        listed = Replica(WatchRequest(types=[INTERFACE]))
        listed.objects = {interface.uid: interface for interface in listing.objects}
        listed.checkpoint = listing.revision
        watcher = self.watcher(
            client, resumed=listed, resume_from=listing.revision, types=[INTERFACE]
        )
        self.assert_holds_all(client, watcher)
        self.assertEqual(client.get(name="some0").mtu, 1400)

    def test_with_another_filter(self):
        namespace, _, client = self.started()
        before = self.changed_meanwhile(client, namespace)
        request = {"types": [INTERFACE], "interface_filter": InterfaceFilter(names=["some*"])}
        before.objects = {uid: o for uid, o in before.objects.items() if o.name.startswith("some")}
        watcher = self.watcher(client, resumed=before, resume_from=before.checkpoint, **request)
        namespace.ip("link set dev some0 mtu 1450")
        watcher.wait(
            lambda replica: [i for i in replica.interfaces() if i.mtu == 1450], "the change"
        )
        self.assertEqual([i.name for i in watcher.replica.interfaces()], ["some0"])


if __name__ == "__main__":
    harness.main()

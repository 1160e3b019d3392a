"""That a Replica finds what is wrong with a stream. Needs neither root nor a server."""

import unittest

from protos import ADDED, MODIFIED, REMOVED, Addr, Interface, Revision, WatchRequest, watch_pb2
from replica import Replica, Violation

EPOCH = "epoch"


def revision(number):
    return Revision(epoch=EPOCH, number=number)


def created():
    return watch_pb2.WatchResponse(created=watch_pb2.WatchCreated(revision=revision(1)))


def synced(number=1):
    return watch_pb2.WatchResponse(synced=watch_pb2.WatchSynced(), checkpoint=revision(number))


def bookmark(number):
    return watch_pb2.WatchResponse(bookmark=watch_pb2.WatchBookmark(), checkpoint=revision(number))


def event(kind, message, number=1, changed=(), coalesced=1, **fields):
    resource = watch_pb2.Resource(
        **{"interface" if isinstance(message, Interface) else "addr": message}
    )
    made = watch_pb2.Event(
        type=kind, resource=resource, revision=revision(number), coalesced=coalesced, **fields
    )
    made.time.GetCurrentTime()
    made.changed.paths.extend(changed)
    return made


def batch(*events, checkpoint=None):
    response = watch_pb2.WatchResponse(events=watch_pb2.WatchEvents(events=events))
    if checkpoint:
        response.checkpoint.CopyFrom(revision(checkpoint))
    return response


LINK = Interface(uid="i2", index=2, name="eth0", mtu=1500)
CHANGED = Interface(uid="i2", index=2, name="eth0", mtu=1400)
ADDRESS = Addr(uid="a1", interface_index=2, interface_name="eth0", address="10.0.0.1")
START = (created(), batch(event(ADDED, LINK), event(ADDED, ADDRESS)), synced())


class ReplicaTest(unittest.TestCase):
    def test_a_right_stream(self):
        replica = Replica(WatchRequest())
        for response in (
            *START,
            batch(event(MODIFIED, CHANGED, 2, ["mtu"]), checkpoint=2),
            bookmark(2),
            batch(event(REMOVED, ADDRESS, 3), event(REMOVED, CHANGED, 4), checkpoint=4),
        ):
            replica.apply(response)
        self.assertEqual(replica.objects, {})
        self.assertEqual(replica.checkpoint.number, 4)

    def test_wrong_streams(self):
        renamed = Interface(uid="i2", index=2, name="eth1", mtu=1500)
        for name, wrong in (
            ("no created", [batch(event(ADDED, LINK))]),
            ("created twice", [created(), created()]),
            ("a bookmark before synced", [created(), bookmark(1)]),
            ("a checkpoint before synced", [created(), batch(event(ADDED, LINK), checkpoint=1)]),
            ("an empty batch", [*START, batch(checkpoint=2)]),
            ("synced twice", [*START, synced()]),
            (
                "synced without checkpoint",
                [created(), watch_pb2.WatchResponse(synced=watch_pb2.WatchSynced())],
            ),
            ("a checkpoint that goes back", [*START, bookmark(3), bookmark(2)]),
            (
                "a checkpoint of another epoch",
                [
                    *START,
                    watch_pb2.WatchResponse(
                        bookmark=watch_pb2.WatchBookmark(),
                        checkpoint=Revision(epoch="other", number=2),
                    ),
                ],
            ),
            (
                "MODIFIED in a snapshot",
                [created(), batch(event(ADDED, LINK), event(MODIFIED, CHANGED, 1, ["mtu"]))],
            ),
            (
                "an old revision",
                [*START, batch(event(MODIFIED, CHANGED, 1, ["mtu"]), checkpoint=2)],
            ),
            (
                "a revision after the checkpoint",
                [*START, batch(event(MODIFIED, CHANGED, 3, ["mtu"]), checkpoint=2)],
            ),
            ("ADDED again", [*START, batch(event(ADDED, LINK, 2), checkpoint=2)]),
            (
                "another with the same key",
                [
                    *START,
                    batch(event(ADDED, Interface(uid="i9", index=2, name="x"), 2), checkpoint=2),
                ],
            ),
            (
                "MODIFIED of an unknown",
                [
                    *START,
                    batch(
                        event(MODIFIED, Interface(uid="i9", index=9, mtu=1), 2, ["mtu"]),
                        checkpoint=2,
                    ),
                ],
            ),
            (
                "REMOVED of an unknown",
                [*START, batch(event(REMOVED, Interface(uid="i9", index=9), 2), checkpoint=2)],
            ),
            ("nothing changed", [*START, batch(event(MODIFIED, LINK, 2), checkpoint=2)]),
            (
                "only what is volatile changed",
                [*START, batch(event(MODIFIED, LINK, 2, ["unknown_attributes"]), checkpoint=2)],
            ),
            (
                "changed names too much",
                [*START, batch(event(MODIFIED, CHANGED, 2, ["mtu", "name"]), checkpoint=2)],
            ),
            (
                "changed names too little",
                [
                    *START,
                    batch(
                        event(
                            MODIFIED,
                            Interface(uid="i2", index=2, name="eth0", mtu=1, group=1),
                            2,
                            ["mtu"],
                        ),
                        checkpoint=2,
                    ),
                ],
            ),
            (
                "coalesced 0",
                [*START, batch(event(MODIFIED, CHANGED, 2, ["mtu"], coalesced=0), checkpoint=2)],
            ),
            (
                "previous that nobody asked for",
                [
                    *START,
                    batch(
                        event(
                            MODIFIED,
                            CHANGED,
                            2,
                            ["mtu"],
                            previous=watch_pb2.Resource(interface=LINK),
                        ),
                        checkpoint=2,
                    ),
                ],
            ),
            (
                "left_filter without REMOVED",
                [
                    *START,
                    batch(event(MODIFIED, CHANGED, 2, ["mtu"], left_filter=True), checkpoint=2),
                ],
            ),
            (
                "an address before its interface",
                [created(), batch(event(ADDED, ADDRESS), event(ADDED, LINK))],
            ),
            (
                "an interface removed before its address",
                [*START, batch(event(REMOVED, LINK, 2), event(REMOVED, ADDRESS, 3), checkpoint=3)],
            ),
            (
                "REMOVED with another state",
                [
                    *START,
                    batch(event(REMOVED, ADDRESS, 2), event(REMOVED, CHANGED, 3), checkpoint=3),
                ],
            ),
            (
                "a name that is not the interface's",
                [*START, batch(event(MODIFIED, renamed, 2, ["name"]), checkpoint=2), bookmark(2)],
            ),
        ):
            with self.subTest(wrong=name):
                replica = Replica(WatchRequest())
                for response in wrong[:-1]:
                    replica.apply(response)
                with self.assertRaises(Violation):
                    replica.apply(wrong[-1])

    def test_wrong_masks_and_previous(self):
        request = WatchRequest(include_previous=True)
        request.read_mask.paths.append("mtu")
        link = Interface(uid="i2", index=2, mtu=1500)
        changed = Interface(uid="i2", index=2, mtu=1400)
        previous = watch_pb2.Resource(interface=link)
        start = (created(), batch(event(ADDED, link)), synced())
        right = batch(event(MODIFIED, changed, 2, ["mtu"], previous=previous), checkpoint=2)
        for name, response in (
            ("outside the mask", batch(event(ADDED, Interface(uid="i3", index=3, name="x"), 2))),
            (
                "changed outside the mask",
                batch(
                    event(MODIFIED, changed, 2, ["mtu", "group"], previous=previous), checkpoint=2
                ),
            ),
            ("no previous", batch(event(MODIFIED, changed, 2, ["mtu"]), checkpoint=2)),
            (
                "another previous",
                batch(
                    event(
                        MODIFIED,
                        changed,
                        2,
                        ["mtu"],
                        previous=watch_pb2.Resource(interface=changed),
                    ),
                    checkpoint=2,
                ),
            ),
            ("nothing", right),
        ):
            with self.subTest(wrong=name):
                replica = Replica(request)
                for each in start:
                    replica.apply(each)
                if name == "nothing":
                    replica.apply(response)
                else:
                    with self.assertRaises(Violation):
                        replica.apply(response)


if __name__ == "__main__":
    unittest.main(verbosity=2)

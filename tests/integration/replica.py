"""A watcher's copy of the state, which also judges the stream that it is made from."""

from fields import (
    KEY_FIELDS,
    VOLATILE_FIELDS,
    differing_fields,
    key_of,
    set_fields,
    without_volatile,
)
from protos import ADDED, ADDR, INTERFACE, MODIFIED, REMOVED, Interface


class Violation(AssertionError):
    """The stream broke a rule of the contract."""


def object_of(resource):
    """The interface or address in a Resource."""
    return getattr(resource, resource.WhichOneof("object"))


class Replica:
    """Applies the responses of one Watch stream. `resumed` is the replica of an earlier stream,
    whose last checkpoint the request named in resume_from."""

    def __init__(self, request, resumed=None):
        self.request = request
        self.objects = dict(resumed.objects) if resumed else {}  # by uid
        self.checkpoint = resumed.checkpoint if resumed else None
        self.contents = []  # the kind of each response
        self.events = []  # all of them
        self.live = []  # those after synced, or after a resume
        self.synced = False
        self.gaps = []
        self.resyncs = []
        self.created = None
        self.largest_response = 0  # in bytes
        self._may_sync = resumed is not None  # a resumed stream need not have a snapshot
        self._keys = {key_of(message): uid for uid, message in self.objects.items()}
        types = set(request.types) or {INTERFACE, ADDR}
        self._paths = {path.partition(".")[0] for path in request.read_mask.paths}
        # Both types are complete, so that they have to fit each other.
        self._whole = (
            types == {INTERFACE, ADDR}
            and not self._paths
            and not request.interface_filter.ListFields()
            and not request.addr_filter.ListFields()
            and (resumed is not None or not request.skip_snapshot)
        )
        self._blind = request.skip_snapshot and resumed is None  # does not know what was there

    def interfaces(self):
        return [o for o in self.objects.values() if o.DESCRIPTOR is Interface.DESCRIPTOR]

    def addrs(self):
        return [o for o in self.objects.values() if o.DESCRIPTOR is not Interface.DESCRIPTOR]

    def apply(self, response):
        """Takes the next response; raises Violation where it breaks a rule."""
        content = response.WhichOneof("content")
        self._demand(content is not None, "a response says nothing")
        self._demand(
            (content == "created") == (not self.contents),
            f"{content} as response {len(self.contents) + 1}",
        )
        self.contents.append(content)
        self.largest_response = max(self.largest_response, response.ByteSize())
        getattr(self, "_apply_" + content)(getattr(response, content), response)
        if response.HasField("checkpoint"):
            self._take_checkpoint(content, response.checkpoint)
        else:
            self._demand(content not in ("synced", "bookmark"), f"{content} without checkpoint")

    def _demand(self, holds, rule):
        if not holds:
            recent = ", ".join(self.contents[-10:])
            raise Violation(f"{rule} (after {len(self.contents)} responses: ... {recent})")

    def _apply_created(self, created, response):
        del response
        self.created = created
        self._demand(created.revision.epoch != "", "created without epoch")

    def _apply_synced(self, synced, response):
        del synced, response
        self._demand(not self.synced, "synced twice for one snapshot")
        if self.request.skip_snapshot and not self.resyncs and not self._may_sync:
            self._demand(
                self.contents == ["created", "synced"], "skip_snapshot: synced is not next"
            )
        self.synced = True

    def _apply_bookmark(self, bookmark, response):
        del bookmark, response
        self._demand(self._is_live(), "bookmark before synced")

    def _apply_gap(self, gap, response):
        del response
        self._demand(getattr(gap, "from").epoch == gap.to.epoch != "", "a gap between epochs")
        self._demand(getattr(gap, "from").number < gap.to.number, "a gap of nothing")
        self.gaps.append(gap)

    def _apply_resync(self, resync, response):
        del response
        self._demand(resync.reason != 0, "a resync without reason")
        self.resyncs.append(resync.reason)
        self.objects.clear()
        self._keys.clear()
        self.checkpoint = None
        self.synced = self._may_sync = self._blind = False

    def _apply_events(self, events, response):
        self._demand(events.events, "a batch of no events")
        for event in events.events:
            self._apply_event(event, response)

    def _is_live(self):
        return self.synced or self._may_sync

    def _take_checkpoint(self, content, checkpoint):
        # A gap may be all that a batch has.
        self._demand(
            content in ("events", "gap", "synced", "bookmark"), f"a checkpoint on {content}"
        )
        self._demand(self._is_live(), "a checkpoint before synced")
        self._demand(
            checkpoint.epoch == self.created.revision.epoch, "a checkpoint of another epoch"
        )
        if self.checkpoint is not None:
            self._demand(checkpoint.number >= self.checkpoint.number, "a checkpoint goes back")
        self.checkpoint = checkpoint
        # The rows that a rename changes have revisions of their own, and a checkpoint may be
        # between them; nothing is under way only where the stream rests.
        if self._whole and content != "events":
            self.check_names()

    def check_names(self):
        """What one row says of another one is true."""
        names = {interface.index: interface for interface in self.interfaces()}
        for addr in self.addrs():
            self._demand(addr.interface_index in names, f"an address without interface: {addr}")
            self._demand(
                addr.interface_name == names[addr.interface_index].name,
                f"interface_name of {addr.address} is {addr.interface_name!r}, the "
                f"interface is {names[addr.interface_index].name!r}",
            )
        for interface in names.values():
            if interface.HasField("master_name"):
                self._demand(
                    interface.master_index in names
                    and interface.master_name == names[interface.master_index].name,
                    f"{interface.name} has a master_name that its master has not",
                )
            if interface.HasField("link_name"):
                self._demand(
                    interface.link_index in names
                    and interface.link_name == names[interface.link_index].name,
                    f"{interface.name} has a link_name that its link has not",
                )

    def _apply_event(self, event, response):
        message = object_of(event.resource)
        self._check_common(event, message, response)
        if event.type == ADDED:
            self._add(event, message)
        elif event.type == MODIFIED:
            self._modify(event, message)
        else:
            self._demand(event.type == REMOVED, f"an event of type {event.type}")
            self._remove(event, message)
        self.events.append(event)
        if self._is_live():
            self.live.append(event)

    def _check_common(self, event, message, response):
        what = f"{key_of(message)}"
        self._demand(message.uid, f"{what}: no uid")
        self._demand(event.revision.epoch == self.created.revision.epoch, f"{what}: other epoch")
        self._demand(event.coalesced >= 1, f"{what}: coalesced is 0")
        self._demand(event.HasField("time"), f"{what}: no time")
        if self._paths:
            keep = self._paths | KEY_FIELDS[message.DESCRIPTOR]
            keep |= {"raw_" + name for name in keep}
            self._demand(
                set_fields(message) <= keep,
                f"{what}: outside the mask: {set_fields(message) - keep}",
            )
        if self._is_live():
            if self.checkpoint is not None:
                self._demand(
                    event.revision.number > self.checkpoint.number,
                    f"{what}: revision {event.revision.number} is not after the "
                    f"checkpoint {self.checkpoint.number}",
                )
        if response.HasField("checkpoint"):
            self._demand(
                event.revision.number <= response.checkpoint.number,
                f"{what}: revision {event.revision.number} is after the checkpoint",
            )
        if event.type != MODIFIED:
            self._demand(not event.changed.paths, f"{what}: changed without MODIFIED")
            self._demand(not event.HasField("previous"), f"{what}: previous without MODIFIED")
        if event.type != REMOVED:
            self._demand(not event.left_filter, f"{what}: left_filter without REMOVED")

    def _add(self, event, message):
        what = f"ADDED {key_of(message)}"
        self._demand(message.uid not in self.objects, f"{what}: is there already")
        self._demand(key_of(message) not in self._keys, f"{what}: another one has the key")
        if self._whole and message.DESCRIPTOR is not Interface.DESCRIPTOR:
            self._demand(
                ("interface", message.interface_index) in self._keys,
                f"{what}: before its interface",
            )
        if not self._is_live():
            self._demand(event.coalesced == 1, f"{what}: coalesced in a snapshot")
        self.objects[message.uid] = message
        self._keys[key_of(message)] = message.uid

    def _modify(self, event, message):
        what = f"MODIFIED {key_of(message)}"
        self._demand(self._is_live(), f"{what}: in a snapshot")
        held = self.objects.get(message.uid)
        changed = set(event.changed.paths) - VOLATILE_FIELDS
        self._demand(
            len(set(event.changed.paths)) == len(event.changed.paths),
            f"{what}: a path twice in {event.changed.paths}",
        )
        self._demand(changed, f"{what}: nothing changed")
        if self._paths:
            self._demand(
                changed <= self._paths | {"raw_" + name for name in self._paths},
                f"{what}: changed outside the mask: {changed}",
            )
        if held is None:
            self._demand(self._blind, f"{what}: is not known")
        else:
            self._demand(key_of(held) == key_of(message), f"{what}: was {key_of(held)}")
            differing = differing_fields(held, message)
            if event.coalesced == 1:
                self._demand(
                    changed == differing,
                    f"{what}: changed {sorted(changed)}, but {sorted(differing)} differ",
                )
            else:
                self._demand(
                    differing <= changed,
                    f"{what}: changed {sorted(changed)}, but {sorted(differing)} differ",
                )
        wanted = self.request.include_previous and event.coalesced == 1
        self._demand(
            event.HasField("previous") == wanted,
            f"{what}: previous is {'there' if event.HasField('previous') else 'missing'}",
        )
        if wanted and held is not None:
            previous = object_of(event.previous)
            self._demand(
                without_volatile(previous) == without_volatile(held),
                f"{what}: previous is {previous}, but it was {held}",
            )
        self.objects[message.uid] = message
        self._keys[key_of(message)] = message.uid

    def _remove(self, event, message):
        what = f"REMOVED {key_of(message)}"
        self._demand(self._is_live(), f"{what}: in a snapshot")
        held = self.objects.pop(message.uid, None)
        if held is None:
            self._demand(self._blind, f"{what}: is not known")
            return
        del self._keys[key_of(held)]
        if event.coalesced == 1:
            self._demand(
                without_volatile(held) == without_volatile(message),
                f"{what}: is {message}, the last state was {held}",
            )
        if self._whole and message.DESCRIPTOR is Interface.DESCRIPTOR:
            left = [a.address for a in self.addrs() if a.interface_index == message.index]
            self._demand(not left, f"{what}: before its addresses {left}")

"""Compares a message of ours with what `ip -j -d` says, by a table that a reviewer can read.

A field of ours, or a key of ip's, that is in neither a row nor a list of what is left out, is a
difference, too: nothing is forgotten silently.
"""

import collections
import dataclasses
import re

from google.protobuf.message import Message


class Either:
    """Equal to any of several values."""

    def __init__(self, *values):
        self.values = values

    def __eq__(self, other):
        return other in self.values

    def __repr__(self):
        return " or ".join(map(repr, self.values))


class Anything:
    """Equal to whatever it is."""

    def __eq__(self, other):
        return True

    def __repr__(self):
        return "anything"


class Something:
    """Equal to whatever is set."""

    def __eq__(self, other):
        return other is not None

    def __repr__(self):
        return "something"


class Bits:
    """Equal to a number that has `bits` under `mask`."""

    def __init__(self, bits, mask):
        self.bits, self.mask = bits, mask

    def __eq__(self, other):
        return other is not None and other & self.mask == self.bits

    def __repr__(self):
        return f"{self.bits:#x} under {self.mask:#x}"


@dataclasses.dataclass(frozen=True)
class Table:
    """How a message of ours and an object of ip's correspond.

    rows: (our field, ip's key, how). Parts of nested messages and objects are written with a dot.
      A key can be several, of which one is there: "group|remote"; what a space sets apart in front
      is another source that the key is looked up in. `how(value, row, view)` makes of ip's value
      what our field has to be; `value` is None where ip has no such key, `row` is the object that
      the key is in, `view` all that ip said.
    ours, ips: fields and keys that are left out, each with the reason.
    """

    rows: tuple
    ours: dict = dataclasses.field(default_factory=dict)
    ips: dict = dataclasses.field(default_factory=dict)

    def skipped(self, beside):
        """Our fields whose source is not at hand."""
        return {field for field, key, _ in self.rows if _source(key) and not _source(key) in beside}


def _source(key):
    return key.rpartition(" ")[0] if key else ""


def lookup(row, key):
    """The value of a key, dotted where objects are nested; None where there is none."""
    for part in key.split("."):
        if not isinstance(row, dict):
            return None
        row = row.get(part)
    return row


def _value(row, key, beside):
    if key is None:
        return None
    source, _, inner = key.rpartition(" ")
    if source:
        return beside[source].get(inner)
    values = (lookup(row, name) for name in inner.split("|"))
    return next((value for value in values if value is not None), None)


def _field(message, path):
    """Our value; None when it is unset. Repeated fields are lists."""
    name, _, inner = path.partition(".")
    field = message.DESCRIPTOR.fields_by_name[name]
    if field.label == field.LABEL_REPEATED:
        return list(getattr(message, name))
    if field.has_presence and not message.HasField(name):
        return None
    value = getattr(message, name)
    return _field(value, inner) if inner else value


def plain(value):
    """Messages as what they hold, durations in seconds. Of bytes that are not UTF-8, Unicode leaves
    open how many U+FFFD they become: here it is one."""
    if isinstance(value, Message):
        name = value.DESCRIPTOR.full_name
        if name == "google.protobuf.Duration":
            return value.seconds + value.nanos / 1e9
        if name != "google.protobuf.Timestamp":
            return {field.name: plain(inner) for field, inner in value.ListFields()}
    if isinstance(value, str):
        return re.sub("\ufffd+", "\ufffd", value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def _unknown_fields(descriptor, known, prefix=""):
    """Fields without a row; what is known by its parts has to be known by all of them."""
    for field in descriptor.fields:
        name = prefix + field.name
        if name in known:
            continue
        if any(path.startswith(name + ".") for path in known):
            yield from _unknown_fields(field.message_type, known, name + ".")
        else:
            yield name


def _unknown_keys(row, known, prefix=""):
    for key, value in row.items():
        name = prefix + key
        if name in known:
            continue
        if isinstance(value, dict) and any(path.startswith(name + ".") for path in known):
            yield from _unknown_keys(value, known, name + ".")
        else:
            yield name


def differences(message, table, row, beside, view, name, tally=None):
    """Lines on where `message` is not what the table makes of ip's `row`. `beside` has the rows of
    other sources; without a source, rows of it are skipped. `tally` counts, by the message's type,
    the values of ip's that were compared."""
    lines = []
    tally = collections.Counter() if tally is None else tally
    skipped = table.skipped(beside)
    counted = set()
    for field, key, how in table.rows:
        if field in skipped:
            continue
        theirs = _value(row, key, beside)
        expected = plain(how(theirs, row, view))
        ours = plain(_field(message, field))
        if isinstance(ours, list) and field.endswith("flags"):
            ours = sorted(ours)
        if not expected == ours:
            lines.append(f"{name}: {field} is {ours!r}, {key} {theirs!r} calls for {expected!r}")
        if theirs is not None and not isinstance(expected, Anything) and key not in counted:
            counted.add(key)
            tally[message.DESCRIPTOR.name] += 1
    known = {field for field, _, _ in table.rows} | set(table.ours)
    lines += [
        f"{name}: no rule for our {field}" for field in _unknown_fields(message.DESCRIPTOR, known)
    ]
    known = {part for _, key, _ in table.rows if key for part in key.split("|")} | set(table.ips)
    lines += [f"{name}: no rule for ip's {key}" for key in _unknown_keys(row, known)]
    return lines

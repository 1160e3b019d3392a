"""What has to be equal between `ip -j -d` (and sysfs) and Linkvane: a row for each field.

A field of ours, or a key of ip's, that is in neither a row nor a list of what is left out, is a
difference, too: nothing is forgotten silently.
"""

import re

from fields import value_of, values_of
from netns import raw_of
from protos import Addr, Interface, addr_pb2, interface_pb2

LIFETIME_FOREVER = 0xFFFFFFFF
# The kernel tells lifetimes in whole seconds, and time goes by between two readings.
_LIFETIME_SLACK_SECONDS = 2.5

_LINK_FLAGS = {  # ip's name: (bit, ours)
    "UP": (0x1, "UP"),
    "BROADCAST": (0x2, "BROADCAST"),
    "DEBUG": (0x4, "DEBUG"),
    "LOOPBACK": (0x8, "LOOPBACK"),
    "POINTOPOINT": (0x10, "POINT_TO_POINT"),
    "NOTRAILERS": (0x20, "NO_TRAILERS"),
    "RUNNING": (0x40, "RUNNING"),
    "NOARP": (0x80, "NO_ARP"),
    "PROMISC": (0x100, "PROMISCUOUS"),
    "ALLMULTI": (0x200, "ALL_MULTICAST"),
    "MASTER": (0x400, "MASTER"),
    "SLAVE": (0x800, "SLAVE"),
    "MULTICAST": (0x1000, "MULTICAST"),
    "PORTSEL": (0x2000, "PORT_SELECT"),
    "AUTOMEDIA": (0x4000, "AUTO_MEDIA"),
    "DYNAMIC": (0x8000, "DYNAMIC"),
    "LOWER_UP": (0x10000, "LOWER_UP"),
    "DORMANT": (0x20000, "DORMANT"),
    "ECHO": (0x40000, "ECHO"),
}
_OPER_STATES = {  # ip's name: (number, ours)
    "UNKNOWN": (0, "UNKNOWN"),
    "NOTPRESENT": (1, "NOT_PRESENT"),
    "DOWN": (2, "DOWN"),
    "LOWERLAYERDOWN": (3, "LOWER_LAYER_DOWN"),
    "TESTING": (4, "TESTING"),
    "DORMANT": (5, "DORMANT"),
    "UP": (6, "UP"),
}
_LINK_MODES = {"DEFAULT": (0, "DEFAULT"), "DORMANT": (1, "DORMANT"), "TESTING": (2, "TESTING")}
_SCOPES = {
    "global": (0, "GLOBAL"),
    "site": (200, "SITE"),
    "link": (253, "LINK"),
    "host": (254, "HOST"),
    "nowhere": (255, "NOWHERE"),
}
_ADDR_FLAGS = {  # ip's key: (bit, ours)
    "secondary": (0x1, "SECONDARY"),
    "temporary": (0x1, "TEMPORARY"),
    "nodad": (0x2, "NODAD"),
    "optimistic": (0x4, "OPTIMISTIC"),
    "dadfailed": (0x8, "DADFAILED"),
    "home": (0x10, "HOMEADDRESS"),
    "deprecated": (0x20, "DEPRECATED"),
    "tentative": (0x40, "TENTATIVE"),
    "mngtmpaddr": (0x100, "MANAGETEMPADDR"),
    "noprefixroute": (0x200, "NOPREFIXROUTE"),
    "autojoin": (0x400, "MCAUTOJOIN"),
    "stable-privacy": (0x800, "STABLE_PRIVACY"),
}
_PERMANENT = 0x80
_PROTOCOLS = {"kernel_lo": 1, "kernel_ra": 2, "kernel_ll": 3}


class _Either:
    """Equal to any of several values."""

    def __init__(self, *values):
        self.values = values

    def __eq__(self, other):
        return other in self.values

    def __repr__(self):
        return " or ".join(map(repr, self.values))


class _Anything:
    """Equal to whatever it is."""

    def __eq__(self, other):
        return True


class _Between:
    """Equal to a Timestamp from `first` to `last`."""

    def __init__(self, first, last):
        self.first, self.last = first, last

    def __eq__(self, other):
        return other is not None and self.first <= other.ToMicroseconds() / 1e6 <= self.last

    def __repr__(self):
        return f"from {self.first:.1f} to {self.last:.1f}"


# How a value becomes what our field has to be. `value` is None where ip has no such key; `row` is
# the object that the key is in, `view` all that ip said.


def _same(value, row, view):
    return value


def _or_zero(value, row, view):
    return value or 0


def _or_empty(value, row, view):
    return value or ""


def _number(value, row, view):
    return None if value is None else int(value)


def _text(value, row, view):
    return None if value is None else raw_of(value).decode("utf-8", "replace")


def _text_or_empty(value, row, view):
    return _text(value or "", row, view)


def _odd_bytes(value, row, view):
    """The bytes of a text, only where it is not UTF-8."""
    raw = raw_of(value or "")
    return raw if b"\xef\xbf\xbd" in raw.decode("utf-8", "replace").encode() else b""


def _texts(values, row, view):
    return [_text(value, row, view) for value in values or []]


def _odd_bytes_of_all(values, row, view):
    values = values or []
    odd = any(_odd_bytes(value, row, view) for value in values)
    return [raw_of(value) for value in values] if odd else []


def _entry(table, place, prefix="", enum=None):
    def how(value, row, view):
        if value is None:
            return None
        entry = table[value][place]
        return enum.Value(prefix + entry) if enum else entry

    return how


def _all_link_flags(row):
    flags = set(row["flags"]) - {"M-DOWN"}  # of the link below
    # ip shows RUNNING by its absence.
    if "NO-CARRIER" in flags:
        flags.remove("NO-CARRIER")
    elif "UP" in flags:
        flags.add("RUNNING")
    return flags


def _link_flags(value, row, view):
    enum = interface_pb2.InterfaceFlag
    return sorted(
        enum.Value("INTERFACE_FLAG_" + _LINK_FLAGS[flag][1])
        for flag in _all_link_flags(row)
        if flag in _LINK_FLAGS
    )


def _link_flag_bits(value, row, view):
    return sum(
        _LINK_FLAGS[flag][0] if flag in _LINK_FLAGS else int(flag, 16)
        for flag in _all_link_flags(row)
    )


def _is_up(value, row, view):
    return "UP" in value


def _carrier(value, row, view):
    # sysfs tells it only while the interface is up.
    return _Anything() if value is None or "UP" not in row["flags"] else value == "1"


def _group(value, row, view):
    return 0 if value == "default" else int(value)


def _index_of(value, row, view):
    return None if value is None else view.index_of[value]


def _link_index(value, row, view):
    if "link_index" in row:
        return row["link_index"]
    # The kernel's 0 says that there is none.
    return _Either(None, 0) if value is None else view.index_of[value]


def _family(value, row, view):
    return {
        "inet": addr_pb2.linkvane_dot_v1_dot_types__pb2.ADDRESS_FAMILY_IPV4,
        "inet6": addr_pb2.linkvane_dot_v1_dot_types__pb2.ADDRESS_FAMILY_IPV6,
    }[value]


def _addr_flags(value, row, view):
    names = [ours for key, (_, ours) in _ADDR_FLAGS.items() if row.get(key)]
    if not row.get("dynamic"):
        names.append("PERMANENT")
    return sorted(addr_pb2.AddrFlag.Value("ADDR_FLAG_" + name) for name in names)


def _addr_flag_bits(value, row, view):
    bits = sum(bit for key, (bit, _) in _ADDR_FLAGS.items() if row.get(key))
    return bits + (0 if row.get("dynamic") else _PERMANENT) + int(row.get("ifa_flags", "0"), 16)


def _until(value, row, view):
    if value == LIFETIME_FOREVER:
        return None
    until = view.time + value
    first = until - _LIFETIME_SLACK_SECONDS if value > 0 else 0  # over since any time
    return _Between(first, until + _LIFETIME_SLACK_SECONDS)


def _protocol(value, row, view):
    # This iproute2 may be too old to know it.
    return _PROTOCOLS.get(value, value) if value is not None else _Anything()


_INTERFACE_ROWS = (  # our field, ip's key (in sysfs where it says so), how
    ("index", "ifindex", _same),
    ("name", "ifname", _text),
    ("raw_name", "ifname", _odd_bytes),
    ("alt_names", "altnames", _texts),
    ("raw_alt_names", "altnames", _odd_bytes_of_all),
    ("alias", "ifalias", _text),
    ("raw_alias", "ifalias", _odd_bytes),
    ("hardware_type", "sysfs type", _number),
    ("hardware_type_name", "link_type", _text),
    ("hardware_address", "address", _or_empty),
    ("broadcast_address", "broadcast", _or_empty),
    ("flags", "flags", _link_flags),
    ("flags_raw", "flags", _link_flag_bits),
    ("admin_up", "flags", _is_up),
    ("oper_state", "operstate", _entry(_OPER_STATES, 1, "OPER_STATE_", interface_pb2.OperState)),
    ("oper_state_raw", "operstate", _entry(_OPER_STATES, 0)),
    ("carrier", "sysfs carrier", _carrier),
    ("carrier_changes", "sysfs carrier_changes", _number),
    ("carrier_up_count", "sysfs carrier_up_count", _number),
    ("carrier_down_count", "sysfs carrier_down_count", _number),
    ("link_mode", "linkmode", _entry(_LINK_MODES, 1, "LINK_MODE_", interface_pb2.LinkMode)),
    ("link_mode_raw", "linkmode", _entry(_LINK_MODES, 0)),
    ("mtu", "mtu", _same),
    ("min_mtu", "min_mtu", _same),
    ("max_mtu", "max_mtu", _same),
    ("tx_queue_len", "txqlen", _or_zero),  # ip leaves out a 0
    ("group", "group", _group),
    ("kind", "linkinfo.info_kind", _text),
    ("slave_kind", "linkinfo.info_slave_kind", _text),
    ("master_index", "master", _index_of),
    ("master_name", "master", _text),
    ("raw_master_name", "master", _odd_bytes),
    ("link_index", "link", _link_index),
    ("link_name", "link", _text),
    ("raw_link_name", "link", _odd_bytes),
    ("link_netns_id", "link_netnsid", _same),
    ("qdisc", "qdisc", _text),
    ("num_tx_queues", "num_tx_queues", _same),
    ("num_rx_queues", "num_rx_queues", _same),
    ("gso_max_size", "gso_max_size", _same),
    ("gso_max_segs", "gso_max_segs", _same),
    ("gro_max_size", "gro_max_size", _same),
    ("tso_max_size", "tso_max_size", _same),
    ("tso_max_segs", "tso_max_segs", _same),
    ("promiscuity", "promiscuity", _same),
    ("allmulticast", "allmulti", _same),
)
_ADDR_ROWS = (
    ("interface_index", "link ifindex", _same),
    ("interface_name", "link ifname", _text),
    ("raw_interface_name", "link ifname", _odd_bytes),
    ("family", "family", _family),
    ("address", "local", _same),
    ("prefix_length", "prefixlen", _same),
    ("peer_address", "address", _same),
    ("broadcast_address", "broadcast", _same),
    ("anycast_address", "anycast", _same),
    ("label", "label", _text),
    ("raw_label", "label", _odd_bytes),
    ("scope", "scope", _entry(_SCOPES, 1, "ADDR_SCOPE_", addr_pb2.AddrScope)),
    ("scope_raw", "scope", _entry(_SCOPES, 0)),
    ("flags", "dynamic", _addr_flags),
    ("flags_raw", "dynamic", _addr_flag_bits),
    ("preferred_until", "preferred_life_time", _until),
    ("valid_until", "valid_life_time", _until),
    ("protocol", "protocol", _protocol),
    ("route_metric", "metric", _same),
)
_LATER = "for a later version of the contract"
_LEFT_OUT_OF_OURS = {
    "uid": "ip has nothing like it",
    "stats": "compared by counter_differences()",
    "unknown_attributes": "what ip shows of it has other names",
    "created_at": "ip does not show the kernel's time stamps",
    "updated_at": "ip does not show the kernel's time stamps",
}
_LEFT_OUT_OF_IPS = {
    "inet6_addr_gen_mode": _LATER,
    "inet6_token": _LATER,
    "linkinfo.info_data": _LATER,
    "linkinfo.info_slave_data": _LATER,
    "parentbus": _LATER,
    "parentdev": _LATER,
    "permaddr": _LATER,
    "link_index": "part of link, in another namespace",
    "linkinfo": "by its parts",
}
_COUNTED_BY_FLAGS = {*_ADDR_FLAGS, "ifa_flags"}


def _lookup(row, key):
    outer, _, inner = key.partition(".")
    value = row.get(outer)
    return value.get(inner) if inner and value is not None else value


def _keys(row):
    for key, value in row.items():
        yield key
        if key == "linkinfo":
            yield from (f"{key}.{inner}" for inner in value)


def _readable(value):
    """One U+FFFD for any number of bytes that are not UTF-8, which Unicode leaves open."""
    if isinstance(value, str):
        return re.sub("\ufffd+", "\ufffd", value)
    if isinstance(value, list):
        return [_readable(item) for item in value]
    return value


def _differences(message, rows, row, beside, view, name):
    """Lines on where `message` is not what the table makes of ip's `row`. `beside` has the rows of
    other sources."""
    lines = []
    for field, key, how in rows:
        source, _, inner = key.rpartition(" ")
        theirs = beside[source].get(inner) if source else _lookup(row, key)
        expected = _readable(how(theirs, row, view))
        ours = _readable(value_of(message, field))
        if field == "flags":
            ours = sorted(ours)
        if not expected == ours:
            lines.append(f"{name}: {field} is {ours!r}, {key} {theirs!r} calls for {expected!r}")
    known = {field for field, _, _ in rows} | set(_LEFT_OUT_OF_OURS)
    lines += [f"{name}: no rule for our {field}" for field in values_of(message).keys() - known]
    known = {key for _, key, _ in rows} | set(_LEFT_OUT_OF_IPS) | _COUNTED_BY_FLAGS
    lines += [f"{name}: no rule for ip's {key}" for key in _keys(row) if key not in known]
    if not message.uid:
        lines.append(f"{name}: no uid")
    return lines


def interface_differences(interfaces, view):
    """Where `interfaces` (all of them, in the order of a List) are not what ip says."""
    links = sorted(view.links, key=lambda link: link["ifindex"])
    ours = [interface.index for interface in interfaces]
    theirs = [link["ifindex"] for link in links]
    if ours != theirs:
        return [f"the interfaces are {ours}, ip has {theirs}"]
    lines = []
    for interface, link in zip(interfaces, links):
        beside = {"sysfs": view.sysfs.get(link["ifname"], {})}
        lines += _differences(interface, _INTERFACE_ROWS, link, beside, view, link["ifname"])
    if len({interface.uid for interface in interfaces}) != len(interfaces):
        lines.append("a uid appears twice")
    return lines


def addr_differences(addrs, view):
    """Where `addrs` (all of them, in the order of a List) are not what ip says."""
    pairs = sorted(view.addrs, key=lambda pair: pair[0]["ifindex"])  # stable
    ours = [(a.interface_index, a.address, a.prefix_length, a.peer_address) for a in addrs]
    theirs = [
        (link["ifindex"], addr["local"], addr["prefixlen"], addr.get("address", ""))
        for link, addr in pairs
    ]
    if ours != theirs:
        return [f"the addresses are {ours}, ip has {theirs}"]
    lines = []
    for addr, (link, row) in zip(addrs, pairs):
        name = f"{link['ifname']} {row['local']}"
        lines += _differences(addr, _ADDR_ROWS, row, {"link": link}, view, name)
    if len({addr.uid for addr in addrs}) != len(addrs):
        lines.append("a uid appears twice")
    return lines


def counter_differences(interfaces, before, after):
    """Where the counters of `interfaces` are not between what sysfs said before and after."""
    lines = []
    for interface in interfaces:
        name = next(name for name, index in before.index_of.items() if index == interface.index)
        if not interface.HasField("stats"):
            lines.append(f"{name}: no stats")
            continue
        for field, value in values_of(interface.stats).items():
            key = f"statistics/{field}"
            if key not in before.sysfs[name]:
                continue  # rx_otherhost_dropped
            low, high = int(before.sysfs[name][key]), int(after.sysfs[name][key])
            if value is None or not low <= value <= high:
                lines.append(f"{name}: {field} is {value}, sysfs had {low} and then {high}")
    return lines


assert {row[0] for row in _INTERFACE_ROWS} <= set(Interface.DESCRIPTOR.fields_by_name)
assert {row[0] for row in _ADDR_ROWS} <= set(Addr.DESCRIPTOR.fields_by_name)

"""What has to be equal between `ip -j -d` (and sysfs) and Linkvane: a row for each field, as
comparison.py explains. The settings of links and ports are in kinds.py and ports.py."""

from comparison import Anything, Either, Table, differences
from conversions import (
    default,
    enum,
    hardware,
    named,
    newer,
    number,
    same,
    text,
)
from fields import values_of
from kinds import KINDS
from netns import raw_of
from ports import PORTS
from protos import Interface, addr_pb2, interface_pb2

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
_ADDR_GEN_MODES = {"eui64": 0, "none": 1, "stable_secret": 2, "random": 3}
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


class _Between:
    """Equal to a Timestamp from `first` to `last`."""

    def __init__(self, first, last):
        self.first, self.last = first, last

    def __eq__(self, other):
        return other is not None and self.first <= other.ToMicroseconds() / 1e6 <= self.last

    def __repr__(self):
        return f"from {self.first:.1f} to {self.last:.1f}"


def _or_empty(value, row, view):
    return value or ""


def _odd_bytes(value, row, view):
    """The bytes of a text, only where it is not UTF-8."""
    raw = raw_of(value or "")
    return raw if b"\xef\xbf\xbd" in raw.decode("utf-8", "replace").encode() else b""


def _texts(values, row, view):
    return [text(value, row, view) for value in values or []]


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


_oper_state = _entry(_OPER_STATES, 1, "OPER_STATE_", interface_pb2.OperState)


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
    return Anything() if value is None or "UP" not in row["flags"] else value == "1"


def _group(value, row, view):
    return 0 if value == "default" else int(value)


def _index_of(value, row, view):
    return None if value is None else view.index_of[value]


def _link_index(value, row, view):
    if "link_index" in row:
        return row["link_index"]
    # The kernel's 0 says that there is none.
    return Either(None, 0) if value is None else view.index_of[value]


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
    return _PROTOCOLS.get(value, value) if value is not None else Anything()


def _permanent_address(value, row, view):
    """ip shows it only where it differs from the present one."""
    if value is None:
        return Either("", hardware(row.get("address"), row, view))
    return hardware(value, row, view)


def _reasons(value, row, view):
    """Bits, written as their places."""
    return Either(None, 0) if value is None else sum(1 << int(place) for place in value)


def _program_in(mode):
    def how(value, row, view):
        programs = [entry["prog"]["id"] for entry in value or [] if entry["mode"] == mode]
        return programs[0] if programs else None

    return how


_INTERFACE = Table(
    rows=(  # our field, ip's key (in sysfs where it says so), how
        ("index", "ifindex", same),
        ("name", "ifname", text),
        ("raw_name", "ifname", _odd_bytes),
        ("alt_names", "altnames", _texts),
        ("raw_alt_names", "altnames", _odd_bytes_of_all),
        ("alias", "ifalias", text),
        ("raw_alias", "ifalias", _odd_bytes),
        ("hardware_type", "sysfs type", number),
        ("hardware_type_name", "link_type", text),
        ("hardware_address", "address", hardware),
        ("broadcast_address", "broadcast", hardware),
        ("flags", "flags", _link_flags),
        ("flags_raw", "flags", _link_flag_bits),
        ("admin_up", "flags", _is_up),
        ("oper_state", "operstate", _oper_state),
        ("oper_state_raw", "operstate", _entry(_OPER_STATES, 0)),
        ("carrier", "sysfs carrier", _carrier),
        ("carrier_changes", "sysfs carrier_changes", number),
        ("carrier_up_count", "sysfs carrier_up_count", number),
        ("carrier_down_count", "sysfs carrier_down_count", number),
        ("link_mode", "linkmode", _entry(_LINK_MODES, 1, "LINK_MODE_", interface_pb2.LinkMode)),
        ("link_mode_raw", "linkmode", _entry(_LINK_MODES, 0)),
        ("mtu", "mtu", same),
        ("min_mtu", "min_mtu", same),
        ("max_mtu", "max_mtu", same),
        ("tx_queue_len", "txqlen", default(0)),  # ip leaves out a 0
        ("group", "group", _group),
        ("kind", "linkinfo.info_kind", text),
        ("slave_kind", "linkinfo.info_slave_kind", text),
        ("master_index", "master", _index_of),
        ("master_name", "master", text),
        ("raw_master_name", "master", _odd_bytes),
        ("link_index", "link", _link_index),
        ("link_name", "link", text),
        ("raw_link_name", "link", _odd_bytes),
        ("link_netns_id", "link_netnsid", same),
        ("qdisc", "qdisc", text),
        ("num_tx_queues", "num_tx_queues", same),
        ("num_rx_queues", "num_rx_queues", same),
        ("gso_max_size", "gso_max_size", same),
        ("gso_max_segs", "gso_max_segs", same),
        ("gro_max_size", "gro_max_size", same),
        ("tso_max_size", "tso_max_size", same),
        ("tso_max_segs", "tso_max_segs", same),
        ("promiscuity", "promiscuity", same),
        ("allmulticast", "allmulti", same),
        ("permanent_address", "permaddr", _permanent_address),
        ("proto_down", "proto_down", default(False)),  # ip shows it where it is on
        ("proto_down_reason", "proto_down_reason", _reasons),
        ("phys_port_id", "phys_port_id", _or_empty),
        ("phys_port_name", "phys_port_name", _or_empty),
        ("phys_switch_id", "phys_switch_id", _or_empty),
        ("parent_bus", "parentbus", _or_empty),
        ("parent_device", "parentdev", _or_empty),
        *enum("xdp.attached", "xdp.mode", default(0)),  # ip shows XDP where there is a program
        ("xdp.prog_id", "xdp.prog.id", same),
        ("xdp.drv_prog_id", "xdp.attached", _program_in(1)),
        ("xdp.skb_prog_id", "xdp.attached", _program_in(2)),
        ("xdp.hw_prog_id", "xdp.attached", _program_in(3)),
        *enum("ipv6_addr_gen_mode", "inet6_addr_gen_mode", named(_ADDR_GEN_MODES)),
        ("gso_ipv4_max_size", "gso_ipv4_max_size", newer(same)),
        ("gro_ipv4_max_size", "gro_ipv4_max_size", newer(same)),
    ),
    ours={
        "uid": "ip has nothing like it",
        "stats": "compared by counter_differences()",
        "unknown_attributes": "what ip shows of it has other names",
        "ipv6_token": "`ip token` shows it, `ip link` does not",
        "num_vf": "read for one answer only; no device of a build machine has any",
        "vfs": "likewise",
        "unread_vfs": "likewise",
        "ethtool": "read for one answer only; compared with sysfs in live_values_test.py",
        "ipv4": "sysctls, which ip does not show",
        "ipv6": "sysctls, which ip does not show",
        "map": "zeros are left out, and ip does not show it",
        "max_pacing_offload_horizon": "younger than the versions of ip",
        "netns_immutable": "younger than the versions of ip",
        "headroom": "younger than the versions of ip",
        "tailroom": "younger than the versions of ip",
        "xdp.flags": "the kernel takes it and does not tell it",
        **{
            field.name: "compared by _settings_differences()"
            for oneof in ("details", "port")
            for field in Interface.DESCRIPTOR.oneofs_by_name[oneof].fields
        },
    },
    ips={
        "link_index": "part of link, in another namespace",
        "link_pointtopoint": "the flag POINTOPOINT, again",
        "linkinfo.info_data": "compared by _settings_differences()",
        "linkinfo.info_slave_data": "compared by _settings_differences()",
        "stats64": "counters run by themselves; see counter_differences()",
        **{
            f"xdp.prog.{key}": "of the program, which the kernel tells elsewhere"
            for key in ("name", "tag", "jited", "load_time", "created_by_uid", "btf_id")
        },
    },
)
_ADDR = Table(
    rows=(
        ("interface_index", "link ifindex", same),
        ("interface_name", "link ifname", text),
        ("raw_interface_name", "link ifname", _odd_bytes),
        ("family", "family", _family),
        ("address", "local", same),
        ("prefix_length", "prefixlen", same),
        ("peer_address", "address", same),
        ("broadcast_address", "broadcast", same),
        ("anycast_address", "anycast", same),
        ("label", "label", text),
        ("raw_label", "label", _odd_bytes),
        ("scope", "scope", _entry(_SCOPES, 1, "ADDR_SCOPE_", addr_pb2.AddrScope)),
        ("scope_raw", "scope", _entry(_SCOPES, 0)),
        ("flags", "dynamic", _addr_flags),
        ("flags_raw", "dynamic", _addr_flag_bits),
        ("preferred_until", "preferred_life_time", _until),
        ("valid_until", "valid_life_time", _until),
        ("protocol", "protocol", _protocol),
        ("route_metric", "metric", same),
    ),
    ours={
        "uid": "ip has nothing like it",
        "unknown_attributes": "what ip shows of it has other names",
        "created_at": "ip does not show the kernel's time stamps",
        "updated_at": "ip does not show the kernel's time stamps",
    },
    ips={key: "one of flags and flags_raw" for key in (*_ADDR_FLAGS, "ifa_flags")},
)

# Which of our fields are compared with sysfs.
FROM_SYSFS = _INTERFACE.skipped({})


def _settings_differences(interface, link, view, name, tally):
    """Where the settings of the link's kind and of it as a port are not what ip says."""
    info = link.get("linkinfo", {})
    lines = []
    for oneof, tables, kind, suffix, data in (
        ("details", KINDS, info.get("info_kind"), "", "info_data"),
        ("port", PORTS, info.get("info_slave_kind"), "_port", "info_slave_data"),
    ):
        expected = kind + suffix if kind in tables else None
        ours = interface.WhichOneof(oneof)
        if ours != expected:
            lines.append(f"{name}: {oneof} is {ours}, ip's kind {kind} calls for {expected}")
        elif ours is not None:
            message, row = getattr(interface, ours), info.get(data, {})
            lines += differences(message, tables[kind], row, {}, view, f"{name} {ours}", tally)
        elif data in info:
            lines.append(f"{name}: no table for kind {kind}, of which ip says {info[data]}")
    return lines


def _no_uid(message, name):
    return [] if message.uid else [f"{name}: no uid"]


def interface_differences(interfaces, view, tally=None):
    """Where `interfaces` (all of them, in the order of a List) are not what ip says. A view without
    sysfs leaves out FROM_SYSFS. `tally` counts the values that were compared, by message."""
    links = sorted(view.links, key=lambda link: link["ifindex"])
    ours = [interface.index for interface in interfaces]
    theirs = [link["ifindex"] for link in links]
    if ours != theirs:
        return [f"the interfaces are {ours}, ip has {theirs}"]
    lines = []
    for interface, link in zip(interfaces, links):
        name = link["ifname"]
        beside = {} if view.sysfs is None else {"sysfs": view.sysfs.get(name, {})}
        lines += differences(interface, _INTERFACE, link, beside, view, name, tally)
        lines += _settings_differences(interface, link, view, name, tally)
        lines += _no_uid(interface, name)
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
        lines += differences(addr, _ADDR, row, {"link": link}, view, name) + _no_uid(addr, name)
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


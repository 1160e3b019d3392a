"""Fields of interfaces and addresses as plain values."""

from protos import Addr, Interface, IPV4

# Always sent, whatever the mask says. (peer_address is part of the key where it is set.)
KEY_FIELDS = {
    Interface.DESCRIPTOR: frozenset({"uid", "index"}),
    Addr.DESCRIPTOR: frozenset(
        {"uid", "interface_index", "family", "address", "prefix_length", "peer_address"}
    ),
}
# Fields that move without making an event.
VOLATILE_FIELDS = frozenset({"unknown_attributes", "created_at", "updated_at", "stats"})
# The same of fields inside of others.
_VOLATILE_PARTS = (
    "ipv6.cacheinfo",
    "ipv6.flags",
    "ipv6.conf",
    "ipv4.conf",
    "hsr.seq_nr",
    *(
        f"bridge.{name}"
        for name in (
            "hello_timer",
            "tcn_timer",
            "topology_change_timer",
            "gc_timer",
            "fdb_n_learned",
            "mcast_querier_state.ip_other_timer",
            "mcast_querier_state.ipv6_other_timer",
        )
    ),
    *(
        f"bridge_port.{name}"
        for name in (
            "message_age_timer",
            "forward_delay_timer",
            "hold_timer",
            "mcast_eht_hosts_cnt",
            "mcast_n_groups",
        )
    ),
)


def value_of(message, name):
    """A field's value; None when it is unset. Repeated fields are lists."""
    field = message.DESCRIPTOR.fields_by_name[name]
    if field.label == field.LABEL_REPEATED:
        return list(getattr(message, name))
    if field.has_presence and not message.HasField(name):
        return None
    return getattr(message, name)


def values_of(message):
    return {field.name: value_of(message, field.name) for field in message.DESCRIPTOR.fields}


def set_fields(message):
    """Names of the fields that have a value."""
    return {field.name for field, _ in message.ListFields()}


def differing_fields(old, new):
    """Names of the fields in which two messages of one type differ, without the volatile ones."""
    old, new = without_volatile(old), without_volatile(new)
    return {
        field.name
        for field in old.DESCRIPTOR.fields
        if value_of(old, field.name) != value_of(new, field.name)
    }


def _clear(message, path):
    outer, _, inner = path.partition(".")
    if outer not in message.DESCRIPTOR.fields_by_name:
        return
    if not inner:
        message.ClearField(outer)
    elif message.HasField(outer):
        _clear(getattr(message, outer), inner)


def without_volatile(message):
    """A copy that is equal to any other of the same state."""
    copy = type(message)()
    copy.CopyFrom(message)
    for path in (*VOLATILE_FIELDS, *_VOLATILE_PARTS):
        _clear(copy, path)
    return copy


def masked(message, paths):
    """A copy as a server cuts it to `paths`, which may be nested by one level."""
    copy = type(message)()
    copy.CopyFrom(message)
    keep = {path.partition(".")[0] for path in paths} | KEY_FIELDS[message.DESCRIPTOR]
    for name in message.DESCRIPTOR.fields_by_name:
        if name not in keep:
            copy.ClearField(name)
            continue
        inner = {path.partition(".")[2] for path in paths if path.partition(".")[0] == name}
        if inner and "" not in inner and copy.HasField(name):
            nested = getattr(copy, name)
            for field in nested.DESCRIPTOR.fields_by_name:
                if field not in inner:
                    nested.ClearField(field)
    return copy


def key_of(message):
    """What no two objects of a table have in common at one time."""
    if message.DESCRIPTOR is Interface.DESCRIPTOR:
        return ("interface", message.index)
    if message.family == IPV4:
        return (
            "addr",
            message.interface_index,
            message.address,
            message.prefix_length,
            message.peer_address,
        )
    return ("addr", message.interface_index, message.address)


def same_objects(ours, theirs):
    """Where two collections of objects differ, as lines; empty if they hold the same."""
    left = {key_of(message): without_volatile(message) for message in ours}
    right = {key_of(message): without_volatile(message) for message in theirs}
    lines = [f"missing: {key}" for key in right.keys() - left.keys()]
    lines += [f"too much: {key}" for key in left.keys() - right.keys()]
    for key in left.keys() & right.keys():
        if left[key] != right[key]:
            lines.append(
                f"{key}: "
                + ", ".join(
                    f"{name} {value_of(left[key], name)!r}"
                    f" instead of {value_of(right[key], name)!r}"
                    for name in differing_fields(left[key], right[key])
                )
            )
    return lines

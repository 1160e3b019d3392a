"""The contract's filters, written a second time."""

import fnmatch
import ipaddress


def _any_name(patterns, names):
    return any(
        name == pattern or fnmatch.fnmatchcase(name, pattern)
        for pattern in patterns
        for name in names
    )


def interface_matches(criteria, interface):
    """Whether an Interface meets every criterion of an InterfaceFilter."""
    return (
        (not criteria.indexes or interface.index in criteria.indexes)
        and (
            not criteria.names or _any_name(criteria.names, [interface.name, *interface.alt_names])
        )
        and (not criteria.kinds or interface.kind in criteria.kinds)
        and (
            not criteria.hardware_addresses
            or interface.hardware_address in [a.lower() for a in criteria.hardware_addresses]
        )
        and (
            not criteria.HasField("master")
            or (interface.HasField("master_name") and interface.master_name == criteria.master)
        )
        and (not criteria.HasField("admin_up") or interface.admin_up == criteria.admin_up)
        and (not criteria.oper_states or interface.oper_state in criteria.oper_states)
    )


def addr_matches(criteria, addr):
    """Whether an Addr meets every criterion of an AddrFilter."""
    return (
        (not criteria.interface_indexes or addr.interface_index in criteria.interface_indexes)
        and (
            not criteria.interface_names
            or _any_name(criteria.interface_names, [addr.interface_name])
        )
        and (not criteria.family or addr.family == criteria.family)
        and (not criteria.scopes or addr.scope in criteria.scopes)
        and (not criteria.HasField("within") or _within(addr.address, criteria.within))
    )


def _within(address, prefix):
    address, prefix = ipaddress.ip_address(address), ipaddress.ip_network(prefix)
    return address.version == prefix.version and address in prefix


def random_interface_filter(random, interfaces):
    """A filter that often lets some of `interfaces` pass."""
    some = random.choice(interfaces)
    criteria = {}
    for field, make in (
        (
            "indexes",
            lambda: [random.choice(interfaces).index for _ in range(random.randrange(1, 9))],
        ),
        (
            "names",
            lambda: [
                random_pattern(random, random.choice([some.name, *some.alt_names]))
                for _ in range(random.randrange(1, 3))
            ],
        ),
        (
            "kinds",
            lambda: random.sample(
                ["veth", "bridge", "ifb", "tun", "vxlan", "nothing"], random.randrange(1, 4)
            ),
        ),
        (
            "hardware_addresses",
            lambda: [
                random.choice((str.upper, str.lower))(
                    random.choice([i for i in interfaces if i.hardware_address]).hardware_address
                )
                for _ in range(3)
            ],
        ),
        (
            "master",
            lambda: random.choice(
                [i.master_name for i in interfaces if i.master_name] or ["nobody"]
            ),
        ),
        ("admin_up", lambda: random.random() < 0.5),
        ("oper_states", lambda: random.sample(range(1, 8), random.randrange(1, 5))),
    ):
        if random.random() < 0.3:
            criteria[field] = make()
    return criteria


def random_addr_filter(random, addrs):
    """A filter that often lets some of `addrs` pass."""
    some = random.choice(addrs)
    criteria = {}
    for field, make in (
        ("interface_indexes", lambda: [random.choice(addrs).interface_index for _ in range(4)]),
        ("interface_names", lambda: [random_pattern(random, some.interface_name)]),
        ("family", lambda: random.randrange(3)),
        ("scopes", lambda: random.sample(range(1, 6), random.randrange(1, 4))),
        ("within", lambda: random_prefix(random, some.address)),
    ):
        if random.random() < 0.35:
            criteria[field] = make()
    return criteria


def random_prefix(random, address):
    bits = ipaddress.ip_address(address).max_prefixlen
    length = random.choice((0, 7, 8, 10, 16, 23, 31, bits - 1, bits))
    return str(ipaddress.ip_network(f"{address}/{length}", strict=False))


def random_pattern(random, name):
    """The name, or a pattern that it matches."""
    if any(c in name for c in "*?["):
        return name
    if len(name) < 3:
        return name
    at = random.randrange(1, len(name) - 1)
    return random.choice(
        (
            name,
            "*",
            name[:at] + "*",
            "*" + name[at:],
            name[:at] + "?" + name[at + 1 :],
            name[:at] + "*" + name[at:],
            name[:at] + f"[{name[at]}xyz]" + name[at + 1 :],
            "?" * len(name),
            name[:at] + "[0-9]*",
            name + "?",
            "*[!a]*",
        )
    )

"""Random networks, made by `ip -batch`.

The commands are chosen without much thought for what the kernel takes: those that it refuses are
passed over, since it is `ip` afterwards that says what is there.
"""

# The kernel takes any byte but those of '/', ':' and isspace(), which has 0xa0 in it.
_NAME_STEMS = (
    b"eth",
    b"br-",
    b"v.x_",
    b"x[1]",
    b"p@q",
    "\u540d\u524d".encode(),
    "\u00fc\u00f6".encode(),
)
_ODD_STEMS = (b"\xff\xfe", b"caf\xe9-", b"\xe5\x90", b"a\xc3\x28")
_ALIASES = (
    b"uplink",
    b"rack_4/port_7",
    "\u00e4\u00f6\u00fc\u20ac".encode(),
    b"\xde\xad\xbe\xef",
    b"back\\slash",
    b"{json:1}",
)
# Kinds that the kernel may lack are refused like any other command.
_KINDS = (
    "veth",
    "veth",
    "veth",
    "bridge",
    "bridge",
    "vxlan",
    "macvlan",
    "macvtap",
    "ifb",
    "tun",
    "tap",
    "dummy",
    "vlan",
)


class Topology:
    """Random links and addresses in `namespace`; with `other`, veth ends there, too. With `odd`,
    some names and aliases are not UTF-8."""

    def __init__(self, random, namespace, other=None, odd=False):
        self._random = random
        self._namespace = namespace
        self._other = other
        self._stems = _NAME_STEMS + (_ODD_STEMS if odd else ())
        self._aliases = _ALIASES if odd else tuple(a for a in _ALIASES if a != b"\xde\xad\xbe\xef")
        self._count = 0
        self.names = [b"lo"]  # those that may be there
        self.bridges = []

    def grow(self, links):
        """Adds about `links` interfaces, with all that belongs to them."""
        lines = []
        for _ in range(links):
            lines += self._new_link()
        for name in self.names:
            lines += self._settings(name)
        self._namespace.batch_as_far_as_possible(lines)

    def change(self, changes):
        """Makes random changes to what is there."""
        lines = []
        for _ in range(changes):
            name = self._random.choice(self.names)
            change = self._random.choices(
                (self._settings, self._up_or_down, self._rename, self._remove), (4, 2, 2, 1)
            )[0]
            lines += change(name)
        self._namespace.batch_as_far_as_possible(lines)

    def _new_name(self):
        self._count += 1
        name = self._random.choice(self._stems) + b"%d" % self._count
        self.names.append(name)
        return name

    def _new_link(self):
        kind = self._random.choice(_KINDS)
        lower = self._random.choice(self.names)
        name = self._new_name()
        add = b"link add name " + name
        if kind == "veth":
            peer = self._new_name()
            where = b""
            if self._other is not None and self._random.random() < 0.3:
                where = b" netns " + self._other.name.encode()
                self.names.remove(peer)
            return [add + b" type veth peer name " + peer + where]
        if kind == "bridge":
            self.bridges.append(name)
            return [add + b" type bridge stp_state %d" % self._random.randrange(2)]
        if kind == "vxlan":
            below = b"" if self._random.random() < 0.5 else b" dev " + lower
            return [
                add + b" type vxlan id %d dstport %d%s" % (self._count, 4000 + self._count, below)
            ]
        if kind in ("macvlan", "macvtap"):
            return [add + b" link " + lower + b" type " + kind.encode() + b" mode bridge"]
        if kind == "vlan":
            return [add + b" link " + lower + b" type vlan id %d" % (self._count % 4000 + 1)]
        if kind in ("tun", "tap"):
            return [b"tuntap add dev " + name + b" mode " + kind.encode()]
        return [add + b" type " + kind.encode()]

    def _up_or_down(self, name):
        return [b"link set dev " + name + self._random.choice((b" up", b" up", b" down"))]

    def _rename(self, name):
        if name == b"lo":
            return []
        new = self._new_name()
        return [b"link set dev " + name + b" down", b"link set dev " + name + b" name " + new]

    def _remove(self, name):
        return [] if name == b"lo" else [b"link del dev " + name]

    def _settings(self, name):
        """A few random settings and addresses."""
        random = self._random
        link = b"link set dev " + name
        lines = []
        for chance, make in (
            (0.7, lambda: link + b" up"),
            (0.3, lambda: link + b" mtu %d" % random.randrange(1280, 1500)),
            (0.3, lambda: link + b" alias " + random.choice(self._aliases)),
            (0.1, lambda: link + b" alias ''"),
            (0.3, lambda: link + b" group %d" % random.choice((0, 7, 2**31 - 1))),
            (0.2, lambda: link + b" txqueuelen %d" % random.randrange(3000)),
            (
                0.2,
                lambda: link
                + b" address 02:%02x:00:00:00:%02x"
                % (random.randrange(256), random.randrange(256)),
            ),
            (0.1, lambda: link + b" promisc " + random.choice((b"on", b"off"))),
            (0.1, lambda: link + b" allmulticast " + random.choice((b"on", b"off"))),
            (0.1, lambda: link + b" multicast off"),
            (0.1, lambda: link + b" arp off"),
            (0.1, lambda: link + b" mode " + random.choice((b"dormant", b"default"))),
            (0.1, lambda: link + b" gso_max_size %d" % random.randrange(10000, 65536)),
            (0.1, lambda: link + b" gso_max_segs %d" % random.randrange(1000, 65535)),
            (0.4, lambda: link + b" master " + random.choice(self.bridges or [b"none"])),
            (0.1, lambda: link + b" nomaster"),
            (0.1, lambda: link + b" addrgenmode " + random.choice((b"none", b"random"))),
        ):
            if random.random() < chance:
                lines.append(make())
        for _ in range(random.choice((0, 0, 1, 2, 4))):
            alternative = self._random.choice(self._stems) + b"alt%d" % random.randrange(10**9)
            if random.random() < 0.2:
                alternative = alternative.ljust(127, b"z")
            lines.append(b"link property add dev " + name + b" altname " + alternative)
        for _ in range(random.choice((0, 1, 2, 4))):
            lines += self._addr(name)
        random.shuffle(lines)
        return lines

    def _addr(self, name):
        random = self._random
        dev = b" dev " + name
        if random.random() < 0.5:
            one, two = random.randrange(1, 20), random.randrange(1, 250)
            address = b"10.0.%d.%d" % (one, two)
            forms = (
                b"/24",
                b"/24 brd +",
                b"/32",
                b"/24 scope link",
                b"/8 scope host",
                b" peer 10.9.%d.%d/32" % (one, two),
                b"/24 metric %d" % random.randrange(1, 1000),
                b"/24 label " + name + b":%d" % two,
                b"/24 noprefixroute",
                b"/25 brd 10.0.%d.255" % one,
            )
            lines = [b"addr add " + address + random.choice(forms) + self._lifetime() + dev]
            if random.random() < 0.2:  # two peers of one local address
                lines += [b"addr add 10.8.8.8 peer 10.8.8.%d/32" % peer + dev for peer in (9, 10)]
            return lines
        address = b"fd%02x::%x" % (random.randrange(4), random.randrange(1, 30))
        forms = (
            b"/64",
            b"/64",
            b"/128",
            b" peer fd09::%x/128" % random.randrange(1, 99),
            b"/64 nodad",
            b"/64 noprefixroute",
            b"/64 home nodad",
            b"/64 mngtmpaddr",
            b"/64 metric %d" % random.randrange(1, 1000),
            b"/64 optimistic",
        )
        return [b"addr add " + address + random.choice(forms) + self._lifetime() + dev]

    def _lifetime(self):
        # None ends during a test; some addresses are deprecated from the start.
        return self._random.choice(
            (
                b"",
                b"",
                b"",
                b" valid_lft 90000 preferred_lft 80000",
                b" valid_lft 90000 preferred_lft 0",
                b" valid_lft forever preferred_lft 5000",
            )
        )

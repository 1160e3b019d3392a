"""How values of `ip -j -d` become those of our fields: what iproute2 says in its own way, and where
it says less than the kernel does."""

import grp
import ipaddress
import pwd

from comparison import Anything, Bits, Either, Something
from netns import raw_of


def same(value, row, view):
    return value


def text(value, row, view):
    return None if value is None else raw_of(value).decode("utf-8", "replace")


def number(value, row, view):
    return None if value is None else int(value)


def absent(value, row, view):
    """Links of this kind have no such value."""
    return None


def default(standing, how=same):
    """ip leaves out this value."""
    return lambda value, row, view: standing if value is None else how(value, row, view)


def newer(how):
    """iproute2 6.1 does not know it yet."""

    def newer_how(value, row, view):
        return Anything() if value is None else how(value, row, view)

    return _with_names(newer_how, getattr(how, "names", {}))


def if_shown(how):
    """ip shows it in some cases only, and the kernel tells it in others, too."""
    return newer(how)


def flag(value, row, view):
    """The kernel's way to say no is either not to speak of it or 0; ip's is the same."""
    return True if value else Either(None, False)


def running(value, row, view):
    """It runs by itself, so only its presence can be compared."""
    return Anything() if value is None else Something()


# Times. The kernel's tick for user space is a hundredth of a second.


def ticks(value, row, view):
    return None if value is None else value / 100


def milliseconds(value, row, view):
    return None if value is None else value / 1000


def whole_seconds(value, row, view):
    return None if value is None else float(value)


# Numbers in other clothes.


def hexadecimal(value, row, view):
    """ "0x1f", or "0" without a prefix."""
    return None if value is None else int(value, 16)


_ETHERTYPES = {
    "802.1Q": 0x8100,
    "802.1ad": 0x88A8,
    "ip": 0x0800,
    "ipv4": 0x0800,
    "ipv6": 0x86DD,
    "mpls_uc": 0x8847,
    "mpls_mc": 0x8848,
}


def ethertype(value, row, view):
    return None if value is None else _ETHERTYPES[value]


def key(value, row, view):
    """Keys of tunnels are numbers, which ip writes as if they were IPv4 addresses."""
    return None if value is None else int(ipaddress.IPv4Address(value))


def user(value, row, view):
    """ip writes the name that a number has, if any."""
    return pwd.getpwnam(value).pw_uid if isinstance(value, str) else value


def user_group(value, row, view):
    return grp.getgrnam(value).gr_gid if isinstance(value, str) else value


# Names of other links.


def index_of(value, row, view):
    """ip writes the names of links whose index we tell, and "if7" for one of another namespace."""
    if value is None:
        return None
    return view.index_of[value] if value in view.index_of else int(value.removeprefix("if"))


# Addresses.


def hardware(value, row, view):
    """For the type of link that a tunnel is, ip writes link-layer addresses as IP addresses."""
    if not value:
        return ""
    try:
        return ipaddress.ip_address(value).packed.hex(":")
    except ValueError:
        return value


def address(unspecified):
    """ "any" stands for the unspecified address."""
    return lambda value, row, view: unspecified if value == "any" else value


def bridge_id(value, row, view):
    """ip leaves out zeros: "8000.1a:9:b2:8b:ca:17"."""
    if value is None:
        return None
    priority, _, mac = value.partition(".")
    return priority + "." + ":".join(part.zfill(2) for part in mac.split(":"))


# Values with a name.


def named(numbers):
    """A number that ip writes as a name. None is the name where no key, or null, stands for one.
    The names can be had from the conversion as `names`."""

    def how(value, row, view):
        return None if value is None and None not in numbers else numbers[value]

    return _with_names(how, numbers)


def _with_names(how, names):
    how.names = names
    return how


def enum(field, key_, how):
    """The rows of an enum, whose number is the kernel's plus 1, and of its companion that is the
    kernel's. `how` finds the kernel's number, or is a dictionary of names."""
    raw = named(how) if isinstance(how, dict) else how

    def plus_one(value, row, view):
        found = raw(value, row, view)
        return found + 1 if isinstance(found, int) else found

    names = {name: found + 1 for name, found in getattr(raw, "names", {}).items()}
    return ((field, key_, _with_names(plus_one, names)), (f"{field}_raw", key_, raw))


def choice(field, key_, bits):
    """The same for an enum of bits, of which one is set: bit 0 is number 1."""
    how = named(bits)

    def position(value, row, view):
        raw = how(value, row, view)
        return None if raw is None else raw.bit_length()

    names = {name: bit.bit_length() for name, bit in bits.items()}
    return ((field, key_, _with_names(position, names)), (f"{field}_raw", key_, how))


def has_bit(bit, absent_is=False):
    """Of a number, the bit that ip shows as a key of its own: true, or some value."""

    def how(value, row, view):
        if value is None and absent_is is None:
            return Anything()
        on = value is not None and value is not False and value != 0
        return Bits(bit if on else 0, bit)

    return how


def option(field, key_, bit, absent_is=False):
    """The rows of one of the bits that have names, and of the companion of them all. Where
    `absent_is` None, ip does not know the bit yet if it does not show the key."""
    raw = has_bit(bit, absent_is)

    def names(value, row, view):
        found = raw(value, row, view)
        return _Has(bit.bit_length(), found.bits != 0) if isinstance(found, Bits) else found

    names_of_bits = {key_: bit.bit_length()}
    return ((field, key_, _with_names(names, names_of_bits)), (f"{field}_raw", key_, raw))


class _Has:
    """Equal to a list in which a number is, or is not."""

    def __init__(self, wanted, there):
        self.wanted, self.there = wanted, there

    def __eq__(self, other):
        return (self.wanted in other) == self.there

    def __repr__(self):
        return f"one {'with' if self.there else 'without'} {self.wanted}"


def options(field, key_, bits):
    """The same where ip has a list of their names."""

    def raw(value, row, view):
        return None if value is None else sum(bits[name] for name in value)

    def names(value, row, view):
        return sorted(bits[name].bit_length() for name in value or [])

    names_of_bits = {name: bit.bit_length() for name, bit in bits.items()}
    return ((field, key_, _with_names(names, names_of_bits)), (f"{field}_raw", key_, raw))

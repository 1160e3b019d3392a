"""The settings of each kind of tunnel, as in kinds.py."""

from comparison import Anything, Either, Table
from conversions import (
    absent,
    address,
    default,
    enum,
    ethertype,
    flag,
    has_bit,
    hexadecimal,
    if_shown,
    index_of,
    key,
    named,
    newer,
    option,
    same,
    whole_seconds,
)

_NOT_SHOWN = "ip does not show it"
_IPV4 = address("0.0.0.0")
_IPV6 = address("::")
_DF = {"unset": 0, "set": 1, "inherit": 2}


def _ttl(value, row, view):
    """Where it is inherited, ip says so (of geneve) or nothing (of vxlan), and leaves out the
    number, which does not count then."""
    return value if isinstance(value, int) else Anything()


def _is_inherited(value, row, view):
    return not isinstance(value, int)


def _shown(name):
    """Shown where it is on: as true by iproute2 6.1, as null by 6.15."""
    return lambda value, row, view: True if name in row else Either(None, False)


# Tunnels over UDP.

_VXLAN = Table(
    rows=(
        ("id", "id", same),
        ("group", "group|remote", same),  # ip tells groups from other addresses
        ("group6", "group6|remote6", same),
        ("link", "link", index_of),
        ("local", "local", same),
        ("local6", "local6", same),
        ("ttl", "ttl", _ttl),
        ("ttl_inherit", "ttl", _is_inherited),
        ("tos", "tos", default(0, hexadecimal)),
        ("learning", "learning", same),
        ("ageing", "ageing", whole_seconds),
        ("limit", "limit", default(0)),
        ("port_range.low", "port_range.low", same),
        ("port_range.high", "port_range.high", same),
        ("port", "port", same),
        # iproute2 6.1 shows the next four only where they are on.
        ("proxy", "proxy", default(False)),
        ("rsc", "rsc", default(False)),
        ("l2miss", "l2miss", default(False)),
        ("l3miss", "l3miss", default(False)),
        ("udp_csum", "udp_csum", same),
        ("udp_zero_csum6_tx", "udp_zero_csum6_tx", same),
        ("udp_zero_csum6_rx", "udp_zero_csum6_rx", same),
        ("remcsum_tx", "remcsum_tx", default(False)),
        ("remcsum_rx", "remcsum_rx", default(False)),
        ("gbp", "gbp", _shown("gbp")),
        ("gpe", "gpe", _shown("gpe")),
        ("remcsum_nopartial", "remcsum_nopartial", flag),
        ("collect_metadata", "external", default(False)),
        ("label", "label", default(0, hexadecimal)),
        *enum("df", "df", _DF),
        ("vnifilter", "vnifilter", flag),
        ("localbypass", "localbypass", newer(same)),
        ("mc_route", "mc_route", newer(same)),
    ),
    ours={
        "label_policy": _NOT_SHOWN,
        "label_policy_raw": _NOT_SHOWN,
        "reserved_bits": _NOT_SHOWN,
    },
)

_GENEVE = Table(
    rows=(
        ("id", "id", same),
        ("remote", "remote", same),
        ("ttl", "ttl", _ttl),
        ("tos", "tos", default(0, hexadecimal)),
        ("port", "port", same),
        ("collect_metadata", "external", flag),
        ("remote6", "remote6", same),
        ("udp_csum", "udp_csum", same),
        ("udp_zero_csum6_tx", "udp_zero_csum6_tx", same),
        ("udp_zero_csum6_rx", "udp_zero_csum6_rx", same),
        ("label", "label", default(0, hexadecimal)),
        ("ttl_inherit", "ttl", _is_inherited),
        *enum("df", "df", _DF),
        ("inner_proto_inherit", "inner_proto_inherit", flag),
        ("port_range.low", "port_range.low", newer(same)),
        ("port_range.high", "port_range.high", newer(same)),
    ),
    ours={"gro_hint": _NOT_SHOWN},
)

_BAREUDP = Table(
    rows=(
        ("port", "dstport", same),
        ("ethertype", "ethertype", ethertype),
        ("srcport_min", "srcportmin", same),
        ("multiproto_mode", "multiproto", flag),
    ),
)

_AMT = Table(
    rows=(
        *enum("mode", "mode", {"gateway": 0, "relay": 1}),
        ("relay_port", "relay_port", same),
        ("gateway_port", "gateway_port", same),
        ("link", "link", index_of),
        ("local_ip", "local", same),
        ("remote_ip", "remote", same),
        ("discovery_ip", "discovery", same),
        ("max_tunnels", "max_tunnels", same),
    ),
)

_GTP = Table(
    rows=(
        ("pdp_hashsize", "hsize", same),
        *enum("role", "role", {"ggsn": 0, "sgsn": 1}),
        ("restart_count", "restart_count", same),
    ),
)

# Tunnels over IP.

_ENCAPS = {None: 0, "fou": 1, "gue": 2}


def _encap(how):
    """Without an encapsulation, ip leaves out what else the kernel tells of it."""
    return lambda value, row, view: (how(value, row, view) if "encap" in row else Anything())


_ENCAPSULATION = (
    *enum("encap_type", "encap.type", _ENCAPS),
    *option("encap_flags", "encap.csum", 1, absent_is=None),
    *option("encap_flags", "encap.csum6", 2, absent_is=None),
    *option("encap_flags", "encap.remcsum", 4, absent_is=None),
    ("encap_sport", "encap.sport", _encap(default(0))),
    ("encap_dport", "encap.dport", _encap(default(0))),
)


def _flow_information(value, row, view):
    """Traffic class and flow label, which stand in one number. Each is inherited where a flag says
    so; then ip shows that instead."""
    if "tclass" not in row or "flowlabel" not in row:
        return Anything()
    return int(row["tclass"], 16) << 20 | int(row["flowlabel"], 16)


_OVER_IPV6 = (
    ("encap_limit", "encap_limit", if_shown(same)),  # not where it is ignored
    ("flowinfo", "flowlabel", _flow_information),
    ("flowinfo", "tclass", _flow_information),
)
_IPV6_FLAGS = (  # the kernel has more of them, for itself
    ("ip6_tnl_f_ign_encap_limit", 0x1),
    ("ip6_tnl_f_use_orig_tclass", 0x2),
    ("ip6_tnl_f_use_orig_flowlabel", 0x4),
    ("ip6_tnl_f_mip6_dev", 0x8),
    ("ip6_tnl_f_rcv_dscp_copy", 0x10),
    ("ip6_tnl_f_use_orig_fwmark", 0x20),
    ("ip6_tnl_f_allow_local_remote", 0x40),
)
_OVER_IPV4 = (
    ("tos", "tos", default(0, hexadecimal)),
    ("pmtudisc", "pmtudisc", same),
)
_FWMARK = ("fwmark", "fwmark", default(0, hexadecimal))
_LINK = ("link", "link", default(0, index_of))


def _flags(bits):
    """A key, which can be 0, is shown where its flag says that there is one."""
    return lambda value, row, view: sum(bit for name, bit in bits.items() if name in row)


_GRE_ROWS = (
    _LINK,
    ("iflags", "icsum|ikey|iseq", _flags({"icsum": 0x8000, "ikey": 0x2000, "iseq": 0x1000})),
    ("oflags", "ocsum|okey|oseq", _flags({"ocsum": 0x8000, "okey": 0x2000, "oseq": 0x1000})),
    ("ikey", "ikey", default(0, key)),
    ("okey", "okey", default(0, key)),
    ("ttl", "ttl", same),
    *_ENCAPSULATION,
    ("collect_metadata", "external", flag),
    _FWMARK,
)

_GRE = Table(
    rows=(
        *_GRE_ROWS,
        ("local", "local", _IPV4),
        ("remote", "remote", _IPV4),
        *_OVER_IPV4,
        ("ignore_df", "ignore_df", default(False)),
        ("encap_limit", None, absent),
        ("flowinfo", None, absent),
        ("flags", None, absent),
        ("erspan_index", None, absent),
        ("erspan_ver", None, absent),
        *enum("erspan_dir", None, absent),
        ("erspan_hwid", None, absent),
    ),
)
_ERSPAN_ROWS = (
    # The index is of version 1, the other two are of version 2.
    ("erspan_index", "erspan_index", same),
    ("erspan_ver", "erspan_ver", same),
    *enum("erspan_dir", "erspan_dir", {"ingress": 0, "egress": 1}),
    ("erspan_hwid", "erspan_hwid", hexadecimal),
)
_ERSPAN_FIELDS = {field for field, _, _ in _ERSPAN_ROWS}


def _with_erspan(table):
    rows = tuple(row for row in table.rows if row[0] not in _ERSPAN_FIELDS)
    return Table(rows=rows + _ERSPAN_ROWS, ours=table.ours, ips=table.ips)


_IP6GRE = Table(
    rows=(
        *_GRE_ROWS,
        ("local", "local", _IPV6),
        ("remote", "remote", _IPV6),
        *_OVER_IPV6,
        *(("flags", name, has_bit(bit)) for name, bit in _IPV6_FLAGS),
        ("tos", None, absent),
        ("pmtudisc", None, absent),
        ("ignore_df", None, absent),
        ("erspan_index", None, absent),
        ("erspan_ver", None, absent),
        *enum("erspan_dir", None, absent),
        ("erspan_hwid", None, absent),
    ),
)

_PROTOCOLS_OVER_IPV4 = {"any": 0, "ipip": 4, "ip6ip": 41, "mplsip": 137}
_PROTOCOLS_OVER_IPV6 = {"any": 0, "ipip6": 4, "ip6ip6": 41, "mplsip6": 137}

_IP_TUNNEL_ROWS = (
    _LINK,
    ("ttl", "ttl", same),
    *_ENCAPSULATION,
    ("collect_metadata", "external", flag),
    _FWMARK,
)
_NO_6RD = (
    ("sixrd_prefix", None, absent),
    ("sixrd_relay_prefix", None, absent),
    ("sixrd_prefixlen", None, absent),
    ("sixrd_relay_prefixlen", None, absent),
)
_IPIP = Table(
    rows=(
        *_IP_TUNNEL_ROWS,
        ("local", "local", _IPV4),
        ("remote", "remote", _IPV4),
        *_OVER_IPV4,
        ("proto", "proto", named(_PROTOCOLS_OVER_IPV4)),
        *_NO_6RD,
        ("encap_limit", None, absent),
        ("flowinfo", None, absent),
        ("flags", None, absent),
    ),
)
_SIT = Table(
    rows=(
        *_IP_TUNNEL_ROWS,
        ("local", "local", _IPV4),
        ("remote", "remote", _IPV4),
        *_OVER_IPV4,
        ("proto", "proto", named(_PROTOCOLS_OVER_IPV4)),
        ("flags", "isatap", has_bit(1)),
        ("sixrd_prefix", "prefix", same),
        ("sixrd_prefixlen", "prefixlen", same),
        ("sixrd_relay_prefix", "relay_prefix", default("0.0.0.0")),
        ("sixrd_relay_prefixlen", "relay_prefixlen", default(0)),
        ("encap_limit", None, absent),
        ("flowinfo", None, absent),
    ),
)
_IP6TNL = Table(
    rows=(
        *_IP_TUNNEL_ROWS,
        ("local", "local", _IPV6),
        ("remote", "remote", _IPV6),
        *_OVER_IPV6,
        *(("flags", name, has_bit(bit)) for name, bit in _IPV6_FLAGS),
        ("proto", "proto", named(_PROTOCOLS_OVER_IPV6)),
        *_NO_6RD,
        ("tos", None, absent),
        ("pmtudisc", None, absent),
    ),
)


def _vti(unspecified):
    return Table(
        rows=(
            _LINK,
            ("ikey", "ikey", default(0, key)),
            ("okey", "okey", default(0, key)),
            ("local", "local", unspecified),
            ("remote", "remote", unspecified),
            _FWMARK,
        ),
    )


_XFRM = Table(
    rows=(
        ("if_id", "if_id", default(0, hexadecimal)),
        ("collect_metadata", "external", flag),
    ),
    ours={"link": "ip shows the link's own `link`, which is the same"},
)

TUNNELS = {
    "amt": _AMT,
    "bareudp": _BAREUDP,
    "erspan": _with_erspan(_GRE),
    "geneve": _GENEVE,
    "gre": _GRE,
    "gretap": _GRE,
    "gtp": _GTP,
    "ip6erspan": _with_erspan(_IP6GRE),
    "ip6gre": _IP6GRE,
    "ip6gretap": _IP6GRE,
    "ip6tnl": _IP6TNL,
    "ipip": _IPIP,
    "sit": _SIT,
    "vti": _vti(_IPV4),
    "vti6": _vti(_IPV6),
    "vxlan": _VXLAN,
    "xfrm": _XFRM,
}

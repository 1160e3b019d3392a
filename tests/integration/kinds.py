"""The settings of each kind of link: our message, and linkinfo.info_data of `ip -j -d`.

A row is: our field, ip's key, how ip's value becomes ours (see comparison.py and conversions.py).
"""

from comparison import Table
from conversions import (
    bridge_id,
    choice,
    default,
    enum,
    ethertype,
    hexadecimal,
    index_of,
    milliseconds,
    named,
    newer,
    option,
    options,
    running,
    same,
    ticks,
    user,
    user_group,
    whole_seconds,
)
from tunnels import TUNNELS

_YOUNGER = "younger than the versions of ip"


def _list(value, row, view):
    return value or []


_BRIDGE = Table(
    rows=(
        ("forward_delay", "forward_delay", ticks),
        ("hello_time", "hello_time", ticks),
        ("max_age", "max_age", ticks),
        ("ageing_time", "ageing_time", ticks),
        *enum("stp_state", "stp_state", same),
        ("priority", "priority", same),
        ("vlan_filtering", "vlan_filtering", same),
        ("vlan_protocol", "vlan_protocol", ethertype),
        ("group_fwd_mask", "group_fwd_mask", hexadecimal),
        ("root_id", "root_id", bridge_id),
        ("bridge_id", "bridge_id", bridge_id),
        ("root_port", "root_port", same),
        ("root_path_cost", "root_path_cost", same),
        ("topology_change", "topology_change", same),
        ("topology_change_detected", "topology_change_detected", same),
        ("hello_timer", "hello_timer", running),
        ("tcn_timer", "tcn_timer", running),
        ("topology_change_timer", "topology_change_timer", running),
        ("gc_timer", "gc_timer", running),
        ("group_addr", "group_addr", same),
        *enum("mcast_router", "mcast_router", same),
        ("mcast_snooping", "mcast_snooping", same),
        ("mcast_query_use_ifaddr", "mcast_query_use_ifaddr", same),
        ("mcast_querier", "mcast_querier", same),
        ("mcast_hash_elasticity", "mcast_hash_elasticity", same),
        ("mcast_hash_max", "mcast_hash_max", same),
        ("mcast_last_member_cnt", "mcast_last_member_cnt", same),
        ("mcast_startup_query_cnt", "mcast_startup_query_cnt", same),
        ("mcast_last_member_intvl", "mcast_last_member_intvl", ticks),
        ("mcast_membership_intvl", "mcast_membership_intvl", ticks),
        ("mcast_querier_intvl", "mcast_querier_intvl", ticks),
        ("mcast_query_intvl", "mcast_query_intvl", ticks),
        ("mcast_query_response_intvl", "mcast_query_response_intvl", ticks),
        ("mcast_startup_query_intvl", "mcast_startup_query_intvl", ticks),
        ("nf_call_iptables", "nf_call_iptables", same),
        ("nf_call_ip6tables", "nf_call_ip6tables", same),
        ("nf_call_arptables", "nf_call_arptables", same),
        ("vlan_default_pvid", "vlan_default_pvid", same),
        ("vlan_stats_enabled", "vlan_stats_enabled", same),
        ("mcast_stats_enabled", "mcast_stats_enabled", same),
        ("mcast_igmp_version", "mcast_igmp_version", same),
        ("mcast_mld_version", "mcast_mld_version", same),
        ("vlan_stats_per_port", "vlan_stats_per_port", same),
        *option("multi_boolopt.enabled", "no_linklocal_learn", 1),
        *option("multi_boolopt.enabled", "mcast_vlan_snooping", 2),
        *option("multi_boolopt.enabled", "mst_enabled", 4, absent_is=None),
        ("fdb_n_learned", "fdb_n_learned", newer(running)),
        ("fdb_max_learned", "fdb_max_learned", newer(same)),
        (
            "mcast_querier_state.ip_address",
            "mcast_querier_state_ipv4.mcast_querier_ipv4_addr",
            newer(same),
        ),
        (
            "mcast_querier_state.ip_port",
            "mcast_querier_state_ipv4.mcast_querier_ipv4_port",
            newer(index_of),
        ),
        (
            "mcast_querier_state.ip_other_timer",
            "mcast_querier_state_ipv4.mcast_querier_ipv4_other_timer",
            newer(running),
        ),
        (
            "mcast_querier_state.ipv6_address",
            "mcast_querier_state_ipv6.mcast_querier_ipv6_addr",
            newer(same),
        ),
        (
            "mcast_querier_state.ipv6_port",
            "mcast_querier_state_ipv6.mcast_querier_ipv6_port",
            newer(index_of),
        ),
        (
            "mcast_querier_state.ipv6_other_timer",
            "mcast_querier_state_ipv6.mcast_querier_ipv6_other_timer",
            newer(running),
        ),
    ),
    ours={
        "multi_boolopt.known": "what the kernel knows, by which ip decides what to show",
        "vlans": "only `bridge` shows it",
    },
)

_VLAN_FLAGS = {
    "REORDER_HDR": 1,
    "GVRP": 2,
    "LOOSE_BINDING": 4,
    "MVRP": 8,
    "BRIDGE_BINDING": 16,
}


_VLAN = Table(
    rows=(
        ("id", "id", same),
        *options("flags", "flags", _VLAN_FLAGS),
        ("egress_qos", "egress_qos", _list),
        ("ingress_qos", "ingress_qos", _list),
        ("protocol", "protocol", ethertype),
    ),
)

_VRF = Table(rows=(("table", "table", same),))

_BOND_MODES = {
    "balance-rr": 0,
    "active-backup": 1,
    "balance-xor": 2,
    "broadcast": 3,
    "802.3ad": 4,
    "balance-tlb": 5,
    "balance-alb": 6,
}
_ARP_VALIDATE = {
    None: 0,  # ip writes null for "none"
    "active": 1,
    "backup": 2,
    "all": 3,
    "filter": 4,
    "filter_active": 5,
    "filter_backup": 6,
}
_XMIT_HASH_POLICIES = {
    "layer2": 0,
    "layer3+4": 1,
    "layer2+3": 2,
    "encap2+3": 3,
    "encap3+4": 4,
    "vlan+srcmac": 5,
}


_BOND = Table(
    rows=(
        *enum("mode", "mode", _BOND_MODES),
        ("active_slave", "active_slave", index_of),
        ("miimon", "miimon", milliseconds),
        ("updelay", "updelay", milliseconds),
        ("downdelay", "downdelay", milliseconds),
        ("use_carrier", "use_carrier", same),
        ("arp_interval", "arp_interval", milliseconds),
        ("arp_ip_target", "arp_ip_target", _list),
        *enum("arp_validate", "arp_validate", _ARP_VALIDATE),
        *enum("arp_all_targets", "arp_all_targets", {"any": 0, "all": 1}),
        ("primary", "primary", index_of),
        *enum("primary_reselect", "primary_reselect", {"always": 0, "better": 1, "failure": 2}),
        *enum("fail_over_mac", "fail_over_mac", {"none": 0, "active": 1, "follow": 2}),
        *enum("xmit_hash_policy", "xmit_hash_policy", _XMIT_HASH_POLICIES),
        ("resend_igmp", "resend_igmp", same),
        ("num_peer_notif", "num_peer_notif", same),
        ("all_slaves_active", "all_slaves_active", same),
        ("min_links", "min_links", same),
        ("lp_interval", "lp_interval", whole_seconds),
        ("packets_per_slave", "packets_per_slave", same),
        *enum("ad_lacp_rate", "ad_lacp_rate", {"slow": 0, "fast": 1}),
        *enum("ad_select", "ad_select", {"stable": 0, "bandwidth": 1, "count": 2}),
        ("ad_info.aggregator", "ad_info.aggregator", same),
        ("ad_info.num_ports", "ad_info.num_ports", same),
        ("ad_info.actor_key", "ad_info.actor_key", same),
        ("ad_info.partner_key", "ad_info.partner_key", same),
        ("ad_info.partner_mac", "ad_info.partner_mac", same),
        ("ad_actor_sys_prio", "ad_actor_sys_prio", same),
        ("ad_user_port_key", "ad_user_port_key", same),
        ("ad_actor_system", "ad_actor_system", same),
        ("tlb_dynamic_lb", "tlb_dynamic_lb", same),
        ("peer_notif_delay", "peer_notify_delay", milliseconds),
        ("ad_lacp_active", "ad_lacp_active", lambda value, row, view: value == "on"),
        ("missed_max", "arp_missed_max", same),
        ("ns_ip6_target", "ns_ip6_target", _list),
        ("coupled_control", "coupled_control", newer(same)),
    ),
    ours={"broadcast_neigh": _YOUNGER, "lacp_strict": _YOUNGER},
)

# Links on top of another, and pairs of links.

_MACVLAN_MODES = {"private": 1, "vepa": 2, "bridge": 4, "passthru": 8, "source": 16}
_MACVLAN = Table(
    rows=(
        *choice("mode", "mode", _MACVLAN_MODES),
        *option("flags", "nopromisc", 1),
        *option("flags", "nodst", 2, absent_is=None),
        ("macaddr_data", "macaddr_data", _list),
        ("macaddr_count", "macaddr_count", default(0)),
        ("bc_queue_len", "bcqueuelen", same),
        ("bc_queue_len_used", "usedbcqueuelen", same),
        ("bc_cutoff", "bccutoff", newer(same)),
    ),
)

_IPVLAN = Table(
    rows=(
        *enum("mode", "mode", {"l2": 0, "l3": 1, "l3s": 2}),
        *option("flags", "private", 1),
        *option("flags", "vepa", 2),
    ),
    ips={"bridge": "that it is neither private nor vepa"},
)

_CIPHER_SUITES = {
    "GCM-AES-128": 0x0080020001000001,
    "GCM-AES-256": 0x0080C20001000002,
    "GCM-AES-XPN-128": 0x0080C20001000003,
    "GCM-AES-XPN-256": 0x0080C20001000004,
}
_MACSEC = Table(
    rows=(
        ("sci", "sci", same),
        ("icv_len", "icv_len", same),
        ("cipher_suite", "cipher_suite", named(_CIPHER_SUITES)),
        ("window", "window", same),
        ("encoding_sa", "encoding_sa", same),
        ("encrypt", "encrypt", same),
        ("protect", "protect", same),
        ("inc_sci", "inc_sci", same),
        ("es", "es", same),
        ("scb", "scb", same),
        ("replay_protect", "replay_protect", same),
        *enum("validation", "validation", {"disabled": 0, "check": 1, "strict": 2}),
        *enum("offload", "offload", {"off": 0, "phy": 1, "mac": 2}),
    ),
)

_HSR = Table(
    rows=(
        ("slave1", "slave1", index_of),
        ("slave2", "slave2", index_of),
        ("supervision_addr", "supervision_addr", same),
        ("seq_nr", "seq_nr", newer(running)),
        *enum("protocol", "proto", same),
        ("interlink", "interlink", newer(index_of)),
    ),
)

_NETKIT_POLICIES = {"forward": 0, "blackhole": 2}
_NETKIT_SCRUBS = {"none": 0, "default": 1}
_NETKIT = Table(  # which iproute2 6.1 does not know at all
    rows=(
        ("primary", "type", newer(lambda value, row, view: value == "primary")),
        ("policy", "policy", newer(named(_NETKIT_POLICIES))),
        ("peer_policy", "peer_policy", newer(named(_NETKIT_POLICIES))),
        *enum("mode", "mode", newer(named({"l2": 0, "l3": 1}))),
        *enum("scrub", "scrub", newer(named(_NETKIT_SCRUBS))),
        *enum("peer_scrub", "peer_scrub", newer(named(_NETKIT_SCRUBS))),
    ),
    ours={
        "headroom": _YOUNGER,
        "tailroom": _YOUNGER,
        "pairing": _YOUNGER,
        "pairing_raw": _YOUNGER,
    },
)

_TUN = Table(
    rows=(
        ("owner", "user", user),
        ("group", "group", user_group),
        *choice("type", "type", {"tun": 1, "tap": 2}),
        ("pi", "pi", same),
        ("vnet_hdr", "vnet_hdr", same),
        ("persist", "persist", same),
        ("multi_queue", "multi_queue", same),
        ("num_queues", "numqueues", same),
        ("num_disabled_queues", "numdisabled", same),
    ),
)

_NOTHING = Table(rows=())

KINDS = {
    **TUNNELS,
    "batadv": _NOTHING,
    "bond": _BOND,
    "bridge": _BRIDGE,
    "dummy": _NOTHING,
    "hsr": _HSR,
    "ifb": _NOTHING,
    "ipvlan": _IPVLAN,
    "ipvtap": _IPVLAN,
    "macsec": _MACSEC,
    "macvlan": _MACVLAN,
    "macvtap": _MACVLAN,
    "netkit": _NETKIT,
    "nlmon": _NOTHING,
    "team": _NOTHING,
    "tun": _TUN,
    "vcan": _NOTHING,
    "veth": _NOTHING,
    "vlan": _VLAN,
    "vrf": _VRF,
    "vxcan": _NOTHING,
    "wireguard": _NOTHING,
}

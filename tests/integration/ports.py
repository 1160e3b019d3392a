"""The settings of ports of each kind of master: our message, and linkinfo.info_slave_data of
`ip -j -d`, as in kinds.py."""

from comparison import Table
from conversions import (
    bridge_id,
    enum,
    hexadecimal,
    index_of,
    named,
    newer,
    running,
    same,
)

_STATES = {"disabled": 0, "listening": 1, "learning": 2, "forwarding": 3, "blocking": 4}
_YOUNGER = "younger than the versions of ip"
_ONLY_BRIDGE = "`bridge` shows it, ip does not"

_BRIDGE_PORT = Table(
    rows=(
        *enum("state", "state", named(_STATES)),
        ("priority", "priority", same),
        ("cost", "cost", same),
        ("mode", "hairpin", same),
        ("guard", "guard", same),
        ("protect", "root_block", same),
        ("fast_leave", "fastleave", same),
        ("learning", "learning", same),
        ("unicast_flood", "flood", same),
        ("proxyarp", "proxy_arp", same),
        ("proxyarp_wifi", "proxy_arp_wifi", same),
        ("root_id", "root_id", bridge_id),
        ("bridge_id", "bridge_id", bridge_id),
        ("designated_port", "designated_port", same),
        ("designated_cost", "designated_cost", same),
        ("id", "id", hexadecimal),
        ("no", "no", hexadecimal),
        ("topology_change_ack", "topology_change_ack", same),
        ("config_pending", "config_pending", same),
        ("message_age_timer", "message_age_timer", running),
        ("forward_delay_timer", "forward_delay_timer", running),
        ("hold_timer", "hold_timer", running),
        *enum("multicast_router", "multicast_router", same),
        ("mcast_flood", "mcast_flood", same),
        ("mcast_to_ucast", "mcast_to_unicast", same),
        ("vlan_tunnel", "vlan_tunnel", same),
        ("bcast_flood", "bcast_flood", same),
        ("group_fwd_mask", "group_fwd_mask", hexadecimal),
        ("neigh_suppress", "neigh_suppress", same),
        ("isolated", "isolated", same),
        ("backup_port", "backup_port", index_of),
        ("locked", "locked", same),
        ("mab", "mab", newer(same)),
        ("neigh_vlan_suppress", "neigh_vlan_suppress", newer(same)),
        ("backup_nhid", "backup_nhid", newer(same)),
    ),
    ours={
        "vlans": _ONLY_BRIDGE,
        "mrp_ring_open": _ONLY_BRIDGE,
        "mrp_in_open": _ONLY_BRIDGE,
        "mcast_eht_hosts_limit": "neither ip nor `bridge` shows it",
        "mcast_eht_hosts_cnt": "neither ip nor `bridge` shows it",
        "mcast_n_groups": _ONLY_BRIDGE,
        "mcast_max_groups": _ONLY_BRIDGE,
    },
    ips={"group_fwd_mask_str": "group_fwd_mask, again"},
)

_LACP_STATES = (  # in the order of the bits
    "active",
    "short_timeout",
    "aggregating",
    "in_sync",
    "collecting",
    "distributing",
    "defaulted",
    "expired",
)


def _lacp_state(value, row, view):
    return [_LACP_STATES.index(name) + 1 for name in value or []]


_lacp_state.names = {name: place + 1 for place, name in enumerate(_LACP_STATES)}


_BOND_PORT = Table(
    rows=(
        *enum("state", "state", named({"ACTIVE": 0, "BACKUP": 1})),
        *enum(
            "mii_status",
            "mii_status",
            named({"UP": 0, "GOING_DOWN": 1, "DOWN": 2, "GOING_BACK": 3}),
        ),
        ("link_failure_count", "link_failure_count", same),
        ("perm_hwaddr", "perm_hwaddr", same),
        ("queue_id", "queue_id", same),
        ("prio", "prio", same),
        ("ad_aggregator_id", "ad_aggregator_id", same),
        ("ad_actor_oper_port_state", "ad_actor_oper_port_state_str", _lacp_state),
        ("ad_actor_oper_port_state_raw", "ad_actor_oper_port_state", same),
        ("ad_partner_oper_port_state", "ad_partner_oper_port_state_str", _lacp_state),
        ("ad_partner_oper_port_state_raw", "ad_partner_oper_port_state", same),
    ),
    ours={
        "actor_port_prio": _YOUNGER,
        "ad_churn_actor_state": _YOUNGER,
        "ad_churn_actor_state_raw": _YOUNGER,
        "ad_churn_partner_state": _YOUNGER,
        "ad_churn_partner_state_raw": _YOUNGER,
    },
)

PORTS = {
    "bond": _BOND_PORT,
    "bridge": _BRIDGE_PORT,
    "team": Table(rows=()),
    "vrf": Table(rows=(("table", "table", same),)),
}

"""One link of each kind that this kernel has, with many of its settings: Linkvane says of it what
`ip -j -d link` says, fresh and cached, also after changes. What the kernel has no kind for is
skipped, by name.
"""

import harness
from fields import VOLATILE_FIELDS
from harness import wait_until
from kinds import KINDS
from netns import CommandFailed
from protos import CACHED, INTERFACE, MODIFIED

# What the links below stand on.
_GROUND = (
    "link add name low type veth peer name high",
    "link set dev low up",
    "link set dev high up",
    "addr add 192.0.2.1/24 dev low",
    "addr add 2001:db8::1/64 nodad dev low",
)
# Kind: the commands that make links of it, the first of which tells whether the kernel has it, and
# those that change them.
_KINDS = {
    "amt": (
        [
            "link add name amt0 type amt mode gateway local 192.0.2.1 discovery 192.0.2.2"
            " dev low gateway_port 2268 relay_port 2268"
        ],
        [],
    ),
    "bareudp": (
        [
            "link add name bareudp0 type bareudp dstport 6635 ethertype mpls_uc srcportmin 40000",
            "link add name bareudp1 type bareudp dstport 6636 ethertype ipv4 multiproto",
        ],
        [],
    ),
    "batadv": (["link add name batadv0 type batadv"], []),
    "bond": (
        [
            "link add name bond0 type bond mode active-backup miimon 100 updelay 200",
            "link add name bond1 type bond mode 802.3ad lacp_rate fast xmit_hash_policy layer3+4",
            "link add name bond2 type bond mode balance-xor arp_interval 1000"
            " arp_ip_target 192.0.2.7,192.0.2.8",
            "link add name port0 type veth peer name port1",
            "link set dev port0 master bond0",
        ],
        ["link set dev bond0 type bond primary port0 primary_reselect better fail_over_mac 1"],
    ),
    "bridge": (
        [
            "link add name bridge0 type bridge",
            "link add name bridge1 type bridge stp_state 1 priority 4096 forward_delay 400"
            " hello_time 100 max_age 700 ageing_time 12345 group_fwd_mask 8 mcast_snooping 0"
            " no_linklocal_learn 1",
            "link add name bridge2 type bridge vlan_filtering 1 vlan_protocol 802.1ad"
            " vlan_default_pvid 7 vlan_stats_enabled 1",
        ],
        [
            "link set dev bridge0 type bridge mcast_querier 1 mcast_query_use_ifaddr 1"
            " mcast_hash_max 512 mcast_last_member_count 3 mcast_startup_query_count 4"
            " mcast_last_member_interval 150 mcast_membership_interval 30000"
            " mcast_querier_interval 20000 mcast_query_interval 13000"
            " mcast_query_response_interval 900 mcast_startup_query_interval 3000",
            "link set dev bridge0 type bridge mcast_stats_enabled 1 mcast_igmp_version 3"
            " mcast_mld_version 2 mcast_router 2",
            "link set dev bridge0 type bridge nf_call_iptables 1 nf_call_ip6tables 1"
            " nf_call_arptables 1",
            "link set dev bridge0 type bridge group_address 01:80:c2:00:00:04",
            "link set dev bridge0 type bridge stp_state 1 priority 7",
            "link set dev bridge0 type bridge vlan_filtering 1 mcast_vlan_snooping 1",
            "link set dev bridge0 up",
        ],
    ),
    "dummy": (["link add name dummy0 type dummy"], []),
    "geneve": (
        [
            "link add name geneve0 type geneve id 7 remote 192.0.2.9 ttl 5 tos 4 dstport 6081"
            " udpcsum",
            "link add name geneve1 type geneve id 8 remote 2001:db8::9 df set ttl inherit",
            "link add name geneve2 type geneve external dstport 6090",
        ],
        ["link set dev geneve0 type geneve id 7 remote 192.0.2.10 ttl 9"],
    ),
    "gre": (
        [
            "link add name gre7 type gre local 192.0.2.1 remote 192.0.2.2 key 77 ttl 64 csum seq",
            "link add name gre8 type gre local 192.0.2.1 remote 192.0.2.3 ikey 1 okey 2 dev low"
            " tos 16 encap fou encap-sport 5555 encap-dport 5556 encap-csum",
        ],
        [],
    ),
    "gretap": (
        [
            "link add name gretap7 type gretap local 192.0.2.1 remote 192.0.2.4 key 5",
            "link add name gretap8 type gretap external",
        ],
        [],
    ),
    "erspan": (
        [
            "link add name erspan7 type erspan local 192.0.2.1 remote 192.0.2.5 key 9 seq"
            " erspan_ver 1 erspan 123",
            "link add name erspan8 type erspan local 192.0.2.1 remote 192.0.2.6 key 9 seq"
            " erspan_ver 2 erspan_dir egress erspan_hwid 5",
        ],
        [],
    ),
    "ip6gre": (
        [
            "link add name ip6gre7 type ip6gre local 2001:db8::1 remote 2001:db8::3 key 5 ttl 33"
            " tclass 0x10 flowlabel 0x12345",
            "link add name ip6gre8 type ip6gre local 2001:db8::1 remote 2001:db8::4"
            " encaplimit none",
        ],
        [],
    ),
    "ip6gretap": (
        ["link add name ip6gretap7 type ip6gretap local 2001:db8::1 remote 2001:db8::5"],
        [],
    ),
    "ip6erspan": (
        [
            "link add name ip6erspan7 type ip6erspan local 2001:db8::1 remote 2001:db8::6 key 3"
            " seq erspan_ver 2 erspan_dir ingress erspan_hwid 3"
        ],
        [],
    ),
    "ipip": (
        [
            "link add name ipip7 type ipip local 192.0.2.1 remote 192.0.2.5 ttl 9 dev low",
            "link add name ipip8 type ipip local 192.0.2.1 remote 192.0.2.6 mode any tos 8",
        ],
        [],
    ),
    "sit": (
        ["link add name sit7 type sit local 192.0.2.1 remote 192.0.2.7 ttl 64"],
        [],
    ),
    "ip6tnl": (
        [
            "link add name ip6tnl7 type ip6tnl local 2001:db8::1 remote 2001:db8::6 encaplimit 3",
            "link add name ip6tnl8 type ip6tnl local 2001:db8::1 remote 2001:db8::7 mode any"
            " encaplimit none tclass inherit",
        ],
        [],
    ),
    "vti": (["link add name vti7 type vti local 192.0.2.1 remote 192.0.2.8 key 9"], []),
    "vti6": (
        ["link add name vti67 type vti6 local 2001:db8::1 remote 2001:db8::8 ikey 1 okey 2"],
        [],
    ),
    "xfrm": (
        [
            "link add name xfrm0 type xfrm dev low if_id 5",
            "link add name xfrm1 type xfrm external",
        ],
        [],
    ),
    "gtp": (["link add name gtp0 type gtp role sgsn hsize 512"], []),
    "hsr": (
        [
            "link add name hsr0 type hsr slave1 low slave2 high supervision 45 version 1",
        ],
        [],
    ),
    "ifb": (["link add name ifb0 type ifb"], []),
    "ipvlan": (["link add name ipvlan0 link high type ipvlan mode l3 private"], []),
    "ipvtap": (["link add name ipvtap0 link high type ipvtap mode l3"], []),
    "macsec": (
        ["link add name macsec0 link high type macsec port 1 encrypt on replay on window 32"],
        [],
    ),
    "macvlan": (
        [
            "link add name macvlan0 link low type macvlan mode bridge",
            "link add name macvlan1 link low type macvlan mode private bcqueuelen 2000",
            "link add name macvlan2 link low type macvlan mode source macaddr set"
            " 02:00:00:00:00:01 02:00:00:00:00:02",
            "link add name macvlan3 link low type macvlan mode vepa",
        ],
        [
            "link set dev macvlan1 type macvlan mode bridge bcqueuelen 500",
            "link set dev macvlan2 type macvlan macaddr add 02:00:00:00:00:03",
        ],
    ),
    "macvtap": (
        ["link add name macvtap0 link low type macvtap mode vepa"],
        ["link set dev macvtap0 type macvtap mode private"],
    ),
    "netkit": (["link add name netkit0 type netkit mode l2"], []),
    "nlmon": (["link add name nlmon0 type nlmon"], []),
    "team": (["link add name team0 type team"], []),
    "tun": (
        [
            "tuntap add dev tun0 mode tun user root group root",
            "tuntap add dev tap0 mode tap multi_queue vnet_hdr user 12345",
            "tuntap add dev tap1 mode tap pi group 54321",
        ],
        ["link set dev tun0 up"],
    ),
    "vcan": (["link add name vcan0 type vcan"], []),
    "veth": (["link add name veth0 type veth peer name veth1"], []),
    "vlan": (
        [
            "link add name vlan7 link low type vlan id 7 gvrp on loose_binding on"
            " ingress-qos-map 1:2 3:4 egress-qos-map 0:1 5:6",
            "link add name vlan8 link low type vlan id 8 protocol 802.1ad reorder_hdr off",
        ],
        ["link set dev vlan7 type vlan mvrp on egress-qos-map 7:2"],
    ),
    "vrf": (
        [
            "link add name vrf0 type vrf table 100",
            "link add name member0 type veth peer name member1",
            "link set dev member0 master vrf0",
        ],
        [],
    ),
    "vxcan": (["link add name vxcan0 type vxcan peer name vxcan1"], []),
    "vxlan": (
        [
            "link add name vxlan0 type vxlan id 42 group 239.1.1.1 dev low local 192.0.2.1"
            " dstport 4789 ttl 16 tos 8 ageing 120 maxaddress 100 proxy rsc l2miss l3miss"
            " srcport 40000 50000",
            "link add name vxlan1 type vxlan id 43 remote 2001:db8::2 local 2001:db8::1"
            " dstport 4790 nolearning udp6zerocsumtx udp6zerocsumrx flowlabel 0x12345",
            "link add name vxlan2 type vxlan external dstport 4791 vnifilter",
            "link add name vxlan3 type vxlan id 44 remote 192.0.2.9 dstport 4792 gbp df set"
            " ttl inherit noudpcsum remcsumtx remcsumrx",
            "link add name vxlan4 type vxlan external gpe dstport 4793 tos inherit",
            "link add name vxlan5 type vxlan id 45 group ff05::1 dev low dstport 4794 ageing 0",
        ],
        [
            "link set dev vxlan0 type vxlan id 42 group 239.1.1.2 dev low ageing 60",
            "link set dev vxlan3 type vxlan id 44 remote 192.0.2.10 learning",
        ],
    ),
    "wireguard": (["link add name wireguard0 type wireguard"], []),
}
assert set(_KINDS) == set(KINDS)

_PORT_OPTIONS = (
    "state 1",
    "cost 77 priority 20",
    "guard on hairpin on fastleave on root_block on",
    "learning off flood off",
    "proxy_arp on proxy_arp_wifi on",
    "mcast_router 2 mcast_fast_leave on mcast_flood off bcast_flood off mcast_to_unicast on",
    "group_fwd_mask 8 neigh_suppress on vlan_tunnel on isolated on",
    "backup_port port2",
    "nobackup_port",
    "learning off locked on",
    "guard off hairpin off learning on flood on",
)


class KindsTest(harness.IntegrationTest):
    def test_every_kind_that_this_kernel_has(self):
        namespace, _, client = self.started()
        namespace.batch(_GROUND)
        made, missing, refused = [], [], []
        for kind, (additions, _) in _KINDS.items():
            try:
                namespace.ip(additions[0])
            except CommandFailed:
                missing.append(kind)
                continue
            made.append(kind)
            refused += self.refused(namespace, additions[1:])
        print(f"no such kind in this kernel: {' '.join(missing) or 'none is missing'}")
        self.assert_agrees(namespace, client)
        seen = {interface.WhichOneof("details") for interface in client.interfaces()}
        self.assertLessEqual(set(made), seen)
        self.assertLessEqual({"bridge", "veth"}, seen)
        for kind in made:
            for command in _KINDS[kind][1]:
                refused += self.refused(namespace, [command])
                self.assert_agrees(namespace, client)
        print(f"compared: {' '.join(made)}")
        if refused:
            print("refused:", *refused, sep="\n  ")

    @staticmethod
    def refused(namespace, commands):
        """Runs commands, of which some may need more than this kernel or this ip has."""
        refused = []
        for command in commands:
            try:
                namespace.ip(command)
            except CommandFailed as failure:
                refused.append(f"{command}: {str(failure).splitlines()[-1]}")
        return refused

    def with_ports(self, *flags, bridge=""):
        """A bridge that is up, with two ports."""
        namespace, _, client = self.started(*flags)
        namespace.batch(
            [
                f"link add name bridge0 type bridge {bridge}",
                "link add name port0 type veth peer name end0",
                "link add name port2 type veth peer name end2",
                "link set dev port0 master bridge0",
                "link set dev port2 master bridge0",
                *(f"link set dev {name} up" for name in ("port0", "end0", "port2", "end2")),
                "link set dev bridge0 up",
            ]
        )
        return namespace, client

    def test_ports_of_a_bridge(self):
        namespace, client = self.with_ports()
        self.assert_agrees(namespace, client)
        refused = []
        for options in _PORT_OPTIONS:
            refused += self.refused(
                namespace, [f"link set dev port0 type bridge_slave {options}"]
            )
            self.assert_agrees(namespace, client)
        print(f"refused: {refused}")
        self.assertLessEqual(len(refused), 2)
        port = client.get(name="port0").bridge_port
        self.assertEqual((port.cost, port.priority, port.isolated), (77, 20, True))

    def test_a_spanning_tree_that_runs_makes_no_events(self):
        namespace, client = self.with_ports(
            "--audit_interval=300ms", bridge="stp_state 1 forward_delay 200 hello_time 100"
        )
        forwarding = "BRIDGE_PORT_STATE_FORWARDING"
        wait_until(
            lambda: all(
                client.get(name=name).bridge_port.state_raw == 3 for name in ("port0", "port2")
            ),
            forwarding,
        )
        timers = client.get(name="bridge0").bridge
        watcher = self.watcher(client, types=[INTERFACE]).wait_synced()
        self.audits(client, 3)
        later = client.get(name="bridge0").bridge
        self.assertNotEqual(
            (timers.hello_timer, timers.gc_timer), (later.hello_timer, later.gc_timer)
        )
        self.assertEqual(watcher.locked(lambda replica: list(replica.live)), [])

    @staticmethod
    def audits(client, number):
        """Waits for whole audits, each of which dumps three tables."""
        dumps = client.info().counts.dumps
        wait_until(
            lambda: client.info().counts.dumps >= dumps + 3 * (number + 1), f"{number} audits"
        )

    def test_a_change_of_a_setting_tells_just_that(self):
        namespace, client = self.with_ports()
        self.assert_agrees(namespace, client)
        watcher = self.watcher(client, types=[INTERFACE]).wait_synced()
        namespace.ip("link set dev bridge0 type bridge ageing_time 12300")
        events = watcher.wait(lambda replica: list(replica.live), "an event")
        self.assertEqual([event.type for event in events], [MODIFIED])
        self.assertEqual(events[0].resource.interface.name, "bridge0")
        self.assertEqual(set(events[0].changed.paths) - VOLATILE_FIELDS, {"bridge"})
        self.assertEqual(events[0].resource.interface.bridge.ageing_time.seconds, 123)
        cached = client.get(name="bridge0", consistency=CACHED)
        self.assertEqual(cached.bridge.ageing_time.seconds, 123)

    def test_a_change_of_a_ports_setting_tells_just_that(self):
        namespace, client = self.with_ports()
        self.assert_agrees(namespace, client)
        watcher = self.watcher(client, types=[INTERFACE]).wait_synced()
        namespace.ip("link set dev port0 type bridge_slave cost 77")
        events = watcher.wait(lambda replica: list(replica.live), "an event")
        self.assertEqual([event.type for event in events], [MODIFIED])
        self.assertEqual(events[0].resource.interface.name, "port0")
        self.assertEqual(set(events[0].changed.paths) - VOLATILE_FIELDS, {"bridge_port"})
        self.assertEqual(events[0].resource.interface.bridge_port.cost, 77)


if __name__ == "__main__":
    harness.main()

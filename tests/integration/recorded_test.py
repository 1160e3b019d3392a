"""What iproute2 printed of recorded links, Linkvane makes of the same bytes. Needs neither root nor
a kernel that has all these kinds.

Environment: LINKVANE_RECORDED_INTERFACES, the program that plays a recording; LINKVANE_RECORDINGS,
where the recordings are; LINKVANE_TEST_PROTOS, as for the other tests.
"""

import collections
import fnmatch
import itertools
import json
import os
import pathlib
import re
import subprocess
import unittest

from agreement import FROM_SYSFS, interface_differences
from kinds import KINDS
from netns import text_of
from ports import PORTS
from protos import Interface, ListInterfacesResponse

_DURATION = "google.protobuf.Duration"
LINKS = {"main": 101, "ns1": 14, "ns2": 12}
DUMPS = ("link", "link-skipstats", "link-nomask")
READINGS = {"6.1": "link.json", "6.15": "615/link.json"}  # by version of iproute2
# Attributes, by their numbers from the top, for which there is no field, and why.
UNKNOWN = {}
# Fields whose wrong values nobody would see, and why. Those of sysfs come on top.
NOT_COMPARED = {
    "uid": "our own",
    "ipv4.*": "sysctls, which ip does not show",
    "ipv6.*": "sysctls, which ip does not show",
    "ipv6_token": "`ip token` shows it, `ip link` does not",
    "map.*": "ip does not show it",
    "bridge.*_timer": "runs by itself",
    "bridge.fdb_n_learned": "runs by itself",
    "bridge.multi_boolopt.known": "what the kernel knows, by which ip decides what to show",
    "bridge.multi_boolopt.enabled": "the same name twice is no difference",
    "bridge_port.*_timer": "runs by itself",
    "bridge_port.mrp_*_open": "`bridge` shows it, ip does not",
    "bridge_port.mcast_*_groups": "`bridge` shows it, ip does not",
    "bridge_port.mcast_eht_hosts_*": "neither ip nor `bridge` shows it",
    "bond_port.actor_port_prio": "younger than the versions of ip",
    "bond_port.ad_churn_*": "younger than the versions of ip",
    "hsr.seq_nr": "runs by itself",
    "*.encap_flags": "ip shows it with an encapsulation only, of which there is none here",
    "*.encap_flags_raw": "the same",
    "*.encap_sport": "the same",
    "*.encap_dport": "the same",
    "ip6tnl.encap_limit": "ip does not show it where it is ignored",
    "vxlan.label_policy*": "ip does not show it where it is the usual one",
    "xfrm.link": "ip shows link_index only, which is the same",
}

# What ip calls otherwise than the kernel, whose names the enumerators have.
KERNELS_NAMES = {
    "GOING_BACK": "BACK",
    "GOING_DOWN": "FAIL",
    "active": "LACP_ACTIVITY",
    "aggregating": "AGGREGATION",
    "in_sync": "SYNCHRONIZATION",
    "mst_enabled": "MST_ENABLE",
    "no_linklocal_learn": "NO_LL_LEARN",
    "short_timeout": "LACP_TIMEOUT",
}


class RecordedView:
    """What iproute2 printed of a recorded namespace, without sysfs."""

    def __init__(self, namespace, reading):
        path = pathlib.Path(os.environ["LINKVANE_RECORDINGS"], namespace, READINGS[reading])
        self.links = json.loads(text_of(path.read_bytes()), strict=False)
        self.index_of = {link["ifname"]: link["ifindex"] for link in self.links}
        self.sysfs = None


def interfaces(namespace, dump):
    done = subprocess.run(
        [os.environ["LINKVANE_RECORDED_INTERFACES"], f"{namespace}/{dump}"],
        check=True,
        capture_output=True,
    )
    return ListInterfacesResponse.FromString(done.stdout).interfaces


def with_another_value(message, path=()):
    """Copies of a message, in each of which one of the values that are set is another one."""
    for field, value in message.ListFields():
        here = (*path, field.name)
        copy = type(message)()
        copy.CopyFrom(message)
        if field.label == field.LABEL_REPEATED:
            getattr(copy, field.name).append(value[0])
        elif field.message_type is not None and field.message_type.full_name != _DURATION:
            for inner_path, inner in with_another_value(value, here):
                getattr(copy, field.name).CopyFrom(inner)
                yield inner_path, copy
            continue
        elif field.message_type is not None:
            getattr(copy, field.name).seconds += 1
        elif field.type == field.TYPE_BOOL:
            setattr(copy, field.name, not value)
        elif field.type == field.TYPE_STRING:
            setattr(copy, field.name, value + "0")
        elif field.type == field.TYPE_BYTES:
            setattr(copy, field.name, value + b"0")
        else:
            setattr(copy, field.name, value + 1 if value == 0 else value - 1)
        yield here, copy


def named_values():
    """(enumerator, ip's name) for each value that both have a name for."""
    for tables, suffix in ((KINDS, ""), (PORTS, "_port")):
        for kind, table in tables.items():
            for path, _, how in table.rows:
                message = Interface.DESCRIPTOR.fields_by_name[kind + suffix].message_type
                for part in path.split("."):
                    field = message.fields_by_name[part]
                    message = field.message_type
                if field.enum_type is not None:
                    for name, number in getattr(how, "names", {}).items():
                        yield field.enum_type.values_by_number[number].name, name or "none"


def letters(text):
    return re.sub("[^a-z0-9]", "", text.lower())


class RecordedTest(unittest.TestCase):
    maxDiff = None

    def test_every_value_that_ip_shows(self):
        for reading in READINGS:
            for dump in DUMPS:
                with self.subTest(iproute2=reading, dump=dump):
                    tally = collections.Counter()
                    lines = []
                    for namespace, links in LINKS.items():
                        ours = interfaces(namespace, dump)
                        view = RecordedView(namespace, reading)
                        self.assertEqual((len(ours), len(view.links)), (links, links))
                        found = interface_differences(ours, view, tally)
                        lines += [f"{namespace} {line}" for line in found]
                    self.assertEqual(lines, [])
                    print(f"iproute2 {reading}, {dump}: {tally.total()} values, {dict(tally)}")
                    self.assertGreater(tally["Interface"], 25 * sum(LINKS.values()))
                    self.assertGreater(tally.total(), 4000)

    def test_every_wrong_value_is_seen(self):
        seen, overlooked = 0, set()
        for namespace in LINKS:
            view = RecordedView(namespace, "6.15")
            links = {link["ifindex"]: link for link in view.links}
            for interface in interfaces(namespace, "link"):
                view.links = [links[interface.index]]
                for path, wrong in with_another_value(interface):
                    if interface_differences([wrong], view):
                        seen += 1
                    else:
                        overlooked.add(".".join(path))
        print(f"{seen} wrong values were seen")
        self.assertGreater(seen, 5000)
        excused = {
            pattern: fnmatch.filter(overlooked, pattern)
            for pattern in (*NOT_COMPARED, *FROM_SYSFS)
        }
        self.assertEqual(overlooked - set(itertools.chain(*excused.values())), set())
        self.assertEqual([pattern for pattern, fields in excused.items() if not fields], [])

    def test_every_kind_is_there(self):
        found = [interface for namespace in LINKS for interface in interfaces(namespace, "link")]
        self.assertEqual({i.WhichOneof("details") for i in found} - {None}, set(KINDS))
        self.assertEqual(
            {i.WhichOneof("port") for i in found} - {None}, {f"{kind}_port" for kind in PORTS}
        )

    def test_enumerators_have_the_names_that_ip_writes(self):
        count = 0
        for enumerator, name in named_values():
            name = name.rpartition(".")[2]
            names = {letters(name), letters(KERNELS_NAMES.get(name, name))}
            self.assertTrue(letters(enumerator).endswith(tuple(names)), f"{enumerator}: {name}")
            count += 1
        self.assertGreater(count, 150)

    def test_nothing_is_unknown(self):
        unknown = {
            (*attribute.parents, attribute.type)
            for namespace in LINKS
            for interface in interfaces(namespace, "link")
            for attribute in interface.unknown_attributes
        }
        self.assertEqual(unknown, set(UNKNOWN))

    def test_what_comes_from_sysfs(self):
        # Of sysfs there is no recording. The name of the hardware type is compared.
        self.assertEqual(
            FROM_SYSFS,
            {
                "hardware_type",
                "carrier",
                "carrier_changes",
                "carrier_up_count",
                "carrier_down_count",
            },
        )


if __name__ == "__main__":
    unittest.main(verbosity=2)

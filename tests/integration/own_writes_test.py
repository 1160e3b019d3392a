"""Who changed something sees it in the next fresh answer, every time."""

import grpc

import harness
from harness import scaled
from protos import FRESH, GetInterfaceRequest

ROUNDS = scaled(200)


class OwnWritesTest(harness.IntegrationTest):
    def test_two_hundred_times_in_a_row(self):
        random = self.random()
        self.namespace_, _, self.client_ = self.started()
        self.namespace_.batch(
            [
                "link add name base0 type veth peer name base1",
                "link add name quiet0 type bridge",
                "link set dev base0 up",
            ]
        )
        self.links = {"base0", "quiet0"}  # quiet0 is down: some of its changes make no event
        self.addrs = set()
        self.alternatives = {}
        actions = [
            self.add_link,
            self.remove_link,
            self.rename,
            self.set_mtu,
            self.set_alias,
            self.set_group,
            self.add_alternative,
            self.remove_alternative,
            self.up_or_down,
            self.add_addr,
            self.add_addr,
            self.remove_addr,
        ]
        for number in range(ROUNDS):
            action = random.choice(actions)
            with self.subTest(number=number, action=action.__name__):
                action(random, number)

    def get(self, name):
        return self.client_.get(name=name, consistency=FRESH)

    def names(self):
        return {interface.name for interface in self.client_.interfaces()}

    def addresses(self):
        return {(addr.interface_name, addr.address) for addr in self.client_.addrs()}

    def ip(self, command):
        self.namespace_.ip(command)

    def add_link(self, random, number):
        name = f"new{number}"
        self.ip(f"link add name {name} type {random.choice(('bridge', 'ifb'))}")
        self.links.add(name)
        self.assertIn(name, self.names())
        self.assertEqual(self.get(name).name, name)

    def remove_link(self, random, number):
        name = random.choice(sorted(self.links))
        if name in ("base0", "quiet0"):
            return
        self.ip(f"link del dev {name}")
        self.links.remove(name)
        self.addrs = {pair for pair in self.addrs if pair[0] != name}
        self.alternatives.pop(name, None)
        self.assertNotIn(name, self.names())
        self.assertFalse([pair for pair in self.addresses() if pair[0] == name])

    def rename(self, random, number):
        candidates = sorted(self.links - {"base0", "quiet0"})
        if not candidates:
            return
        old = random.choice(candidates)
        new = f"renamed{number}"
        self.namespace_.batch([f"link set dev {old} down", f"link set dev {old} name {new}"])
        self.links = self.links - {old} | {new}
        # IPv6 addresses go with "down".
        self.addrs = {
            (new if name == old else name, address)
            for name, address in self.addrs
            if name != old or ":" not in address
        }
        self.alternatives[new] = self.alternatives.pop(old, [])
        names = self.names()
        self.assertIn(new, names)
        self.assertNotIn(old, names)
        self.assertLessEqual(self.addrs, self.addresses())
        self.assertEqual(self.get(new).name, new)

    def set_mtu(self, random, number):
        name, mtu = random.choice(sorted(self.links)), random.randrange(1280, 1500)
        self.ip(f"link set dev {name} mtu {mtu}")
        self.assertEqual(self.get(name).mtu, mtu)

    def set_alias(self, random, number):
        name = random.choice(sorted(self.links))
        self.ip(f"link set dev {name} alias text{number}")
        self.assertIn(f"text{number}", [i.alias for i in self.client_.interfaces()])
        self.assertEqual(self.get(name).alias, f"text{number}")

    def set_group(self, random, number):
        name = random.choice(sorted(self.links))
        self.ip(f"link set dev {name} group {number + 5}")
        self.assertEqual(self.get(name).group, number + 5)

    def add_alternative(self, random, number):
        name = random.choice(sorted(self.links))
        alternative = f"alternative{number}".ljust(random.choice((15, 100, 127)), "x")
        self.ip(f"link property add dev {name} altname {alternative}")
        self.alternatives.setdefault(name, []).append(alternative)
        self.assertEqual(self.get(alternative).name, name)
        self.assertIn(alternative, self.get(name).alt_names)

    def remove_alternative(self, random, number):
        candidates = sorted(name for name, names in self.alternatives.items() if names)
        if not candidates:
            return
        name = random.choice(candidates)
        alternative = self.alternatives[name].pop()
        self.ip(f"link property del dev {name} altname {alternative}")
        self.fails(
            grpc.StatusCode.NOT_FOUND,
            "INTERFACE_NOT_FOUND",
            self.client_.GetInterface,
            GetInterfaceRequest(name=alternative),
        )
        self.assertNotIn(alternative, self.get(name).alt_names)

    def up_or_down(self, random, number):
        name = random.choice(sorted(self.links - {"quiet0"}))
        up = not self.get(name).admin_up
        self.ip(f"link set dev {name} {'up' if up else 'down'}")
        if not up:
            self.addrs = {pair for pair in self.addrs if pair[0] != name or ":" not in pair[1]}
        self.assertEqual(self.get(name).admin_up, up)
        self.assertLessEqual(self.addrs, self.addresses())

    def add_addr(self, random, number):
        name = random.choice(sorted(self.links))
        up = self.get(name).admin_up
        address = random.choice((f"10.0.{number % 256}.1", f"fd00::{number + 1:x}"))
        length = random.choice((8, 32)) if "." in address else 64
        self.ip(f"addr add {address}/{length} dev {name}")
        # Only of an interface that is up the kernel keeps IPv6 addresses when that changes.
        if up or "." in address:
            self.addrs.add((name, address))
        self.assertIn((name, address), self.addresses())

    def remove_addr(self, random, number):
        if not self.addrs:
            return
        name, address = random.choice(sorted(self.addrs))
        length = next(
            addr.prefix_length
            for addr in self.client_.addrs()
            if (addr.interface_name, addr.address) == (name, address)
        )
        self.ip(f"addr del {address}/{length} dev {name}")
        self.addrs.remove((name, address))
        self.assertNotIn((name, address), self.addresses())
        # Removing the first address of a prefix removes the others of it.
        self.addrs &= self.addresses()


if __name__ == "__main__":
    harness.main()

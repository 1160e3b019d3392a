"""How linkvaned ends, and how it ends a stream that nobody reads."""

import signal
import time

import grpc

import harness
from harness import scaled, wait_until
from protos import INTERFACE, GetServerInfoRequest, ListInterfacesRequest, WatchRequest, seconds
from rpc import NARROW

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
# Enough for a snapshot that does not fit into a connection's buffers.
MANY = 3000


class ShutdownTest(harness.IntegrationTest):
    def ended(self, server, grace_period=5):
        """The server ends by itself, with status 0, within its grace period."""
        within = grace_period + 1.5  # processes start and end slowly on a busy machine
        started = time.monotonic()
        status = server.wait(within + 30)
        took = time.monotonic() - started
        self.assertEqual(status, 0, server.log())
        self.assertLess(took, within, server.log())

    def test_without_clients(self):
        namespace = self.namespace()
        server = self.server(namespace)
        server.signal(signal.SIGTERM)
        self.ended(server, 1)

    def test_sigint_too(self):
        namespace = self.namespace()
        server = self.server(namespace)
        server.signal(signal.SIGINT)
        self.ended(server, 1)

    def test_watchers_get_a_last_bookmark_and_are_told_to_come_back(self):
        namespace, server, client = self.started()
        namespace.batch(["link add name some0 type bridge", "addr add 10.0.0.1/24 dev some0"])
        watchers = [self.watcher(self.client(server)).wait_synced() for _ in range(20)]
        revision = client.list_addrs().revision
        server.signal(signal.SIGTERM)
        for watcher in watchers:
            failure = watcher.wait_end()
            self.assertIs(failure.code, UNAVAILABLE, failure)
            self.assert_explained(failure, failure.info.reason if failure.info else "SHUTTING_DOWN")
            self.assertGreater(failure.retry_seconds, 0)
            self.assertEqual(watcher.replica.contents[-1], "bookmark")
            self.assertGreaterEqual(watcher.replica.checkpoint.number, revision.number)
        self.ended(server)

    def test_calls_that_run_are_answered(self):
        namespace, server, client = self.started()
        namespace.batch([f"link add name ifb-{n} type ifb" for n in range(scaled(500))])
        client.interfaces()
        calls = [
            client.ListInterfaces.future(ListInterfacesRequest(), timeout=30) for _ in range(50)
        ]
        server.signal(signal.SIGTERM)
        for call in calls:
            error = call.exception()
            if error is not None:  # it came too late
                self.assertIs(error.code(), UNAVAILABLE, error)
        self.ended(server)

    def test_listings_and_watchers_of_a_big_network(self):
        namespace, server, client = self.started()
        namespace.batch([f"link add name ifb-{n} type ifb" for n in range(MANY)])
        client.interfaces()
        watcher = self.watcher(client).wait_synced()
        server.signal(signal.SIGTERM)
        self.assertIs(watcher.wait_end().code, UNAVAILABLE)
        self.ended(server)

    def test_within_the_grace_period_also_with_a_stalled_watcher(self):
        namespace, server, client = self.started("--grace_period=2s")
        namespace.batch([f"link add name ifb-{n} type ifb" for n in range(MANY)])
        client.interfaces()
        stalled = [
            self.watcher(self.client(server, NARROW), paused=True, types=[INTERFACE])
            for _ in range(3)
        ]
        awake = self.watcher(client).wait_synced()
        wait_until(lambda: client.info().counts.watchers == 4, "all are there")
        server.signal(signal.SIGTERM)
        failure = awake.wait_end()
        self.assertIs(failure.code, UNAVAILABLE)
        self.ended(server, 2)
        for watcher in stalled:
            failure = watcher.wait_end()
            self.assertNotIn(
                failure.code, (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL), failure
            )

    def test_a_second_sigterm_changes_nothing(self):
        namespace, server, client = self.started("--grace_period=3s")
        watcher = self.watcher(client).wait_synced()
        server.signal(signal.SIGTERM)
        server.signal(signal.SIGTERM)
        self.assertIs(watcher.wait_end().code, UNAVAILABLE)
        self.ended(server, 3)

    def test_a_stalled_watcher_is_ended_and_costs_others_nothing(self):
        namespace, server, client = self.started("--watch_stall_timeout=1s")
        namespace.batch([f"link add name ifb-{n} type ifb" for n in range(MANY)])
        client.interfaces()
        stalled = self.watcher(self.client(server, NARROW), paused=True, types=[INTERFACE])
        wait_until(lambda: client.info().counts.watchers == 1, "it is there")
        awake = self.watcher(client, bookmark_interval=seconds(0.2)).wait_synced()
        self.assertEqual(awake.replica.created.stall_timeout.ToSeconds(), 1)
        namespace.ip("link add name new0 type bridge")
        awake.wait(
            lambda replica: [i for i in replica.interfaces() if i.name == "new0"], "the change", 5
        )
        wait_until(lambda: client.info().counts.watchers == 1, "the stalled one is gone", 20)
        failure = stalled.wait_end()
        self.assertIsNotNone(failure, "the stream ended without an error")
        self.assertNotIn(failure.code, (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL), failure)
        self.assertFalse(awake.ended)

    def test_a_slow_reader_is_not_a_stalled_one(self):
        namespace, server, client = self.started("--watch_stall_timeout=1s")
        namespace.batch([f"link add name ifb-{n} type ifb" for n in range(MANY)])
        client.interfaces()
        call = self.client(server, NARROW).Watch(WatchRequest(types=[INTERFACE]), timeout=60)
        count, contents = 0, []
        for response in call:  # each after most of the time that it may take
            contents.append(response.WhichOneof("content"))
            count += len(response.events.events)
            if contents[-1] == "synced":
                break
            self.pause(0.5)
        call.cancel()
        self.assertEqual(count, MANY + 1)
        self.assertGreater(len(contents), 4)

    @staticmethod
    def pause(length):
        """Time that a slow client takes; nothing is waited for."""
        time.sleep(length)

    def test_a_server_that_was_stopped_for_a_while_goes_on(self):
        namespace, server, client = self.started()
        watcher = self.watcher(client).wait_synced()
        server.signal(signal.SIGSTOP)
        wait_until(lambda: server.state() == "T", "it is stopped")
        with self.assertRaises(grpc.RpcError) as raised:
            client.GetServerInfo(GetServerInfoRequest(), timeout=0.3)
        self.assertIs(raised.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        namespace.ip("link add name new0 type bridge")
        server.signal(signal.SIGCONT)
        watcher.wait(
            lambda replica: [i for i in replica.interfaces() if i.name == "new0"], "the change"
        )
        self.assert_agrees(namespace, client)


if __name__ == "__main__":
    harness.main()

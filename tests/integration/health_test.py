"""The standard services beside ours: health and reflection."""

import signal

import grpc

import harness

_SERVICE = "linkvane.v1.NetworkStateService"
_SERVING, _NOT_SERVING, _SERVICE_UNKNOWN = b"\x08\x01", b"\x08\x02", b"\x08\x03"


def _text(number, text):
    """A protobuf field with a short text."""
    return bytes([number << 3 | 2, len(text)]) + text.encode()


class HealthTest(harness.IntegrationTest):
    def test_what_serves(self):
        _, _, client = self.started()
        for service in ("", _SERVICE):
            request = _text(1, service) if service else b""
            self.assertEqual(client.raw("/grpc.health.v1.Health/Check", request), _SERVING)

    def test_an_unknown_service(self):
        _, _, client = self.started()
        with self.assertRaises(grpc.RpcError) as raised:
            client.raw("/grpc.health.v1.Health/Check", _text(1, "no.such.Service"))
        self.assertIs(raised.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_watch(self):
        _, _, client = self.started()
        for service, status in (
            ("", _SERVING),
            (_SERVICE, _SERVING),
            ("no.such.Service", _SERVICE_UNKNOWN),
        ):
            stream = client.channel.unary_stream("/grpc.health.v1.Health/Watch")(
                _text(1, service) if service else b"", timeout=30
            )
            self.assertEqual(next(stream), status)
            stream.cancel()

    def test_a_server_that_ends_serves_no_more(self):
        _, server, client = self.started()
        stream = client.channel.unary_stream("/grpc.health.v1.Health/Watch")(b"", timeout=30)
        self.assertEqual(next(stream), _SERVING)
        server.signal(signal.SIGTERM)
        self.assertEqual(next(stream), _NOT_SERVING)
        with self.assertRaises(grpc.RpcError) as raised:
            next(stream)
        self.assertIs(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_reflection(self):
        _, _, client = self.started()
        path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        (answer,) = client.raw_stream(path, [_text(7, "")])
        for service in (_SERVICE, "grpc.health.v1.Health"):
            self.assertIn(service.encode(), answer)
        (answer,) = client.raw_stream(path, [_text(4, _SERVICE)])
        self.assertIn(b"linkvane/v1/network_state_service.proto", answer)
        self.assertIn(b"ListInterfaces", answer)


if __name__ == "__main__":
    harness.main()

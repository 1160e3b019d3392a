"""Calls to linkvaned, as a client with gRPC's default limits makes them."""

import dataclasses

import grpc
from google.protobuf import message_factory

from protos import (
    SERVICE,
    ErrorInfo,
    GetInterfaceRequest,
    GetServerInfoRequest,
    ListAddrsRequest,
    ListInterfacesRequest,
    RetryInfo,
    RpcStatus,
)

CALL_SECONDS = 60
_OPTIONS = (
    # A connection of its own for each channel, and no long pauses between attempts.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
)
# For streams that nobody reads: a window that does not grow, so that the server soon cannot send.
NARROW = ("grpc.http2.bdp_probe", 0)


def _class_of(descriptor):
    return message_factory.MessageFactory(descriptor.file.pool).GetPrototype(descriptor)


@dataclasses.dataclass
class Listing:
    """All pages of one listing."""

    objects: list
    pages: list

    @property
    def revision(self):
        return self.pages[-1].revision


class Client:
    """A connection. Its methods ListInterfaces, Watch, ... are those of the service."""

    def __init__(self, target, *options):
        self.channel = grpc.insecure_channel(target, options=[*_OPTIONS, *options])
        for method in SERVICE.methods:
            kind = self.channel.unary_stream if method.name == "Watch" else self.channel.unary_unary
            setattr(
                self,
                method.name,
                kind(
                    f"/{SERVICE.full_name}/{method.name}",
                    request_serializer=lambda message: message.SerializeToString(),
                    response_deserializer=_class_of(method.output_type).FromString,
                ),
            )

    def close(self):
        self.channel.close()

    def raw(self, path, request):
        """A unary call with bytes, to a service whose contract the tests do not have."""
        return self.channel.unary_unary(path)(request, timeout=CALL_SECONDS)

    def raw_stream(self, path, requests):
        return self.channel.stream_stream(path)(iter(requests), timeout=CALL_SECONDS)

    def info(self):
        return self.GetServerInfo(GetServerInfoRequest(), timeout=CALL_SECONDS, wait_for_ready=True)

    def list_interfaces(self, **arguments):
        return self._list(self.ListInterfaces, ListInterfacesRequest(**arguments), "interfaces")

    def list_addrs(self, **arguments):
        return self._list(self.ListAddrs, ListAddrsRequest(**arguments), "addrs")

    def interfaces(self, **arguments):
        return self.list_interfaces(**arguments).objects

    def addrs(self, **arguments):
        return self.list_addrs(**arguments).objects

    def get(self, **arguments):
        return self.GetInterface(GetInterfaceRequest(**arguments), timeout=CALL_SECONDS).interface

    @staticmethod
    def _list(method, request, field):
        objects, pages = [], []
        while True:
            page = method(request, timeout=CALL_SECONDS)
            pages.append(page)
            objects.extend(getattr(page, field))
            if not page.next_page_token:
                return Listing(objects, pages)
            request.page_token = page.next_page_token


class Failure:
    """What a failed call says: code, message, and the details of google.rpc.Status."""

    def __init__(self, error):
        self.code = error.code()
        self.message = error.details()
        self.info = None
        self.retry_seconds = None
        self.status = None
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                self.status = RpcStatus.FromString(value)
        for detail in self.status.details if self.status else ():
            if detail.Is(ErrorInfo.DESCRIPTOR):
                self.info = ErrorInfo()
                detail.Unpack(self.info)
            elif detail.Is(RetryInfo.DESCRIPTOR):
                retry = RetryInfo()
                detail.Unpack(retry)
                self.retry_seconds = retry.retry_delay.ToMilliseconds() / 1000

    def __str__(self):
        return f"{self.code} {self.message!r} {self.info} retry={self.retry_seconds}"

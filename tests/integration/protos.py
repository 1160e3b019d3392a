"""The contract in Python. The classes are generated at build time into $LINKVANE_TEST_PROTOS."""

import os
import sys

sys.path.insert(0, os.environ["LINKVANE_TEST_PROTOS"])

# pylint: disable=wrong-import-position,unused-import
from google.protobuf import duration_pb2, field_mask_pb2
from google.rpc import error_details_pb2, status_pb2
from linkvane.v1 import (
    addr_pb2,
    device_pb2,
    interface_pb2,
    network_state_service_pb2,
    port_pb2,
    types_pb2,
    watch_pb2,
)

SERVICE = network_state_service_pb2.DESCRIPTOR.services_by_name["NetworkStateService"]

Addr = addr_pb2.Addr
AddrFilter = addr_pb2.AddrFilter
Duration = duration_pb2.Duration
ErrorInfo = error_details_pb2.ErrorInfo
FieldMask = field_mask_pb2.FieldMask
GetInterfaceRequest = network_state_service_pb2.GetInterfaceRequest
GetServerInfoRequest = network_state_service_pb2.GetServerInfoRequest
Interface = interface_pb2.Interface
InterfaceFilter = interface_pb2.InterfaceFilter
ListAddrsRequest = network_state_service_pb2.ListAddrsRequest
ListInterfacesRequest = network_state_service_pb2.ListInterfacesRequest
ListInterfacesResponse = network_state_service_pb2.ListInterfacesResponse
RetryInfo = error_details_pb2.RetryInfo
Revision = types_pb2.Revision
RpcStatus = status_pb2.Status
WatchRequest = watch_pb2.WatchRequest

FRESH = types_pb2.CONSISTENCY_FRESH
CACHED = types_pb2.CONSISTENCY_CACHED
ADDED = watch_pb2.EVENT_TYPE_ADDED
MODIFIED = watch_pb2.EVENT_TYPE_MODIFIED
REMOVED = watch_pb2.EVENT_TYPE_REMOVED
INTERFACE = types_pb2.RESOURCE_TYPE_INTERFACE
ADDR = types_pb2.RESOURCE_TYPE_ADDR
IPV4 = types_pb2.ADDRESS_FAMILY_IPV4
IPV6 = types_pb2.ADDRESS_FAMILY_IPV6


def seconds(value):
    """A Duration of `value` seconds."""
    duration = Duration()
    duration.FromMilliseconds(round(value * 1000))
    return duration

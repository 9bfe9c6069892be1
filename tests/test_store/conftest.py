"""What tests of object stores stand on."""

from tests.stores import bucket, endpoint, proxy

__all__ = ["bucket", "endpoint", "proxy"]

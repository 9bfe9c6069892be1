"""What tests of object stores stand on."""

from tests.stores import bucket as bucket
from tests.stores import endpoint as endpoint

"""The pool of all phones: which are attached, their health and their names."""

from devices.pool.names import NameBook
from devices.pool.phones import AdbPhones
from devices.pool.pool import Pool
from devices.pool.virtual_phones import VirtualPhones

__all__ = ["AdbPhones", "NameBook", "Pool", "VirtualPhones"]

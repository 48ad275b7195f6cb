"""All phones of all adb servers: which are there, how they are, what they are called."""

from devices.pool.names import NameBook
from devices.pool.phones import AdbPhones
from devices.pool.pool import Pool
from devices.pool.virtual_phones import VirtualPhones

__all__ = ["AdbPhones", "NameBook", "Pool", "VirtualPhones"]

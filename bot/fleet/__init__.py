"""Phones on other machines: the hub is the service that people talk to, the hosts have the phones."""

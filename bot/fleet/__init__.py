"""Phones on other machines: the hub that people talk to, and the hosts that the phones are attached to."""

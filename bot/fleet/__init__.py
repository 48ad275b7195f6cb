"""Phones on other machines: the hub, which is the service that people talk to, and the hosts that phones are attached
to.
"""

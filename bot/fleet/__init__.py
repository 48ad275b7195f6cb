"""The fleet: lets phones that are connected to other computers work for one service. The hub is the service that
people talk to; hosts are the computers with the phones.
"""

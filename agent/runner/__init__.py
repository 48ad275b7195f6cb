"""Runs on phones: executes the executor graph behind the Runner interface, with pause, resume, steering and
cancelling.
"""

"""Looks at one thing each and says what is wrong with it, for the doctor, the setup and the console."""

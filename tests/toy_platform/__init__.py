"""A chat platform as another package would bring it: a manifest, a chat, and the platform itself as a double.

`packages` on the path is what an installed package leaves there; nothing in `bot` names this platform.
"""

"""The virtual phone: a simulated Android phone with its own adb daemon, to which a real adb server connects."""

"""Two services and one record: one of them is lost, and the other takes over."""

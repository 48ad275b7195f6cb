"""What people wrote while the service was away: kept, listed, and done when somebody presses for it."""

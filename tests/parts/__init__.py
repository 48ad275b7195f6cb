"""The program without each of its parts."""

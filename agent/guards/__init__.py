"""Rules in code, outside the model: what needs approval, what is refused, what must not be seen."""

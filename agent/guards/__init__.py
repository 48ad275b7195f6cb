"""Safety rules in code, outside the model: what needs approval, what is refused, and what must stay hidden."""

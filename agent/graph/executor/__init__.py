"""The executor graph: carries out one sub-task on one phone in rounds of looking, deciding and acting."""

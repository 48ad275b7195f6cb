"""How models speak actions: one module each, chosen by `VLM_DIALECT` or by the model's name."""

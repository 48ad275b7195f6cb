"""The dialects (action formats) of models, one module each, chosen by `VLM_DIALECT` or the model's name."""

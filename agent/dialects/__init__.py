"""The dialects: the forms in which models write their actions. There is one module for each; `VLM_DIALECT` or the
model's name selects it.
"""

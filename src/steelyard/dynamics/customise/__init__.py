"""The same joint-space dynamics in fewer constants: frames, regrouped inertias, right angles."""

"""The screens: what the user looks at, and what the keys do there."""

"""The checks, a file for each family; `UNITS` of each are put in order by the registry."""

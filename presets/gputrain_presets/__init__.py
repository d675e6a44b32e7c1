"""The workloads: one TOML file each, and the catalog that reads and checks them."""

from .catalog import PresetError, load, names
from .spec import Preset

__all__ = ["Preset", "PresetError", "load", "names"]

"""The layers of a source: what it is made of, from a map down to what changed."""

from vaultmind.planner.structure.layers.exploring import explore, layers
from vaultmind.planner.structure.layers.rendering import render
from vaultmind.planner.structure.layers.routing import ROUTES, routed_files
from vaultmind.planner.structure.layers.views import Explored, LayerView

__all__ = ["ROUTES", "Explored", "LayerView", "explore", "layers", "render", "routed_files"]

"""VaultMind: a long-term memory for AI agents that lives in an Obsidian vault."""

import os

__version__ = "0.1.0"
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # numpy reads them when it is imported; see `heavy`

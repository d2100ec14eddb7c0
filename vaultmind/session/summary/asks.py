"""Names that moved to `vaultmind.session.unkept`."""

from vaultmind.session.unkept import Understand, keeps_out, orders_memory

__all__ = ["Understand", "keeps_out", "orders_memory"]

"""Names that moved to `vaultmind.session.unkept`."""

from vaultmind.session.unkept import keeping, keeps_out, unkept

__all__ = ["keeping", "keeps_out", "unkept"]

"""The shopping cart."""

from src.store import load, save


class Cart:
    """Items of one customer, kept between visits."""

    def __init__(self, customer: str) -> None:
        self.customer = customer
        self.items = load(customer)

    def add(self, item: str) -> None:
        """Add an item and keep the cart."""
        self.items.append(item)
        save(self.customer, self.items)

    def logout(self) -> None:
        """Forget who is here. The items are lost: see the bug."""
        self.items = []

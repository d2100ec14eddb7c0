from src.cart import Cart


def test_items_survive_a_logout() -> None:
    cart = Cart("anna")
    cart.add("bread")
    cart.logout()
    assert Cart("anna").items == ["bread"]

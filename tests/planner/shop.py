"""A small web shop with a history, which the worked example of docs/planning.md is about."""

from __future__ import annotations

import subprocess
from pathlib import Path

FIRST = {
    "README.md": """# Shop

A small web shop. `shop/` is the server (Python), `web/` the client (TypeScript).
See [how login works](docs/login.md).
""",
    "docs/login.md": """# How login works

A login gives two tokens: a short access token and a refresh token that lasts 30 days.

## When a token expires

The server answers 401; the client asks for a new access token and tries once more.
""",
    "pyproject.toml": """[project]
name = "shop"
version = "0.3.0"
dependencies = ["pyjwt>=2.8", "flask>=3"]
""",
    ".gitignore": "node_modules/\n",
    ".env": "PAYMENT_KEY=not-for-you-4eC39HqLyjWDarjtT1zdp7dc\n",
    "shop/cart.py": '''"""The cart and its total."""

from dataclasses import dataclass, field
from decimal import Decimal


@dataclass
class Line:
    """So many of an article."""

    sku: str
    price: Decimal
    quantity: int = 1


@dataclass
class Cart:
    """What somebody is about to buy."""

    lines: list[Line] = field(default_factory=list)

    def add(self, line: Line) -> None:
        """Add an article; more of the same join one line."""
        for known in self.lines:
            if known.sku == line.sku:
                known.quantity += line.quantity
                return
        self.lines.append(line)

    def total(self) -> Decimal:
        """Return what it costs."""
        return sum((line.price * line.quantity for line in self.lines), Decimal(0))
''',
    "shop/orders.py": '''"""Orders, as the customer sees them."""

from shop.cart import Cart

PAGE = 20


def place(cart: Cart) -> dict[str, str]:
    """Return the order for a cart."""
    return {"total": str(cart.total())}


def page(orders: list[dict[str, str]], number: int) -> list[dict[str, str]]:
    """Return one page of orders. The first is 1."""
    return orders[(number - 1) * PAGE : number * PAGE]
''',
    "tests/test_cart.py": """from decimal import Decimal

from shop.cart import Cart, Line


def test_more_of_the_same_join_one_line():
    cart = Cart()
    cart.add(Line("tea", Decimal("4.50")))
    cart.add(Line("tea", Decimal("4.50")))
    assert cart.total() == Decimal("9.00")
""",
    "node_modules/left-pad/index.js": "module.exports = (token) => token;\n",
}
LOGIN = {
    "shop/tokens.py": '''"""Access and refresh tokens."""

import time

import jwt

ACCESS_SECONDS = 15 * 60


class Expired(Exception):
    """A token is too old."""


def issue(user: int, secret: str, seconds: int = ACCESS_SECONDS) -> str:
    """Return a signed token for a user."""
    return jwt.encode({"sub": str(user), "exp": time.time() + seconds}, secret)


def read(token: str, secret: str) -> int:
    """Return the user that a token was issued for. Raises Expired."""
    try:
        return int(jwt.decode(token, secret, algorithms=["HS256"])["sub"])
    except jwt.ExpiredSignatureError as error:
        raise Expired from error


def refresh(token: str, secret: str) -> str:
    """Return a new access token for a refresh token."""
    return issue(read(token, secret), secret)
''',
    "shop/middleware.py": '''"""What every request passes."""

from flask import Request, abort

from shop import tokens


def current_user(request: Request, secret: str) -> int:
    """Return who asks; answer 401 where the token is missing or too old."""
    header = request.headers.get("Authorization", "")
    try:
        return tokens.read(header.removeprefix("Bearer "), secret)
    except tokens.Expired:
        abort(401)
''',
    "tests/test_tokens.py": """import pytest

from shop import tokens


def test_a_token_names_its_user():
    assert tokens.read(tokens.issue(7, "s"), "s") == 7


def test_an_old_token_is_refused():
    with pytest.raises(tokens.Expired):
        tokens.read(tokens.issue(7, "s", seconds=-1), "s")
""",
}
CLIENT = {
    "web/src/api.ts": """import { loadTokens, saveTokens } from "./session";

/** Ask the server; on 401 refresh the access token once and try again. */
export async function request(path: string): Promise<Response> {
  const tokens = loadTokens();
  const answer = await fetch(path, { headers: { Authorization: `Bearer ${tokens.access}` } });
  if (answer.status !== 401) return answer;
  saveTokens({ ...tokens, access: await refreshAccess(tokens.refresh) });
  return answer;
}

async function refreshAccess(refresh: string): Promise<string> {
  const answer = await fetch("/token", { method: "POST", body: refresh });
  return answer.text();
}
""",
    "web/src/session.ts": """export interface Tokens {
  access: string;
  refresh: string;
}

/** Tokens of the one who is logged in. */
export function loadTokens(): Tokens {
  return JSON.parse(localStorage.getItem("tokens") ?? "{}");
}

export function saveTokens(tokens: Tokens): void {
  localStorage.setItem("tokens", JSON.stringify(tokens));
}
""",
    "web/src/CartView.tsx": """import { request } from "./api";

/** The cart, with its total. */
export function CartView(props: { lines: { name: string; price: number }[] }) {
  const total = props.lines.reduce((sum, line) => sum + line.price, 0);
  return <button onClick={() => request("/orders")}>Buy for {total}</button>;
}
""",
}
COMMITS = (
    ("Cart, orders and how they are shown", FIRST),
    ("Login with access and refresh tokens", LOGIN),
    ("The client: the cart, and requests with a token", CLIENT),
)


def make_shop(root: Path) -> None:
    """Write the shop below a folder, commit by commit, as far as there is a git."""
    root.mkdir(parents=True)
    has_git = _git(root, "init", "-q")
    for number, (message, files) in enumerate(COMMITS, 1):
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        if has_git:
            _git(root, "add", "-A")
            _git(root, "commit", "-q", "-m", message, date=f"2026-03-{number:02}T10:00:00+00:00")


def _git(root: Path, *words: str, date: str = "2026-03-01T10:00:00+00:00") -> bool:
    who = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
    quiet = ("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")
    env = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "PATH": "/usr/bin:/bin"}
    try:
        subprocess.run(
            ["git", *who, *quiet, *words], cwd=root, env=env, check=True, capture_output=True
        )
    except FileNotFoundError:
        return False
    return True

"""What Prometheus reads: the seed's figures, counts, the index; for whom it may be read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families as families_of

from tests.serve.vaults import open_vault
from tests.serve.worked import MAIN, leave
from vaultmind.app import App
from vaultmind.serve import metrics
from vaultmind.types import PERSON, Caller

SEED = (
    "plan_context_p50_ms", "plan_context_p95_ms", "context_tokens_median",
    "first_pass_success_rate", "affinity_hit_rate", "rerank_invocation_rate",
    "causal_trace_completeness",
)  # fmt: skip
"""Of section 13 of the seed; one is asked for apart, since no model was asked."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with open_vault(tmp_path_factory.mktemp("metrics"), http_port=0) as opened:
        leave(opened, "the token is not refreshed", "success")
        leave(opened, "the cart is empty", "partial", ("src/cart.py",))
        leave(opened, "bards sing", "success", caller=PERSON)
        opened.episodes.settle()
        yield opened


def read(app: App, caller: Caller = MAIN) -> dict[tuple[str, ...], float]:
    """Return each sample by its name and the values of its labels, as Prometheus reads them."""
    text = metrics.exposition(app, caller).decode("utf-8")
    return {
        (sample.name.removeprefix("vaultmind_"), *sample.labels.values()): sample.value
        for family in families_of(text)
        for sample in family.samples
    }


def test_every_figure_of_the_seed_is_there(app: App) -> None:
    found = read(app)
    for name in SEED:
        assert (name,) in found, name
    assert found["plan_context_p50_ms",] == 31.0
    assert found["context_tokens_median",] == 900
    assert found["rerank_invocation_rate",] == 0
    assert found["causal_trace_completeness",] == 1
    assert found["affinity_hit_rate",] == 1
    text = metrics.exposition(app, MAIN).decode()
    assert "# TYPE vaultmind_fallback_rate_ml_unavailable gauge" in text


def test_an_agent_reads_no_figures_of_one_that_is_hidden_from_it(app: App) -> None:
    jaskier = Caller("agent", "jaskier", "http")
    identity = app.config.vault / "VaultMind/agents/main/identity.md"
    text = identity.read_text("utf-8")
    hidden = "autonomy: 2\npermissions:\n  hidden_from: [jaskier]\n"
    identity.write_text(text.replace("autonomy: 2\n", hidden), "utf-8")
    try:
        assert "main" not in app.index.outlet.readable_agents(jaskier)
        assert ("episodes", "success") not in read(app, jaskier)
        assert read(app)["episodes", "success"] == 2
    finally:
        identity.write_text(text, "utf-8")

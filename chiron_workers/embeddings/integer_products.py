"""The products of a network's matrices in integers, where the processor has instructions for that.

The model's file holds its weights as bytes, and turns them into floats before it multiplies. Here the same weights are
multiplied as bytes, and what they are multiplied with is the sum of two such matrices: the second is what the first rounds off.
A component of a vector differs by some 0.0001, also by what its text goes through the model with, and a cosine in its seventh
decimal. It takes three quarters of the time and 20 MB less. The file stays as it is: its graph is changed when it is loaded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiron_workers.embeddings.onnx_messages import model_message

CPU = Path("/proc/cpuinfo")
INSTRUCTIONS = {"avx512_vnni", "avx_vnni"}  # without them sums of products of bytes may overflow

INT8 = 3  # as the type of a tensor
FLOAT_BYTES = 4
RUNTIME_DOMAIN = "com.microsoft"  # of the operators that onnxruntime has beside those of ONNX
ZERO = "zero_of_weights"


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of a matrix and weights: bytes, with a factor for each column. `floats` are what was made of the bytes."""

    source: str
    weights: str
    factors: str
    floats: tuple[str, str]


def is_fast_here() -> bool:
    """Whether this processor has instructions for it."""
    try:
        lines = CPU.read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith("flags") and INSTRUCTIONS & set(line.split()) for line in lines)


def with_integer_products(model: bytes) -> bytes:
    """A model (ModelProto) with its products of matrices and bytes in integers."""
    message = model_message().FromString(model)
    message.opset_import.add(domain=RUNTIME_DOMAIN, version=1)
    graph = message.graph
    products = dict(_products(graph))
    floats = {name for product in products.values() for name in product.floats}
    factors = {product.factors for product in products.values()}
    nodes, sources = list(graph.node), set[str]()
    del graph.node[:]
    for node in nodes:
        if product := products.get(node.output[0]):
            if product.source not in sources:
                _add_split(graph, product.source)
            _add_product(graph, product, node.output[0])
            sources.add(product.source)
        elif node.output[0] not in floats:
            graph.node.append(node)
    for tensor in graph.initializer:
        if tensor.name in factors:  # as a row, whatever its shape
            tensor.dims[:] = [len(tensor.raw_data) // FLOAT_BYTES]
    graph.initializer.add(name=ZERO, data_type=INT8, raw_data=bytes(1))
    return bytes(message.SerializeToString())


def _products(graph: Any) -> Iterator[tuple[str, _Product]]:
    """By their results the products of something that is computed and of what a Cast and a Mul make of bytes."""
    makers: Mapping[str, Any] = {output: node for node in graph.node for output in node.output}
    tensors = {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        scaling = makers.get(node.input[1]) if node.op_type == "MatMul" else None
        cast = makers.get(scaling.input[0]) if scaling and scaling.op_type == "Mul" else None
        if scaling and cast and cast.op_type == "Cast" and cast.input[0] in tensors:
            floats = cast.output[0], scaling.output[0]
            yield node.output[0], _Product(node.input[0], cast.input[0], scaling.input[1], floats)


def _add_split(graph: Any, source: str) -> None:
    """Add nodes that part a matrix in two of bytes, each with its scale and zero."""
    high, low = _parts(source)
    graph.node.add(op_type="DynamicQuantizeLinear", input=[source], output=high)
    graph.node.add(op_type="DequantizeLinear", input=high, output=[f"{source}.rounded"])
    graph.node.add(op_type="Sub", input=[source, f"{source}.rounded"], output=[f"{source}.rest"])
    graph.node.add(op_type="DynamicQuantizeLinear", input=[f"{source}.rest"], output=low)


def _add_product(graph: Any, product: _Product, result: str) -> None:
    """Add nodes that multiply both parts with the weights, and add up."""
    sums = [f"{result}.high", f"{result}.low"]
    for (part, scale, zero), name in zip(_parts(product.source), sums, strict=True):
        inputs = [part, product.weights, scale, product.factors, zero, ZERO]
        graph.node.add(op_type="MatMulIntegerToFloat", domain=RUNTIME_DOMAIN, input=inputs, output=[name])
    graph.node.add(op_type="Add", input=sums, output=[result])


def _parts(source: str) -> tuple[list[str], list[str]]:
    high, low = ([f"{source}.{part}{piece}" for piece in ("", ".scale", ".zero")] for part in ("high", "low"))
    return high, low

"""The products of a network's matrices in integers, where the processor has instructions for that.

The model's file holds its weights as bytes, and turns them into floats before it multiplies. Here the same weights are
multiplied as bytes, and what they are multiplied with is the sum of two such matrices: the second is what the first rounds off,
so that vectors differ in their seventh decimal. It takes three quarters of the time and 20 MB less. The file stays as it is:
its graph (onnx.proto) is changed when it is loaded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chiron_workers.embeddings.protobuf import Field, number_field, read_fields, write_fields

CPU = Path("/proc/cpuinfo")
INSTRUCTIONS = {"avx512_vnni", "avx_vnni"}  # without them sums of products of bytes may overflow

# The numbers of the fields of ModelProto, GraphProto, NodeProto, TensorProto and OperatorSetIdProto.
GRAPH, OPERATOR_SET = 7, 8
NODE, TENSOR = 1, 5
INPUT, OUTPUT, OPERATOR, OPERATOR_DOMAIN = 1, 2, 4, 7
SHAPE, TYPE, NAME, DATA = 1, 2, 8, 9
DOMAIN, VERSION = 1, 2
INT8 = 3  # as the type of a tensor
FLOAT_BYTES = 4
RUNTIME_DOMAIN = "com.microsoft"  # of the operators that onnxruntime has beside those of ONNX
ZERO = "zero_of_weights"


@dataclass(frozen=True, slots=True)
class _Node:
    message: bytes | memoryview
    operator: str
    inputs: Sequence[str]
    outputs: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of a matrix and weights: bytes, with a factor for each column. `makers` are what turned them into floats."""

    source: str
    weights: str
    factors: str
    result: str
    makers: Sequence[_Node]


def is_fast_here() -> bool:
    """Whether this processor has instructions for it."""
    try:
        lines = CPU.read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith("flags") and INSTRUCTIONS & set(line.split()) for line in lines)


def with_integer_products(model: bytes) -> bytes:
    """A model with its products of matrices and bytes in integers."""
    fields = list(read_fields(model))
    graphs = [Field(GRAPH, _with_products(field.value)) for field in fields if field.number == GRAPH]
    operators = write_fields([Field(DOMAIN, RUNTIME_DOMAIN.encode()), number_field(VERSION, 1)])
    others = [field for field in fields if field.number != GRAPH]
    return write_fields([*others, Field(OPERATOR_SET, operators), *graphs])


def _with_products(graph: int | bytes | memoryview) -> bytes:
    fields = list(read_fields(_message(graph)))
    nodes = [_read_node(field) for field in fields if field.number == NODE]
    tensors = {_texts(field.value, NAME)[0]: field for field in fields if field.number == TENSOR}
    products = {product.result: product for product in _products(nodes, tensors)}
    factors = {product.factors for product in products.values()}
    floats = {maker.outputs[0] for product in products.values() for maker in product.makers}
    zero = write_fields([number_field(TYPE, INT8), Field(NAME, ZERO.encode()), Field(DATA, bytes(1))])
    new_nodes: list[bytes | memoryview] = []
    sources: set[str] = set()
    for node in nodes:
        if product := products.get(node.outputs[0]):
            new_nodes += [] if product.source in sources else _split(product.source)
            new_nodes += _multiply(product)
            sources.add(product.source)
        elif node.outputs[0] not in floats:
            new_nodes.append(node.message)
    return write_fields(
        [
            *(Field(NODE, node) for node in new_nodes),
            *(_as_row(field) if name in factors else field for name, field in tensors.items()),
            Field(TENSOR, zero),
            *(field for field in fields if field.number not in (NODE, TENSOR)),
        ]
    )


def _products(nodes: Sequence[_Node], tensors: Mapping[str, Field]) -> Iterator[_Product]:
    """The products of something that is computed and of what a Cast and a Mul make of bytes."""
    makers = {output: node for node in nodes for output in node.outputs}
    for node in nodes:
        scaling = makers.get(node.inputs[1]) if node.operator == "MatMul" else None
        cast = makers.get(scaling.inputs[0]) if scaling and scaling.operator == "Mul" else None
        if scaling and cast and cast.operator == "Cast" and cast.inputs[0] in tensors:
            weights, factors = cast.inputs[0], scaling.inputs[1]
            yield _Product(node.inputs[0], weights, factors, node.outputs[0], (cast, scaling))


def _split(source: str) -> Iterator[bytes]:
    """Nodes that part a matrix in two of bytes, each with its scale and zero."""
    high, low = _parts(source)
    yield _node("DynamicQuantizeLinear", [source], high)
    yield _node("DequantizeLinear", high, [f"{source}.rounded"])
    yield _node("Sub", [source, f"{source}.rounded"], [f"{source}.rest"])
    yield _node("DynamicQuantizeLinear", [f"{source}.rest"], low)


def _multiply(product: _Product) -> Iterator[bytes]:
    """Nodes that multiply both parts with the weights, and add up."""
    results = [f"{product.result}.high", f"{product.result}.low"]
    for (part, scale, zero), result in zip(_parts(product.source), results, strict=True):
        inputs = [part, product.weights, scale, product.factors, zero, ZERO]
        yield _node("MatMulIntegerToFloat", inputs, [result], domain=RUNTIME_DOMAIN)
    yield _node("Add", results, [product.result])


def _parts(source: str) -> tuple[list[str], list[str]]:
    high, low = ([f"{source}.{part}{piece}" for piece in ("", ".scale", ".zero")] for part in ("high", "low"))
    return high, low


def _as_row(tensor: Field) -> Field:
    """A tensor of floats as a row of them, whatever its shape."""
    fields = [field for field in read_fields(_message(tensor.value)) if field.number != SHAPE]
    (floats,) = (_message(field.value) for field in fields if field.number == DATA)
    return Field(TENSOR, write_fields([number_field(SHAPE, len(floats) // FLOAT_BYTES), *fields]))


def _read_node(field: Field) -> _Node:
    message = _message(field.value)
    (operator,) = _texts(message, OPERATOR)
    return _Node(message, operator, _texts(message, INPUT), _texts(message, OUTPUT))


def _node(operator: str, inputs: Sequence[str], outputs: Sequence[str], *, domain: str = "") -> bytes:
    texts = [(INPUT, name) for name in inputs] + [(OUTPUT, name) for name in outputs]
    texts += [(OPERATOR, operator), (OPERATOR_DOMAIN, domain)]
    return write_fields(Field(number, text.encode()) for number, text in texts)


def _texts(message: int | bytes | memoryview, number: int) -> list[str]:
    """The texts in the fields of one number."""
    fields = read_fields(_message(message))
    return [str(_message(field.value), "utf-8") for field in fields if field.number == number]


def _message(value: int | bytes | memoryview) -> bytes | memoryview:
    assert not isinstance(value, int), "the field holds a number"
    return value

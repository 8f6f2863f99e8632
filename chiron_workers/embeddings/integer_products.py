"""The network with the products of its matrices in integers, where the processor has instructions for that.

The model's file holds its weights as bytes, and a graph that turns them into floats before it multiplies. Here the same
weights are multiplied as bytes. What they are multiplied with has 16 bits: a matrix of bytes, and below it another one of what
the first rounds off, so that the weights are read once for both. The graph is written anew for it when the model is loaded, with
the three products of an attention in one, and takes a word's embedding before it makes floats of it. A component of a vector
differs by some 0.0002, also by what its text goes through the model with, and a cosine in its seventh decimal. The
file stays as it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chiron_workers.embeddings.onnx_messages import model_message

if TYPE_CHECKING:
    from numpy.typing import NDArray

CPU = Path("/proc/cpuinfo")
INSTRUCTIONS = {"avx512_vnni", "avx_vnni"}  # without them sums of products of bytes may overflow

LAYERS, HEADS = 6, 12
EPSILON = 1e-12  # of the layers' norms
# What onnxruntime has beside the operators of ONNX.
RUNTIME_DOMAIN = "com.microsoft"
RUNTIME_OPERATORS = {"MatMulIntegerToFloat", "MultiHeadAttention", "Gelu"}
FLOAT, INT32, INT8 = 1, 6, 3  # as the type of a tensor
TYPES = {"float32": FLOAT, "int32": INT32, "int8": INT8, "uint8": 2, "int64": 7}
ATTRIBUTE_FLOAT, ATTRIBUTE_INT = 1, 2
GELU_MIN = -0.17  # of the function between the two products behind an attention
PARTS = 254  # of a step of the first matrix, in the second


def is_fast_here() -> bool:
    """Whether this processor has instructions for it."""
    try:
        lines = CPU.read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith("flags") and INSTRUCTIONS & set(line.split()) for line in lines)


def with_integer_products(model: bytes) -> bytes:
    """The model (ModelProto) with its products of matrices and bytes in integers."""
    message = model_message().FromString(model)
    message.opset_import.add(domain=RUNTIME_DOMAIN, version=1)
    graph = _Graph(message.graph)
    rows = graph.embed()
    graph.node("Cast", ["attention_mask"], "mask", to=INT32)
    for layer in range(LAYERS):
        rows = graph.add_layer(layer, rows)
    graph.node("Identity", [rows], "last_hidden_state")
    return bytes(message.SerializeToString())


@dataclass(slots=True)
class _Graph:
    """A graph that is written anew from the weights of the old one."""

    graph: Any
    tensors: Mapping[str, Any] = field(init=False)
    weights: Sequence[str] = field(init=False)  # of the products, in their order: six in a layer

    def __post_init__(self) -> None:
        self.tensors = {tensor.name: tensor for tensor in self.graph.initializer}
        self.weights = list(self._weights())
        del self.graph.node[:]
        del self.graph.initializer[:]
        steps = {"step": 1 / 127, "gelu_step": 1 / 255, "half": 0.5, "part": 1 / PARTS, "parts": PARTS}
        for name, number in (steps | {"gelu_min": GELU_MIN}).items():
            self.constant(name, number, "float32")
        self.constant("bottom", 0, "uint8")
        self.constant("middle", 128, "uint8")
        self.constant("zero_of_weights", 0, "int8")

    def _weights(self) -> Iterator[str]:
        products = (node for node in self.graph.node if node.op_type == "MatMul")
        return (node.input[1] for node in products if f"{node.input[1]}_q" in self.tensors)

    def embed(self) -> str:
        """Add the embeddings of words and places."""
        self.node("Shape", ["input_ids"], "length", start=1)
        self.constant("start", [0], "int64")
        summands = [
            self._rows("word", "Gather", "input_ids"),
            self._rows("position", "Slice", "start", "length"),
        ]
        self.tensor("kind", self._array("inner.embeddings.token_type_embeddings.weight")[0])
        words = self.node("Add", [summands[0], "kind"], "embedded_words")
        return self._norm("inner.embeddings.LayerNorm", words, summands[1])

    def add_layer(self, layer: int, rows: str) -> str:
        """Add a layer behind what gives its rows; what gives the rows after it."""
        name = f"inner.encoder.layer.{layer}"
        weights = self.weights[6 * layer : 6 * layer + 6]
        parts = ("query", "key", "value")
        biases = [f"{name}.attention.self.{part}.bias" for part in parts]
        projections = self._product(rows, weights[:3], biases)
        heads = [f"{name}.{part}" for part in parts]
        self.node("Split", [projections], *heads, axis=-1)
        inputs = [*heads, "", "mask"]
        values = self.node("MultiHeadAttention", inputs, f"{name}.values", num_heads=HEADS)
        output = self._product(values, weights[3:4], [f"{name}.attention.output.dense.bias"])
        attention = self._norm(f"{name}.attention.output.LayerNorm", output, rows)
        inner = self._product(attention, weights[4:5], [f"{name}.intermediate.dense.bias"])
        activations = self.node("Gelu", [inner], f"{name}.activations")
        outer = self._product(activations, weights[5:6], [f"{name}.output.dense.bias"], is_of_gelu=True)
        return self._norm(f"{name}.output.LayerNorm", outer, attention)

    def _rows(self, kind: str, operator: str, *places: str) -> str:
        """Rows of a table of embeddings as floats."""
        table = f"inner.embeddings.{kind}_embeddings.weight"
        for part in ("q", "scale"):
            self.tensor(f"{table}_{part}", self._array(f"{table}_{part}"))
            self.node(operator, [f"{table}_{part}", *places], f"{kind}.{part}")
        self.node("Cast", [f"{kind}.q"], f"{kind}.floats", to=FLOAT)
        return self.node("Mul", [f"{kind}.floats", f"{kind}.scale"], f"embedded.{kind}")

    def _norm(self, name: str, rows: str, residue: str) -> str:
        for part in ("weight", "bias"):
            self.tensor(f"{name}.{part}", self._array(f"{name}.{part}"))
        total = self.node("Add", [rows, residue], f"{name}.sum")
        inputs = [total, f"{name}.weight", f"{name}.bias"]
        return self.node("LayerNormalization", inputs, f"{name}.norm", axis=-1, epsilon=EPSILON)

    def _product(
        self, source: str, weights: Sequence[str], biases: Sequence[str], *, is_of_gelu: bool = False
    ) -> str:
        """The product of what is computed and some weights side by side, and their biases.

        Args:
            is_of_gelu: What is computed is never below `GELU_MIN`.
        """
        import numpy as np

        name = f"{weights[0]}.product"
        columns = np.concatenate([self._array(f"{weight}_q") for weight in weights], 1)
        factors = np.concatenate([self._array(f"{weight}_scale").ravel() for weight in weights])
        bias = np.concatenate([self._array(part) for part in biases])
        if is_of_gelu:
            bias = bias + GELU_MIN * factors * columns.sum(0, dtype=np.int64)
        self.tensor(f"{name}.weights", columns)
        self.tensor(f"{name}.factors", factors)
        # It is added to the product of either matrix, and the first of them counts `PARTS` times.
        self.tensor(f"{name}.bias", (bias / (PARTS + 1)).astype(np.float32))
        split = self._split_gelu if is_of_gelu else self._split
        matrix, scale, zero = split(source, name)
        inputs = [
            matrix,
            f"{name}.weights",
            scale,
            f"{name}.factors",
            zero,
            "zero_of_weights",
            f"{name}.bias",
        ]
        self.node("MatMulIntegerToFloat", inputs, f"{name}.both")
        self.node("Split", [f"{name}.both"], f"{name}.high", f"{name}.low", axis=0)
        self.node("Mul", [f"{name}.high", "parts"], f"{name}.scaled")
        return self.node("Add", [f"{name}.scaled", f"{name}.low"], f"{name}.sum")

    def _split(self, source: str, name: str) -> tuple[str, str, str]:
        """A matrix as bytes, and behind it what these round off as bytes; the scale of the latter, and what stands for 0."""
        self.node("Abs", [source], f"{name}.sizes")
        self.node("ReduceMax", [f"{name}.sizes"], f"{name}.size", keepdims=0)
        step = self.node("Mul", [f"{name}.size", "step"], f"{name}.step")
        return self._bytes(source, source, step, name, "middle"), f"{name}.part", "middle"

    def _split_gelu(self, source: str, name: str) -> tuple[str, str, str]:
        """As `_split`, of what is never below `GELU_MIN`: that is the byte 0, and the first matrix rounds down."""
        rows = self.node("Sub", [source, "gelu_min"], f"{name}.rows")
        self.node("ReduceMax", [rows], f"{name}.size", keepdims=0)
        step = self.node("Mul", [f"{name}.size", "gelu_step"], f"{name}.step")
        self.node("Mul", [step, "half"], f"{name}.half_step")
        self.node("Sub", [rows, f"{name}.half_step"], f"{name}.lower_rows")
        return self._bytes(rows, f"{name}.lower_rows", step, name, "bottom"), f"{name}.part", "bottom"

    def _bytes(self, rows: str, starts: str, step: str, name: str, zero: str) -> str:
        part = self.node("Mul", [step, "part"], f"{name}.part")
        high = self.node("QuantizeLinear", [starts, step, zero], f"{name}.high_bytes")
        self.node("DequantizeLinear", [high, step, zero], f"{name}.rounded")
        self.node("Sub", [rows, f"{name}.rounded"], f"{name}.rest")
        low = self.node("QuantizeLinear", [f"{name}.rest", part, zero], f"{name}.low_bytes")
        return self.node("Concat", [high, low], f"{name}.bytes", axis=0)

    def node(self, operator: str, inputs: Sequence[str], *outputs: str, **attributes: float) -> str:
        """Add a node; its first result."""
        domain = RUNTIME_DOMAIN if operator in RUNTIME_OPERATORS else ""
        node = self.graph.node.add(op_type=operator, input=inputs, output=outputs, domain=domain)
        for name, value in attributes.items():
            if isinstance(value, float):
                node.attribute.add(name=name, f=value, type=ATTRIBUTE_FLOAT)
            else:
                node.attribute.add(name=name, i=value, type=ATTRIBUTE_INT)
        return outputs[0]

    def constant(self, name: str, value: object, kind: str) -> None:
        """Add a number, or a row of numbers."""
        import numpy as np

        self.tensor(name, np.array(value, kind))

    def tensor(self, name: str, array: "NDArray[Any]") -> None:
        """Add numbers that do not change."""
        data_type = TYPES[array.dtype.name]
        self.graph.initializer.add(name=name, dims=array.shape, data_type=data_type, raw_data=array.tobytes())

    def _array(self, name: str) -> "NDArray[Any]":
        import numpy as np

        tensor = self.tensors[name]
        kind = np.int8 if tensor.data_type == INT8 else np.float32
        return np.frombuffer(tensor.raw_data, kind).reshape(tuple(tensor.dims))

"""The messages of an ONNX model (onnx.proto) with the fields that are read or written here; the others are kept as they come.

The package `onnx` has all of them, and takes 60 MB.
"""

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELD = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "chiron.onnx"  # not `onnx`, which another package of the process may have defined
# By message: the name of a field, its number, its type or message, whether it is repeated.
_MESSAGES = {
    "TensorProto": [
        ("dims", 1, _FIELD.TYPE_INT64, True),
        ("data_type", 2, _FIELD.TYPE_INT32, False),
        ("name", 8, _FIELD.TYPE_STRING, False),
        ("raw_data", 9, _FIELD.TYPE_BYTES, False),
    ],
    "AttributeProto": [
        ("name", 1, _FIELD.TYPE_STRING, False),
        ("f", 2, _FIELD.TYPE_FLOAT, False),
        ("i", 3, _FIELD.TYPE_INT64, False),
        ("type", 20, _FIELD.TYPE_INT32, False),
    ],
    "NodeProto": [
        ("input", 1, _FIELD.TYPE_STRING, True),
        ("output", 2, _FIELD.TYPE_STRING, True),
        ("op_type", 4, _FIELD.TYPE_STRING, False),
        ("attribute", 5, "AttributeProto", True),
        ("domain", 7, _FIELD.TYPE_STRING, False),
    ],
    "GraphProto": [("node", 1, "NodeProto", True), ("initializer", 5, "TensorProto", True)],
    "OperatorSetIdProto": [
        ("domain", 1, _FIELD.TYPE_STRING, False),
        ("version", 2, _FIELD.TYPE_INT64, False),
    ],
    "ModelProto": [("graph", 7, "GraphProto", False), ("opset_import", 8, "OperatorSetIdProto", True)],
}


@cache
def model_message() -> type[Any]:
    """The class of a whole model."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{_PACKAGE}.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_name, number, kind, is_repeated in fields:
            label = _FIELD.LABEL_REPEATED if is_repeated else _FIELD.LABEL_OPTIONAL
            field = message.field.add(name=field_name, number=number, label=label)
            if isinstance(kind, str):
                field.type, field.type_name = _FIELD.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    model: type[Any] = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.ModelProto"))
    return model

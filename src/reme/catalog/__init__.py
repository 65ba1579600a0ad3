"""The catalogue of operations: what ReMe can be asked to do, written once, from which every face is generated.

Owns entries, validation of arguments and the JSON form of results. Knows no face, nor how an operation works.
"""

from reme.catalog.builtin import add_tools
from reme.catalog.contract import as_json, input_schema, output_schema, valid_arguments
from reme.catalog.operation import (
    EVERYONE,
    Catalog,
    Content,
    Cost,
    Effects,
    Group,
    Named,
    Operation,
    Parameter,
    nearest,
)

__all__ = [
    "EVERYONE",
    "Catalog",
    "Content",
    "Cost",
    "Effects",
    "Group",
    "Named",
    "Operation",
    "Parameter",
    "add_tools",
    "as_json",
    "input_schema",
    "nearest",
    "output_schema",
    "valid_arguments",
]

"""What all checks of the conformance kit share."""

from __future__ import annotations

import json

from discreet.by_name import Named


def expect(holds: object, problem: str) -> None:
    """Raise an AssertionError with the problem, also where Python runs without assertions."""
    if not holds:
        raise AssertionError(problem)


def check_named(value: Named) -> None:
    """Check a name, and that parameters are plain data from which an equal value is read."""
    expect(
        value.name and value.name == value.name.lower() and " " not in value.name,
        f"The name '{value.name}' is not in lower case without blanks.",
    )
    parameters = value.parameters()
    read = type(value).model_validate(json.loads(json.dumps(parameters)))
    expect(read == value, f"{value.name}: {parameters} are read back as {read.parameters()}.")
    undescribed = [
        name for name, field in type(value).model_fields.items() if not field.description
    ]
    expect(not undescribed, f"{value.name}: parameters without description: {undescribed}.")
    expect(type(value).__doc__, f"{value.name}: the class has no docstring.")

"""Check digits of account, card and national numbers.

A column of such numbers is recognized by its check digits: of arbitrary numbers one in ten to one
in ninety-seven passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

LOOKED_AT = 300  # numbers of a column
PASSING = 0.9  # of them


def checked_numbers(values: Sequence[str]) -> str | None:
    """Return what the check digits of most values show a column to hold; None for none."""
    some = [re.sub(r"[\s./-]", "", value).upper() for value in values]
    if len(some) < _FEWEST or sum(len(one) >= _SHORTEST for one in some) < PASSING * len(some):
        return None
    for what, check in _CHECKS.items():
        if sum(map(check, some)) >= PASSING * len(some):
            return what
    return None


_FEWEST = 5
_SHORTEST = 9  # signs of a number below


def is_iban(text: str) -> bool:
    """Check an international bank account number (ISO 13616: modulo 97)."""
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text):
        return False
    moved = text[4:] + text[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def is_luhn(text: str) -> bool:
    """Check a card number (ISO/IEC 7812: Luhn)."""
    if not re.fullmatch(r"\d{13,19}", text):
        return False
    digits = [int(sign) for sign in reversed(text)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_dni(text: str) -> bool:
    """Spain: DNI and NIE."""
    if not re.fullmatch(r"[XYZ\d]\d{7}[A-Z]", text):
        return False
    number = int(text[:-1].translate(str.maketrans("XYZ", "012")))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == text[-1]


def _is_nir(text: str) -> bool:
    """France: NIR."""
    if not re.fullmatch(r"[12]\d{4}(\d{2}|2A|2B)\d{8}", text):
        return False
    number = int(text[:13].replace("2A", "19").replace("2B", "18"))
    return 97 - number % 97 == int(text[13:])


def _is_steuer_id(text: str) -> bool:
    """Germany: tax number (ISO 7064, modulo 11, 10)."""
    if not re.fullmatch(r"[1-9]\d{10}", text):
        return False
    product = 10
    for sign in text[:10]:
        product = ((int(sign) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(text[10])


def _is_tckn(text: str) -> bool:
    """Turkey: T.C. kimlik."""
    if not re.fullmatch(r"[1-9]\d{10}", text):
        return False
    digits = [int(sign) for sign in text]
    tenth = (7 * sum(digits[0:9:2]) - sum(digits[1:8:2])) % 10
    return digits[9] == tenth and digits[10] == sum(digits[:10]) % 10


def _is_cpf(text: str) -> bool:
    """Brazil: CPF."""
    if not re.fullmatch(r"\d{11}", text):
        return False
    digits = [int(sign) for sign in text]
    return all(
        sum(digit * (place + 1 - at) for at, digit in enumerate(digits[:place])) * 10 % 11 % 10
        == digits[place]
        for place in (9, 10)
    )


def _is_nif(text: str) -> bool:
    """Portugal: NIF."""
    if not re.fullmatch(r"[1-9]\d{8}", text):
        return False
    left = sum(int(digit) * (9 - at) for at, digit in enumerate(text[:8])) % 11
    return (0 if left < 2 else 11 - left) == int(text[8])


def _is_nhs(text: str) -> bool:
    """England: NHS number."""
    if not re.fullmatch(r"\d{10}", text):
        return False
    left = 11 - sum(int(digit) * (10 - at) for at, digit in enumerate(text[:9])) % 11
    return left % 11 == int(text[9]) and left != 10


_CHECKS: dict[str, Callable[[str], bool]] = {
    f"{what} (check digits agree)": check
    for what, check in {
        "bank account numbers": is_iban,
        "card numbers": is_luhn,
        "Spanish national numbers": _is_dni,
        "French national numbers": _is_nir,
        "German tax numbers": _is_steuer_id,
        "Turkish national numbers": _is_tckn,
        "Brazilian tax numbers": _is_cpf,
        "Portuguese tax numbers": _is_nif,
        "English NHS numbers": _is_nhs,
    }.items()
}

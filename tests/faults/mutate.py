"""Spoils bytes and trees, a little or a lot, from a seed."""

import copy
import random
from typing import Any

_BYTES = (b"", b"\0", b"\xff\xfe", b"..", b"/etc/passwd", b"{", b"]", b": ", b"\n- ", b"\x1b[2J", b"-1",
          b"9" * 30, b"9" * 5000, b"nan", b"!!python/object/apply:os.system [touch pwned]", b"&a [*a]",
          b"2001-99-99", b"%s%s", b"\xf0\x9f\x98\x80")  # fmt: skip
_VALUES = (None, True, -1, 0, 1, 2**31, 2**63, 10**40, 1.5, float("nan"), float("inf"), "", "../../pwned",
           "/pwned", "a/../../pwned", "\0", "\ud800", "x" * 5000, "[/red]", "\x1b[2J", [], {}, [[]], {"a": {}})  # fmt: skip


def spoiled(content: bytes, seed: int) -> bytes:
    """Flip, cut, repeat or insert, one to four times."""
    chance, text = random.Random(seed), bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        end = min(len(text), at + chance.choice((1, 1, 4, 50)))
        how = chance.randrange(5)
        if how == 0 and at < len(text):
            text[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            del text[at:end]
        elif how == 2:
            text[at:at] = text[at:end] * chance.choice((1, 3))
        elif how == 3:
            text[at:at] = chance.choice(_BYTES)
        else:
            text[at:end] = bytes(chance.randrange(256) for _ in range(end - at))
        if chance.random() < 0.05:
            del text[chance.randrange(len(text) + 1) :]
    return bytes(text)


def twisted(tree: Any, seed: int) -> Any:
    """One or two values anywhere in a tree of plain values replaced, removed or added; mostly by
    values of the same type, which get further."""
    chance, tree = random.Random(seed), copy.deepcopy(tree)
    for _ in range(chance.choice((1, 1, 2))):
        places = list(_places(tree))
        if not places:
            break
        inside, key = chance.choice(places)
        how = chance.randrange(8)
        if how == 0:
            del inside[key]
        elif how == 1 and isinstance(inside, dict):
            name = chance.choice(("extra", "../pwned", "", "dim", "checksum"))
            inside[name] = chance.choice(_VALUES)
        elif how == 2:
            inside[key] = copy.deepcopy(chance.choice(places)[0])
        elif how == 3:
            inside[key] = copy.deepcopy(chance.choice(_VALUES))
        else:
            inside[key] = _alike(inside[key], chance)
    return tree


def _alike(value: Any, chance: random.Random) -> Any:
    same = [other for other in _VALUES if type(other) is type(value)]
    if type(value) is int:
        same += [value + 1, value - 1, value * 1000]
    return copy.deepcopy(chance.choice(same or _VALUES))


def _places(tree: Any):
    keys = (
        list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    )
    for key in keys:
        yield tree, key
        yield from _places(tree[key])

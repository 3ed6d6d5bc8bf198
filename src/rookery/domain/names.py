"""Which names agents may have. A name must not let one party pass for another."""

import re

from rookery.domain.errors import NameRefused
from rookery.domain.ids import BROADCAST, HUB, OPERATOR

_SHAPE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LEET = str.maketrans({"0": "o", "1": "l", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "9": "g", "i": "l"})
_SEPARATORS = re.compile(r"[._-]+")
_DRESSING = re.compile(r"^[._-]*(?:(?:the|a|my|your|our|real|true)[._-]+)+|[._-]*v?[._\d-]+$")

# Authority that no agent has: refused however it is dressed up. And the words that mean everybody.
_AUTHORITY = (
    OPERATOR, HUB, "user", "superuser", "human", "system", "admin", "sysadmin", "administrator", "root", "owner",
    "rookery",
)  # fmt: skip
_EVERYBODY = (BROADCAST, "all", "everyone", "everybody")
# Words that stand in addresses of the hub where a name could stand too.
_IN_ADDRESSES = ("messages", "register", "send")


def checked_name(name: str) -> str:
    """The name itself, if an agent may carry it; raises NameRefused with the reason otherwise."""
    if not _SHAPE.fullmatch(name) or not any(c.isalnum() for c in name):
        raise NameRefused(
            f"{name[:80]!r} is not a name: use 1 to 64 of the letters a-z, digits, '.', '_' and '-'.",
            name=name[:80],
        )
    if reads_as_reserved(name):
        raise NameRefused(f"The name {name!r} is reserved or reads like one that is; choose another.", name=name)
    return name


def suggested_name(wanted: str) -> str:
    """What a free-form model name such as `Claude Opus (4.5)` becomes as an agent name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", wanted).strip("-.")[:56]


def same_name(name: str) -> str:
    """The form in which two names are one: `Builder` and `builder` cannot live side by side."""
    return name.casefold()


def reads_as_reserved(name: str) -> bool:
    folded = name.casefold()
    undressed = _DRESSING.sub("", folded)
    whole, bare = _skeleton(folded), _skeleton(undressed)
    # No look-alikes here: nobody is deceived by `a11`, the eleventh of somebody's agents.
    if _SEPARATORS.sub("", folded) in _EVERYBODY or folded in _IN_ADDRESSES:
        return True
    return not _WITH_AUTHORITY.isdisjoint({whole, bare, bare.removesuffix("s"), bare.removeprefix("the")})


def _skeleton(name: str) -> str:
    """What is left of a name when look-alike spellings fall together."""
    plain = _SEPARATORS.sub("", name.translate(_LEET))
    return plain.replace("rn", "m").replace("vv", "w")


_WITH_AUTHORITY = frozenset(map(_skeleton, _AUTHORITY))

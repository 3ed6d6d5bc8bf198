"""Values that stand for many: for answers that are compared whole."""

import re


class Like:
    """Equal to every text that the pattern matches."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self._pattern.fullmatch(other) is not None

    def __hash__(self) -> int:
        return hash(self._pattern)

    def __repr__(self) -> str:
        return f"<like {self._pattern.pattern}>"


TIME = Like(r"20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z")
AGENT_ID = Like(r"[a-z]+-[a-z]+(-\d+)?")
MESSAGE_ID = Like(r"[0-9a-hjkmnp-tv-z]{26}")
TOKEN = Like(r"rook_ag_[A-Za-z0-9_-]{43}")
TEXT = Like(r"(?s).+")


def refusal(code: str, **data: object) -> dict[str, object]:
    """The shape of every refusal."""
    return {"ok": False, "error": {"code": code, "message": TEXT, "data": data}}

"""Names of robots as C identifiers."""

from __future__ import annotations

import re
import unicodedata

# what neither C nor C++ lets a program define, and file names that some systems keep for devices
RESERVED = frozenset(re.findall(r"\w+", """
    auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return
    short signed sizeof static struct switch typedef union unsigned void volatile while bool true false class new delete template this
    namespace private protected public operator friend virtual typename using try catch throw export explicit mutable asm and or not xor
    nullptr constexpr decltype noexcept main math con prn aux nul
"""))  # fmt: skip


def identifier(name: str) -> str:
    """A name in small letters, digits and underscores that C and C++ take: 'UR-5e (left)' is ur_5e_left, '2r' is robot_2r.

    ISO/IEC 9899:1999, section 6.4.2 (identifiers) and 6.4.1 (keywords).
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    word = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")
    return f"robot_{word}".rstrip("_") if not word or word[0].isdigit() or word in RESERVED else word

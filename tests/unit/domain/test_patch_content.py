"""Two patches change the same if they differ in places and ids alone."""

from __future__ import annotations

import pytest

from accordance.domain.patch_content import has_same_content

PATCH = b"""\
diff --git a/prices.py b/prices.py
index b9a82af054..9d80a41eb0 100644
--- a/prices.py
+++ b/prices.py
@@ -1,3 +1,3 @@ def rate():
 one
-five
+seven
 two
"""


@pytest.mark.parametrize(
    ("other", "same"),
    [
        pytest.param(PATCH, True, id="the very same"),
        pytest.param(PATCH.replace(b"-1,3 +1,3 @@ def rate():", b"-9,3 +11,3 @@"), True, id="at other lines"),
        pytest.param(PATCH.replace(b"b9a82af054..9d80a41eb0", b"1111111111..2222222222"), True, id="from other objects"),
        pytest.param(PATCH.replace(b"+seven", b"+eight"), False, id="other content"),
        pytest.param(PATCH.replace(b" two", b" three"), False, id="between other lines"),
        pytest.param(PATCH.replace(b"100644", b"100755"), False, id="with another mode"),
        pytest.param(PATCH.replace(b"prices.py", b"costs.py"), False, id="in another file"),
        pytest.param(PATCH.replace(b"+seven", b"+@@ -1 +1 @@"), False, id="a line that looks like a header is content"),
        pytest.param(b"", False, id="nothing left of it"),
        pytest.param(PATCH.replace(b"+seven", b"+\xff"), False, id="bytes that are no text"),
    ],
)  # fmt: skip
def test_content(other: bytes, same: bool) -> None:
    """So a review of the one is a review of the other."""
    assert has_same_content(PATCH, other) is same

"""A patch, file by file and line by line."""

from __future__ import annotations

from accordance.domain.patch_lines import files_in

PATCH = """\
diff --git a/a.py b/a.py
index 1111111..2222222 100644
--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@ def head():
 one
-two
+diff --git a/x b/x
 three
@@ -10 +10,2 @@
 ten
+eleven
\\ No newline at end of file
diff --git a/old name.py b/new.py
similarity index 90%
rename from old name.py
rename to new.py
--- a/old name.py
+++ b/new.py
@@ -1 +1 @@
--- removed
+++ added
diff --git a/p.png b/p.png
new file mode 100644
index 0000000..3333333
Binary files /dev/null and b/p.png differ
"""


def test_files_and_lines() -> None:
    """Lines are counted off, so that content that looks like a header stays content."""
    first, renamed, picture = files_in(PATCH)
    assert (first.path, first.added, first.removed) == ("a.py", 2, 1)
    assert [(line.kind, line.old, line.new) for line in first.lines] == [
        ("@", 0, 0),
        (" ", 1, 1),
        ("-", 2, 0),
        ("+", 0, 2),
        (" ", 3, 3),
        ("@", 0, 0),
        (" ", 10, 10),
        ("+", 0, 11),
        ("\\", 0, 0),
    ]
    assert (renamed.path, renamed.old_path) == ("new.py", "old name.py")
    assert [line.text for line in renamed.lines[1:]] == ["-- removed", "++ added"]
    assert (picture.path, picture.is_binary, picture.lines) == ("p.png", True, ())


def test_what_is_no_patch() -> None:
    """Has no files."""
    assert files_in("") == files_in("nothing of the kind\n") == ()


def test_a_file_without_a_last_line_break_gets_it() -> None:
    """The note about the missing line break stands within the hunk."""
    patch = """\
diff --git a/a b/a
--- a/a
+++ b/a
@@ -1 +1 @@
-old
\\ No newline at end of file
+new
"""
    (file,) = files_in(patch)
    assert [line.kind for line in file.lines] == ["@", "-", "\\", "+"]

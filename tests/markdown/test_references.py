"""Reference definitions are links: found once, where they are defined, and retargeted there."""

from reme.markdown import parse, retarget

NOTE = """\
见 [ref][r]、[a] 和 [web]。

[r]: p/a.md "t"
[a]: <p/a.md>
   [锚点]: p/%E8%8C%B6.md#top
[web]: https://example.com/x.md
[^1]: p/a.md

```
[code]: p/a.md
```
"""


def test_definitions_are_links() -> None:
    note = parse(NOTE.encode())
    assert [(link.target, link.anchor, link.alias, link.line) for link in note.links] == [
        ("p/a.md", None, "r", 3),
        ("p/a.md", None, "a", 4),
        ("p/茶.md", "top", "锚点", 5),
    ]
    assert all(link.kind == "markdown" for link in note.links)


def test_a_retarget_rewrites_only_the_destination() -> None:
    moved = retarget(parse(NOTE.encode()), lambda link: "q/b c.md" if link.target == "p/a.md" else None).decode()
    assert '[r]: q/b%20c.md "t"' in moved
    assert moved.count("p/a.md") == 2  # the footnote and the code
    assert parse(moved.encode()).links[1].target == "q/b c.md"

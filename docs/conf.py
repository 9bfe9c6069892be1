"""How Sphinx makes the documentation: `make docs`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE / "_ext")]

from snellen import __version__  # noqa: E402

project = "Snellen"
author = "The Snellen authors"
copyright = "The Snellen authors"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "closed",
    "docstrings",
    "generated",
    "looks",
    "rooms",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_ext"]
default_role = "code"
smartquotes = False

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_display_short_literal_types = True
maximum_signature_line_length = 80
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = "Snellen"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["assets"]
# Nothing is loaded from elsewhere: a page is read as well in a closed network.
html_theme_options: dict[str, object] = {"footer_icons": []}

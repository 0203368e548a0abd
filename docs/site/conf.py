"""The documentation site: docs/*.md and pages made from the code, by Sphinx and MyST. tools/docs calls it."""
import os
import pathlib
import sys

TOP = pathlib.Path(os.environ["SEXTANT_TOP"])
sys.path.insert(0, str(TOP / "python"))

project = "Sextant"
html_title = "Sextant"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_theme = "furo"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
pygments_style = "default"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# Texts of the notes and of terminals are not code of any language.
highlight_language = "none"
smartquotes = False

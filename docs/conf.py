"""How the site is built: ``make docs`` turns the pages of this folder into build/docs.

Pages are Markdown that reads on a code host too; the reference is taken from docstrings;
tutorials are the scripts in ``tutorials/``, executed at every build. A warning is an error.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
os.environ["NO_COLOR"] = "1"

import ssme  # noqa: E402

project = "ssme"
author = "the authors of ssme"
copyright = author
version = release = ssme.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "host_links",
    "public_names",
    "registered_methods",
]
root_doc = "index"
templates_path = ["_templates"]
autosummary_generate = True
copybutton_exclude = ".linenos, .gp, .go"
exclude_patterns = ["extensions", "tutorials/*.py", "tutorials/README.rst"]
suppress_warnings = ["config.cache"]  # functions among the settings of sphinx-gallery

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": ["tutorials"],
    "gallery_dirs": ["learn"],
    "filename_pattern": ".*",
    "abort_on_example_error": True,
    "image_scrapers": (),
    "reset_modules": (),
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
    "write_computation_times": False,
    "reference_url": {},
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = f"ssme {release}"
html_show_copyright = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "logo": {"text": f"ssme {release}"},
}

"""Which files of a linked folder are taken, by their names, and what each of them is."""

from __future__ import annotations

from typing import Literal

from vaultmind.index.chunking.files import Place

Shape = Literal["note", "code", "text", "data"]

_NOTE = "md markdown mdx"
_TEXT = "rst txt adoc asciidoc org tex textile rtf"
_DATA = (
    "json json5 jsonc jsonl ndjson yaml yml toml ini cfg conf properties xml csv tsv ipynb plist "
    "lock mod sum editorconfig xsd xsl wsdl"
)
_CODE = (
    "py pyi pyx pxd js jsx mjs cjs ts tsx mts cts vue svelte astro rs go java kt kts scala groovy "
    "gradle clj cljs cljc c h cc cpp cxx hh hpp hxx inl m mm cu cuh cs fs fsx vb rb rake gemspec "
    "php pl pm lua r jl swift dart zig nim ex exs erl hrl hs lhs elm ml mli re rei sh bash zsh "
    "fish ps1 psm1 bat cmd sql graphql gql proto thrift css scss sass less styl html htm xhtml "
    "jinja j2 tmpl tpl hbs ejs erb haml pug liquid twig feature tf tfvars hcl nix el lisp scm rkt "
    "vim cmake mk make bazel bzl asm s f90 f95 for v sv vhd vhdl sol glsl vert frag hlsl wgsl wat "
    "awk sed tcl d pas cr coffee hx gd glade dockerfile ninja spec pkl cue rego"
)
SHAPES: dict[str, Shape] = {
    **dict.fromkeys(_CODE.split(), "code"),
    **dict.fromkeys(_DATA.split(), "data"),
    **dict.fromkeys(_TEXT.split(), "text"),
    **dict.fromkeys(_NOTE.split(), "note"),
}
"""By what follows the last dot of a name, in lower case."""
_CODE_NAMES = (
    "dockerfile containerfile makefile gnumakefile rakefile gemfile procfile jenkinsfile justfile "
    "vagrantfile brewfile podfile fastfile build workspace cmakelists.txt meson.build"
)
_DATA_NAMES = "go.mod go.sum pipfile requirements.txt constraints.txt"
NAMES: dict[str, Shape] = {
    **dict.fromkeys(_CODE_NAMES.split(), "code"),
    **dict.fromkeys(_DATA_NAMES.split(), "data"),
}
"""By a name that says more than its ending, in lower case."""
MACHINE_MADE = (
    ".lock", ".sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum",
)  # fmt: skip
"""Endings of names of what no person wrote: such files are known, and not searched."""
_NEVER = (".min.js", ".min.css", ".min.mjs", ".bundle.js", ".chunk.js", ".js.map", ".css.map")

MINIFIED_ABOVE = 2_000
"""A file that is shorter is what it is."""
MINIFIED_LINE = 250
"""Characters of a line on the average: nobody writes such code."""

_PLACES: dict[Shape, Place] = {
    "note": Place("note", "", "note"),
    "code": Place("note", "", "code"),
    "text": Place("note", "", "text"),
    "data": Place("note", "", "data"),
}


def shape_of(path: str) -> Shape | None:
    """Return what a file is by its name, or None for one that is not taken.

    A name without a dot may be a script or a LICENSE: it is taken, and read as text.
    """
    name = path[path.rfind("/") + 1 :].lower()
    if name in NAMES:
        return NAMES[name]
    _, dot, ending = name.rpartition(".")
    if not dot:
        return "text" if name else None
    return None if name.endswith(_NEVER) else SHAPES.get(ending)


def place_of(path: str) -> Place | None:
    """Return what a file of a linked folder is to the index."""
    shape = shape_of(path)
    return _PLACES[shape] if shape else None


def is_machine_made(path: str) -> bool:
    """Tell whether a file is one that a tool writes and nobody reads: a list of versions, say."""
    return path.lower().endswith(MACHINE_MADE)


def is_minified(text: str) -> bool:
    """Tell whether code or data stands on so few lines that nobody wrote it."""
    size = len(text)
    return size > MINIFIED_ABOVE and size > MINIFIED_LINE * (text.count("\n") + 1)

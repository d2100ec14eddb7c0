"""The disposable side: chunks, full text, vectors, search, and staying in step.

`index.Index` is what others open; `outlet` is the one filter of what leaves it. The rooms below
import one way, as README.md lists them.
"""

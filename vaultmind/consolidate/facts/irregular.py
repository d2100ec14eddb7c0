"""English verbs whose forms no stemmer brings together: `sold` and `sell` are one word."""

from __future__ import annotations

_FORMS = """
be is are was were been; become became; begin began begun; break broke broken; bring brought;
build built; buy bought; catch caught; choose chose chosen; come came; cost; cut; do did done;
draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feel felt;
find found; fly flew flown; forget forgot forgotten; get got gotten; give gave given; go went gone;
grow grew grown; hear heard; hold held; keep kept; know knew known; leave left; lend lent;
lose lost; make made; mean meant; meet met; pay paid; put; read; ride rode ridden; run ran;
say said; see saw seen; sell sold; send sent; show showed shown; sing sang sung; sit sat;
sleep slept; speak spoke spoken; spend spent; stand stood; swim swam swum; take took taken;
teach taught; tell told; think thought; understand understood; wear wore worn; win won;
write wrote written; rebuild rebuilt
"""
_BASE = {
    form: group.split()[0]
    for group in _FORMS.replace("\n", " ").split(";")
    for form in group.split()
}


def base(word: str) -> str:
    """Return the verb that a folded word is a form of; the word itself for any other."""
    return _BASE.get(word, word)

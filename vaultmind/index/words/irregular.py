"""English words whose forms no stemmer brings together: `went` and `go`, `children` and `child`.

https://en.wiktionary.org/wiki/Appendix:English_irregular_verbs and
https://en.wiktionary.org/wiki/Appendix:English_irregular_nouns list more; here are those that
people write.
"""

from __future__ import annotations

_FORMS = """
    arise arose arisen, awake awoke awoken, bear borne, beat beaten, become became, begin began
    begun, bend bent, bind bound, bite bit bitten, bleed bled, blow blew blown, break broke
    broken, breed bred, bring brought, build built, burn burnt, buy bought, catch caught, choose
    chose chosen, cling clung, come came, creep crept, deal dealt, dig dug, do did does done,
    draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, eat ate eaten, fall
    fell fallen, feed fed, feel felt, fight fought, find found, flee fled, fling flung, fly flew
    flown, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven, freeze
    froze frozen, get got gotten, give gave given, go went gone goes, grind ground, grow grew
    grown, hang hung, have had has, hear heard, hide hid hidden, hold held, keep kept, kneel
    knelt, know knew known, lay laid, lead led, lean leant, leap leapt, learn learnt, leave
    left, lend lent, lie lain, light lit, lose lost, make made, mean meant, meet met, mistake
    mistook mistaken, overcome overcame, overhear overheard, oversleep overslept, pay paid,
    prove proven, redo redid redone, rebuild rebuilt, repay repaid, rewrite rewrote rewritten,
    ride rode ridden, ring rang rung, rise rose risen, run ran, say said, see saw seen, seek
    sought, sell sold, send sent, sew sewn, shake shook shaken, shine shone, shoot shot, show
    shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, slide
    slid, smell smelt, sneak snuck, sow sown, speak spoke spoken, speed sped, spell spelt, spend
    spent, spill spilt, spin spun, spit spat, spoil spoilt, spring sprang sprung, stand stood,
    steal stole stolen, stick stuck, sting stung, stink stank stunk, strike struck stricken,
    string strung, strive strove striven, swear swore sworn, sweep swept, swell swollen, swim
    swam swum, swing swung, take took taken, teach taught, tear tore torn, tell told, think
    thought, throw threw thrown, understand understood, undo undid undone, wake woke woken, wear
    wore worn, weave wove woven, weep wept, win won, wind wound, withdraw withdrew withdrawn,
    wring wrung, write wrote written, child children, foot feet, goose geese, man men, mouse
    mice, ox oxen, person people, tooth teeth, woman women, wife wives, life lives, knife
    knives, leaf leaves, loaf loaves, half halves, wolf wolves, shelf shelves, thief thieves,
    calf calves, self selves, scarf scarves, index indices, appendix appendices, matrix
    matrices, vertex vertices, criterion criteria, phenomenon phenomena, analysis analyses,
    basis bases, crisis crises, diagnosis diagnoses, hypothesis hypotheses, thesis theses,
    medium media, alumnus alumni, cactus cacti, fungus fungi, stimulus stimuli
"""
"""The base, then its forms."""
_BOTH = """
    bit bore bound drunk fell felt found ground laid left lit lives leaves rose rung saw shot spoke
    stuck thought won wound bases media people
"""
"""Forms that are as often words of their own: they are looked for as both."""


def _bases() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    both = _BOTH.split()
    for entry in _FORMS.split(","):
        base, *forms = entry.split()
        found |= {form: (form, base) if form in both else (base,) for form in forms}
    return found


BASES = _bases()
"""Irregular form → the words that are stemmed in its place."""

"""English."""

from vaultmind.index.when.lexicon import Lexicon, numbered

_LEAD = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?(?:the )?"
_SAFE = r"{month:january|february|july|september|october|november|december}"
_AT = r"(?:in|during|since|before|after|until|till|early|late|mid)[\s-]"
_ORD = r"(?:st|nd|rd|th)?"

ENGLISH = Lexicon(
    code="en",
    numbers={
        **numbered("one a an single", "two couple", "three few some", "four", "five several"),
        **numbered("six", "seven", "eight", "nine", "ten", "eleven", "twelve", start=6),
        "fifteen": 15, "twenty": 20, "thirty": 30,
        "a couple of": 2, "couple of": 2, "a few": 3,
    },
    ordinals=numbered(
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
        "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second",
        "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh",
        "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
    ),
    units={
        "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w",
        "month": "m", "months": "m", "quarter": "q", "quarters": "q", "year": "y", "years": "y",
    },
    months=numbered(
        "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
        "august aug", "september sep sept", "october oct", "november nov", "december dec",
    ),
    weekdays=numbered(
        "monday mon", "tuesday tue tues", "wednesday", "thursday thu thurs", "friday fri",
        "saturday", "sunday", start=0,
    ),
    seasons={"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn",
             "winter": "winter"},
    feasts={"christmas": "christmas", "xmas": "christmas", "easter": "easter",
            "halloween": "halloween", "thanksgiving": "thanksgiving",
            "new year's eve": "newyear", "new year's": "newyear", "new year": "newyear",
            "valentine's day": "valentine", "valentines day": "valentine"},
    rules=(
        ("skip", r"(?:every|each|per|any|once a|twice a|times a|most) (?:other |single )?"
                 r"(?:{wd}|{unit}|{season}|{month}|weekend|morning|night)s?"),
        ("skip", r"(?:from )?{wd}s?\s*(?:to|through|till|until|-|–|and|or)\s*{wd2}s?"),
        ("skip", r"{n} {unit} (?:a|per|each|every|out of|in a) {unit2}"),
        ("skip", r"(?:may|march|spring|fall) (?:be|have|not|also|only|never|still|boot|break)"),
        ("skip", r"(?:happy|merry) {feast}|{feast} (?:eggs?|island|cards?|trees?|songs?|lights)"),
        ("day:-2", r"(?:the )?day before yesterday"),
        ("day:2", r"(?:the )?day after tomorrow"),
        ("day:-1", r"yesterday|last (?:night|evening)"),
        ("day:0", r"today|tonight|this (?:morning|afternoon|evening)"),
        ("day:1", r"tomorrow"),
        ("dmy",
         r"{d}" + _ORD +
         r"(?: of)?\s*(?:-|–|to|and|through|until)\s*(?:the )?{d2:3[01]|[12]\d|0?[1-9]}"
                + _ORD + r"(?: of)? {month}(?:,? {y})?"),
        ("dmy", r"{month} (?:the )?{d}" + _ORD + r"\s*(?:-|–|to|through|until)\s*(?:the )?"
                r"{d2:3[01]|[12]\d|0?[1-9]}" + _ORD + r"(?:,? {y})?(?![:%]?\d)"),
        ("dmy", _LEAD + r"{d}" + _ORD + r"(?: of)? {month}(?:[,.]? {y})?"),
        ("dmy",
         _LEAD + r"{month}\.? (?:the )?{d}" + _ORD +
         r"(?:,? {y})?(?![:%]\d?|[.,/]\d| (?:percent|times|people))"),
        ("halfyear", r"{q:first|second} half of {y}|h{q2:[12]} {y2:(?:19|20)\d\d}"),
        ("ago", r"this time last {unit:year|month|week}"),
        ("year", r"the {y}(?= [a-z]+(?<!s)(?!\w))"),
        ("dmw", r"(?:the )?{dw} of {month}(?:,? {y})?"),
        ("months",
         r"(?:between|from) {month} (?:and|to|until|till|through) {month2:january|february|"
         r"march|april|may|june|july|august|september|october|november|"
         r"december}(?:,? (?:of )?{y})?"),
        ("month_in:-1",
         r"{month} (?:of )?last year|last year in {month2:january|february|march|april|may|june|"
         r"july|august|september|october|november|december}"),
        ("month_in:0", r"{month} (?:of )?this year"),
        ("month_in:1", r"{month} (?:of )?next year"),
        ("monthy", r"{month}\.?,? (?:of )?{y}"),
        ("month", _AT + r"(?:the month of )?{month}(?! \d)"),
        ("month", r"(?:start|beginning|middle|end) of {month}(?! \d)"),
        ("month", r"(?:from|for|of) {month:march|may|august}(?! \d)"),
        ("month:-1", r"(?:last|this past) {month}(?! \d)"),
        ("month:0", r"this {month}"),
        ("month:1", r"next {month}"),
        ("month", _SAFE),
        ("quarter", r"q{q:[1-4]}(?:,? (?:of |in )?{y})?"),
        ("quarter",
         r"{q:first|second|third|fourth|last|1st|2nd|3rd|4th} quarter(?: (?:of |in )?{y})?"),
        ("last", r"(?:last|past|previous) {n} {unit}"),
        ("last", r"the past {unit}"),
        ("half", r"half a {unit} ago"),
        ("halves", r"(?:a|one) {unit} and a half ago"),
        ("ago", r"(?:about |around |over )?{n} {unit} ago"),
        ("coming", r"(?:next|coming) {n} {unit}|the coming {unit2:days|weeks|months|years}"),
        ("ahead?", r"in {n} {unit}(?:'s|s')?(?: time)?"),
        ("ahead", r"{n} {unit} from now|in {n2} {unit2}s?'? time"),
        ("unit:-2", r"(?:the )?{unit:week|month|year} before last"),
        ("unit:-1", r"(?:last|previous) {unit:week|month|quarter|year}(?! of| in (?:the|a) )"),
        ("unit:0", r"(?:this|current) {unit:week|month|quarter|year}"),
        ("unit:1", r"(?:next|coming) {unit:week|month|quarter|year}(?! of)"),
        ("edge",
         r"(?:start|beginning|middle|end) of (?:the|this) {unit:week|month|quarter|year}(?! of)"),
        ("wdweek:-1",
         r"{wd} (?:of )?last week|last week(?: on|'s) {wd2:monday|tuesday|wednesday|thursday|"
         r"friday|saturday|sunday}"),
        ("wdweek:1", r"{wd} (?:of )?next week"),
        ("wd:-1", r"(?:last|this past|previous) {wd}"),
        ("wd:1", r"(?:next|this coming) {wd}"),
        ("wd:0", r"this {wd}"),
        ("wd", r"(?:on|since|until|till|by|before|after|from|to) {wd}(?! (?:\d|morning meetings))"),
        ("wd",
         r"{wd:monday|tuesday|wednesday|thursday|friday|saturday|sunday} (?:morning|afternoon|"
         r"evening|night)"),
        ("weekend:-2", r"the weekend before last"),
        ("weekend:-1", r"(?:last|this past) weekend"),
        ("weekend:0", r"this weekend"),
        ("weekend:1", r"next weekend"),
        ("weekend", r"(?:over|on|at|during) the weekend"),
        ("seasony", r"{season}(?: of)? {y}"),
        ("season_in:-1", r"{season} (?:of )?last year"),
        ("season:-1", r"(?:last|this past) {season}"),
        ("season:0", r"this {season}"),
        ("season:1", r"next {season}"),
        ("season", r"(?:in|during|over|since|before|after|until|early|late) the {season}"),
        ("season?",
         r"(?:in|during|since|before|after|until|early|late) {season:spring|summer|autumn|"
         r"winter}"),
        ("feasty", r"{feast}(?: of| in)? {y}"),
        ("feast_in:-1", r"{feast} last year"),
        ("feast:-1", r"last {feast}"),
        ("feast:0", r"this {feast}"),
        ("feast:1", r"next {feast}"),
        ("feast",
         r"(?:at|on|for|over|before|after|since|during|around|by|until|in|between|from) {feast}"),
        ("years", r"(?:between|from) {y} (?:and|to|until|through) {y2:(?:19|20)\d\d}"),
        ("decade", r"the (?:19|20)?{dec:[2-9]0}'?s"),
        ("year",
         r"(?:in|during|since|before|after|until|till|throughout|early|late|mid|year|by|"
         r"of last)[\s-]{y}(?! [a-z]+s(?<!was)(?<!is))"),
        ("year",
         r"(?:start|beginning|middle|end|spring|summer|rest|most|course|events|goals|plans?|"
         r"budget) (?:of|for) {y}"),
        ("year", r"(?:for|of|from) {y}(?=\s*[?!.;]|$)"),
        ("recent:14", r"the other day"),
        ("recent:30", r"recently|lately|(?:in )?the last few {unit:days|weeks}"),
    ),
    cues=frozenset(["yesterday", "today", "tonight", "tomorrow", "morning", "afternoon", "evening",
        "night", "q1", "q2", "q3", "q4", "weekend", "recently", "lately", "90s", "80s", "70s",
        "60s", "50s", "20s"]),
    leads=(
        r"in|on|at|for|from|of|during|since|before|after|until|till|by|over|around|between|and|"
        r"to"
    ),
    since=r"since(?: the)? (?:(?:start|beginning) of )?|ever since |starting(?: in| from)? ",
    after=r"after (?:the )?|later than ",
    before=r"before (?:the )?|earlier than |prior to ",
    until=r"(?:until|till|up to|by) (?:the )?",
    between=r"(?:between|from) (?:the )?",
    joined=r"(?:and|to) (?:the )?|and|to|until|till|through|-|–",
    early=r"(?:early(?: in)?[\s-](?:the )?|(?:the )?(?:start|beginning) of (?:the )?)",
    middle=r"(?:mid[\s-]|middle of (?:the )?)",
    late=r"(?:late(?: in)?[\s-](?:the )?|(?:the )?end of (?:the )?)",
    beside=r"(?:the |{n} )?{unit} (?:{back:before}|after) (?:the )?",
    past=(
        r"quit|became|broke|built|chose|caught|drove|fell|flew|forgot|grew|heard|kept|knew|paid|"
        r"sent|sold|spent|spoke|stood|taught|woke|wore|hurt|was|were|did|didn't|had|went|got|"
        r"came|saw|took|made|told|said|met|bought|felt|gave|found|left|ran|won|lost|ate|began|"
        r"brought|wrote|read it|thought|just|(?!excited|interested|need)[a-z]{2,}(?<!e)ed"
    ),
    future=(
        r"must|should|due|deadline|will|won't|[a-z]+'ll|going to|gonna|upcoming|scheduled|plan to|"
        r"planning to|planned for"
        r"|i'm|we're|coming up|have to|need to|shall|remind me"
    ),
    month_first=True,
    small_months=False,
    some=frozenset({"few", "some", "several", "a few", "couple", "a couple of", "couple of"}),
    several=frozenset({"hours", "days", "weeks", "months", "quarters", "years"}),
    names=frozenset({"may", "march", "mar", "sep", "april", "june", "august", "jun", "jan"}),
)  # fmt: skip
"""The words of time of English."""

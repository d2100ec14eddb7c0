"""German."""

from vaultmind.index.when.lexicon import Lexicon, numbered

_PREV = r"(?:letzte[rsnm]?|vorige[rsnm]?|vergangene[rsnm]?|vorherige[rsnm]?)"
_THIS = r"(?:diese[rsnm]?|laufende[rsnm]?|aktuelle[rsnm]?)"
_NEXT = r"(?:nachste[rsnm]?|kommende[rsnm]?|naechste[rsnm]?)"
_SPAN = r"{unit:woche|monats?|quartals?|jahre?s?}"
_DAYS = r"montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag"
_LEAD = (
    r"(?:(?:am )?(?:"
    + _DAYS
    + r"),? )?(?:(?:am|vom|zum|dem|den|der|seit|bis|ab|vor|nach) )?(?:dem |den |der |zum )?"
)
_NAMES = r"januar|februar|marz|maerz|april|mai|juni|juli|august|september|oktober|november|dezember"
_SAFE = r"{month:januar|februar|marz|maerz|april|mai|juni|juli|september|oktober|november|dezember}"

GERMAN = Lexicon(
    code="de",
    numbers={
        **numbered("ein eine einem einer einen", "zwei zweien", "drei paar einige einigen mehreren",
                   "vier", "funf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwolf"),
        "ein paar": 3,
    },
    ordinals=numbered("ersten erster", "zweiten zweiter", "dritten dritter", "vierten vierter"),
    units={
        **dict.fromkeys(("stunde", "stunden"), "h"),
        **dict.fromkeys(("tag", "tage", "tagen", "tages"), "d"),
        **dict.fromkeys(("woche", "wochen"), "w"),
        **dict.fromkeys(("monat", "monate", "monaten", "monats"), "m"),
        **dict.fromkeys(("quartal", "quartale", "quartalen", "quartals"), "q"),
        **dict.fromkeys(("jahr", "jahre", "jahren", "jahres"), "y"),
    },
    months=numbered(
        "januar janner jan", "februar feb", "marz maerz", "april apr", "mai mais", "juni jun",
        "juli jul", "august aug", "september sep sept", "oktober okt", "november nov",
        "dezember dez",
    ),
    weekdays={**numbered("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag",
                         "sonntag", start=0), "sonnabend": 5,
              **{f"{d}{p}": n for n, d in enumerate(
                  ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"))
                 for p in ("morgen", "abend", "nachmittag", "vormittag", "nacht")}},
    seasons={
        **dict.fromkeys(("fruhling", "fruhjahr", "fruhlings"), "spring"),
        **dict.fromkeys(("sommer", "sommers"), "summer"),
        **dict.fromkeys(("herbst", "herbstes"), "autumn"),
        **dict.fromkeys(("winter", "winters"), "winter"),
    },
    feasts={
        **dict.fromkeys(("weihnachten", "heiligabend", "weihnachts"), "christmas"),
        "ostern": "easter", "silvester": "newyear", "neujahr": "newyear",
        "valentinstag": "valentine",
    },
    rules=(
        ("skip",
         r"(?:jede[rsnm]?|pro|alle) (?:zweite[rsnm]? )?(?:{n} )?(?:{wd}|{unit}|{month}|{season}|"
         r"wochenende)"),
        ("skip", r"(?:von )?{wd} (?:bis|und|oder) {wd2}"),
        ("skip",
         r"(?:{n} )?(?:mal|stunden|tage) (?:pro|am|im|in der|die|jede) {unit}|frohe {feast}"),
        ("skip", r"(?:guten|jeden) morgen|morgens|am (?:nachsten )?morgen|der morgen"),
        ("day:-2", r"vorgestern"),
        ("day:2", r"ubermorgen|uebermorgen"),
        ("day:-1", r"gestern|gestrige[rsnm]?|(?:letzte|vergangene) nacht"),
        ("ago", r"heute vor {n} {unit}"),
        ("ahead", r"heute in {n} {unit}"),
        ("day:0", r"heute|heutige[rsnm]?"),
        ("day:1", r"morgen (?:fruh|abend|nachmittag|mittag|vormittag|um)|morgige[rsnm]?"),
        ("day:1", r"(?<!guten\s)(?<!jeden\s)(?<!am\s)(?<!der\s)(?<!den\s)(?<!diesen\s)morgen"),
        ("dmy",
         r"(?:vom |zwischen dem |von |der )?{d}\.?\s*(?:-|–|bis(?: zum)?|"
         r"und(?: dem)?)\s*{d2:3[01]|[12]\d|0?[1-9]}\. {month}(?: {y})?"),
        ("dmy", _LEAD + r"{d}\.? {month}(?:\.?,? {y})?"),
        ("halfyear",
         r"(?:im )?{q:erste[snr]?|zweite[snr]?} halbjahr {y}|(?:in der )?{q2:ersten|"
         r"zweiten} halfte (?:von )?{y2:(?:19|20)\d\d}"),
        ("wd",
         r"{wd:(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)(?:abend|morgen|"
         r"nachmittag|vormittag|nacht)}"),
        ("dmw", _LEAD + r"{dw} {month}(?:,? {y})?"),
        ("months", r"(?:von|zwischen) {month} (?:bis|und) {month2:" + _NAMES + r"}(?: {y})?"),
        ("month_in:-1",
         r"(?:im )?{month} (?:letzten|vorigen|vergangenen) jahres|(?:im )?(?:letzten|vorigen|"
         r"vergangenen) jahr im {month2:" + _NAMES + r"}"),
        ("month_in:0", r"(?:im )?{month} (?:dieses|diesen) jahres"),
        ("month_in:1", r"(?:im )?{month} (?:nachsten|kommenden) jahres"),
        ("monthy", r"{month}\.?,? {y}"),
        ("month:-1", r"(?:im )?" + _PREV + r" {month}"),
        ("month:0", r"(?:im )?" + _THIS + r" {month}"),
        ("month:1", r"(?:im )?" + _NEXT + r" {month}"),
        ("month",
         r"(?:im|in|seit|vor|nach|bis|ab|anfang|mitte|ende|vom|zum|fur|uber|den|dem) {month:"
         + _NAMES + r"}"),
        ("month", _SAFE),
        ("quarter",
         r"q{q:[1-4]}(?: {y})?|(?:im )?{q2:ersten|zweiten|dritten|vierten|erste|zweite|dritte|"
         r"vierte|[1-4]\.} quartals?(?: {y2:(?:19|20)\d\d})?"),
        ("last",
         r"(?:in (?:den|der) |wahrend der )?(?:letzten|vergangenen) (?:{n} )?{unit:stunden|tage|"
         r"tagen|wochen|monate|monaten|jahre|jahren}"),
        ("half", r"vor einem halben {unit:jahr}"),
        ("halves", r"vor (?:anderthalb|eineinhalb) {unit}"),
        ("ago", r"vor (?:etwa |rund |ca\. |ungefahr )?{n} {unit}(?! (?:erfahrung|arbeit))"),
        ("coming",
         r"(?:nachsten|kommenden) (?:{n} )?{unit:tage|tagen|wochen|monate|monaten|jahre|jahren}"),
        ("ahead?", r"in {n} {unit}"),
        ("unit:-2", r"(?:im )?vorletzte[rsnm]? {unit:woche|monat|jahr}"),
        ("unit:-1",
         r"(?:in der |im |in )?" + _PREV + " " + _SPAN +
         r"(?! (?:der|des|meine[rs]|im|in der|vor) )"),
        ("unit:0", r"(?:in der |im |in )?" + _THIS + " " + _SPAN),
        ("unit:1", r"(?:in der |im |in )?" + _NEXT + " " + _SPAN),
        ("edge", r"(?:anfang|mitte|ende) (?:der|des) {unit:woche|monats|jahres|quartals}(?! der)"),
        ("wdweek:-1",
         r"(?:am )?{wd} (?:letzter|voriger|vergangener|der letzten|in der letzten) woche|"
         r"letzte woche (?:am )?{wd2:" + _DAYS + "}"),
        ("wdweek:1", r"(?:am )?{wd} (?:nachster|kommender|der nachsten) woche"),
        ("wd:-1", r"(?:am )?" + _PREV + r" {wd}"),
        ("wd:0", r"(?:am )?" + _THIS + r" {wd}"),
        ("wd:1", r"(?:am )?" + _NEXT + r" {wd}"),
        ("wd", r"(?:am|seit|vor|nach|bis|ab|vom|zum|bis zum|von) {wd}"),
        ("weekend:-1",
         r"(?:am )?(?:letztes|letzten|vergangenes|vergangenen|voriges|vorigen) wochenende"),
        ("weekend:0", r"(?:an )?(?:diesem|dieses) wochenende"),
        ("weekend:1", r"(?:am )?(?:nachstes|nachsten|kommendes|kommenden) wochenende"),
        ("weekend", r"(?:am|ubers|uber das|seit dem|vor dem|nach dem) wochenende"),
        ("seasony", r"{season} {y}|{y} im {season2:fruhling|fruhjahr|sommer|herbst|winter}"),
        ("season_in:-1", r"{season} (?:letzten|vergangenen) jahres"),
        ("season:-1", r"(?:im )?" + _PREV + r" {season}"),
        ("season:0", r"(?:im )?" + _THIS + r" {season}"),
        ("season:1", r"(?:im )?" + _NEXT + r" {season}"),
        ("season", r"(?:im|seit dem|vor dem|nach dem|bis zum|uber den|ab dem|den) {season}"),
        ("feasty", r"{feast} {y}"),
        ("feast:-1", _PREV + r" (?:jahr (?:an |zu )?)?{feast}"),
        ("feast:0", _THIS + r" (?:jahr (?:an |zu )?)?{feast}"),
        ("feast:1", _NEXT + r" {feast}"),
        ("feast", r"{feast}"),
        ("years", r"(?:zwischen|von) {y} (?:und|bis) {y2:(?:19|20)\d\d}"),
        ("decade", r"(?:in den |der )?(?:19|20)?{dec:[2-9]0}er(?:n|-?jahren?)?"),
        ("year",
         r"(?:in|seit|vor|nach|bis|ab|fur|anfang|mitte|ende|jahr|jahre|jahres|"
         r"von) {y}(?! (?:euro|eur|leute|menschen|km|kilometer|mal|worter|personen|zeichen|"
         r"dollar))"),
        ("recent:30", r"kurzlich|neulich|in letzter zeit|vor kurzem"),
    ),
    cues=frozenset(["gestern", "vorgestern", "heute", "morgen", "ubermorgen", "uebermorgen",
        "nacht", "kurzlich", "neulich", "letzter", "kurzem", "wochenende", "q1", "q2", "q3", "q4",
        "gestrige", "gestrigen", "gestriger", "gestriges", "heutige", "heutigen", "heutiger",
        "heutiges", "morgige", "morgigen", "morgiger", "20er", "30er", "50er", "60er", "70er",
        "80er", "90er", "90ern", "80ern"]),
    leads=r"im|in|am|an|seit|vor|nach|bis|ab|vom|von|zum|zu|zur|fur|uber|den|dem|der|und|zwischen",
    since=r"(?:seit|ab) (?:dem |der |den )?",
    after=r"nach (?:dem |der |den )?",
    before=r"vor (?:dem |der |den )?",
    until=r"bis (?:zum |zur |zu )?(?:dem |den )?",
    between=r"(?:zwischen|von|vom) (?:dem |der |den )?",
    joined=r"und|bis|bis zum|-|–|und dem",
    early=r"anfang (?:des |der )?|zu beginn (?:des |der )?|fruhe[nr]? ",
    middle=r"mitte (?:des |der )?",
    late=r"ende (?:des |der )?|spate[nr]? ",
    beside=r"(?:{n} |der |am |die |das )?{unit} (?:{back:vor}|nach) (?:dem |der )?",
    past=(
        r"war|waren|hatten?|wurden?|gab|ging|kam|sah|fand|blieb|schrieb|traf|ge\w+(?:t|en)|"
        r"(?:ver|be|er|ent|zer)\w+(?:t|en)|\w*(?:ab|an|auf|aus|ein|mit|vor|zu)ge\w+(?:t|en)|"
        r"(?!(?:heute|bitte|seite|mitte|leute|kette|karte|möchten?|könnten?|sollten?|würden?|"
        r"müssten?|letzten?|zweiten?|dritten?)\b)\w{3,}ten?|ist \w+ ge\w+"
    ),
    future=(
        r"frist|falligkeit|fallig|soll|sollen|werde|wird|werden|wirst|muss|mussen|geplant|"
        r"erinnere|plane|planen|ansteht|steht an"
    ),
    small_months=False,
    some=frozenset({"paar", "einige", "einigen", "mehreren", "ein paar"}),
    several=frozenset({"tage", "tagen", "wochen", "monate", "monaten", "jahre", "jahren",
        "stunden"}),
    names=frozenset({"jan", "mais", "august"}),
)  # fmt: skip
"""The words of time of German."""

"""Polish."""

from vaultmind.index.when.lexicon import Lexicon, numbered

_PREV = (
    r"(?:zeszl(?:y|ym|ego|ej|a|e)|ubiegl(?:y|ym|ego|ej|a|e)|poprzedni(?:m|ego|ej|a|e)?|"
    r"minion(?:y|ym|ego|ej|a|e)|ostatni(?:m|ego|ej|a|e)?)"
)
_THIS = r"(?:tym|tego|tej|ten|ta|te|biezac(?:y|ym|ego|ej|a|e)|obecn(?:y|ym|ego|ej|a))"
_NEXT = (
    r"(?:przyszl(?:y|ym|ego|ej|a|e)|nastepn(?:y|ym|ego|ej|a|e)|kolejn(?:y|ym|ego|ej|a|e)|"
    r"nadchodzac(?:y|ym|ego|ej|a|e))"
)
_SPAN = (
    r"{unit:tydzien|tygodniu|tygodnia|miesiacu|miesiaca|miesiac|roku|rok|kwartale|kwartalu|kwartal}"
)
_LEAD = (
    r"(?:(?:we? )?(?:poniedzialek|wtorek|sroda|srode|czwartek|piatek|sobota|sobote|niedziela|"
    r"niedziele),? )?"
)
_SAFE = (
    r"{month:styczen|stycznia|styczniu|lutym|lutego|marzec|marcu|kwietniu|kwietnia|czerwcu|"
    r"czerwca|czerwiec|lipcu|lipca|lipiec|sierpniu|sierpnia|sierpien|wrzesniu|wrzesnia|wrzesien|"
    r"pazdzierniku|pazdziernika|pazdziernik|listopadzie|listopada|listopad|grudniu|grudnia|"
    r"grudzien}"
)

POLISH = Lexicon(
    code="pl",
    numbers={
        **numbered("jeden jedna jednym", "dwa dwie dwoma dwoch dwu",
            "trzy trzema trzech pare paru kilka kilku kilkoma paroma",
                   "cztery czterema czterech", "piec pieciu", "szesc szesciu", "siedem siedmiu",
                   "osiem osmiu", "dziewiec", "dziesiec dziesieciu", "jedenascie", "dwanascie"),
        "pietnascie": 15, "dwadziescia": 20, "trzydziesci": 30,
    },
    ordinals=numbered(
        "pierwszego", "drugiego", "trzeciego", "czwartego", "piatego", "szostego", "siodmego",
        "osmego", "dziewiatego", "dziesiatego", "jedenastego", "dwunastego", "trzynastego",
        "czternastego", "pietnastego", "szesnastego", "siedemnastego", "osiemnastego",
        "dziewietnastego", "dwudziestego",
    )
    | {
        f"dwudziestego {unit}": 20 + number
        for number, unit in enumerate(
            ("pierwszego", "drugiego", "trzeciego", "czwartego", "piatego", "szostego",
             "siodmego", "osmego", "dziewiatego"), 1)
    }
    | {"trzydziestego": 30, "trzydziestego pierwszego": 31},
    units={
        **dict.fromkeys(("godzine", "godziny", "godzin"), "h"),
        **dict.fromkeys(("dzien", "dni", "dniami", "dniach", "dniem", "dnia"), "d"),
        **dict.fromkeys(("tydzien", "tygodnie", "tygodni", "tygodniem", "tygodniami", "tygodnia",
                         "tygodniu", "tygodniach"), "w"),
        **dict.fromkeys(("miesiac", "miesiace", "miesiecy", "miesiacem", "miesiacami", "miesiaca",
                         "miesiacu", "miesiacach"), "m"),
        **dict.fromkeys(("kwartal", "kwartale", "kwartalu", "kwartaly"), "q"),
        **dict.fromkeys(("rok", "lata", "lat", "rokiem", "laty", "roku", "latach"), "y"),
    },
    months=numbered(
        "styczen stycznia styczniu styczniem", "luty lutego lutym", "marzec marca marcu marcem",
        "kwiecien kwietnia kwietniu kwietniem", "maj maja maju majem",
        "czerwiec czerwca czerwcu czerwcem", "lipiec lipca lipcu lipcem",
        "sierpien sierpnia sierpniu sierpniem", "wrzesien wrzesnia wrzesniu wrzesniem",
        "pazdziernik pazdziernika pazdzierniku pazdziernikiem",
        "listopad listopada listopadzie listopadem", "grudzien grudnia grudniu grudniem",
    ),
    weekdays=numbered(
        "poniedzialek poniedzialku poniedzialkiem poniedzialkowy", "wtorek wtorku wtorkiem",
        "sroda srode srody srodzie", "czwartek czwartku czwartkiem", "piatek piatku piatkiem",
        "sobota sobote soboty sobocie", "niedziela niedziele niedzieli", start=0,
    ),
    seasons={
        **dict.fromkeys(("wiosna", "wiosne", "wiosny", "wiosnie"), "spring"),
        **dict.fromkeys(("lato", "lata", "latem", "lecie"), "summer"),
        **dict.fromkeys(("jesien", "jesieni", "jesienia"), "autumn"),
        **dict.fromkeys(("zima", "zime", "zimy", "zimie"), "winter"),
    },
    feasts={
        **dict.fromkeys(("boze narodzenie", "bozego narodzenia", "bozym narodzeniem",
                         "bozym narodzeniu", "wigilia", "wigilie", "wigilii",
                         "swietami bozego narodzenia", "swieta bozego narodzenia"), "christmas"),
        **dict.fromkeys(("wielkanoc", "wielkanocy", "wielkanoca", "wielkanocne"), "easter"),
        **dict.fromkeys(("sylwester", "sylwestra", "sylwestrem", "sylwestrze", "nowy rok",
                         "nowego roku", "nowym rokiem", "nowym roku"), "newyear"),
        **dict.fromkeys(("walentynki", "walentynek", "walentynkami"), "valentine"),
    },
    rules=(
        ("skip",
         r"(?:co|kazd(?:y|ego|a|ej|e|ym)|codziennie) (?:drug(?:i|a) )?(?:{wd}|{unit}|{month}|"
         r"{season}|weekend)"),
        ("skip", r"we? (?:poniedzialki|wtorki|srody|czwartki|piatki|soboty)(?! \d)"),
        ("skip", r"(?:{n} )?(?:razy?|zl|zlotych) (?:na|w|za) {unit}"),
        ("skip", r"(?:od )?{wd} (?:do|i|albo) {wd2}"),
        ("skip", r"w wieku {n} {unit}"),
        ("day:-2", r"przedwczoraj"),
        ("day:2", r"pojutrze"),
        ("day:-1", r"wczoraj|wczorajsz(?:y|ego|ym|ej|a|e)|(?:zeszl|ubiegl|minion)ej nocy"),
        ("day:0", r"dzisiaj|dzis|dzisiejsz(?:y|ego|ym|ej|a|e)"),
        ("day:1", r"jutro|jutrzejsz(?:y|ego|ym|ej|a|e)"),
        ("dmy",
         r"(?:od |miedzy )?{d}\.?\s*(?:-|–|do|a|i)\s*{d2:3[01]|[12]\d|"
         r"0?[1-9]}\.? {month}(?: {y})?"),
        ("dmy", _LEAD + r"{d}\.?(?:-?(?:go|ego))? {month}(?:,? {y})?"),
        ("halfyear",
         r"{q:pierwsz|drug}(?:ej|a|e|iej|im|ym|ie|y|i) (?:polow(?:ie|a|e|y)|polrocz(?:e|u|"
         r"a)) {y}(?: r(?:oku|\.)?)?"),
        ("dmw", _LEAD + r"{dw} {month}(?:,? {y})?"),
        ("months",
         r"(?:od|miedzy) {month} (?:do|a|i) {month2:stycznia|lutego|marca|kwietnia|maja|czerwca|"
         r"lipca|sierpnia|wrzesnia|pazdziernika|listopada|grudnia|styczniem|lutym|marcem|"
         r"kwietniem|majem|czerwcem|lipcem|sierpniem|wrzesniem|pazdziernikiem|listopadem|"
         r"grudniem}(?: {y})?"),
        ("month_in:-1",
         r"{month} (?:zeszlego|ubieglego|poprzedniego|minionego) roku|"
         r"(?:w )?zeszlym roku w {month2:styczniu|lutym|marcu|kwietniu|maju|czerwcu|lipcu|"
         r"sierpniu|wrzesniu|pazdzierniku|listopadzie|grudniu}"),
        ("month_in:0", r"{month} (?:tego|biezacego) roku"),
        ("month_in:1", r"{month} (?:przyszlego|nastepnego) roku"),
        ("monthy", r"{month},? {y}"),
        ("month:-1", r"(?:we? )?" + _PREV + r" {month}"),
        ("month:0", r"(?:we? )?(?:tym|tego|ten) {month}"),
        ("month:1", r"(?:we? )?" + _NEXT + r" {month}"),
        ("month", r"(?:w|we|od|do|przed|po|na|z|pod) {month}"),
        ("month", r"(?:poczat(?:ku|ek|kiem)|polowie|polowa|polowy|kon(?:iec|cu|ca|cem)) {month}"),
        ("month", _SAFE),
        ("quarter",
         r"{q:pierwszy|pierwszym|pierwszego|drugi|drugim|drugiego|trzeci|trzecim|"
         r"trzeciego|czwarty|czwartym|czwartego|1\.|2\.|3\.|4\.|[1-4]} kwartal(?:e|"
         r"u)?(?: {y}(?: r(?:oku|\.)?)?)?"),
        ("quarter", r"q{q:[1-4]}(?: {y})?"),
        ("last", r"(?:ostatni(?:ch|e|mi)|minion(?:ych|e)) (?:{n} )?{unit}"),
        ("last", r"(?:w ciagu|przez|w przeciagu) ostatniego {unit}"),
        ("half", r"pol {unit:roku} temu"),
        ("halves", r"poltora {unit:roku|miesiaca|tygodnia} temu|poltorej godziny temu"),
        ("ago", r"(?:{n} )?{unit} temu"),
        ("ago",
         r"przed {n:dwoma|trzema|czterema|pieciu|szesciu|siedmiu|osmiu|kilkoma|kilku|paroma|"
         r"paru|\d\d?} {unit:dniami|tygodniami|miesiacami|laty|godzinami}"),
        ("ago", r"przed {unit:rokiem|tygodniem|miesiacem}"),
        ("coming",
         r"(?:najblizsz|nastepn|kolejn)(?:ych|e) (?:{n} )?{unit:dni|dniach|tygodni|tygodniach|"
         r"miesiecy|miesiacach|lat|latach|tygodnie|miesiace|lata}"),
        ("ahead", r"za {unit:tydzien|miesiac|rok|godzine}"),
        ("ahead",
         r"za {n} {unit:dzien|dni|tydzien|tygodnie|tygodni|miesiac|miesiace|miesiecy|rok|"
         r"lata|lat|godzine|godziny|godzin}"),
        ("unit:-1", r"(?:we? )?" + _PREV + " " + _SPAN),
        ("unit:0", r"(?:we? )?" + _THIS + " " + _SPAN),
        ("unit:1", r"(?:we? )?" + _NEXT + " " + _SPAN),
        ("edge",
         r"(?:poczat(?:ku|ek)|polowie|kon(?:iec|cu|ca)) {unit:tygodnia|miesiaca|roku|kwartalu}"),
        ("wdweek:-1",
         r"{wd} (?:w )?(?:zeszlego|zeszlym|ubieglego|ubieglym) tygodni(?:a|u)|"
         r"(?:w )?zeszlym tygodniu we? {wd2:poniedzialek|wtorek|srode|czwartek|piatek|sobote|"
         r"niedziele}"),
        ("wdweek:1", r"{wd} (?:w )?(?:przyszlego|przyszlym) tygodni(?:a|u)"),
        ("wd:-1", r"(?:we? )?" + _PREV + r" {wd}"),
        ("wd:0", r"(?:we? )?(?:ten|ta|te|tym) {wd}"),
        ("wd:1", r"(?:we? )?" + _NEXT + r" {wd}"),
        ("wd", r"(?:we?|od|do|przed|po|na|z) {wd}"),
        ("weekend:-1", r"(?:we? )?" + _PREV + r" weekend(?:zie|u)?"),
        ("weekend:0", r"(?:we? )?ten weekend|tym weekendzie"),
        ("weekend:1", r"(?:we? )?" + _NEXT + r" weekend(?:zie|u)?"),
        ("weekend", r"(?:w|przez) weekend"),
        ("seasony", r"{season} {y}"),
        ("season_in:-1", r"{season} zeszlego roku"),
        ("season:-1", r"(?:we? )?" + _PREV + r" {season}"),
        ("season:0", r"(?:we? )?(?:tego|tej|ta|te|to|tym) {season}"),
        ("season:1", r"(?:we? )?" + _NEXT + r" {season}"),
        ("season",
         r"{season:latem}|(?:w|na|po|od|do|przed) {season2:lecie|lato|wiosne|wiosnie|jesien|"
         r"jesieni|zimie|zime|wiosna|zima|jesienia|lata|latem|wiosny|zimy}"),
        ("season?", r"{season:wiosna|jesienia|zima}"),
        ("feasty", r"{feast} {y}"),
        ("feast:-1", _PREV + r" {feast}"),
        ("feast:0", r"(?:ten|tego|te|tym) {feast}"),
        ("feast:1", _NEXT + r" {feast}"),
        ("feast", r"{feast}"),
        ("years", r"(?:w latach|od|miedzy|lata) {y}\s*(?:-|–|do|a|i)\s*{y2:(?:19|20)\d\d}"),
        ("decade", r"(?:w )?latach {dec:[2-9]0}(?:\.|-tych)?"),
        ("year",
         r"(?:w|od|do|przed|po|z|na|rok|roku) {y}(?: r(?:oku|\.)?)?(?! (?:zl|zlotych|pln|eur|"
         r"euro|usd|km|osob|mb|kb|slow|razy|ludzi|dolarow))"),
        ("year", r"{y} (?:roku|rokiem|rok|r\.)"),
        ("recent:30", r"ostatnio|niedawno"),
    ),
    cues=frozenset(["wczoraj", "przedwczoraj", "dzis", "dzisiaj", "jutro", "pojutrze", "ostatnio",
        "niedawno", "weekend", "weekendzie", "weekendu", "ostatnich", "ostatnie", "q1", "q2", "q3",
        "q4", "nocy", "wczorajszy", "wczorajszego", "wczorajszym", "wczorajszej", "wczorajsza",
        "wczorajsze", "dzisiejszy", "dzisiejszego", "dzisiejszym", "dzisiejszej", "jutrzejszy",
        "jutrzejszego", "jutrzejszym", "jutrzejszej", "latach"]),
    leads=r"we?|od|do|przed|po|na|ze?|pod|miedzy|a|i",
    since=r"(?:od|poczawszy od|odkad) ",
    after=r"po ",
    before=r"(?:przed|wczesniej niz) ",
    until=r"(?:az )?do ",
    between=r"(?:miedzy|pomiedzy|od) ",
    joined=r"a|i|do|-|–",
    early=r"(?:na |z |od |pod |przed |do )?poczat(?:ku|ek|kiem|kow) |wczes(?:nym|na|nego|nej) ",
    middle=r"(?:w |od |do |przed )?polow(?:ie|y|e|a) ",
    late=r"(?:pod |z |na |w |do )?kon(?:iec|cu|ca|cem|cowce) |pozn(?:ym|a|ego|ej) ",
    beside=r"(?:{n} )?{unit} (?:{back:przed}|po) ",
    past=(
        r"\w{2,}(?:łem|łam|łeś|łaś|liśmy|łyśmy|liście)|(?!(?:jeśli|czyli|chwili|dział|stół|"
        r"szkoła|szkoły|cały|cała|mały|mała|biały|biała|miły|miła|artykuł|szczegóły|skali|"
        r"było by|byli by)\b)\w{2,}(?:ł|ła|ło|li|ły)|zostałem|zmarł"
    ),
    future=(
        r"musza|musi|chce|chcemy|trzeba|termin|powinien|powinna|bede|bedzie|bedziemy|beda|"
        r"bedziesz|zamierzam|planuje|planujemy|czeka|czekaja|musze"
        r"|musimy|mam|mamy|przypomnij"
    ),
    some=frozenset({"pare", "paru", "kilka", "kilku", "kilkoma", "paroma"}),
    several=frozenset({"dni", "dniach", "tygodni", "tygodniach", "miesiecy", "miesiacach", "lat",
        "latach", "tygodnie", "miesiace", "lata", "godzin", "godziny"}),
    names=frozenset({"maj", "maja", "maju", "majem"}),
)  # fmt: skip
"""The words of time of Polish."""

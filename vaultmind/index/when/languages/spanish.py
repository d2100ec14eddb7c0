"""Spanish."""

from vaultmind.index.when.lexicon import Lexicon, numbered

_MONTHS = (
    r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|"
    r"diciembre"
)
_DAYS = r"lunes|martes|miercoles|jueves|viernes|sabado|domingo"
_PAST = r"(?:pasad[oa]|anterior|ultim[oa])"
_NEXT = r"(?:proxim[oa]|siguiente|que viene|entrante)"
_SPAN = r"{unit:semana|mes|trimestre|ano}"
_LEAD = r"(?:(?:el )?(?:" + _DAYS + r"),? )?(?:el )?(?:dia )?"

SPANISH = Lexicon(
    code="es",
    numbers={
        **numbered("un una uno", "dos", "tres unos unas varios varias algunos algunas pocos pocas",
                   "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce"),
        "un par de": 2, "unos pocos": 3, "unas pocas": 3,
    },
    ordinals=numbered("primero"),
    units={
        **dict.fromkeys(("hora", "horas"), "h"),
        **dict.fromkeys(("dia", "dias"), "d"),
        **dict.fromkeys(("semana", "semanas"), "w"),
        **dict.fromkeys(("mes", "meses"), "m"),
        **dict.fromkeys(("trimestre", "trimestres"), "q"),
        **dict.fromkeys(("ano", "anos"), "y"),
    },
    months={**numbered("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto",
                       "septiembre", "octubre", "noviembre", "diciembre"), "setiembre": 9},
    weekdays=numbered(*_DAYS.split("|"), start=0),
    seasons={"primavera": "spring", "verano": "summer", "otono": "autumn", "invierno": "winter"},
    feasts={
        **dict.fromkeys(("navidad", "navidades", "nochebuena"), "christmas"),
        **dict.fromkeys(("semana santa", "pascua", "pascuas"), "easter"),
        **dict.fromkeys(("ano nuevo", "nochevieja", "fin de ano"), "newyear"),
        "san valentin": "valentine",
    },
    rules=(
        ("skip",
         r"(?:cada|todos los|todas las|por|al|a la) (?:{wd}|{unit}|{month}|{season}|"
         r"fin de semana)"),
        ("skip", r"(?:de |del )?{wd} (?:a|al|y|o) {wd2}"),
        ("skip", r"feliz {feast}|los (?:lunes|martes|miercoles|jueves|viernes|sabados|domingos)"),
        ("skip", r"(?:tengo|tiene|tenia|cumple|cumplio|cumplir) {n} {unit}"),
        ("skip", r"(?:por|de) la manana|las .{0,12} de la manana|la manana siguiente"),
        ("day:-2", r"anteayer|antes de ayer|antier"),
        ("day:2", r"pasado manana"),
        ("day:-1", r"ayer|anoche"),
        ("day:0", r"hoy|esta (?:noche|manana|tarde)"),
        ("day:1", r"(?<!la\s)(?<!cada\s)manana"),
        ("dmy",
         r"(?:del |entre el |de )?{d}\s*(?:-|–|al|y el|y)\s*{d2:3[01]|[12]\d|"
         r"0?[1-9]} de {month}(?: (?:de|del) {y})?"),
        ("dmy", _LEAD + r"{d}(?: de)? {month}(?:,? (?:de |del )?{y})?"),
        ("halfyear", r"{q:primer|segund}[oa]? (?:mitad|semestre) (?:de |del )?{y}"),
        ("dmw", _LEAD + r"{dw} de {month}(?:,? (?:de |del )?{y})?"),
        ("months",
         r"(?:de|desde|entre) {month} (?:a|hasta|y) {month2:" + _MONTHS + r"}(?: (?:de |del )?{y})?"
         ),
        ("month_in:-1",
         r"{month} (?:del ano pasado|pasado ano)|el ano pasado en {month2:" + _MONTHS + "}"),
        ("month_in:0", r"{month} (?:de|del) (?:este ano|presente ano)"),
        ("month_in:1", r"{month} (?:del (?:proximo ano|ano que viene))"),
        ("monthy", r"{month},? (?:de |del )?{y}"),
        ("month:-1", r"(?:el )?(?:pasado {month}|{month2:" + _MONTHS + r"} pasado)"),
        ("month:0", r"este (?:mes de )?{month}"),
        ("month:1",
         r"(?:el )?proximo {month}|(?:el )?{month2:" + _MONTHS + r"} (?:proximo|que viene)"),
        ("month", r"(?:en|desde|hasta|de|para|durante|antes de|despues de|a|mes de) {month}"),
        ("month",
         r"{month:enero|febrero|marzo|abril|junio|julio|agosto|septiembre|setiembre|octubre|"
         r"noviembre|diciembre}"),
        ("quarter",
         r"q{q:[1-4]}(?: (?:de |del )?{y})?|{q2:primer|segundo|tercer|cuarto|1er|2o|3er|"
         r"4o} trimestre(?: (?:de|del) {y2:(?:19|20)\d\d})?"),
        ("last", r"(?:en |durante )?l[oa]s (?:ultim[oa]s|pasad[oa]s) (?:{n} )?{unit}"),
        ("last", r"(?:en|durante) (?:el|la) ultim[oa] {unit}"),
        ("half", r"hace medio {unit:ano}"),
        ("halves", r"hace (?:un|una) {unit} y medi[oa]"),
        ("ago", r"hace (?:unos |unas |como |casi |mas de )?{n} {unit}"),
        ("ago", r"{n} {unit} atras"),
        ("coming", r"l[oa]s proxim[oa]s (?:{n} )?{unit:dias|semanas|meses|anos}"),
        ("ahead", r"dentro de {n} {unit}"),
        ("ahead?", r"en {n} {unit}"),
        ("unit:-2", r"(?:el|la) {unit:semana|mes|ano} antepasad[oa]"),
        ("unit:-1",
         r"(?:la |el )?" + _SPAN +
         r" (?:pasad[oa]|anterior)|(?:la |el )?(?:pasad[oa]|anterior) {unit2:semana|mes|"
         r"trimestre|ano}"),
        ("unit:0", r"(?:este|esta) (?:mism[oa] )?" + _SPAN),
        ("unit:1",
         r"(?:la |el )?" + _SPAN + r" " + _NEXT +
         r"|(?:la |el )?proxim[oa] {unit2:semana|mes|trimestre|ano}"),
        ("edge",
         r"(?:a )?(?:principios?|mediados|finales|fin(?:es)?|comienzos) (?:de|"
         r"del) (?:la )?{unit:semana|mes|trimestre}|(?:a )?(?:principios?|mediados|finales|"
         r"fines|comienzos) (?:de|del) {unit2:ano}"),
        ("wdweek:-1",
         r"(?:el )?{wd} de la semana pasada|la semana pasada,? el {wd2:" + _DAYS + "}"),
        ("wdweek:1", r"(?:el )?{wd} de la (?:proxima semana|semana que viene)"),
        ("wd:-1", r"(?:el )?(?:pasado|ultimo) {wd}|(?:el )?{wd2:" + _DAYS + r"} pasado"),
        ("wd:0", r"este {wd}"),
        ("wd:1", r"(?:el )?proximo {wd}|(?:el )?{wd2:" + _DAYS + r"} (?:que viene|proximo)"),
        ("wd", r"(?:el|del|desde el|hasta el|al|para el) {wd}(?! \d)"),
        ("weekend:-1",
         r"(?:el )?(?:fin de semana pasado|pasado fin de semana|ultimo fin de semana)"),
        ("weekend:0", r"este fin de semana"),
        ("weekend:1", r"(?:el )?(?:proximo fin de semana|fin de semana que viene)"),
        ("weekend", r"(?:el|durante el|del) fin de semana"),
        ("seasony", r"{season} (?:de|del) {y}"),
        ("season_in:-1", r"{season} del ano pasado"),
        ("season:-1",
         r"(?:el |la )?{season} pasad[oa]|(?:el |la )?pasad[oa] {season2:verano|primavera|otono|"
         r"invierno}"),
        ("season:0", r"est[ea] {season}"),
        ("season:1",
         r"(?:el |la )?(?:proxim[oa] {season}|{season2:verano|primavera|otono|"
         r"invierno} que viene)"),
        ("season",
         r"(?:en|durante|desde|hasta|antes de|despues de|a) (?:el |la )?{season}|(?:antes|"
         r"despues) del {season2:verano|otono|invierno}"),
        ("feasty", r"{feast} (?:de|del) {y}"),
        ("feast:-1", r"(?:la |las )?{feast} pasad(?:a|as|o)"),
        ("feast:0", r"est(?:e|a|as) {feast}"),
        ("feast:1", r"(?:la |las )?proxim(?:a|as|o) {feast}"),
        ("feast",
         r"(?:entre|en|de|para|por|antes de|despues de|desde|hasta|durante|a) (?:la |"
         r"las )?{feast}"),
        ("years", r"(?:entre|de|desde) {y} (?:y|a|hasta) {y2:(?:19|20)\d\d}"),
        ("decade", r"(?:los )?(?:anos|los) {dec:[2-9]0}"),
        ("year",
         r"(?:en|desde|hasta|antes de|despues de|para|durante|ano|del|de|principios de|"
         r"finales de|mediados de) {y}(?! (?:euros|personas|km|veces|dolares|palabras|pesos|"
         r"usuarios|metros))"),
        ("recent:30", r"recientemente|ultimamente|hace poco"),
    ),
    cues=frozenset(["ayer", "anteayer", "anoche", "hoy", "manana", "antier", "recientemente",
        "ultimamente", "poco", "noche", "tarde", "q1", "q2", "q3", "q4"]),
    leads=(
        r"en|desde|hasta|de|del|para|por|durante|antes de|despues de|antes del|despues del|a|al|"
        r"y|el|la|entre"
    ),
    since=r"(?:desde|a partir de)(?:l| el| la| las)? ",
    after=r"despues de(?:l| el| la| las)? |tras (?:el |la |las )?",
    before=r"antes de(?:l| el| la| las)? ",
    until=r"hasta(?: el| la| las)? ",
    between=r"(?:entre|desde|de)(?:l| el| la)? |del ",
    joined=r"y|a|al|hasta|y el|hasta el|a la|-|–|hasta la|y la",
    early=r"(?:a |desde |hasta )?(?:principios?|comienzos|inicios) de(?:l| la)? ",
    middle=r"(?:a |desde |hasta )?mediados de(?:l| la)? ",
    late=r"(?:a |desde |hasta )?(?:finales|fines|fin) de(?:l| la)? ",
    beside=r"(?:{n} |el |la )?{unit} (?:{back:antes}|despues) de(?:l| la| las)? ",
    past=(
        r"\w{2,}(?<![aei]r)é|\w{2,}ó|\w{2,}(?:aron|ieron|aste|iste|aba|aban|ábamos)|fui|fue|"
        r"fueron|fuimos|estuve|estuvo|hice|hizo|tuve|tuvo|vi|vio|dije|dijo|vino|puse|he|hemos|"
        r"ha|han|había|tenía|quería|era|eran"
    ),
    future=(
        r"debo|debemos|plazo|vence|voy a|vamos a|va a|van a|tengo que|tenemos que|recuerdame|"
        r"sera|sere|haremos|hare"
        r"|tendre|tendremos|tendra|planeo|planeamos|iremos|ire"
    ),
    some=frozenset({"unos", "unas", "varios", "varias", "algunos", "algunas", "pocos", "pocas",
        "un par de", "unos pocos", "unas pocas"}),
    several=frozenset({"dias", "semanas", "meses", "anos", "horas"}),
    names=frozenset({"mayo", "marzo", "abril"}),
)  # fmt: skip
"""The words of time of Spanish."""

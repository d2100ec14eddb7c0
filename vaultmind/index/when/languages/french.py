"""French."""

from vaultmind.index.when.lexicon import Lexicon, numbered

_MONTHS = r"janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre"
_DAYS = r"lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
_PAST = r"(?:derniere?|passee?|precedente?)"
_NEXT = r"(?:prochaine?|suivante?|qui vient|a venir)"
_SPAN = r"{unit:semaine|mois|trimestre|annee|an}"
_LEAD = r"(?:(?:le )?(?:" + _DAYS + r"),? )?(?:le )?"

FRENCH = Lexicon(
    code="fr",
    numbers={
        **numbered("un une", "deux", "trois quelques plusieurs", "quatre", "cinq", "six", "sept",
                   "huit", "neuf", "dix", "onze", "douze"),
        "une quinzaine de": 15,
    },
    ordinals=numbered("premier"),
    units={
        **dict.fromkeys(("heure", "heures"), "h"),
        **dict.fromkeys(("jour", "jours"), "d"),
        **dict.fromkeys(("semaine", "semaines"), "w"),
        "mois": "m",
        **dict.fromkeys(("trimestre", "trimestres"), "q"),
        **dict.fromkeys(("an", "ans", "annee", "annees"), "y"),
    },
    months=numbered(
        "janvier janv", "fevrier fevr", "mars", "avril", "mai", "juin", "juillet", "aout",
        "septembre sept", "octobre oct", "novembre nov", "decembre dec",
    ),
    weekdays=numbered(*_DAYS.split("|"), start=0),
    seasons={"printemps": "spring", "ete": "summer", "automne": "autumn", "hiver": "winter"},
    feasts={
        **dict.fromkeys(("noel", "reveillon"), "christmas"),
        "paques": "easter",
        **dict.fromkeys(("nouvel an", "jour de l'an", "saint-sylvestre", "la saint-sylvestre"),
            "newyear"),
        "saint-valentin": "valentine",
    },
    rules=(
        ("skip",
         r"(?:chaque|tous les|toutes les|par|au) (?:{n} )?(?:{wd}|{unit}|{month}|week-?end|"
         r"matin|soir)s?(?! (?:dernier|prochain|de|d'))"),
        ("skip", r"(?:du )?{wd} (?:au|et|ou) {wd2}"),
        ("skip", r"joyeux {feast}|(?:pere|sapin de|bonne) {feast}"),
        ("skip", r"(?:(?:j'|tu |il |elle )?(?:ai|as|a|avait|aura)|age de|de) {n} {unit:ans}"),
        ("skip", r"(?:ai|as|a|avons|avez|ont|avait|avais|avaient|jamais|deja|pas|aurait) ete"),
        ("day:-2", r"avant-hier"),
        ("day:2", r"apres-demain"),
        ("day:-1", r"hier|la nuit derniere"),
        ("day:0", r"aujourd'hui|ce (?:matin|soir)|cet apres-midi"),
        ("day:1", r"demain"),
        ("dmy",
         r"(?:du |entre le )?{d}\s*(?:-|–|au|et le|et)\s*{d2:3[01]|[12]\d|"
         r"0?[1-9]} {month}(?: {y})?"),
        ("dmy", _LEAD + r"{d}(?:er)? {month}\.?(?:,? {y})?"),
        ("halfyear", r"{q:premier|deuxieme|second} semestre (?:de )?{y}"),
        ("dmw", _LEAD + r"{dw} {month}(?:,? {y})?"),
        ("months",
         r"(?:de|d'|entre|depuis) ?{month} (?:a|et|jusqu'en|jusqu'a) {month2:" + _MONTHS +
         r"}(?: {y})?"),
        ("month_in:-1",
         r"{month} (?:de )?l'an(?:nee)? derni(?:er|ere)|l'an(?:nee)? derni(?:er|ere) en {month2:"
         + _MONTHS + "}"),
        ("month_in:0", r"{month} de cette annee"),
        ("month_in:1", r"{month} de l'an(?:nee)? prochaine?"),
        ("monthy", r"{month}\.?,? (?:de )?{y}"),
        ("month:-1",
         r"(?:en )?{month} (?:dernier|passe)|le mois de {month2:" + _MONTHS + r"} (?:dernier|passe)"
         ),
        ("month:0", r"ce mois de {month}"),
        ("month:1", r"{month} prochain|le mois de {month2:" + _MONTHS + r"} prochain"),
        ("month",
         r"(?:en|depuis|jusqu'en|avant|apres|pour|de|d'|mi-|debut|fin|courant|mois de|mois d'|"
         r"des|fin du mois de)(?:\s*){month:" + _MONTHS + "}"),
        ("month",
         r"{month:janvier|fevrier|avril|juin|juillet|aout|septembre|octobre|novembre|decembre}"),
        ("quarter",
         r"q{q:[1-4]}(?: {y})?|t{q3:[1-4]} {y3:(?:19|20)\d\d}|{q2:premier|deuxieme|troisieme|"
         r"quatrieme|dernier|1er|2e|3e|4e} trimestre(?: (?:de )?{y2:(?:19|20)\d\d})?"),
        ("last",
         r"(?:ces|les|des) (?:{n} )?(?:derniere?s) {unit:heures|jours|semaines|mois|trimestres|"
         r"ans|annees}"),
        ("half", r"il y a une demi-{unit:annee}"),
        ("halves", r"il y a une? {unit:an|mois|semaine} et demie?"),
        ("ago",
         r"(?:il y a|voici|voila|y a) (?:environ |a peine |plus de |pres de |"
         r"de cela )?{n} {unit}(?! d'experience| entre| de (?:vacances|conge))"),
        ("coming", r"(?:les|des) (?:{n} )?prochaine?s {unit:jours|semaines|mois|ans|annees}"),
        ("ahead", r"d'ici {n} {unit}"),
        ("ahead?", r"dans {n} {unit}"),
        ("unit:-1", r"(?:la |le |l'|au )?" + _SPAN + r" " + _PAST + r"(?! (?:dans|a) )"),
        ("unit:0", r"(?:cette|ce) " + _SPAN),
        ("unit:1", r"(?:la |le |l'|au )?" + _SPAN + r" (?:prochaine?|qui vient|a venir)"),
        ("edge",
         r"(?:debut|milieu|fin) (?:de la |du |de l'|de cette )(?:{unit:semaine|mois|trimestre|"
         r"annee})(?! derni| proch| pass)"),
        ("wdweek:-1",
         r"(?:le )?{wd} de la semaine (?:derniere|passee)|la semaine derniere,? (?:le )?{wd2:"
         + _DAYS + "}"),
        ("wdweek:1", r"(?:le )?{wd} de la semaine prochaine"),
        ("wd:-1", r"{wd} (?:dernier|passe)"),
        ("wd:1", r"{wd} (?:prochain|qui vient)"),
        ("wd:0", r"ce {wd}"),
        ("wd", r"(?:depuis|jusqu'a|avant|apres|pour|de|d'ici|a partir de) {wd}"),
        ("wd", r"(?<!le\s){wd}(?: (?:matin|soir|apres-midi))?"),
        ("weekend:-1", r"(?:le )?week-?end (?:dernier|passe)"),
        ("weekend:0", r"ce week-?end"),
        ("weekend:1", r"(?:le )?week-?end prochain"),
        ("weekend", r"(?:pendant le|le|durant le|au cours du) week-?end"),
        ("seasony", r"{season}(?: de)? {y}"),
        ("season_in:-1", r"{season} de l'an(?:nee)? derni(?:er|ere)"),
        ("season:-1", r"(?:l'|le |au )?{season} (?:dernier|passe)"),
        ("season:0", r"cet? {season}"),
        ("season:1", r"(?:l'|le |au )?{season} prochain"),
        ("season",
         r"(?:en|au|depuis le|avant le|apres le|pendant le|durant le|jusqu'au) {season}|"
         r"(?:pendant |depuis |avant |apres |durant |jusqu'a |de )l'{season2:ete|automne|hiver}"),
        ("feasty", r"{feast} {y}"),
        ("feast:-1", r"{feast} dernier"),
        ("feast:1", r"{feast} prochain"),
        ("feast:0", r"ce {feast}"),
        ("feast",
         r"(?:entre|a|au|de|pour|avant|apres|depuis|jusqu'a|le|avant le|apres le|du) {feast}|(?:a|"
         r"pour|de|avant|apres) la {feast2:saint-valentin|saint-sylvestre}"),
        ("years", r"(?:entre|de) {y} (?:et|a) {y2:(?:19|20)\d\d}"),
        ("decade", r"(?:les |des )?annees {dec:[2-9]0}"),
        ("year",
         r"(?:en|depuis|jusqu'en|avant|apres|pour|annee|l'an|debut|fin|mi-|des|"
         r"de)(?:\s*){y}(?! (?:euros|personnes|km|fois|mots|dollars|utilisateurs|metres|"
         r"clients))"),
        ("recent:30", r"recemment|dernierement|ces derniers temps|l'autre jour"),
    ),
    cues=frozenset(["hier", "demain", "aujourd", "matin", "soir", "apres", "recemment",
        "dernierement", "derniers", "week", "weekend", "q1", "q2", "q3", "q4", "t1", "t2", "t3",
        "t4", "nuit"]),
    leads=(
        r"en|au|a|depuis|jusqu'en|jusqu'a|avant|apres|pour|de|du|pendant|le|la|et|entre|des|"
        r"a la|mi-|debut|fin"
    ),
    since=r"(?:depuis|a partir de|des)(?: le| la| l'|\s*l')?\s*|a partir du ",
    after=r"apres (?:le |la |l')?",
    before=r"avant (?:le |la |l')?",
    until=r"jusqu'(?:en|au|a)(?: la| l')?\s*|d'ici (?:a |la |le )?",
    between=r"(?:entre|de|du) (?:le |la |l')?",
    joined=r"et|a|au|jusqu'a|et le|jusqu'en|-|–|et la",
    early=r"(?:au |en |depuis |des )?(?:debut)(?: de(?: la| l')?| du)?\s*",
    middle=r"(?:a la )?mi-|(?:au |vers le )?milieu (?:de(?: la| l')?|du)\s*",
    late=r"(?:a la |en |vers la )?fin(?: de(?: la| l')?| du)?\s*",
    beside=r"(?:{n} |le |la )?{unit} (?:{back:avant}|apres) (?:le |la |l')?",
    past=(
        r"(?:ai|as|a|avons|avez|ont|suis|es|est|sommes|êtes|sont) (?:\w+ ){0,2}\w+(?:é|ée|és|"
        r"ées|u|ue|us|is|it|ris|ert)|\w{2,}(?:ait|ais|"
        r"aient)(?<!mais)(?<!sais)(?<!fais)(?<!fait)(?<!vais)(?<!jamais)(?<!français)"
    ),
    future=(
        r"delai|echeance|vais|va|allons|vont|prevu|prevue|rappelle|dois|devons|doit|sera|serai|"
        r"aurai|ferai"
        r"|ferons|irons|irai|prevoyons"
    ),
    some=frozenset({"quelques", "plusieurs", "une quinzaine de"}),
    several=frozenset({"jours", "semaines", "ans", "annees", "heures"}),
    names=frozenset({"mars", "mai", "avril"}),
)  # fmt: skip
"""The words of time of French."""

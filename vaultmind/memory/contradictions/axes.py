"""Words that exclude each other, axis by axis, in English, Polish and Russian.

Patterns as in `relations`: no capitals.
"""

from __future__ import annotations

from vaultmind.memory.contradictions.relations import pattern

_DIET_MEAT = r"""eats? (?:red )?meat|eating meat|meat[ -]?eater|carnivore|omnivore|
    (?:je|jem|jada\w*|jeść|jedz\w+)(?: (?:już|znowu|znów))? mięs[oa]|mięsożern\w*|wszystkożern\w*|
    (?:ест|ем|есть|едят|ел|ела)(?: (?:больше|уже|снова|опять))? мяс[оа]|мясоед\w*|всеядн\w*"""
_AXES: dict[str, tuple[str, ...]] = {
    "liking": (
        r"""prefer\w*|like[sd]?|liking|loves?|loved|enjoy\w*|adores?|fond of|fan of|wants?|into|
        keen on|favou?rs?|
        woli|wolę|preferuj\w*|lubi\w*|polubi\w*|uwielbia\w*|kocha|kocham|chce|chcę|fank?a|fanem|
        предпочита\w*|люб(?:лю|ит|ят|ил|ила|или)|полюбил\w*|обожа\w*|нрав\w+|понрав\w+|хочет|хочу|фанат\w*""",
        r"""hates?|hated|dislike[sd]?|detest\w*|can(?: not)? stand|loathes?|avoids?|despises?|
        nienawidzi\w*|znieni\w*|znosi|znoszę|cierpi\w*|unika\w*|brzydz\w*|
        ненавид\w*|терпе\w+|терпит|избега\w*|терплю|разлюбил\w*""",
    ),
    "length": (
        r"""short\w*|brief\w*|concise\w*|terse\w*|succinct\w*|to the point|compact|bullet points?|
        krótk\w*|zwięz\w*|krócej|skrót\w*|lakoniczn\w*|
        коротк\w*|кратк\w*|короче|лаконичн\w*|сжат\w*""",
        r"""long|longer|lengthy|detailed|in detail|thorough\w*|verbose|exhaustive|elaborate|
        extensive|comprehensive|in[ -]depth|
        długi\w*|długa|szczegół\w*|obszern\w*|wyczerpuj\w*|dokładn\w*|rozbudowan\w*|dłużej|
        длинн\w*|подробн\w*|развернут\w*|обстоятельн\w*|детальн\w*""",
    ),
    "tone": (
        r"formal\w*|official\w*|formaln\w*|oficjaln\w*|формальн\w*|официальн\w*|строг\w*",
        r"""informal\w*|casual\w*|relaxed|friendly|nieformaln\w*|swobodn\w*|luźn\w*|
        неформальн\w*|неофициальн\w*|свободн\w*|дружеск\w*""",
    ),
    "address": (
        r"(?:by|on|per) (?:first name|ty)|na ty|po imieniu|на ты|по имени",
        r"per pan\w*|na pan\w*|by (?:last name|surname)|по имени и отчеству|на вы",
    ),
    "shade": (
        r"dark(?! chocolate| roast| beer)|ciemn\w*|темн\w*",
        r"light|bright|jasn\w*|светл\w*",
    ),
    "indent": (r"tabs?|tabulator\w*|табы|табами|табуляц\w*", r"spaces|spacj\w*|пробел\w*"),
    "units": (
        r"metric|kilomet\w*|celsius\w*|centigrade|metryczn\w*|метрическ\w*|цельси\w*",
        r"imperial|miles|fahrenheit\w*|imperialn\w*|фаренгейт\w*|имперск\w*",
    ),
    "rank": (r"junior\w*|джун\w*|младш\w+", r"senior\w*|starsz\w+|старш\w+|сеньор\w*"),
    "spelling": (
        r"british(?: english| spelling)|brytyjsk\w+(?: angielsk\w+| pisown\w+)|британск\w+",
        r"american(?: english| spelling)|amerykańsk\w+(?: angielsk\w+| pisown\w+)|американск\w+",
    ),
    "fuel": (
        r"electric|elektryczn\w*|электрическ\w*|электромобил\w*",
        r"diesel\w*|dizl\w*|diesl\w*|дизел\w*",
        r"petrol|gasoline|benzynow\w*|бензинов\w*",
        r"hybrid\w*|hybryd\w*|гибрид\w*",
    ),
    "clock": (
        r"24[- ]?(?:hour|h)|24-godzinn\w*|24-часов\w*",
        r"12[- ]?(?:hour|h)|12-godzinn\w*|12-часов\w*",
    ),
    "seat": (
        r"window seats?|by the window|przy oknie|у окна",
        r"aisle seats?|on the aisle|by the aisle|przy przejściu|od przejścia|у прохода",
    ),
    "price": (
        r"cheap\w*|inexpensive|low-cost|tani\w*|дешев\w*",
        r"expensive|pricey|premium|drogi\w*|drogie|дорог\w*",
    ),
    "taste": (r"sweet\w*|słodk\w*|сладк\w*", r"sour|bitter|unsweetened|gorzk\w*|горьк\w*"),
    "noise": (r"quiet\w*|silen\w*|cich\w*|cisz\w*|тих\w*|тишин\w*",
              r"loud|noisy|głośn\w*|громк\w*|шумн\w*"),
    "temper": (r"introvert\w*|introwerty\w*|интроверт\w*",
               r"extrovert\w*|extravert\w*|ekstrawerty\w*|экстраверт\w*"),
    "hand": (r"left-handed|leworęczn\w*|mańkut\w*|левш\w*",
             r"right-handed|praworęczn\w*|правш\w*"),
    "hour": (
        r"""morning person|early bird|early riser|lark|ranny ptaszek|rannym ptaszkiem|skowron\w+|
        жаворон\w*""",
        r"night owl|evening person|sow[aąęy]|nocny marek|nocnym markiem|сова|совой",
    ),
    "daytime": (
        r"(?:in the )?mornings?|rano|rankiem|z rana|poranki|утром|по утрам|с утра",
        r"""(?:in the |at )?(?:evenings?|nights?)|wieczor\w*|wieczór|nocą|w nocy|
        вечер\w*|ночью|по ночам""",
    ),
    "place": (
        r"""remote\w*|from home|home[ -]office|zdaln\w*|z domu|на удален\w*|удален\w*|из дома|
        дистанционн\w*|online|on-line|онлайн""",
        r"""in the office|from the office|on-?site|at the office|office-based|stacjonarn\w*|
        z biura|w biurze|из офиса|в офисе|в офис|in person|osobiście|лично|очно""",
    ),
    "diet": (
        r"vegetarian\w*|wegetarian\w*|вегетариан\w*|meat-free|jarosz\w*",
        _DIET_MEAT,
        r"vegans?|wegan\w*|веган\w*",
        r"pescatarian\w*|pescetarian\w*|peskatarian\w*|пескетариан\w*",
    ),
    "smoking": (
        r"""smokes?|smoking|smoker|cigarettes?|pali|palę|palenia|palenie|palaczem|palacz\w*|
        papieros\w*|курит|курю|курить|курени\w*|курильщи\w*|сигарет\w*""",
        r"non-?smoker|smoke-?free|niepaląc\w*|некуря\w*",
    ),
    "alcohol": (
        r"""drinks? alcohol|drinking alcohol|alcohol|(?:pije|piję|pić)(?: już)? alkohol\w*|
        alkohol\w*|
        (?:пьет|пью|пить)(?: больше)? алкогол\w*|алкогол\w*|спиртн\w*""",
        r"teetotal\w*|sober|abstynent\w*|трезвенни\w*|непьющ\w*",
    ),
    "marriage": (
        r"single|unmarried|singielk?\w*|niezamężna|nieżonaty|не женат|не замужем|холост\w*|"
        r"незамуж\w*|неженат\w*",
        r"married|żonat\w*|zamężn\w*|po ślubie|wysz\w+ za mąż|ożenił\w*|женат|замужем|женил\w+|"
        r"вышла замуж|got married",
        r"divorced|rozwiedzion\w*|rozwiódł|rozwiodł\w+|rozwodnik|rozwódka|развед\w*|развел\w+|"
        r"в разводе",
        r"widow\w*|wdow\w*|вдов\w*",
        r"engaged|zaręczon\w*|помолвлен\w*",
    ),
    "employment": (
        r"unemployed|out of work|jobless|bezrobotn\w*|безработн\w*",
        r"employed|has a job|zatrudnion\w*|трудоустроен\w*",
        r"retired|emeryt\w*|na emeryturze|пенсионер\w*|на пенсии",
    ),
    "hours": (
        r"full[ -]time|(?:na )?pełny etat|pełnym etacie|полн\w+ (?:день|ставк\w+)|на полную ставку",
        r"part[ -]time|pół etatu|на полставки|неполн\w+ (?:день|ставк\w+)",
    ),
    "home": (
        r"owns?|bought|has bought|własne|kupił\w*|собственн\w*|купил\w*",
        r"rents?|renting|rented|wynajm\w*|снима\w*|аренд\w*",
    ),
    "pace": (
        r"daily|every day|each day|codzienn\w*|każdego dnia|ежедневн\w*|каждый день",
        r"weekly|every week|once a week|tygodniow\w*|co tydzień|raz w tygodniu|еженедельн\w*|"
        r"каждую неделю|раз в неделю",
        r"monthly|every month|once a month|miesięczn\w*|co miesiąc|raz w miesiącu|ежемесячн\w*|"
        r"каждый месяц|раз в месяц",
    ),
    "often": (
        r"often|frequently|a lot|często|часто|много",
        r"rarely|seldom|hardly ever|rzadko|редко",
    ),
    "speed": (r"fast|quick\w*|szybk\w*|быстр\w*", r"slow\w*|woln[eyio]\w*|powoli|медленн\w*"),
    "ease": (r"simple|simply|easy|prost\w*|прост\w*|простым",
             r"complex|technical\w*|advanced|złożon\w*|techniczn\w*|сложн\w*|техническ\w*"),
    "early": (r"early|wcześnie|рано", r"late|późno|поздно"),
    "open": (r"public\w*|publiczn\w*|публичн\w*|открыт\w*",
             r"private\w*|prywatn\w*|приватн\w*|закрыт\w*|частн\w*"),
    "status": (r"in progress|ongoing|w toku|trwa|в процессе|в работе",
               r"finished|completed|done|zakończon\w*|ukończ\w*|skończon\w*|заверш\w*|"
               r"закончен\w*|готов\w*"),
    "use": (r"enabled|turned on|switched on|włączon\w*|включен\w*",
            r"disabled|turned off|switched off|wyłączon\w*|выключен\w*|отключен\w*"),
}  # fmt: skip
_SPEAKING = r"(?:in|po|на|по)[ -]"
_AXES["language"] = tuple(
    f"{_SPEAKING}(?:{names})"
    for names in (
        r"english|angielsku|английском|английски",
        r"polish|polsku|польском|польски",
        r"russian|rosyjsku|русском|русски",
        r"german|niemiecku|немецком|немецки",
        r"spanish|hiszpańsku|испанском|испански",
        r"french|francusku|французском|французски",
        r"ukrainian|ukraińsku|украинском|украински",
    )
)
AXES = {name: pattern("|".join(f"({pole})" for pole in poles)) for name, poles in _AXES.items()}
"""One group a pole."""
STRONG = frozenset(
    {"diet", "smoking", "alcohol", "marriage", "employment", "hand", "temper", "hour", "address"}
)
"""Axes of a person: they say what they are about without another word."""
COMPATIBLE = {"diet": ({1, 3},), "marriage": ({1, 3}, {1, 4})}
"""Poles that go together: a vegan eats no meat, the divorced are single."""
SCHEDULED = frozenset({"daytime", "pace", "hours", "early", "status", "often"})
"""Axes whose poles can hold side by side: only a word of change makes them exclude."""
LANGUAGE_OF = pattern(
    r"""answer\w*|repl\w+|respon\w+|write|explain\w*|speak to|talk to|communicat\w+|
    odpowi\w+|pisz|pisać|mów|tłumacz|rozmawia\w+|ответ\w*|отвеча\w+|пиши\w*|писать|говори|
    объясня\w+|общат\w+|общ[ае]\w+"""
)
"""What is done in one language for the user; people themselves speak many."""

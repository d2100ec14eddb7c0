"""Whether a fact is sensitive: health, money, beliefs, sex, other people's data, whereabouts.

A cue list per kind in English, Polish and Russian, matched at word boundaries; `*` stands for
any ending. Cues are words that are rarely about anything else. A few senses that look alike and
are harmless (a health check, rich text, a doctor string) are taken out first. It errs on both
sides: it raises caution, it does not guard secrets (`redact` does).
"""

from __future__ import annotations

import re
from typing import Literal

from vaultmind.memory.words import fold

Kind = Literal["health", "money", "beliefs", "sex", "others", "whereabouts"]
KINDS: tuple[Kind, ...] = ("health", "money", "beliefs", "sex", "others", "whereabouts")

_HARMLESS = """
health check*|health-check*|healthcheck*|health endpoint*|health probe*|health route*
healthy (?:build|cluster|node|server|service)*|code health|project health|repo health
rich text|credit* for|in debt to*|technical debt|tech debt|dług* techniczn*|długu techniczn*
техническ* долг*|anti-?virus|computer virus*|wirus* komputerow*|компьютерн* вирус*
cancel*|surgical edit*|binary operation*|depression glass|great depression|economic depression
pip install diabet*|drug* store|sex[ -]determin*|sexagesimal|same[ -]sex pair*
religiously|cult of|bible of|political map|party time|search party|birthday party|third party
third-party|dinner party|garden party|house party|работа над ошибками|operat* system*
doctor who|doctor strange|doctor string*|doctest*|vaultmind doctor|doctor command*|therapist bot
loan word*|loanword*|interest in|weak reference*|memory bank*|bank holiday*|river bank*|power bank*
budget* (?:of|for) (?:tokens?|errors?|memory)|token budget*|error budget*|budżet* token*
address bar|memory address*|ip address*|adres* ip|adres* pamięci|адрес* памяти|ip-адрес*
email address*|web address*|phone number format*|injection attack*|sql injection*|insulin pump api
mental model*|model* mentaln*|pain point*|pain in the neck|painless*|symptom* of the bug
диагностик* сети|diagnos* tool*|diagnostic log*|diagnostyk* sieci|treatment of errors
здоров* сервис*|проверк* здоровья|zdrow* serwer*|zdrow* usług*|sprawdz* zdrow*
votes? (?:on|for) (?:pull|issue|pr|feature)*|church encoding|church numeral*
trans(?:action|late)*|gay-lussac|mass spectromet*|mass production
"""
_CUES: dict[Kind, str] = {
    "health": """
        illness*|disease*|diagnos*|cancer*|tumou?r*|diabet*|asthma*|allerg*|epilep*|hiv|aids
        depress*|anxiety|bipolar|adhd|autis*|schizophren*|ptsd|insomnia|migraine*|chronic pain
        pregnan*|miscarriage*|ivf|abort(?:ion)*|surgery|surgeries|chemotherap*|insulin|medication*
        antidepressant*|prescription*|therap(?:y|ist)*|psychiatr*|psycholog(?:ist)*|rehab
        alcoholic*|addict*|sober|overdos*|disab(?:led person|ility|ilities)|wheelchair*
        blood pressure
        blood type|blood test*|celiac|coeliac|lactose intoleran*|gluten intoleran*|anorexi*|bulimi*
        heart (?:attack|condition|disease)|stroke survivor*|vaccinat*|covid|mental health
        sick leave|hospitali[sz]*|my doctor|her doctor|his doctor|takes pills|panic attack*
        chor(?:y|a|ob*|uje)|diagnoz*|nowotw*|rak|raka|cukrzyc*|astm*|alergi*|uczulon*|padaczk*
        depresj*|lękow*|nerwic*|migren*|bezsenno*|ciąż*|poroni*|in vitro|aborcj*
        operacj* (?:serca|kolana|oka)
        leki|leków|lekarstw*|recept*|terapeut*|terapi*|psychiatr*|psycholog*|niepełnosprawn*
        uzależni*|alkoholi*|celiaki*|nietoleranc*|zawał*|udar|udaru|nadciśnien*|ciśnieni* krwi
        zwolnieni* lekarski*|szpital*|szczepi*|grup* krwi|leczy się|choruj*
        болезн*|болеет|болен|больна|диагноз*|рак|раком|рака|опухол*|диабет*|астм*|аллерг*
        эпилеп*|депресс*|тревожн* расстройств*|мигрен*|бессонниц*|беремен*|выкидыш*|эко|аборт*
        лекарств*|таблетк*|рецепт врача|терапевт*|психотерап*|психиатр*|психолог*|инвалид*
        зависимост* от|алкогол(?:ик|изм)*|целиак*|непереносимост*|инфаркт*|инсульт*|давлени* крови
        гипертони*|больничн*|больниц*|группа крови|вич|операци* на (?:сердце|колене|глазах)
    """,
    "money": """
        salar(?:y|ies)|earns|income|debt*|loan*|mortgage*|bankrupt*|credit score|overdraft*|savings
        net worth|tax return*|owes|inherit(?:ed|ance)|alimony|pension*|bank account*|iban|payroll
        paycheck*|invest(?:s|ed|ments?) in (?:stocks|shares|crypto|bitcoin)|gambl*|broke|rent is
        pensj*|zarabia*|zarobk*|wynagrodzeni*|dochod*|dług|długi|długów|długu|zadłuż*|kredyt*
        pożyczk*|hipote*
        oszczędnoś*|bankruct*|upadłoś*|alimen*|emerytur*|spadek po|konto bankow*|konta bankow*
        komornik*
        зарплат*|зарабатыва*|доход*|долг|долги|долгов|долга|кредит*|ипотек*|заем|займ*
        сбережени*|банкрот*|алимент*|пенси*|наследств*|банковск* счет*|коллектор*|оклад*
    """,
    "beliefs": """
        catholic*|protestant*|orthodox christian*|muslim*|islam*|jewish|judaism|buddhis*|hindu*
        atheis*|agnostic*|christian|christians|christianity|believes in god|goes to church|prays
        religio*|church|mosque|synagogue|votes?|voted|voter*|republican*|democrat|democrats
        conservative party|labour party|liberal party|left-wing|right-wing|socialist*|communist*
        trade union*|union member*|political view*|politically|party member*|activist*|anarchist*
        katoli*|protestan*|prawosław*|muzułm*|żyd|żydow*|judai*|buddy*|ateist*|agnosty*|wierząc*
        niewierząc*
        kościoł*|kościel*|modli*|religi*|głosuj*|głosował*|partii|wyborc*|lewicow*|prawicow*
        związk* zawodow*
        poglądy polityczn*|poglądów polityczn*|chrześcija*
        католи*|православн*|мусульм*|иуде*|буддис*|атеис*|агности*|верующ*|церк*|мечет*|синагог*
        молится|религи*|голосу*|голосовал*|партии|партию|левы* взгляд*|правы* взгляд*|профсоюз*
        политическ* взгляд*|христиан*
    """,
    "sex": """
        gay|lesbian*|bisexual*|homosexual*|heterosexual*|asexual*|queer|transgender*|non-?binary
        sexual*|sex life|sex|erotic*|porn*|contracepti*|virgin|polyamor*|affair with
        cheat(?:s|ed) on
        coming out|came out as|lgbt*
        gej|geja|gejem|lesbijk*|biseksual*|homoseksual*|heteroseksual*|aseksual*|transpłciow*
        niebinarn*
        seks|seksu*|erotycz*|porno*|antykoncep*|romans z|zdradz*|poliamor*
        гей|гея|геем|лесби*|бисексуал*|гомосексуал*|гетеросексуал*|асексуал*|трансгендер*|небинарн*
        секс|сексуал*|эроти*|порно*|контрацеп*|изменяет (?:жене|мужу)|роман с коллегой
    """,
    "whereabouts": """
        home address|lives at|lives on \\w+ (?:street|st|avenue|road)|address is|alarm code
        door code
        keys? under|(?:house|flat|apartment) is empty|away from home|away until|on holiday until
        on vacation until|alone at home|home alone|leaves (?:home|the house) at|license plate
        staying at|hotel room|gps|location is|coordinates
        adres domow*|adres to|mieszka przy|mieszkam przy|ul|ulic*|kod do (?:drzwi|domofonu|alarmu)
        klucz* pod|dom (?:jest|będzie|stoi) pust*|mieszkanie (?:jest|będzie|stoi) puste
        wyjeżdża do|na urlopie do
        sam* w domu|wychodzi z domu|tablic* rejestracyjn*|numer pokoju
        домашн* адрес*|адрес|живет на улице|живу на улице|улиц*
        код (?:от двери|домофона|сигнализации)
        ключ* под|(?:дом|квартира) (?:будет|стоит) пуст*|в отпуске до|уезжает до|од[иа]н* дома
        выходит из дома|номер машины
    """,
}
_KIN = (
    "wife|husband|girlfriend|boyfriend|partner|son|daughter|mother|father|mom|mum|dad|brother|"
    "sister|friend|boss|manager|colleague|coworker|co-worker|neighbou?r|cousin|aunt|uncle|"
    "grandmother|grandfather|client|roommate|flatmate|ex|child|kid|parents|"
    "żon*|mąż|męż*|dziewczyn*|chłopak*|partnerk*|syn*|córk*|matk*|ojciec|ojca|mam[ayęie]|"
    "tat[ayęo]|"
    "brat*|siostr*|przyjaci*|szef*|koleg*|koleżank*|sąsiad*|kuzyn*|ciot*|wuj*|babci*|dziad*|"
    "klient*|"
    "współlokator*|dzieck*|dzieci|rodzic*|"
    "жен[аыуео]|женой|муж|мужа|мужу|мужем|девушк*|парень|парня|сын|сына|сыну|доч*|мать|матер*|"
    "мам[аеуы]|"
    "отец|отца|отцу|пап[аеуы]|брат*|сестр*|друг|друга|подруг*|начальни*|коллег*|сосед*|тет[яие]|"
    "дяд[яие]|"
    "бабушк*|дедушк*|клиент*|ребен*|дети|родител*"
)
_PERSONAL = re.compile(
    r"(?<!\w)\+?\d[\d ()-]{6,40}\d(?!\w)|(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.\w+"
    r"|\b(?:phone|telefon\w*|телефон\w*|"
    r"birthday|"
    r"born|urodzil\w*|urodzin\w*|день рождения|родил\w*|divorc\w*|rozwod\w*|rozwiod\w*|развод\w*|"
    r"развел\w*|arrested|aresztowa\w*|арестова\w*|died|zmarl\w*|умер\w*|fired|zwolnion\w*|"
    r"уволил\w*|"
    r"pesel|passport|paszport\w*|паспорт\w*|address|adres\w*|адрес\w*|secret\w*|sekret\w*|"
    r"секрет\w*)\b"
)


def _cues(lines: str) -> re.Pattern[str]:
    alternatives = [cue.strip() for line in lines.strip().splitlines() for cue in line.split("|")]
    # a `|` inside a group is split too, so that the whole is joined as it was
    joined = fold("|".join(alternatives)).replace("*", r"[\w-]*")
    return re.compile(rf"\b(?:{joined})(?!\w)")


_KIND_CUES = {kind: _cues(lines) for kind, lines in _CUES.items()}
_HARMLESS_CUES = _cues(_HARMLESS)
_OTHERS = _cues(_KIN)


def sensitive(text: str) -> frozenset[Kind]:
    """Return the kinds of sensitive matter that a fact touches; empty for none.

    `others`: someone the person knows is named by their tie, with something private: any other
    kind, a number, an address, a birthday, a divorce.
    """
    folded = _HARMLESS_CUES.sub(" ", fold(" ".join(text.split())))
    found: set[Kind] = {kind for kind, cues in _KIND_CUES.items() if cues.search(folded)}
    if _OTHERS.search(folded) and (found or _PERSONAL.search(folded)):
        found.add("others")
    return frozenset(found)

"""Words that mean the same, and values that are no proper names: for comparing facts."""

from __future__ import annotations

from functools import lru_cache

from vaultmind.memory.words import fold

_SYNONYMS = """
answer* reply replies replie* respon* odpowied* odpowiad* ответ* отвеч*
child children kid kids dziecko dziecka dzieci dziecmi дети детей ребенок ребенка детьми
meeting* spotkan* встреч* созвон* meetup*
standup* stand-up* daily стендап* дейли
coffee* kawa kawe kawy kaw kawie кофе
tea herbat* чай чая чаю
call calls calling phone phoning dzwon* zadzwon* звон* позвон*
drink drinks drinking pije pic pij pijam пить пьет пью пей
eat eats eating je jem jesc jada jadam ест ем едят
work works working prac* работа* job
dog dogs pies psa psem psy psow собак* пес пса
cat cats kot* кот кота коты кошк*
message* wiadomosc* сообщен*
nut nuts orzech* орех*
milk mlek* молок* молоч* nabial*
sugar cukier cukr* сахар*
fish ryba ryb ryby rybe рыб*
emoji* emotk* emotikon* эмодзи смайл*
text texts tekst* текст*
mode theme tryb* motyw* режим* тем*
car cars auto aut auta samochod* машин* автомобил*
flat apartment mieszkani* квартир*
note notes notat* заметк*
swim* plyw* basen* плав* бассеин*
run runs running bieg* бег*
wake wakes waking up get gets wstaj* budz* вста* просыпа*
code kod kodu kodem kodzie код кода коде
colour* color*
favourite* favorite*
"""
_EXONYMS = """
warsaw warszaw* варшав*
cracow krakow* краков*
vienna wieden wiedniu wiednia вен*
munich monachium мюнхен*
rome rzym* рим*
prague prag* прага праге прагу
paris paryz* париж*
london londyn* лондон*
moscow moskw* москв*
berlin* берлин*
lisbon lizbon* лиссабон*
petersburg* петербург* питер*
kyiv kiev kijow* киев*
cologne koln* kolonia kolonii
lviv lwow* львов*
gdansk* гданьск* danzig
wroclaw* вроцлав*
poznan* познан*
english angiel* английс*
polish polsk* польск*
russian rosyj* русск*
german niemiec* немецк*
spanish hiszpansk* испанск*
french francusk* французск*
italian wlosk* итальянск*
"""
_COUNTRIES = """
poland polsk* polsc* польш* germany niemcy niemczech niemiec германи* france francj* франци* spain
hiszpani* испани* italy wloch* wlosz* итали* russia rosj* росси* ukraine ukrain* украин* england
angli* англи* britain uk brytani* британи* usa us america ameryk* америк* сша stanach stany
czechia czech* чехи* austria austri* австри* switzerland szwajcari* швеицари* sweden szwecj* швеци*
norway norweg* норвеги* denmark dani* дани* netherlands holland* holandi* нидерланд* голланди*
belgium belgi* бельги* portugal* португал* ireland irlandi* ирланди* scotland szkocj* шотланди*
canada kanad* канад* japan japoni* япони* china chin* кита* india indi* инди* turkey turcj* турци*
georgia gruzj* грузи* serbia serbi* серби* israel izrael* израил* europe europ* европ* belarus
bialorus* белорус* беларус* kazakhstan казахстан* lithuania litw* литв* latvia lotw* латви*
estonia estoni* эстони* finland finlandi* финлянди* greece grecj* греци* armenia армени*
slask* mazowsz* malopolsk* pomorz* bavaria bawari* бавари* california kaliforni* калифорни* texas
toskani* tuscany сибир* урал* mazury podlas* podhal* asia azj* азии
"""
_CITIES = """
warsz* krak* gdan* gdyni* sopot* wroclaw* poznan* lodz* lodzi szczecin* lublin* katowic* bialyst*
rzeszow* torun* bydgoszcz* moskw* москв* петербург* питер* новосибирск* екатеринбург* казан* самар*
омск* минск* киев* варшав* краков* berlin* берлин* london* londyn* лондон* paris paryz* париж*
pra* prague munich monachium мюнхен* wieden wiedniu vienna tbilisi тбилиси ереван* berlinie
amsterdam* амстердам* dublin* barcelon* madryt* madrid*
"""
_TOOLS = """
obsidian* notion* linux* windows* mac macos mac'a vim neovim emacs vscode vs postgres* mysql sqlite
python* rust* go golang typescript javascript java react* vue github* gitlab* slack* teams discord*
gmail* outlook* chatgpt claude* gemini evernote roam logseq jira linear trello figma excel* docker*
kubernetes aws azure gcp iphone* android* ios firefox* chrome* safari* telegram* signal* whatsapp*
zoom* mongodb redis django flask fastapi kotlin swift svelte next nextjs arch debian ubuntu fedora
pandas polars duckdb sublime pycharm intellij cursor todoist
"""
_COMMON = """
a an the my his her own home house flat apartment city town village country countryside centre
center suburbs small big large new same night nights day shifts office remote alone parents
company startup bank school hospital university team department family different another place
dom* mieszkan* miescie miasto miasta wsi wies centrum blok* biur* firm* bank* szkol* szpital*
zespol* rodzic* nocy domku kawalerk* przedmies* duz* mal* nowym nowej zdaln* domow* korporacj*
доме дом дома городе город деревн* центр* квартир* офис* компани* банк* школ* больниц* родител*
общежити* пригород* больш* маленьк* нов* удален* команд* стартап* одиночк* фирм*
"""


def _table(lines: str) -> tuple[dict[str, int], list[tuple[str, int]]]:
    exact: dict[str, int] = {}
    stems: list[tuple[str, int]] = []
    for number, line in enumerate(lines.strip().splitlines(), 1):
        for word in fold(line).split():
            if word.endswith("*"):
                stems.append((word[:-1], number))
            else:
                exact[word] = number
    return exact, stems


_TABLES = {
    "synonym": _table(_SYNONYMS),
    "exonym": _table(_EXONYMS),
    "country": _table(_COUNTRIES),
    "city": _table(_CITIES),
    "tool": _table(_TOOLS),
    "common": _table(_COMMON),
}


@lru_cache(maxsize=20_000)
@lru_cache(maxsize=50_000)
def entry(table: str, folded: str) -> int:
    """Return the group of a folded word in a table; 0 where it is in none."""
    exact, stems = _TABLES[table]
    if folded in exact:
        return exact[folded]
    return next((number for stem, number in stems if folded.startswith(stem)), 0)

"""What a person who spoke to their memory is told, in the language they spoke."""

from __future__ import annotations

from vaultmind.redact import has_household_code
from vaultmind.types import Outcome

FALLBACK = "en"

_DONE: dict[str, dict[str, str]] = {
    "en": {
        "remember": "Remembered: “{fact}” ({path}).",
        "replace": "Corrected: “{before}” is now “{fact}” ({path}).",
        "forget": "Forgotten: “{before}” ({path}).",
        "hidden": "{count} of the messages that said it: hidden from recall.",
        "skip": "That is kept out of my memory.",
        "nothing_to_skip": "Nothing of that was kept, so there is nothing to take out.",
        "unchanged": "I already know that: “{fact}” ({path}).",
        "not_found": "I found no fact that is clearly about “{asked}”. Nothing was changed.",
        "not_kept": "“{fact}” holds something that is not kept; edit it there: {path}.",
        "holds_more": "Nothing was changed: “{fact}” ({id}, {path}) says more. Say it whole.",
        "waits": "It was never kept: it waits in {path}. Reject: {reject}.",
        "nearest": "The closest:",
        "nothing_last": "There is no fact that was written a moment ago. Say what to forget.",
        "suggested": "It waits for your approval: “{fact}” ({path}).",
        "denied": "That was not allowed: {reason}. Nothing was changed.",
        "redacted": "Taken out before storing: {kinds}.",
        "code": "The code stands in plain text in your vault.",
        "none": "I heard no request to my memory in that.",
        "known": "This is what I know:",
        "again": "That was done already, for these same words. Nothing was changed again.",
        "may_not_read": "I may not read what {agent} remembers.",
        "nothing_known": "I know nothing about that yet.",
    },
    "pl": {
        "remember": "Zapamiętałem: „{fact}” ({path}).",
        "replace": "Poprawione: zamiast „{before}” jest teraz „{fact}” ({path}).",
        "forget": "Zapomniane: „{before}” ({path}).",
        "hidden": "Ukryte wiadomości, które o tym mówiły: {count}.",
        "skip": "Tego nie zachowam w pamięci.",
        "nothing_to_skip": "Nic z tego nie zostało zapisane, więc nie ma czego usuwać.",
        "unchanged": "Już to wiem: „{fact}” ({path}).",
        "not_found": "Nie mam faktu, który na pewno dotyczy „{asked}”. Nic nie zmieniłem.",
        "not_kept": "W „{fact}” jest coś, czego nie przechowuję; popraw to tam: {path}.",
        "holds_more": "Nic nie zmieniłem: „{fact}” ({id}, {path}) mówi więcej. Powiedz całość.",
        "waits": "To nie zostało zapisane: czeka w {path}. Odrzucenie: {reject}.",
        "nearest": "Najbliższe:",
        "nothing_last": "Przed chwilą nie zapisano żadnego faktu. Powiedz, co mam zapomnieć.",
        "suggested": "Czeka na twoją zgodę: „{fact}” ({path}).",
        "denied": "To niedozwolone: {reason}. Nic nie zmieniłem.",
        "redacted": "Usunięte przed zapisem: {kinds}.",
        "code": "Kod jest zapisany w Twoich notatkach otwartym tekstem.",
        "none": "Nie ma w tym prośby do mojej pamięci.",
        "known": "Oto, co wiem:",
        "again": "To już zrobione, na te same słowa. Nic nie zmieniłem drugi raz.",
        "may_not_read": "Nie wolno mi czytać pamięci agenta {agent}.",
        "nothing_known": "Nic o tym jeszcze nie wiem.",
    },
    "ru": {
        "remember": "Запомнил: «{fact}» ({path}).",
        "replace": "Исправлено: вместо «{before}» теперь «{fact}» ({path}).",
        "forget": "Забыто: «{before}» ({path}).",
        "hidden": "Скрыто сообщений, где об этом говорилось: {count}.",
        "skip": "Этого в памяти не останется.",
        "nothing_to_skip": "Из этого ничего не сохранено, убирать нечего.",
        "unchanged": "Я это уже знаю: «{fact}» ({path}).",
        "not_found": "Не нашёл факта, который точно про «{asked}». Ничего не изменено.",
        "not_kept": "В «{fact}» есть то, что не хранится; поправьте это там: {path}.",
        "holds_more": "Ничего не изменено: «{fact}» ({id}, {path}) говорит больше. Скажите всё.",
        "waits": "Это не сохранено: ждёт в {path}. Отклонить: {reject}.",
        "nearest": "Ближайшие:",
        "nothing_last": "Только что никакой факт не записывался. Скажите, что забыть.",
        "suggested": "Ждёт вашего согласия: «{fact}» ({path}).",
        "denied": "Это не разрешено: {reason}. Ничего не изменено.",
        "redacted": "Убрано перед записью: {kinds}.",
        "code": "Код хранится в твоих заметках открытым текстом.",
        "none": "Просьбы к памяти я в этом не услышал.",
        "known": "Вот что я знаю:",
        "again": "Это уже сделано по этим же словам. Второй раз ничего не изменено.",
        "may_not_read": "Мне нельзя читать память агента {agent}.",
        "nothing_known": "Об этом я пока ничего не знаю.",
    },
    "de": {
        "remember": "Gemerkt: „{fact}“ ({path}).",
        "replace": "Berichtigt: statt „{before}“ gilt jetzt „{fact}“ ({path}).",
        "forget": "Vergessen: „{before}“ ({path}).",
        "hidden": "Ausgeblendete Nachrichten, die es sagten: {count}.",
        "skip": "Das behalte ich nicht.",
        "nothing_to_skip": "Davon wurde nichts behalten, es gibt nichts zu entfernen.",
        "unchanged": "Das weiß ich schon: „{fact}“ ({path}).",
        "not_found": "Kein Fakt handelt eindeutig von „{asked}“. Nichts wurde geändert.",
        "not_kept": "„{fact}“ enthält etwas, das nicht gespeichert wird; ändere es dort: {path}.",
        "holds_more": "Nichts wurde geändert: „{fact}“ ({id}, {path}) sagt mehr. Sag es ganz.",
        "waits": "Das ist nicht notiert: Es wartet in {path}. Ablehnen: {reject}.",
        "nearest": "Am nächsten:",
        "nothing_last": "Gerade eben wurde kein Fakt notiert. Sag, was ich vergessen soll.",
        "suggested": "Es wartet auf deine Zustimmung: „{fact}“ ({path}).",
        "denied": "Das ist nicht erlaubt: {reason}. Nichts wurde geändert.",
        "redacted": "Vor dem Speichern entfernt: {kinds}.",
        "code": "Der Code steht im Klartext in deinem Vault.",
        "none": "Darin habe ich keine Bitte an mein Gedächtnis gehört.",
        "known": "Das weiß ich:",
        "again": "Das ist schon getan, auf dieselben Worte hin. Nichts wurde noch einmal geändert.",
        "may_not_read": "Das Gedächtnis von {agent} darf ich nicht lesen.",
        "nothing_known": "Darüber weiß ich noch nichts.",
    },
    "es": {
        "remember": "Recordado: «{fact}» ({path}).",
        "replace": "Corregido: en lugar de «{before}» ahora es «{fact}» ({path}).",
        "forget": "Olvidado: «{before}» ({path}).",
        "hidden": "Mensajes ocultos que lo decían: {count}.",
        "skip": "Eso no lo guardaré.",
        "nothing_to_skip": "No se guardó nada de eso, así que no hay nada que quitar.",
        "unchanged": "Ya lo sé: «{fact}» ({path}).",
        "not_found": "No encontré un dato que trate claramente de «{asked}». No cambié nada.",
        "not_kept": "«{fact}» contiene algo que no se guarda; edítalo allí: {path}.",
        "holds_more": "No cambié nada: «{fact}» ({id}, {path}) dice más. Dilo entero.",
        "waits": "Eso no está guardado: espera en {path}. Rechazar: {reject}.",
        "nearest": "Lo más cercano:",
        "nothing_last": "No se ha escrito ningún dato hace un momento. Di qué debo olvidar.",
        "suggested": "Espera tu aprobación: «{fact}» ({path}).",
        "denied": "No está permitido: {reason}. No cambié nada.",
        "redacted": "Quitado antes de guardar: {kinds}.",
        "code": "El código está en texto claro en tu bóveda.",
        "none": "No oí en eso una petición a mi memoria.",
        "known": "Esto es lo que sé:",
        "again": "Eso ya está hecho, por estas mismas palabras. No cambié nada otra vez.",
        "may_not_read": "No puedo leer la memoria de {agent}.",
        "nothing_known": "Aún no sé nada de eso.",
    },
    "fr": {
        "remember": "Retenu : « {fact} » ({path}).",
        "replace": "Corrigé : au lieu de « {before} », c’est maintenant « {fact} » ({path}).",
        "forget": "Oublié : « {before} » ({path}).",
        "hidden": "Messages masqués qui le disaient : {count}.",
        "skip": "Je ne garderai pas cela.",
        "nothing_to_skip": "Rien de cela n’a été gardé, il n’y a donc rien à retirer.",
        "unchanged": "Je le sais déjà : « {fact} » ({path}).",
        "not_found": "Aucun fait ne porte clairement sur « {asked} ». Rien n’a changé.",
        "not_kept": "« {fact} » contient ce qui n’est pas gardé ; modifiez-le là : {path}.",
        "holds_more": "Rien n’a changé : « {fact} » ({id}, {path}) dit plus. Dites-le en entier.",
        "waits": "Cela n’est pas noté : en attente dans {path}. Refuser : {reject}.",
        "nearest": "Les plus proches :",
        "nothing_last": "Aucun fait n’a été noté à l’instant. Dites ce que je dois oublier.",
        "suggested": "En attente de votre accord : « {fact} » ({path}).",
        "denied": "Ce n’est pas permis : {reason}. Rien n’a changé.",
        "redacted": "Retiré avant l’enregistrement : {kinds}.",
        "code": "Le code est en clair dans ton coffre.",
        "none": "Je n’y ai entendu aucune demande à ma mémoire.",
        "known": "Voici ce que je sais :",
        "again": "C’est déjà fait, pour ces mêmes mots. Rien n’a changé de nouveau.",
        "may_not_read": "Je n’ai pas le droit de lire la mémoire de {agent}.",
        "nothing_known": "Je ne sais encore rien à ce sujet.",
    },
}
LANGUAGES = tuple(_DONE)


def phrase(lang: str, name: str, **values: object) -> str:
    """Return a sentence in a language, English for one that has none."""
    return _DONE.get(lang, _DONE[FALLBACK])[name].format(**values)


def told(lang: str, op: str, outcome: Outcome, asked: str) -> str:
    """Return what came of a request, with the fact and the file, in the person's language.

    `op` is remember, replace or forget; `asked` the words of what was to be forgotten.
    """
    name = op if outcome.outcome == "written" else outcome.outcome
    if name == "not_found" and outcome.fact:  # it was found, and is not to be lost
        name = "not_kept"
    if name == "remember" and outcome.before:  # it took the place of a fact it contradicts
        name = "replace"
    before = outcome.before or asked
    fact = outcome.fact or asked
    if op == "remember" and name == "suggested" and outcome.before:  # it would take its place
        fact = f"{before} → {fact}"
    values = {"fact": fact, "before": before, "path": outcome.path, "asked": asked}
    lines = [phrase(lang, name, **values, reason=outcome.reason)]
    if outcome.hidden_messages:
        lines.append(phrase(lang, "hidden", count=outcome.hidden_messages))
    if outcome.redacted:
        lines.append(phrase(lang, "redacted", kinds=", ".join(outcome.redacted)))
    if op != "forget" and outcome.outcome == "written" and has_household_code(outcome.fact):
        lines.append(phrase(lang, "code"))
    if outcome.nearest:
        lines.append(phrase(lang, "nearest"))
        lines += [f"- {fact}" for fact in outcome.nearest]
    return "\n".join(lines)

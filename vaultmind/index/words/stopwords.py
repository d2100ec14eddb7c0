"""Words that say nothing about a subject. Folded, as `terms.fold` leaves them."""

from __future__ import annotations

_LISTS = {
    "en": """a about after again all also am an and any are as at be because been before being
        but by can could did do does doing done during each else ever for from further get gets
        got had has have having he her here hers him his how i if in into is it its itself just
        me might more most must my myself no nor not of off on once only or other our ours out
        over own please same shall she should so some such than that the their theirs them then
        there these they this those through to too under until up upon us very was we were what
        when where which while who whom whose why will with would you your yours dont doesnt
        didnt isnt arent wasnt cant couldnt wont wouldnt im ive id youre hes shes theyre theres
        whats wheres whos tell know""",
    "pl": """a aby ach ale albo ani az bardzo bez bo by byc byl byla byli bylo byly bym bys byt
        choc chyba ci cie co cos czego czemu czy czyli czym dla dlaczego do gdy gdyby gdzie go i
        ich ile im inny iz ja jak jaka jakas jaki jakie jakich jakim jakis jako je jeden jednak
        jego jej jemu jest jestem jestes jesli jezeli juz kiedy kim kogo komu kto ktora ktore
        ktorego ktorej ktory ktorych ktorym ktorzy ku lub ma mam masz mamy maja mi mial miala
        mna mnie moj moja moje mojego mojej mu my na nad nam nami nas nasz nasza nasze nawet nia
        nic nich nie niego niej niemu nim nimi niz no o od ona one oni ono oraz po pod podczas
        pomimo poza przed przez przy raz sa sam sie skad sobie soba swoj swoja swoje ta tak taka
        taki takie takze tam te tego tej ten teraz tez to toba tobie totez tu tutaj twoj twoja
        twoje tych tylko tym u w we wam was wasz wiec wszystko wtedy wy z za ze zeby zas""",
    "ru": """а без бы был была были было быть в вам вас ваш весь во вот все всего всех всю вы где
        да даже для до его ее ей если есть еще же за здесь и из или им их к каждыи как какая
        какие какои какого какую когда кого кому который которая которое которые которую кто
        куда ли лишь между меня мне мнои мног мои моя мое моего моеи мы на над надо нам нас наш
        наша наше не него нее неи нет ни них но ну о об однако он она они оно от откуда очень по
        под после потом потому почему при про раз с сам свои своя свое себе себя со сколько так
        также такои там твои твоя твое те тебе тебя тем то тобои тогда того тоже только том тот
        тут ты у уже хотя чего чеи чем через что чтобы чье чья эта эти это этои этого этом этот
        эту я""",
    "uk": """а або але без би був була були було бути в вам вас ваш весь від він вона вони воно
        все де для до є же за з і із їх його йому й й як який яка яке які коли кого ко куди ли
        ми мене мені мій моя моє на над нам нас наш не ні але о об по під після при про с сам
        свій собі та так також там те ти тобі той том ту у хто це цей ця ці чи чого чому що щоб""",
    "de": """aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein
        deine dem den denn der des dich die dies diese dieser dieses dir doch du durch ein eine
        einem einen einer eines er es euch fur hab habe haben hat hatte ich ihm ihn ihr ihre im
        in ist ja jede kann kein keine man mein meine mich mir mit nach nicht noch nur oder ob
        ohne sehr sein seine sich sie sind so uber um und uns unser unter vom von vor wann war
        waren warum was wegen weil welche welcher welches wenn wer werden wie wieder wir wird wo
        wurde zu zum zur""",
    "fr": """a ai au aux avec c ce ces cette comme comment d dans de des donc du elle elles en es
        est et etait ete etre eu il ils j je l la le les leur leurs lui m ma mais me mes mon n
        ne nos notre nous on ont ou par pas plus pour pourquoi qu quand que quel quelle quelles
        quels qui s sa sans se ses si son sont sur t ta te tes toi ton tu un une vos votre vous
        y""",
    "es": """a al algo como con cual cuales cuando de del desde donde e el ella ellas ellos en
        entre era es esa ese eso esta este esto fue ha han hasta hay la las le les lo los mas me
        mi mis muy nada ni no nos nosotros o os otra otro para pero por porque que quien se ser
        si sin sobre son su sus te tu tus un una uno unos y ya yo""",
    "it": """a ad ai al alla alle anche c che chi ci come con cosa cui d da dal dalla dei del
        della delle di dove e ed era gli ha hai hanno ho i il in io l la le lei lo loro lui ma
        mi mio mia ne nel nella no noi non o per perche piu quale quando quello questa questo se
        si sono su sua sul suo tra tu tuo un una uno vi voi""",
    "pt": """a ao aos as com como da das de do dos e ela ele eles em entre era essa esse esta
        este eu foi ha isso isto ja la mais mas me meu minha muito na nao nas no nos o onde os
        ou para pela pelo por porque qual quando que quem se sem ser seu sua sao so tambem te
        tem um uma voce""",
    "nl": """aan al als bij dat de den der deze die dit doch door een en er ge geen had heb
        hebben heeft het hij hoe ik in is je kan maar me men met mij mijn na naar niet nog nu of
        om omdat ons onze ook op over te tot u uit van veel voor waar waarom wanneer was wat we
        wel welke wie wij wordt ze zich zij zijn zo""",
    "cs": """a aby ale ani az bez bude by byl byla byli bylo co coz do ho i ja jak jako je jeho
        jej jeji jen jeste ji jsem jsi jsme jsou k kam kde kdo kdy kdyz ke ktera ktere ktery ma
        mam me mezi mi mit mne mu my na nad nam nas ne nebo neni nez o od on ona oni pak po pod
        pro proc proto pred pri s se si svuj ta tak take tam ten tento to tu tuto ty tyto u uz v
        ve vsak vy z za ze""",
}
BY_LANGUAGE: dict[str, frozenset[str]] = {
    code: frozenset(text.split()) for code, text in _LISTS.items()
}

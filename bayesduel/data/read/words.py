"""The names of columns and the words of values by which a log is understood, as users write them.

English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Russian, Chinese,
Japanese. Names are plain: without case, spaces and punctuation (:func:`plain` of ``columns``).
"""

__all__ = [
    "AGAINST",
    "AHEAD",
    "BARE",
    "BEHIND",
    "BEST",
    "BOTH_BAD_WORDS",
    "BYES",
    "CHOSEN",
    "CLUBS",
    "DATES",
    "DOWN",
    "DRAWS",
    "FEWER",
    "FIRST",
    "GROUNDS",
    "GROUP",
    "JUDGE",
    "LEFT_WORDS",
    "LISTS",
    "LOSSES",
    "LOST",
    "MARKS_OF_SCHOOLS",
    "MATCHES",
    "MODELS",
    "OF_PLACES",
    "OPPONENTS",
    "ORDINALS",
    "OUTCOMES",
    "OUTCOME_WORDS",
    "PLACES",
    "PLAYERS",
    "POINTS",
    "RANKING",
    "RATINGS",
    "RECORDS",
    "RESULTS",
    "RIGHT_WORDS",
    "SAME",
    "SAMPLING",
    "SCORES",
    "SCORE_PAIRS",
    "SIDES",
    "SIDES_OF_MATCH",
    "SLIGHT",
    "STRONG",
    "SUCCESSES",
    "TEAMS",
    "THUMBS",
    "TIES",
    "TIE_COUNTS",
    "TIE_FLAGS",
    "TIME",
    "UNPLACED",
    "UP",
    "VARIANTS",
    "VERSUS",
    "WHITES",
    "WINS",
    "WIN_COUNTS",
    "WON_SIDES",
    "WORDS",
    "WORST",
]


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the words before and after the bar of each word of a text."""
    parted = (word.partition("|") for word in text.split())
    return tuple((first, second) for first, _, second in parted)


def _with_ids(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names, and these with what may follow them: judge, judgeid, judgename."""
    return names + tuple(name + end for name in names for end in ("id", "name"))


# The words of both sides, in the order in which they are looked for.
SIDES = _pairs("""
    left|right a|b 1|2 home|away first|second white|black winner|loser chosen|rejected
    home|visitor home|guest local|visitor local|visitante heim|gast domicile|exterieur casa|fora
    casa|trasferta 主|客 links|rechts gauche|droite izquierda|derecha sinistra|destra
    izq|dcha izda|dcha izq|der esq|dir sx|dx esquerda|direita левый|правый слева|справа 左|右
    one|two i|ii x|y 0|1 red|blue r|b top|bottom
    casa|ospite casa|ospiti mandante|visitante domicile|extérieur thuis|uit хозяева|гости
    hemma|borta ホーム|アウェイ gospodarz|gość gospodarze|goście gobierno|oposición governo|oposição
    gouvernement|opposition regierung|opposition governo|opposizione voor|tegen
    befürworter|gegner h|g h|a pro|con aff|neg
    affirmative|negative prop|opp proposition|opposition gov|opp government|opposition won|lost
    better|worse preferred|rejected selected|rejected chosen|unchosen sieger|verlierer
    gagnant|perdant ganador|perdedor vincitore|perdente vencedor|perdedor победитель|проигравший
    w|l linke|rechte linker|rechter linkes|rechtes gauche|droit izquierdo|derecho izq|der
    sinistro|destro esquerdo|direito lewa|prawa lewy|prawy lewe|prawe lewo|prawo vänster|höger
    левая|правая левое|правое chosen|notchosen preferred|notpreferred selected|notselected
    picked|notpicked
    weiss|schwarz blanc|noir blancs|noirs blanche|noire blanches|noires blanco|negro blancas|negras
    bianco|nero bianchi|neri branco|preto brancas|pretas brancas|negras wit|zwart biały|czarny
    białe|czarne vit|svart белый|чёрный белый|черный белые|чёрные белые|черные 白|黑 白|黒 백|흑
    heim|auswärts recevant|visiteur domicile|visiteur casa|fuera casa|visita casa|visitante
    incasa|fuoricasa дома|вгостях ホーム|アウェー 홈|원정
""")
# Sides that are no names of arms by themselves.
BARE = _pairs("""
    1|2 0|1 i|ii x|y one|two top|bottom r|b w|l h|g h|a
""")
# The right of the sides whose left won every duel.
WON_SIDES = _words("""
    loser rejected lost worse unchosen verlierer perdant perdedor perdente проигравший l
    notchosen notpreferred notselected notpicked
""")
# White, as against black; left sides with a ground.
WHITES = _words("""
    white weiss blanc blancs blanche blanches blanco blancas bianco bianchi branco brancas wit biały
    białe vit белый белые 白 백
""")
GROUNDS = WHITES + _words("""
    home local heim domicile casa 主 mandante thuis хозяева hemma ホーム gospodarz gospodarze
    recevant incasa дома 홈
""")
# Two arms of which neither name says how the pair was presented: one of each list.
TEAMS = _words("""
    team teamname player playername club fighter competitor name model arm side tm
""")
OPPONENTS = _words("""
    opponent opponentname opponentteam opp against versus vs rival otherteam otherplayer
    adversary
""")
# Who won.
OUTCOMES = _words("""
    outcome winner result verdict preference preferred vote ftr winnername winnerid winnermodel
    whowon res rslt
""")
# Words in the name of a column of outcomes that is none of these.
OUTCOME_WORDS = _words("""
    winner outcome verdict pref préf präf chosen choice better best result comparison score
    whowins selected judgment judgement decision label answer vote pick gewinner sieger ergebnis
    gagnant resultat ganador resultado vincitore risultato vencedor победитель 胜者 结果 winrate
    winprob placar счёт счет 比分 スコア wynik uitslag segno tipp esito urteil besser mejor meilleur
    migliore melhor лучш ballot zwycięzca lepsz vainqueur choix auswahl bevorzugt präferenz
    elegid scelt escolh winnaar voorkeur uitkomst vinnare 勝者 結果 승자
""")
# Whether a duel was a tie; which side was shown first.
TIE_FLAGS = _words("""
    bothequal istie tie isdraw draw equal tied
""")
FIRST = _words("""
    shownfirst presentedfirst firstshown firstpresented playedfirst
""")
# Scores of a side, and those of both: goals home and away (football-data.co.uk), for and against.
SCORES = _words("""
    score scores goals points pts runs punkte tore goles puntos buts punti pontos gols голы очки
    mål doelpunten punten bramki gole 得分 进球 得点
""")
SCORE_PAIRS = _pairs("""
    fthg|ftag hg|ag gf|ga pf|pa rf|ra rs|ra gf|gc gf|gs gp|gc bp|bc tore|gegentore
    wynik|wynikrywala
""")
# Words beside those of `SCORES`: of the first side, of the other one.
AGAINST = _pairs("""
    for|against own|opponent own|opp team|opponent team|opp |opponent |opp |opponents |against
    scored|conceded scored|allowed pour|contre pro|contra afavor|encontra fatti|subiti
""")
# Counts of the wins of a side; of the left arm against the right one; of ties.
WIN_COUNTS = _words("""
    wins won nwins winsby winsof winscount win votes upvotes votesfor
""")
RECORDS = _pairs("""
    wins|losses win|loss won|lost w|l victories|defeats siege|niederlagen victoires|défaites
    victorias|derrotas vittorie|sconfitte
""")
TIE_COUNTS = _words("""
    ties tied draws nties ndraws tie draw drawn
""")
# Who judged, what votes share, when it was.
JUDGE = _with_ids(
    _words("""
    judge annotator rater user worker voter assessor evaluator participant respondent resp subject
    listener panelist panellist consumer observer reviewer labeler labeller taster tester grader
    expert student coder visitor prolificpid completedby ratedby judgedby session juror juge
    jurado juez giudice richter bewerter prüfer судья эксперт 评委 teilnehmer testperson proband
    verkoster évaluateur dégustateur goûteur panéliste evaluador catador participante valutatore
    assaggiatore partecipante avaliador provador beoordelaar proever deelnemer oceniający sędzia
    uczestnik bedömare участник оценщик 審査員 評価者 评审
""")
)
GROUP = _with_ids(
    _words("""
    group context prompt query question list
""")
)
TIME = _words("""
    time date timestamp tstamp datetime createdat gameday matchdate playedat
""")
# The same in other languages, of which some words have other senses: numbers are no dates there.
DATES = _words("""
    fecha fechahora datum zeitstempel data dataora datahora horodatage дата 日期 日付 日時
""")
# Weights of a survey.
SAMPLING = _words("""
    samplingweight sampleweight pweight probabilityweight surveyweight
""")
# The columns of shapes: arms, scores, places, what was chosen, matches.
MODELS = _words("""
    model modelid modelname system systemid systemname player playerid playername team teamname
    arm candidate competitor algorithm method product participant stimulus ratingstimulus
    condition project entry submission wine contestant speaker wein vin vino vinho beer bier bière
    cerveza birra coffee kaffee café caffè produkt produit producto prodotto produto projekt projet
    proyecto progetto projeto modell modèle modelo modello système sistema kandidat candidat
    candidato
""")
POINTS = _words("""
    score rating grade accuracy correct points value mark ratingscore mos total punkte note wer
    cer latency seconds bewertung punktzahl puntuación puntuacion puntaje puntos nota punteggio
    punti voto pontuação pontos
""")
PLACES = _words("""
    rank place position finish ranking placement rang platz puesto classement posizione
""")
LISTS = _words("""
    ranking order ordering ranked rankedlist ranks rankedmodels
""")
CHOSEN = _words("""
    chosen ischosen choice selected isselected picked preferred iswinner isbest
""")
BEST = _words("""
    best winner choice chosen preferred selected pick picked favourite favorite vote outcome
    result preference bestmodel sieger gewinner gagnant ganador vincitore победитель
""")
WORST = _words("""
    worst least leastpreferred schlechteste pire peor peggiore
""")
MATCHES = _words("""
    match matchid game gameid fixture fixtureid bout boutid duel duelid battle battleid event
    eventid id matchno gameno
""")
# The members of the sides of a match, and the sides.
PLAYERS = _words("""
    player playername playerid member membername athlete name user username
""")
SIDES_OF_MATCH = _words("""
    side team teamname teamid pair alliance squad color colour faction party
""")
# What is said of one answer alone.
UP = _words("""
    1 1.0 true t yes y up thumbsup thumbup like liked upvote positive good helpful 👍 +1
""")
DOWN = _words("""
    0 0.0 false f no n down thumbsdown thumbdown dislike disliked downvote negative bad unhelpful
    👎 -1 -1.0
""")
THUMBS = _words("""
    thumb thumbs feedback liked like likes vote votes reaction rating helpful upvoted approved
    reward
""")
# A strength that was computed from duels, one for each arm.
RATINGS = _words("""
    elo rating elorating glicko trueskill arenascore mu score points btscore strength
""")
# Of an A/B test: what was shown, and how many of those who saw it did something.
VARIANTS = _words("""
    variant variation variante version group gruppe groupe grupo gruppo bucket cell testgroup ad
    banner creative headline page landingpage campaign kampagne campagne offer email subjectline
    experimentgroup treatmentgroup experimentvariant
""")
SUCCESSES = _words("""
    conversions conversion converted conversionrate convrate cvr cr clicks klicks clics click
    clicked clickrate clickthroughrate ctr successes success successrate purchases purchased
    signups signedup orders bestellungen sales buyers bought opens opened openrate leads
    subscriptions subscribed responses responserate konversionen conversiones conversioni
    conversões kliks
""")
VERSUS = _words("""
    match fixture game pair pairing matchup versus vs teams event bout duel battle comparison
    partie spiel begegnung partido partita
""")
RESULTS = _words("""
    result rslt outcome wl winloss res win won winner score points goals pts gf goalsfor pf
    pointsfor tore goles buts gols
""")
# Words for a win, a loss and a draw, of the side whose row it is.
WINS = _words("""
    w win wins won winner victory 1 1.0 true yes
""")
LOSSES = _words("""
    l loss lose loses lost loser defeat 0 0.0 false no -1 -1.0
""")
DRAWS = _words("""
    d draw drawn t tie tied 0.5 1/2
""")
# The words of values: which side won.
WORDS = _pairs("""
    left|right l|r a|b model_a|model_b first|second 1st|2nd home|away h|a white|black
    player1|player2 win|loss won|lost w|l 1-0|0-1 true|false >|< win|lose wins|loses yes|no w|b
    victory|defeat links|rechts gauche|droite izquierda|derecha sinistra|destra esquerda|direita
    левый|правый слева|справа 左|右 왼쪽|오른쪽
""")
# Ties; those of two that are bad are counted by themselves where a log asks for it.
BOTH_BAD_WORDS = _words("""
    tie(bothbad) bothbad bothbad(tie) tiebothbad botharebad equallybad
""")
TIES = BOTH_BAD_WORDS + _words("""
    tie tied ties draw drawn d t x equal equals even = both neither same none indifferent
    nopreference 1/2-1/2 ½-½ tie(bothgood) bothgood botharegood equallygood unentschieden gleich
    remis égalité nul matchnul empate igual pareggio pari gelijk gelijkspel ничья 平局 平 引き分け
    nopref keinepräferenz keinunterschied egal aucunepréférence indifférent sinpreferencia
    sindiferencia indiferente nessunapreferenza nessunadifferenza indifferente sempreferência
    semdiferença geenvoorkeur geenverschil 무승부 ½ 1/2
    thesame aboutthesame nodifference beide
    gleichgut ambos iguales lesdeux entrambi
    поровну 一样 相同 同じ lika oavgjort
""")
# Words in the name of a column that says who lost.
LOST = frozenset(
    _words("""
    loser lost lose loses loss rejected worse worst defeated beaten verlierer schlechter perdant
    pire perdedor peor perdente peggiore проигравший хуже 败者 败方
""")
)
# What stands for no opponent, as in tournaments.
BYES = _words("""
    bye spielfrei freilos exempt descansa descanso riposa riposo folga vrij 轮空
""")
# Words in place of a rank, as races and votes have them: did not finish, did not start, did not
# qualify, disqualified, excluded, not classified, not placed, not ranked, retired, withdrawn.
UNPLACED = _words("""
    dnf dns dnq dsq dq disq ex nc np nr ret wd unranked unplaced – —
""")
# Grades in words: the sides, no difference, better and worse, and by how much.
LEFT_WORDS = _words("""
    left l a first 1 home white
""")
RIGHT_WORDS = _words("""
    right r b second 2 away black
""")
SAME = _words("""
    same equal equally equivalent tie tied similar identical neither indifferent no
""")
AHEAD = _words("""
    better best prefer prefers preferred stronger superior wins
""")
BEHIND = _words("""
    worse worst weaker inferior loses
""")
SLIGHT = _words("""
    slightly marginally somewhat weakly little bit barely
""")
STRONG = _words("""
    much strongly significantly far clearly definitely lot substantially considerably greatly
""")
# Names of teams that are no arms elsewhere.
CLUBS = _words("""
    club mannschaft verein equipo squadra équipe drużyna
""")
# Places in words; what stands before or behind the number of a place.
ORDINALS = _words("""
    first second third fourth fifth sixth seventh eighth ninth tenth
""")
OF_PLACES = _words("""
    rank place position platz rang puesto posición classement posizione posto место top
""")
# Numbers of which the lower is better; marks of schools, in German the lower.
FEWER = _words("""
    cer cost duration erreurs error errors fehler latency loss mae mistakes ms mse perplexity ppl
    rank ranks rmse second seconds strokes tempo temps tiempo time wer zeit
""")
MARKS_OF_SCHOOLS = _words("""
    note noten schulnote schulnoten zensur
""")
# What names a ranking.
RANKING = _words("""
    rankingid race ballot list event
""")

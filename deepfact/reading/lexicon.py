"""Word lists of the local verifier: negation, directions, hedges, caveats, speech, synonyms.

General English only. Nothing here was taken from, or fitted to, a data set that the verifier
is measured on. Keys are stems (`deepfact.retrievers.words.stem`) unless said otherwise.
"""

from __future__ import annotations

import re

from deepfact.records import QualificationKind
from deepfact.retrievers.words import stem

_NEGATING = """
not no never without neither nor none cannot nobody nothing unable lack lacks lacked lacking absent
absence fail fails failed failing hardly rarely
"""
NEGATORS = frozenset(_NEGATING.split())
"""Lower-case words that turn a statement round; contractions in ``n't`` are negators too."""

_AXES = """
amount: increase rise rose risen grow grew grown growth climb gain higher more greater larger expand
  widen accelerate boost elevate enhance surge jump upregulate
  exceed above faster longer stronger heavier older strengthen raise raised upward elevated
  / decrease decline fall fell fallen drop reduce reduction lower less fewer smaller shrink shrank
  narrow slow slowed cut diminish slump halve below weaken downregulate
  slower shorter weaker lighter younger downward
drive: promote induce activate cause / inhibit suppress block prevent repress impair attenuate
quality: improve improvement better best / worsen worse worst deteriorate degrade
rank: highest largest most maximum biggest longest fastest majority
  / lowest smallest least minimum shortest slowest minority
order: before prior earlier precede preceding / after later afterwards subsequently following
decision: approve accept ratify adopt upheld uphold endorse
  / reject deny denied refuse veto overturn overturned dismiss
outcome: succeed success met pass passed achieve / fail failure miss missed
state: open launch start begin began commence introduce resume
  / close end stop halt discontinue terminate withdraw withdrew withdrawn suspend suspended
allow: allow enable permitted / prohibit ban forbid forbade forbidden exempt
sign: positive / negative
result: profit surplus / loss deficit
effect: effective safe / ineffective unsafe
chance: possible likely / impossible unlikely
fit: consistent agree / inconsistent disagree
duty: mandatory compulsory binding / voluntary optional
stay: permanent / temporary interim
owner: public / private
side: internal upstream northern eastern / external downstream southern western
path: direct directly / indirect indirectly
sex: male men / female women
share: include included / exclude excluded
average: mean / median
support: support favour favor / oppose
"""


def _directions() -> dict[str, tuple[str, int]]:
    table: dict[str, tuple[str, int]] = {}
    for axis, body in re.findall(r"^(\w+):(.*?)(?=^\w+:|\Z)", _AXES, re.M | re.S):
        plus, minus = body.split("/")
        for sign, side in ((1, plus), (-1, minus)):
            for word in side.split():
                table.setdefault(stem(word), (axis, sign))
    return table


DIRECTIONS = _directions()
"""``stem -> (axis, +1 or -1)``: words on one axis with different signs exclude each other."""

RANK_AXES = frozenset(("rank", "order", "average", "state"))
"""Axes whose words often stand side by side in a true passage, so that a difference says less."""

TURNABLE = frozenset(
    ("amount", "drive", "quality", "decision", "outcome", "state", "allow", "effect", "chance",
     "support", "fit")
)  # fmt: skip
"""Axes on which a negation turns a word round: "did not rise", but not "no public transport"."""

_MOVING = "was were is are went came moved gone be been stood"
MOVING = frozenset(_MOVING.split())
"""Words between which and "to" a lone "up" or "down" is a direction."""
_PHRASES = {
    "up": "make makes made making pick picked put puts take took set sets",
    "more": "or",
    "less": "or",
    "fewer": "or",
    "end": "the year's",
    "start": "the",
    "close": "came come very",
}
IDLE_BEFORE = {word: frozenset(others.split()) for word, others in _PHRASES.items()}
"""What comes before a direction word that is none there: "makes up", "five or more"."""
IDLE_AFTER = {
    "close": frozenset(("to",)),
    "end": frozenset(("of",)),
    "start": frozenset(("of",)),
    "cut": frozenset(("off",)),
}
"""What comes after one: "close to", "the end of"."""
_FORBIDDING = "forbid forbade forbidden ban banned prohibit prohibited bar barred"
FORBIDDING = frozenset(stem(word) for word in _FORBIDDING.split())
"""Stems of verbs that deny what they govern, so that "may not" and "forbade" agree."""

_HEDGE_WORDS = """
may might could possibly perhaps potentially probably presumably apparently reportedly allegedly
expect expects expected forecast forecasts projected projection projects plan plans planned intends
intend aims hopes hope proposed proposes anticipates anticipated targets estimated estimates
preliminary provisional tentative suggests suggest suggested appears seems likely unlikely
hypothesis hypothesise hypothesize speculated speculate speculation believes thinks assumes assuming
assumption modelled modeled simulated simulation would should unclear unconfirmed scenario
considering exploring hypothetical prospective pending modelling believe belief
estimate expectation hoped expecting studying recommends recommended
"""
HEDGES = frozenset(_HEDGE_WORDS.split())
"""Lower-case words by which a text says that something is not (yet) a fact."""

CAVEATS: tuple[tuple[QualificationKind, re.Pattern[str]], ...] = (
    (
        QualificationKind.METHOD_CHANGE,
        re.compile(
            r"\b(?:method(?:ology)?|basis|definition|classification"
            r"|measurement|accounting|counting|"
            r"scope|series|policy|sampl\w+|instrument|protocol"
            r"|criteria)\b[^.]{0,60}\b(?:chang|revis"
            r"|switch|adopt|replac|restat|moved|updat|new)\w*|\brestat\w+|\breclassif\w+|"
            r"\bnot (?:directly )?comparable\b|\b(?:changed|revised|switched|adopted|moved to)\b"
            r"[^.]{0,60}\b(?:method\w*|basis|definition|standard|criteria|protocol|instrument)\b|"
            r"\bbreak in (?:the )?series\b",
            re.I,
        ),
    ),
    (
        QualificationKind.LATER_DEVELOPMENT,
        re.compile(
            r"\b(?:since then|subsequent(?:ly)?|has since|have since|was later|were later|later "
            r"(?:revised|corrected|withdrawn|reversed|found|amended)|in a later|superseded|"
            r"correct(?:ed|ion)|erratum|retract\w+|amended|updated? on|no longer|reversed|"
            r"as of \w+ \d{4}|following (?:the )?publication)\b",
            re.I,
        ),
    ),
    (
        QualificationKind.DEFINITION,
        re.compile(
            r"\b(?:defined as|definition of|is defined|are defined"
            r"|refers? to|means (?:that|any|a|the)"
            r"|counts? (?:only|as)|counted as|for (?:the )?purposes? of|in this (?:report|document|"
            r"study|paper),? [\"“'\w])",
            re.I,
        ),
    ),
    (
        QualificationKind.SCOPE,
        re.compile(
            r"\b(?:only|exclud\w+|except(?:ing)?|limited to|restricted to|applies to|apply to|"
            r"does not (?:include|cover|apply)|do not (?:include|cover"
            r"|apply)|not (?:include|cover|apply)|"
            r"subset|subgroup|small sample|single (?:site|centre|center)|outside|other than|per[- ]"
            r"protocol|in the (?:pilot|trial) (?:area|sites?)|on (?:a )?like-for-like|adjusted|"
            r"constant[- ]currency|before (?:tax|exceptional)|one[- ](?:time|off))\b",
            re.I,
        ),
    ),
    (
        QualificationKind.HEDGE,
        re.compile(
            r"\b(?:caution\w*|caveat\w*|preliminary|provisional|unaudited|uncertain\w*|"
            r"margin of error|confidence interval|should be (?:read"
            r"|interpreted|treated)|limitation\w*|"
            r"not (?:yet )?(?:been )?(?:independently )?(?:verified|confirmed|replicated))\b",
            re.I,
        ),
    ),
)
"""What a sentence looks like that qualifies a neighbour, by kind; the first that fits counts."""

SPEECH = (
    r"(?:said|says|stated|states|reported|reports|told|wrote"
    r"|writes|announced|announces|argued|argues|"
    r"warned|warns|claimed|claims|concluded|concludes|noted|notes|found|finds|estimated|estimates|"
    r"confirmed|confirms|acknowledged|acknowledges|testified|disclosed|discloses)"
)

DOCUMENT = (
    r"(?:report|review|bulletin|statement|letter|notice|study|survey|paper|evaluation|announcement|"
    r"findings|release|datasheet|order|ordinance|filing|audit|analysis)"
)
"""What an organisation says something in: "the Survey's well report puts ..."."""

_GROUPS = """
company firm business group / revenue sales turnover / staff employee workforce worker personnel
/ buy acquire purchase acquisition bought / begin start launch commence began
/ end finish conclude stop / show demonstrate reveal indicate find found
/ patient participant subject people individual person / study trial research experiment
/ method approach technique procedure / use employ utilise utilize / year annual yearly
/ month monthly / quarter quarterly / child children kid pediatric infant / woman women female
/ man men male / large big major / small minor little / doctor physician clinician
/ drug medicine medication treatment therapy / illness disease disorder
/ death mortality die dead died fatal
/ increase rise rose risen grow grew growth climb higher up gain greater more elevate boost
/ decrease decline fall fell fallen drop reduce reduction lower less fewer down cut
/ cause lead result trigger / help assist aid / build construct built construction
/ cost price expense / house home dwelling household / city town municipal
/ country nation national / law legislation act statute / rule regulation
/ agency authority body regulator
/ report publish release announce state say said told write wrote / error mistake fault
/ fast quick rapid speed pace / test assess evaluate measure / average mean / near close
/ double twice twofold / need require / allow permit / approve authorise authorize / plan intend
/ expect forecast project / pay paid payment / earn profit income earnings
/ car vehicle automobile / plant factory facility site / software program application
/ latency delay / kill killed / win won victory / lose lost loss / vote ballot elect
/ head lead chief / founder founded establish established / born birth / live reside resident
/ movie film
"""


def _synonyms() -> dict[str, frozenset[int]]:
    table: dict[str, set[int]] = {}
    for number, group in enumerate(_GROUPS.replace("\n", " ").split("/")):
        for word in group.split():
            table.setdefault(stem(word), set()).add(number)
    return {word: frozenset(groups) for word, groups in table.items()}


SYNONYMS = _synonyms()
"""``stem -> groups``: two stems that share a group may stand for each other."""

_COMMON = """
the a an this these that those in on at for from by with our their its his her we they he she it
however moreover furthermore additionally although while when after before during since because
both all some many most several other another each every one two three four five six seven eight
nine ten first second third last overall finally then there here as if but and or nor so yet also
according based given despite under over between among within without no not only such what which
who how why where today recent recently current currently new old total using compared section table
figure results study studies data analysis patients people researchers scientists experts critics
"""
SENTENCE_STARTERS = frozenset(_COMMON.split())
"""Lower-case words whose capital at the start of a sentence means nothing."""

"""Whether a heading claims more than a topic, as far as its words tell: "Coffee causes cancer" does."""

import re

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
# Verbs that are no other word, and what denies or compares: one of them makes a claim of a heading.
_CLAIM = re.compile(
    r"""is|are|was|were|has|have|had|does|do|did|will|would|can|could|might|must|shall|should|cannot|can't|won't|\w+n't
    |not|never|than|became|becomes
    |ist|sind|waren|haben|wird|werden|wurden?|kann|nicht
    |était|étaient|sont|est|n'est|fue|fueron|está|están|è|erano|sono|não|são|foi|foram
    |является|являются|был[аои]?|не""",
    re.IGNORECASE | re.VERBOSE,
)
# Verbs that may be nouns or participles as well.
_VERB = re.compile(
    r"""(?:beat|block|boost|break|bring|cause|change|confirm|cure|cut|damage|decline|decrease|destroy|double|end|fail|give|grow
    |halve|harm|help|improve|increase|kill|lead|lose|make|need|outperform|outsell|prevent|prove|protect|raise|reduce|reject|remain
    |replace|rise|save|say|show|shrink|slow|spread|stop|succeed|survive|threaten|trigger|triple|win|work|worsen)s
    |dies|came|caused|changed|collapsed|confirmed|cured|declined|decreased|destroyed|died|doubled|ended|failed|fell|grew|halved
    |helped|improved|increased|invented|killed|led|lost|made|outsold|prevented|proved|proved|reduced|rejected|replaced|rose|showed
    |shrank|stopped|tripled|won""",
    re.IGNORECASE | re.VERBOSE,
)
_BEHIND_NOUN = re.compile(r"of|in|and|or|for|between|by|among|at|on", re.IGNORECASE)
_BEFORE_NOUN = re.compile(r"an?|the|its|their|his|her|of|in|and|or|for|between|by|early|late", re.IGNORECASE)
_PART_END = re.compile(r"[:;?!.–—›]+\s")
# They announce what a section answers: "How it was built". Written in capitals, WHO is none of them.
_QUESTION = re.compile(
    r"what|who|whom|whose|which|where|when|why|how|whether|was|wer|wen|wem|welche[mnrs]?|wo|wann|warum|wie|qui|quoi|quels?|quelles?"
    r"|où|quand|pourquoi|comment|qué|quién|quiénes|cuál|cuáles|dónde|cuándo|cómo|quale|quali|perché|что|кто|где|когда|почему|как"
)
_REASON = re.compile(r"why|how|warum|pourquoi|perché|почему", re.IGNORECASE)
# What a question for a reason takes for true: "Why vaccines don't work", "Why the mill failed". Other verbs tell only that a
# thing came about: "How Rome fell", "How the town was destroyed".
_DENIAL = re.compile(r"not|never|than|cannot|can't|won't|\w+n't|nicht|не", re.IGNORECASE)
_COURSE = re.compile(
    r"began|begins|came|changed|changes|died|dies|ended|ends|fell|grew|grows|made|makes|rises|rose|spreads|works",
    re.IGNORECASE,
)
_BE = re.compile(r"is|are|was|were|be|been|being", re.IGNORECASE)
# Verbs that are nouns as well: "The Will of God", "Might and Magic", "Free will".
_POWER = re.compile(r"will|might", re.IGNORECASE)
_BEFORE_POWER = re.compile(r"an?|the|its|their|his|her|of", re.IGNORECASE)
_BEHIND_POWER = re.compile(r"of|and|", re.IGNORECASE)
# Participles behind a noun in the plural where no object follows: "Ships lost at sea"; some behind any: "Bread made by hand".
_PARTICIPLE = re.compile(r"destroyed|invented|killed|lost|replaced|won", re.IGNORECASE)
_PASSIVE = re.compile(r"caused|made", re.IGNORECASE)
_PLURAL = re.compile(r"\w+[^sui\W]s|children|people|men|women|police|cattle|sheep|lives", re.IGNORECASE)
_BEHIND_PARTICIPLE = re.compile(
    r"after|at|before|by|during|for|from|in|of|on|out|since|to|under|with|within", re.IGNORECASE
)


def claiming_word(heading: str) -> str:
    """The word by which a heading seems to claim something; empty where it seems to name a topic.

    It knows common verbs, so it only doubts: "The failure of the dam" claims as much as "The dam failed".
    """
    for number, part in enumerate(_PART_END.split(heading.replace("’", "'"))):
        words: list[str] = _WORD.findall(part)
        is_question = bool(words) and _is_question_word(words[0])
        for place, word in enumerate(words):
            if is_question:
                claims = _REASON.fullmatch(words[0]) and _is_taken_for_true(words, place)
            elif _CLAIM.fullmatch(word):
                claims = not _is_power(words, place)
            else:
                is_first = number == place == 0
                claims = _VERB.fullmatch(word) and not is_first and not _is_noun(words, place)
            if claims:
                return word
    return ""


def _is_question_word(word: str) -> bool:
    return bool(_QUESTION.fullmatch(word[:1].lower() + word[1:]))


def _is_taken_for_true(words: list[str], place: int) -> bool:
    """Whether a question claims something by one of its words."""
    word, (before, _) = words[place], _neighbours(words, place)
    is_course = _COURSE.fullmatch(word) or _BE.fullmatch(before) or _is_noun(words, place)
    return bool(_DENIAL.fullmatch(word) or (_VERB.fullmatch(word) and not is_course))


def _is_power(words: list[str], place: int) -> bool:
    """Whether a word that may be an auxiliary is a noun by its neighbours."""
    before, after = _neighbours(words, place)
    is_beside = _BEFORE_POWER.fullmatch(before) or _BEHIND_POWER.fullmatch(after)
    return bool(_POWER.fullmatch(words[place]) and is_beside)


def _is_noun(words: list[str], place: int) -> bool:
    """Whether a word that may be a verb is a noun or a participle by its neighbours: "early works", "causes of war"."""
    before, after = _neighbours(words, place)
    if _BEFORE_NOUN.fullmatch(before) or (words[place].endswith("s") and _BEHIND_NOUN.fullmatch(after)):
        return True
    is_passive = _PASSIVE.fullmatch(words[place]) or (
        _PARTICIPLE.fullmatch(words[place]) and _PLURAL.fullmatch(before)
    )
    return bool(is_passive and _BEHIND_PARTICIPLE.fullmatch(after))


def _neighbours(words: list[str], place: int) -> tuple[str, str]:
    """The words before and behind one; empty where there is none."""
    before = words[place - 1] if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    return before, after

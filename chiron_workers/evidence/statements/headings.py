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


def claiming_word(heading: str) -> str:
    """The word by which a heading seems to claim something; empty where it seems to name a topic.

    It knows common verbs, so it only doubts: "The failure of the dam" claims as much as "The dam failed".
    """
    words: list[str] = _WORD.findall(heading.replace("’", "'"))
    for place, word in enumerate(words):
        if _CLAIM.fullmatch(word) or (_VERB.fullmatch(word) and place and not _is_noun(words, place)):
            return word
    return ""


def _is_noun(words: list[str], place: int) -> bool:
    """Whether a word that may be a verb is a noun by its neighbours: "early works", "causes of war"."""
    after = words[place + 1] if place + 1 < len(words) else ""
    has_plural = words[place].endswith("s")
    return bool(_BEFORE_NOUN.fullmatch(words[place - 1]) or (has_plural and _BEHIND_NOUN.fullmatch(after)))

from chiron_workers.knowledge.facts.objections import unlinked_objections


def test_a_note_that_a_linked_fact_says_is_told_with_that_fact_alone():
    notes = [
        "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa",
        "The depth is 58 metres. (corpus://lake/quality.pdf)",
        "The depth is  61 metres.",
        "Nobody has measured it (https://example.org/a).",
    ]
    linked = ["The depth is 58 metres.", "the depth is 61 metres."]
    assert unlinked_objections(notes, linked) == ("Nobody has measured it (https://example.org/a).",)

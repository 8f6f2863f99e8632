from chiron_workers.language.terms import CLUSTER_CHARS_MAX, PAIRS_MAX, terms_of_query, terms_of_text


def test_words_are_small_letters_and_digits_with_their_marks_and_nothing_else() -> None:
    text = "Straße (İstanbul): CVE-2021-44228, str.format_map; \u201cdon\u2019t\u201d 3.14 हिन्दी co\u00adop ２０２１ ﬁn"
    assert terms_of_text(text).words == (
        "straße istanbul cve 2021 44228 str format map don t 3 14 हिन्दी coop 2021 fin"
    )


def test_a_raised_number_is_found_by_how_it_is_typed_and_not_as_a_part_of_its_base() -> None:
    assert terms_of_text("1.01 × 10⁵ and 10¹² m²").words == "1 01 10 5 and 10 12 m 2"
    assert terms_of_query("10^5").words == "10 5"
    assert terms_of_query("H2O CO2").words == terms_of_text("H₂O, CO₂").words == "h2o co2"


def test_scripts_without_spaces_give_pairs_and_the_last_character_of_each_run() -> None:
    terms = terms_of_text("東京都はTokyo。水 ที่นี่")
    assert terms.pairs == ("東京", "京都", "都は", "は", "水", "ที่นี่", "นี่")
    assert terms.words == "tokyo"


def test_a_query_asks_for_pairs_and_for_a_single_character_as_the_beginning_of_one() -> None:
    terms = terms_of_query("水、東京都 x")
    assert terms.pairs == ("'水':*", "'東京'", "'京都'")
    assert terms.words == "x"


def test_marks_without_end_and_texts_without_end_give_terms_that_a_tsvector_can_hold() -> None:
    piled = terms_of_text("ก" + "\u0e48" * 5_000 + "ข")
    assert max(map(len, piled.pairs)) <= CLUSTER_CHARS_MAX + 1
    assert len(terms_of_text("水" * 40_000).pairs) == PAIRS_MAX


def test_persian_words_are_parted_at_the_joiner_and_those_of_other_scripts_are_not() -> None:
    assert terms_of_text("می\u200cرود کتاب\u200cها").words == terms_of_query("مي رود كتاب ها").words
    assert terms_of_text("Auf\u200clage").words == "auflage"
    assert terms_of_text("क्\u200cष").words == terms_of_text("क्ष").words


def test_letters_of_the_arabic_script_have_one_form() -> None:
    persian, arabic = "کتابی آخر خانهٔ مُحَمَّد ﻛﺘﺎﺏ", "كتابي اخر خانه محمد كتاب"
    assert terms_of_text(persian).words == terms_of_text(arabic).words == arabic
    assert terms_of_query("مـــدرسة إلى أحمد").words == "مدرسة الي احمد"


def test_digits_of_every_script_are_found_by_plain_ones() -> None:
    assert terms_of_text("۱۲ ١٢ १२ ১২ ๑๒ １２").words == " ".join(["12"] * 6)

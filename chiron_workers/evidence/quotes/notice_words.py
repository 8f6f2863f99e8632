"""Words by which a page says of itself that it was retracted, is out of date, is paid for or is satire."""

import re

# The two looks ahead save most of the time in English prose: at the ends of words, and at each letter of it.
NOTICE = re.compile(
    r"\b(?=\w)(?:"
    r"retract(?:ed|ion)|withdrawn|expressions? of concern|errat(?:um|a)|corrigend(?:um|a)|correction|corrected on"
    r"|superseded|replaced by|obsolete|out[- ]of[- ]date|outdated"
    r"|no longer (?:maintained|supported|valid|current|updated)|deprecated|end[- ]of[- ]life|archived"
    r"|(?:working|first|public)? ?draft|not (?:yet )?(?:been )?peer[- ]reviewed|preprint|sponsored|advertorial"
    r"|advertisement|paid (?:content|post|partnership|for by)|promoted content|press release|satir\w*|satír\w*|satyr\w*|parod\w*"
    r"|work of fiction|fictional|fictitious|opinion|hoax|made[- ]up|invented|fabricated|imaginary|not real"
    r"|(?:content|text) (?:provided )?by|brought to you by|presented by|machine[- ]translat\w*|translated by"
    r"|guest (?:post|article|essay|column)|conflicts? of interest|competing interests?|disclosure|funded by|(?:works|lobbies) for"
    r"|(?:rating|ruling|verdict) ?: ?[a-z]{4,}|fact[- ]check(?:s|ed)?|pants on fire|gastbeitrag|im auftrag von|finanziert von"
    r"|(?:student|school) (?:essay|paper|project)|homework|(?:sample|dummy|training) (?:text|data|example)|placeholder"
    r"|for (?:illustration|entertainment)|hypothetical|debunked|disputed|misleading|april fools?"
    r"|last (?:changed|edited|updated|modified|reviewed|revised)|updated? on|zurückgezogen|widerrufen|berichtigung|korrektur"
    r"|richtigstellung|veraltet|überholt|ersetzt durch|archiviert|entwurf|anzeige|gesponsert|werbung|glosse"
    r"|erfunden\w*|fiktiv\w*|fiktion|maschinell übersetzt|(?:beispiel|muster)(?:text|daten)|schülerarbeit"
    r"|zuletzt (?:aktualisiert|geändert)|rétracté\w*|rétractation|rectificatif|obsolète|périmée?|remplacée? par"
    r"|brouillon|sponsorisée?|publicité|publi-?rédactionnel|mise? à jour|dernière (?:mise|modification)|fictifs?"
    r"|fictives?|inventée?s?|traduction automatique|ficci[óo]n|fictici[oa]s?|inventad[oa]s?|traducción automática|retractad[oa]"
    r"|retirad[oa]|fe de erratas|corrección|obsolet[oa]|desactualizad[oa]|sustituid[oa]|reemplazad[oa]|borrador"
    r"|patrocinad[oa]|publicidad|publirreportaje|sátira|actualizado|ritrattat[oa]|rettifica|superat[oa]|bozza"
    r"|sponsorizzat[oa]|pubblicità|satira|aggiornat[oa]|retratad[oa]|desatualizad[oa]|substituíd[oa]|rascunho"
    r"|publicidade|atualizad[oa]|ingetrokken|verouderd|gesponsord|bijgewerkt|wycofan\w*|sprostowanie|nieaktualn\w*"
    r"|sponsorowan\w*|reklam\w*|aktualizacj\w*|stažen\w*|zastaral\w*|aktualizov\w*|geri çekil\w*|düzeltme|sponsorlu"
    r"|güncelle\w*|đính chính|thu hồi|quảng cáo|tài trợ|cập nhật"
    r")\b"
    r"|\bstand: "
    r"|(?=[^\x00-\x7f])(?:отозван|опровержени|исправлен|устарел|реклам|сатир|обновлен|відкликан|застаріл|оновлен|ανακλήθηκε|αποσύρθηκε"
    r"|διόρθωση|χορηγούμεν|ενημερώθηκε|تم سحب|سُحب|تصحيح|إعلان|ممول|آخر تحديث|پس گرفته|آگهی|به‌روز|वापस लिया|सुधार"
    r"|विज्ञापन|प्रायोजित|अद्यतन|撤稿|撤回|更正|勘误|勘誤|过时|過時|过期|废弃|广告|廣告|赞助|讽刺|最后更新|更新于|草案"
    r"|訂正|広告|スポンサー|風刺|更新日|最終更新|廃止|철회|정정|광고|협찬|풍자|최종 수정|ถอนบทความ|แก้ไขล่าสุด|โฆษณา"
    r"|อัปเดต)",
    re.IGNORECASE,
)

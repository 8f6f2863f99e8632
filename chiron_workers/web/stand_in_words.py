"""The words and marks by which pages are known that stand in for others, in the languages of most of the web."""

import re

CHALLENGE_TITLE = re.compile(
    r"cookies must be enabled|cookie absent"
    r"|just a moment|one moment,? please|(?:please )?wait\b.{0,20}|one more step|attention required!?"
    r"|pardon our interruption"
    r"|(?:security|robot|bot|browser|human) (?:check|verification|challenge|checkpoint)|checking your browser.{0,40}"
    r"|access (?:to this page has been )?denied"
    r"|are you (?:a )?(?:robot|human)\??|(?:verify|verifying|confirm) (?:that )?you(?:'|’)?(?:re"
    r"| are) (?:a )?(?:human|not a (?:ro)?bot).{0,10}"
    r"|making sure you(?:'|’)re not a bot!?|human verification|captcha|ddos-guard|client challenge"
    r"|request (?:blocked|rejected|unsuccessful)"
    r"|(?:nur )?einen moment(?:,? bitte)?|sicherheits(?:prüfung|überprüfung|abfrage)|un instant|un momento"
    r"|momento por favor|um momento"
    r"|vérification de sécurité|verificación de seguridad|accès refusé|acceso denegado|zugriff verweigert|accesso negato"
    r"|один момент|проверка (?:браузера|безопасности)|しばらくお待ちください|请稍候|安全验证|人机验证",
    re.IGNORECASE,
)
CHALLENGE_WORDS = re.compile(
    r"(?:verify|verifying|checking) your (?:browser|connection)|connection needs to be verified|website owner\? click here to fix"
    r"|make sure (?:that )?you(?:'|’)?(?:re| are) (?:a )?(?:human|not a (?:ro)?bot)"
    r"|(?:enable|accept|turn on) cookies in your browser|cookies (?:are )?required to continue|"
    r"(?:verify|verifying|confirm|checking|check) (?:that |if |whether )?you(?:'|’)?(?:re| are) (?:a "
    r"|an )?(?:real )?(?:human|person|not a (?:ro)?bot)"
    r"|checking (?:if the site connection is secure|your browser before)|review the security of your connection"
    r"|(?:needs|need) to (?:verify|confirm) (?:that )?you are (?:a )?human|complete the (?:captcha|security check)"
    r"|unusual (?:traffic|activity) (?:coming |has been detected )?from your"
    r"|press (?:&|and) hold (?:the button )?to (?:confirm|verify|prove)"
    r"|ddos protection by"
    r"|incapsula incident id"
    r"|(?:prove|show) (?:that )?you(?:'|’)?(?:re| are) (?:a )?(?:human|not a (?:ro)?bot)|i(?:'|’)m not a robot"
    r"|performance (?:&|and) security by cloudflare"
    r"|made us think (?:that )?you(?:'|’| )?a?re a bot|enable javascript and cookies to continue"
    r"|your browser will redirect to your requested content"
    r"|bestätigen sie,? dass sie (?:ein mensch|kein roboter) sind|vérifi\w+ que vous êtes (?:un )?humain"
    r"|verifi\w+ que (?:usted )?(?:eres|es|é) (?:un )?human",
    re.IGNORECASE,
)
# Words that only such services use.
BLOCK_WORDS = re.compile(
    r"there was a problem providing the content you requested|you have been blocked|incapsula incident id"
    r"|unable to send a cookie to your web browser|enable javascript and cookies to continue"
    r"|security service to protect itself from online attacks|made us think (?:that )?you(?:'|’| )?a?re a bot"
    r"|attempting to access this website from a country belonging to the european economic area"
    r"|unusual traffic from your computer network",
    re.IGNORECASE,
)
# To whom a check speaks, and what it speaks of; an article of the same title does neither.
ADDRESS = re.compile(
    r"\b(?:you|your|please|sie|ihren?|vous|votre|usted|tu|lei|вы|ваш\w*)\b|您|あなた|reference #"
    r"|\b(?:ray|incident|support|request) id\b|\bjava ?script\b|\bcookies?\b|\bnginx\b|\bcloudflare\b",
    re.IGNORECASE,
)
OUTAGE_TITLE = re.compile(
    r"(?:error |http )?(?:403|429|451|50[0234])(?: error)?(?:[ :,-]+(?:service|temporarily|internal|server|bad|gateway|time-?out"
    r"|unavailable|error|forbidden|too many requests|for legal reasons|due to)){0,8}[!.]?"
    r"|service (?:temporarily )?unavailable|(?:site |website |scheduled |under |planned ){0,3}maintenance(?: mode)?|bad gateway"
    r"|gateway time-?out|internal server error|forbidden|too many requests|unavailable (?:due to|for) legal reasons"
    r"|(?:we(?:'|’)ll|we will) be (?:right )?back(?: soon| shortly)?[!.]?|wartung(?:sarbeiten|smodus)?|en maintenance",
    re.IGNORECASE,
)
OUTAGE_WORDS = re.compile(
    r"down for|temporarily|try again|(?:be|come|check) back|back (?:soon|shortly|online)|legal reasons|on this server|\bnginx\b"
    r"|maintenance downtime|undergoing|currently unavailable|wegen wartung|vorübergehend|momentanément|temporalmente|\bgdpr\b",
    re.IGNORECASE,
)
LOGIN_TITLE = re.compile(
    r"(?:please )?(?:log|sign)[ -]?(?:in|on)(?: (?:to|required|with|for)\b.{0,60})?|login(?: required| page)?"
    r"|authentication required|anmelde(?:n|ung)|einloggen|(?:se )?connexion|iniciar sesión|accedi|inloggen|entrar"
    r"|войти|вход|ログイン|登录",
    re.IGNORECASE,
)
# Titles of films, years and poems too.
AMBIGUOUS_TITLE = re.compile(
    r"(?:error |status )?(?:404|410)|not found|nothing found|gone|(?:oops|sorry|whoops|uh[ -]oh)[!,. ]*",
    re.IGNORECASE,
)
MISSING_WORDS = re.compile(
    r"\bsearch|home ?page|\bgo (?:back|home)\b|\burls?\b|\bthe (?:web )?address\b|\brequested\b|\blooking for\b"
    r"|\b(?:this|that|the|a|your) (?:web ?)?page\b|\bpage (?:you|is|was|has|could|can)|\bbroken link|\bon this server\b"
    r"|\bnginx\b|startseite|\bsuche|\bseite\b|page d(?:'|’)accueil|rechercher|página|buscar|pagina|cerca\b|zoek"
    r"|страниц|главн|首页|搜索|ホーム|検索",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"\w+(?:[^\w.!?]{1,9}+\w++(?:[.,]\d+)?){3,}[^\w.!?]{0,9}[.!?]")
RIGHTS = re.compile(r"©|\(c\)|rights reserved|alle rechte", re.IGNORECASE)
BARE_CONSENT = re.compile(r"consent|zustimmung", re.IGNORECASE)
# What services that keep robots out put into the source of their checks. Some put it into other pages too, which have a text.
CHALLENGE_MARKUP = re.compile(
    r"_cf_chl_opt|cf-chl-|/cdn-cgi/challenge-platform/h/|cf-turnstile|captcha-delivery\.com|px-captcha"
    r"|_Incapsula_Resource"
    r"|sucuri_cloudproxy_js|gokuProps|awsWafCookieDomainList|distil_r_captcha|ddos-guard|anubis_challenge"
    r"|/\.within\.website/"
    r"|geo\.captcha|hcaptcha\.com/1/api|recaptcha/(?:api|enterprise)\.js"
)
CONSENT_TITLE = re.compile(
    r"before you continue.{0,30}|(?:your|we value your|we care about your) privacy(?: choices?)?"
    r"|cookie (?:consent|settings|preferences|wall|policy consent)"
    r"|(?:privacy|cookie)[ -]?(?:consent|gate|center)|consent(?: required)?|bevor sie (?:fortfahren"
    r"|weitergehen).{0,30}|datenschutz(?:einstellungen|-einstellungen)"
    r"|avant de continuer.{0,30}|antes de continuar.{0,30}|prima di continuare.{0,30}"
    r"|voordat je verdergaat.{0,30}|zustimmung|cookie-zustimmung|privacy-?instellingen",
    re.IGNORECASE,
)
# Such a page is one of its own.
POLICY_TITLE = re.compile(
    r"(?:our )?(?:privacy|cookies?|data protection) (?:policy|notice|statement)|datenschutz(?:erklärung|hinweise)?"
    r"|politique de .{4,40}"
    r"|política de .{4,40}|informativa .{4,40}|privacyverklaring|cookiebeleid",
    re.IGNORECASE,
)
CONSENT_WORDS = re.compile(
    r"cookies?|consent\w*|privacy|advertising|verarbeit\w+|werbung"
    r"|personal data|partners?|gdpr|einwillig\w+|datenschutz\w*|zustimm\w+"
    r"|consentement|confidentialité|consentimiento|privacidad"
    r"|toestemming|privacyinstellingen|consenso|riservatezza",
    re.IGNORECASE,
)
AGREEMENT = re.compile(
    r"(?:i )?(?:accept|agree|allow|consent)(?: (?:all|to all|and continue|& continue|cookies|all cookies"
    r"|and close))*|reject all"
    r"|alle(?:s)? (?:akzeptieren|annehmen|ablehnen)|akzeptieren(?: und weiter)?|zustimmen(?: und weiter)?"
    r"|ich stimme zu|einverstanden"
    r"|tout (?:accepter|refuser)|accepter(?: (?:tout|et continuer|et fermer))*|j(?:'|’)accepte|aceptar(?: todo"
    r"| todas| y continuar)*|rechazar todo"
    r"|accetta(?: tutto| e continua)*|rifiuta tutto|alles (?:accepteren|weigeren)|akkoord|aceitar(?: tudo)?",
    re.IGNORECASE,
)
MISSING_TITLE = re.compile(
    r"(?:error |status )?(?:404|410)(?: error)?(?: page)?(?:[ ,]+(?:page |file |document )?(?:not found"
    r"|gone|missing))?[!.]?"
    r"|(?:oops|sorry|whoops|uh[ -]oh)[!,.]*(?: (?:this|that|the) page .{0,60}|.{0,20}not found)?"
    r"|(?:sorry,? )?(?:the |this |that |your |requested )*(?:page|file|document|article|content|resource|url"
    r"|link)s? (?:you(?:'|’)?(?:re| are)? (?:requested|looking for|tried to reach) )?"
    r"(?:(?:was |is |has |could |can |does )?(?:not |no longer |cannot |(?:is|was|does|could|ca|has)n(?:'|’)t )"
    r"(?:be |been )?(?:found|exists?|available)|(?:was |is |has |been )*(?:missing|unavailable|removed|deleted))[!.]?"
    r"|(?:sorry,? )?(?:we )?(?:can(?:'|’)t|cannot|couldn(?:'|’)t|could not) find (?:that|this|the|your) page.{0,40}"
    r"|nothing (?:was )?found(?: here)?|not found"
    r"|(?:die |diese )?seite (?:wurde )?(?:leider )?nicht (?:gefunden|verfügbar|vorhanden)[!.]?|(?:diese "
    r"|die )?seite existiert nicht(?: mehr)?[!.]?"
    r"|(?:la |cette )?page (?:est |demandée )*(?:introuvable|non trouvée)|(?:cette )?page n(?:'|’)existe (?:pas|plus)"
    r"|(?:la )?página (?:web )?no (?:encontrada|existe|disponible)|página não encontrada"
    r"|(?:la )?pagina non (?:è stata )?trovata|pagina niet gevonden"
    r"|страница не (?:найдена|существует)|nie znaleziono strony|strona nie (?:została znaleziona|istnieje)"
    r"|sidan (?:hittades inte|kunde inte hittas)"
    r"|ページが(?:見つかりません|存在しません).{0,10}|(?:页面|網頁|頁面|网页)(?:不存在|未找到|找不到)"
    r"|找不到(?:页面|網頁|頁面|网页)|الصفحة غير موجودة"
    r"|صفحه (?:مورد نظر )?(?:یافت|پیدا) نشد",
    re.IGNORECASE,
)
SCRIPTS_WANTED = re.compile(
    r"(?:please )?(?:enable|turn on|activate|allow|switch on) (?:your browser(?:'|’)s )?(?:java ?script|js)\b"
    r"|java ?script (?:is |has been |to be )?(?:currently )?(?:disabled|required|turned off|not (?:enabled"
    r"|available|supported))"
    r"|(?:requires?|needs?|needed|without|support) java ?script(?!\s*\d)|java ?script (?:must|needs to|has to"
    r"|should) be (?:enabled|activated)"
    r"|java ?script (?:aktivieren|einschalten|ist deaktiviert|wird benötigt)"
    r"|aktivieren sie (?:bitte )?java ?script|activez? java ?script|activ(?:ar?|e) (?:el )?java ?script"
    r"|(?:abilita(?:re)?|attiva(?:re)?) java ?script|schakel java ?script in|включите java ?script"
    r"|java ?script ?を有効|启用 ?java ?script|啟用 ?java ?script",
    re.IGNORECASE,
)
LOADING = re.compile(
    r"(?:loading|please wait|wird geladen|chargement|cargando|読み込み中|加载中)(?:\s*(?:\.{3}|…))?",
    re.IGNORECASE,
)
SHELL_ROOT = re.compile(
    r"(?:root|app|application|__next|__nuxt|___gatsby|svelte|main-app|react-root|ember-app|app-root|q-app|mount"
    r"|page-root)",
    re.IGNORECASE,
)

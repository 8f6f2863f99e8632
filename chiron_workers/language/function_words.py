"""The short words by which a language of the Latin script, of Cyrillic or of Devanagari is recognised, by its name in Postgres.

`simple` has those of languages that Postgres has no stems for: they are recognised lest they be taken for another one.
"""

FUNCTION_WORDS = {
    "english": (
        "the of and to in is was were are be been by for from with that this these which as at on or an a it its has have "
        "had not but his her their they he she who what when where how why does did do than then there into can could would "
        "will about after before between during also such most more other some any each may one two"
    ),
    "german": (
        "der die das und ist war waren sind wird werden wurde wurden ein eine einer eines einem einen den dem des von vom "
        "zu zum zur mit auf für im in an am als auch nicht sich aus bei nach durch über unter um es er sie wir ich ihr ihre "
        "ihren sein seine wie wer was wann wo warum welche welcher welches wieviel oder aber dass daß hat haben hatte kann "
        "können noch nur so"
    ),
    "french": (
        "le la les l un une des du de d et est sont était étaient été être a au aux en dans par pour sur avec que qu qui "
        "quoi ce cette ces son sa ses leur leurs il elle ils elles on nous vous ne pas plus ou où mais comme quel quelle "
        "quels quelles quand comment pourquoi combien se s n c ont avait fut dont entre après avant sous sans"
    ),
    "spanish": (
        "el la los las un una unos unas de del y e es son fue fueron era eran ser ha han había en a al por para con que "
        "quién qué se su sus lo le les no más o pero como cómo cuál cuáles cuándo cuánto cuántos cuántas dónde este esta "
        "estos estas ese esa sobre entre también desde hasta sin muy ya cuando donde quien durante después antes"
    ),
    "portuguese": (
        "o a os as um uma uns umas de do da dos das e é são foi foram era eram ser tem têm em no na nos nas por pelo pela "
        "pelos pelas para com que quem se seu sua seus suas não mais ou mas como qual quais quando quanto quantos onde este "
        "esta isso ao aos à às também sobre entre até sem muito já depois antes"
    ),
    "italian": (
        "il lo la i gli le un uno una di del dello della dei degli delle e è sono era erano fu essere ha hanno in nel nella "
        "nei nelle a al alla ai alle da dal dalla dai per con su sul sulla che chi cosa si suo sua suoi sue non più o ma "
        "come quale quali quando quanto quanti dove perché questo questa anche tra fra dopo prima senza"
    ),
    "dutch": (
        "de het een en is was waren zijn wordt worden werd werden van in op te met voor aan door bij uit naar over onder om "
        "dat die dit deze niet ook als er maar of hun haar hij zij ze wij ik hoe wie wat waar wanneer waarom welke heeft "
        "hebben had kan nog dan tot tussen na"
    ),
    "danish": (
        "og i at det en et den der de er var blev bliver som på af til med for fra om ved ikke har havde han hun sin sit "
        "sine deres eller men også efter hvad hvem hvor hvornår hvordan hvorfor hvilken hvilket kan skal vil under over "
        "mellem mod når"
    ),
    "norwegian": (
        "og i at det en et den der de er var ble blir som på av til med for fra om ved ikke har hadde han hun sin sitt sine "
        "deres eller men også etter hva hvem hvor når hvordan hvorfor hvilken hvilket kan skal vil under over mellom mot"
    ),
    "swedish": (
        "och i att det en ett den som är var blev blir på av till med för från om vid inte har hade han hon sin sitt sina "
        "deras eller men också efter vad vem när hur varför vilken vilket kan ska skall under över mellan mot de dem detta "
        "denna"
    ),
    "finnish": (
        "ja on oli ovat olivat ei että se ne tämä joka jotka jossa josta mutta tai myös kuin kun jos hän he sen sitä mikä "
        "mitä missä milloin miten miksi kuka kuinka sekä mukaan jälkeen ennen vain niin ole voi"
    ),
    "hungarian": (
        "a az és egy hogy nem is van volt voltak vannak ez ezt azt mely amely melyek aki ami de vagy mint meg már csak még "
        "mi ki hol mikor hogyan miért milyen mennyi után alatt között szerint által lett lehet"
    ),
    "romanian": (
        "și si în la de din cu pe pentru că ce care este sunt era erau fost a al ale ai o un unei unui nu mai sau dar ca "
        "cum cine unde când cât câte câți se său sa sale lor lui ei prin după între această acest acestea aceste fi au"
    ),
    "turkish": (
        "ve bir bu da de ile için olan olarak olduğu ne gibi daha çok en kadar sonra önce ama veya değil var yok nedir kim "
        "nerede nasıl neden hangi kaç o onun ise tarafından göre ki mi mı idi oldu edildi"
    ),
    "indonesian": (
        "yang dan di ke dari dengan untuk pada adalah ini itu dalam tidak akan oleh sebagai atau juga telah bahwa karena "
        "apa siapa kapan bagaimana mengapa mana berapa ada dapat lebih antara setelah"
    ),
    "catalan": (
        "el la els les l un una uns unes de del dels d i és són era eren va van ser ha han en a al als per amb que què qui "
        "es seu seva seus no més o però com quin quina quan on aquest aquesta també entre fins sobre"
    ),
    "irish": "an na agus is bhí tá ar ag go do le i ó sé sí siad nach ní cad cé cathain conas atá leis chun faoi",
    "lithuanian": (
        "ir yra buvo kad su iš į apie tai kaip bet ar ne nuo per po prie už kas kuris kuri kurie kada kur kodėl arba taip "
        "pat savo jo jos"
    ),
    "basque": "eta da zen dira ziren ez du zuen bat baina edo ere izan zer nor non noiz nola hau hori bere dute",
    "russian": (
        "и в во не на с со что как по из к ко у за от для это его её ее их он она они оно был была были было есть или но о "
        "об при же бы до также который которая которые которого которых где когда почему какой какая какие какое каких "
        "сколько кто чем после между через так только все"
    ),
    "serbian": (
        "и у на је се да са су за од који која које или али као што био била били не из до по његов где када како ко шта "
        "после између i u na je se da sa su za od koji koja koje ili ali kao što bio bila bili ne iz do po gde kada kako ko "
        "šta posle između"
    ),
    "hindi": (
        "है हैं था थी थे के का की को में से ने और पर यह वह ये वे कि जो एक नहीं भी क्या कौन कहाँ कहां कब कैसे क्यों किस "
        "कितने कितना तक लिए साथ द्वारा अपने गया हो कर"
    ),
    "simple": (
        # Polish, Czech, Slovak, Croatian, Slovene
        "w z i na się nie że jest są był była były do od po przez dla jak który która które co kto gdzie kiedy oraz lub ale "
        "jego jej a v se že je jsou byl byla bylo byli s pro jako který která které nebo kdo kde kdy jeho její sú bol bola "
        "boli sa ktorý ktorá ktoré alebo čo kedy in za ki so ali kdaj kje "
        # Vietnamese
        "và của là có các những một được trong cho với không này người đã để từ khi như về nào gì ai đâu bao nhiêu tại vào "
        "ở "
        # Ukrainian, Bulgarian
        "та і й що як це його її їх був була були або але який яка які де коли чому від для се са е че което който която "
        "които или но като през към къде кога защо беше бил "
        # Latin, Esperanto, Swahili, Malay, Filipino
        "est et in ad non ut cum quod qui la kaj de estas en ne al ya wa na ni kwa katika za ang ng mga sa ay ito"
    ),
}

"""Title and authors in the properties of a file, without those that programs write for everybody."""

import re

from chiron_workers.documents.authors import author_names
from chiron_workers.documents.document import one_line

# The defaults of programs' templates. A date of creation is that of a template or of a file, and
# never read as one of publication.
DEFAULT_TITLES = re.compile(
    r"(?:microsoft (?:office )?(?:word|excel|powerpoint|publisher|visio)\s*-.*|word document|powerpoint[ -]pr[aäeé]sentation"
    r"|pr[eé]sentation powerpoint|(?:document|dokument|documento|untitled|unbenannt|sans titre|sin t[ií]tulo|slide|layout|book"
    r"|mappe|classeur|presentation|pr[äé]sentation)\s*-?\s*\d{0,4}|untitled (?:document|presentation|spreadsheet|notebook)"
    r"|unnamed|no title|none|null|title|latex with hyperref(?: package)?|\(?anonymous\)?|print|about:blank"
    r"|.*\.(?:dvi|indd|qxd|qxp|docx?|dotx?|odt|rtf|xlsx?|pptx?|pages|tex|tmp)|[a-z]:\\.*|no slide title|diapositiva \d*"
    r"|folie \d+|документ microsoft word|документ\s*\d*|презентация\s*\d*|лист microsoft excel|文档\s*\d*|文書\s*\d*"
    r"|演示文稿\s*\d*)",
    re.IGNORECASE,
)
DEFAULT_AUTHORS = re.compile(
    r"(?:python-docx|openpyxl|xlsxwriter|apache poi|docx4j|aspose.*|itext.*|pandoc|libreoffice|openoffice(?:\.org)?|google docs"
    r"|microsoft(?: office)?(?: user| word| excel| powerpoint)?|office user|windows[- ](?:user|benutzer)|utilisateur windows"
    r"|usuario de windows|utente windows|usu[aá]rio do windows|user|usuario|utilisateur|benutzer|utente|default(?: user)?"
    r"|(?:local )?administrator|administrador|administrateur|admin|root|guest|owner|author|autor|auteur|unknown|unbekannt|inconnu"
    r"|anonymous|un-named|your name|none|null|n/?a|\(unspecified\)|hp|dell|lenovo|acer|asus|pc|user\d*|adobe .*|acrobat .*"
    r"|latex with hyperref(?: package)?|tex|ghostscript.*|пользователь(?: windows)?|windows 用户|用户|администратор|管理员"
    r"|(?:lenovo|hp|dell|acer|asus|wps|kingsoft|samsung)[ -](?:user|office)|microsoft[- ]account|microsoft-konto"
    r"|compte microsoft)",
    re.IGNORECASE,
)


def stated_title(words: object) -> str:
    """The title of a file on one line; empty where it is the default of a program, such as "Microsoft Word - Document1"."""
    title = one_line(words) if isinstance(words, str) else ""
    return "" if DEFAULT_TITLES.fullmatch(title) else title


def stated_authors(words: object) -> tuple[str, ...]:
    """The authors of a file, without the default names that programs write."""
    return tuple(name for name in author_names(words) if not DEFAULT_AUTHORS.fullmatch(name))

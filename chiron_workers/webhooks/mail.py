"""Deliveries as mails."""

from collections.abc import Mapping
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import localtime
from typing import Any

from chiron_workers.settings import Settings
from chiron_workers.webhooks.deliveries import Answer, Claim
from chiron_workers.webhooks.wording import sentence

PERMANENT = 500  # codes from here on


async def send_mail(
    claim: Claim, payload: Mapping[str, Any], settings: Settings, *, time_max_s: float
) -> Answer:
    """Hand a mail to the mail server; its Message-ID is the same at each try."""
    if not settings.smtp_host:
        return Answer(None, "No mail server is known to this worker; set CHIRON_SMTP_HOST.")
    import aiosmtplib

    try:
        await aiosmtplib.send(
            _message(claim, payload, settings),
            hostname=settings.smtp_host,
            port=settings.smtp_port,
            username=settings.smtp_user or None,
            password=settings.smtp_password.get_secret_value() or None,
            use_tls=settings.smtp_tls == "tls",
            start_tls=settings.smtp_tls == "starttls",
            timeout=time_max_s,
        )
    except aiosmtplib.SMTPResponseException as error:
        return Answer(error.code, f"The mail server answered {error.code}.")
    except aiosmtplib.SMTPRecipientsRefused as error:
        code = error.recipients[0].code
        return Answer(code, f"The mail server refused the address: {code}.")
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        return Answer(None, f"The mail server could not be used: {type(error).__name__}.")
    return Answer(None)


def _message(claim: Claim, payload: Mapping[str, Any], settings: Settings) -> EmailMessage:
    line = sentence(payload)
    message = EmailMessage(policy=SMTP)
    message["From"] = settings.smtp_from or f"chiron@{settings.smtp_host}"
    message["To"] = claim.url.removeprefix("mailto:")
    message["Subject"] = f"Chiron: {line}"
    message["Date"] = localtime()
    message["Message-ID"] = f"<{claim.id}@chiron>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(f"{line}\n\n{payload['data']['link']}\n")
    return message

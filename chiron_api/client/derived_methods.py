"""The methods of both clients. Written by `docs/generate.py` from `chiron_api.acts`."""

from chiron_api.client import derived_calls as calls
from chiron_api.client.methods import ListMethod, Method


class ActMethods:
    """A method for each act."""

    audit_trail = ListMethod(calls.audit_trail)
    cancel = Method(calls.cancel)
    create_key = Method(calls.create_key)
    create_webhook = Method(calls.create_webhook)
    delete_subscription = Method(calls.delete_subscription)
    deliveries = ListMethod(calls.deliveries)
    fact = Method(calls.fact)
    keys = Method(calls.keys)
    lesson = Method(calls.lesson)
    lessons = Method(calls.lessons)
    pause = Method(calls.pause)
    pause_subscription = Method(calls.pause_subscription)
    reinstate = Method(calls.reinstate)
    remove_webhook = Method(calls.remove_webhook)
    report = Method(calls.report)
    resend_delivery = Method(calls.resend_delivery)
    resume = Method(calls.resume)
    resume_subscription = Method(calls.resume_subscription)
    retry = Method(calls.retry)
    revoke_key = Method(calls.revoke_key)
    rows = ListMethod(calls.rows)
    send_webhook_test = Method(calls.send_webhook_test)
    subscribe = Method(calls.subscribe)
    subscription = Method(calls.subscription)
    subscription_times = Method(calls.subscription_times)
    subscriptions = ListMethod(calls.subscriptions)
    webhook = Method(calls.webhook)
    webhooks = ListMethod(calls.webhooks)
    withdraw = Method(calls.withdraw)
    write_lesson = Method(calls.write_lesson)
    write_report = Method(calls.write_report)

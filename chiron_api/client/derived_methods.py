"""The methods of both clients. Written by `docs/generate.py` from `chiron_api.acts`."""

from chiron_api.client import derived_calls as calls
from chiron_api.client.methods import ListMethod, Method


class ActMethods:
    """A method for each act."""

    audit_trail = ListMethod(calls.audit_trail)
    cancel = Method(calls.cancel)
    check = Method(calls.check)
    create_key = Method(calls.create_key)
    create_subject = Method(calls.create_subject)
    create_webhook = Method(calls.create_webhook)
    delete_subscription = Method(calls.delete_subscription)
    deliveries = ListMethod(calls.deliveries)
    difference = Method(calls.difference)
    documents = Method(calls.documents)
    fact = Method(calls.fact)
    keys = Method(calls.keys)
    order_recheck = Method(calls.order_recheck)
    pause = Method(calls.pause)
    pause_subscription = Method(calls.pause_subscription)
    recheck = Method(calls.recheck)
    reinstate = Method(calls.reinstate)
    remove_webhook = Method(calls.remove_webhook)
    resend_delivery = Method(calls.resend_delivery)
    resume = Method(calls.resume)
    resume_subscription = Method(calls.resume_subscription)
    retry = Method(calls.retry)
    revoke_key = Method(calls.revoke_key)
    save_goal = Method(calls.save_goal)
    search = Method(calls.search)
    send_webhook_test = Method(calls.send_webhook_test)
    skills = Method(calls.skills)
    subject = Method(calls.subject)
    subject_facts = ListMethod(calls.subject_facts)
    subjects = Method(calls.subjects)
    subscribe = Method(calls.subscribe)
    subscription = Method(calls.subscription)
    subscription_times = Method(calls.subscription_times)
    subscriptions = ListMethod(calls.subscriptions)
    tools = Method(calls.tools)
    webhook = Method(calls.webhook)
    webhooks = ListMethod(calls.webhooks)
    withdraw = Method(calls.withdraw)

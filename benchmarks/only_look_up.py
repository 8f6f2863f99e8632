"""`celery -A chiron_workers worker -I only_look_up`: a worker whose runs are offered look_up and no other tool."""

from look_up import offer_alone

offer_alone()

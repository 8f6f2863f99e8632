"""What the client does, without doing it: generators of steps, which both shells carry out.

Retries, pages, waiting and the resumption of streams stand here once. A shell sends, reads and sleeps.
"""

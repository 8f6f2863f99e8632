-- leased
-- The fence. A writer whose lease is gone matches no row, and so writes nothing. After a failover the number of a lease may be
-- given out again, and its token is not; and a row that counts fewer steps than its holder has committed has lost some of them.
-- `state = 'running'` would let Postgres look for the run among all running ones: a plan that is kept from when they were few does.
r.id = %(run_id)s and r.lease = %(lease)s and r.token = %(token)s and r.steps >= %(steps)s and case r.state when 'running' then true end

-- reserved
-- What a reservation changes in the row of its run. Whoever reserves is alive, so the lease is renewed: a call that begins is
-- not taken over a moment later. The call's number makes it safe to repeat when nobody knows whether the commit arrived.
       leased_until = greatest(r.leased_until, clock_timestamp() + %(lease_for)s),
       reserved_usd = r.reserved_usd + %(usd)s,
       reserved_tokens = r.reserved_tokens + %(tokens)s,
       reserved_calls = r.reserved_calls + 1,
       calls_in_flight = r.calls_in_flight || %(call)s::int

-- fits_run
(r.budget_usd is null
        or %(keeps_budgets)s
           and r.spent_usd + r.unconfirmed_usd + r.reserved_usd + %(usd)s <= r.budget_usd)
   and (r.budget_tokens is null
        or r.spent_tokens + r.unconfirmed_tokens + r.reserved_tokens + %(tokens)s <= r.budget_tokens)

-- day
-- Money today: what is spent (unconfirmed calls included), and what calls in flight have reserved, in USD. Of this moment, and not
-- of the transaction's begin: it may have waited for the lock over midnight. What is reserved counts against every day, since a
-- call counts on the day on which it is settled.
with clock as materialized (
  select clock_timestamp() as at)
select coalesce((select sum(usd)
                   from spending
                  where day = (clock.at at time zone 'utc')::date), 0) as spent_usd,
       coalesce((select sum(reserved_usd)
                   from runs
                  where state = 'running'), 0) as reserved_usd,
       extract(epoch from date_trunc('day', clock.at, 'utc') + interval '1 day' - clock.at)::float as day_ends_in_s
  from clock;

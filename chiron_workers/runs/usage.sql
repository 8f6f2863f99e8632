-- nothing_found
-- Whether a run completed and met no fact that counts: it stored and confirmed none, and neither its answer nor its rows cite one. A
-- run that writes from facts, or whose role hands in something else, was to find none.
(state = 'completed' and facts = 0 and confirmed = 0 and cited = 0 and scope is null
         and role not in ('assessment', 'curriculum', 'judge', 'lesson', 'verifier', 'writer'))

-- usage
-- What a run has used: tokens by how they are billed, no two counts overlapping, and what they cost. Whatever shows tokens or
-- money reads this or the sums below. A cost of which a part is unknown is null; `spent_usd_min` is the part that is known.
input_tokens, cache_write_tokens, cache_read_tokens, output_tokens, unpriced_calls, unconfirmed_calls,
       case when unpriced_calls = 0 then spent_usd end as spent_usd,
       spent_usd as spent_usd_min,
       case when unpriced_services = 0 then services_usd end as services_usd,
       services_usd as services_usd_min,
       case when unpriced_calls = 0 or unconfirmed_calls = 0 then unconfirmed_usd end as unconfirmed_usd

-- usage_parts
-- The sums of some runs under the names of their columns, so that they can be summed on.
sum(input_tokens) as input_tokens, sum(cache_write_tokens) as cache_write_tokens,
       sum(cache_read_tokens) as cache_read_tokens, sum(output_tokens) as output_tokens,
       sum(unpriced_calls) as unpriced_calls, sum(unconfirmed_calls) as unconfirmed_calls,
       sum(spent_usd) as spent_usd, sum(unconfirmed_usd) as unconfirmed_usd,
       sum(services_usd) as services_usd, sum(unpriced_services) as unpriced_services

-- usage_sums
coalesce(sum(input_tokens), 0)::bigint as input_tokens,
       coalesce(sum(cache_write_tokens), 0)::bigint as cache_write_tokens,
       coalesce(sum(cache_read_tokens), 0)::bigint as cache_read_tokens,
       coalesce(sum(output_tokens), 0)::bigint as output_tokens,
       coalesce(sum(unpriced_calls), 0)::bigint as unpriced_calls,
       coalesce(sum(unconfirmed_calls), 0)::bigint as unconfirmed_calls,
       case when coalesce(sum(unpriced_calls), 0) = 0 then coalesce(sum(spent_usd), 0) end as spent_usd,
       coalesce(sum(spent_usd), 0) as spent_usd_min,
       case when coalesce(sum(unpriced_services), 0) = 0 then coalesce(sum(services_usd), 0) end as services_usd,
       coalesce(sum(services_usd), 0) as services_usd_min,
       case when coalesce(sum(unpriced_calls), 0) = 0 or sum(unconfirmed_calls) = 0
            then coalesce(sum(unconfirmed_usd), 0)
       end as unconfirmed_usd

-- progress_parts
-- What runs have come to, so that it can be summed on.
sum(facts) as facts, sum(confirmed) as confirmed, sum(cited) as cited,
       count(*) filter (where {{nothing_found}}) as nothing_found, sum(turns) as turns,
       {{usage_parts}},
       sum(reserved_usd) as reserved_usd, min(started_at) as started_at

-- progress_sums
coalesce(sum(facts), 0)::bigint as facts,
       coalesce(sum(confirmed), 0)::bigint as confirmed,
       coalesce(sum(cited), 0)::bigint as cited,
       coalesce(sum(nothing_found), 0)::bigint as nothing_found,
       coalesce(sum(turns), 0)::bigint as turns,
       {{usage_sums}},
       coalesce(sum(reserved_usd), 0) as reserved_usd,
       min(started_at) as started_at

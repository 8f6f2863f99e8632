-- turns
select coalesce(sum(turns), 0)::int from runs where batch_id = %(batch_id)s;

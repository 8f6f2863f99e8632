-- set_status
with before as (
  select id, confidence, status
    from facts
   where id = %(fact_id)s
     for update
), change as (
  insert into fact_changes (id, fact_id, confidence, status, reason, run_id, call_id)
  select %(change_id)s, id, confidence, status, %(reason)s, %(run_id)s, %(call_id)s
    from before
)
update facts f
   set status = %(status)s, validated_at = now()
  from before
 where f.id = before.id;

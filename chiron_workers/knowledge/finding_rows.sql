-- facts_of_findings
select id, subject_id, content, topic_path, status, confidence, contradictions, validated_at, valid_from, valid_until, superseded_by
  from ({{facts}}) as fact;

-- assertions_of_findings
select id, fact_id, content, quote, quote_state, quote_start, quote_end, source_url, source_score, snapshot_hash, created_at,
       context, verdict, verdict_reason, verdict_by, observed_at, ground, claimed_score, source_kind
  from ({{assertions}}) as assertion;

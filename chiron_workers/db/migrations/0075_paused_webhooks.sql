-- A person pauses a webhook. Workers of the version before send to those that are active alone, so a paused one rests there as well.
alter table webhooks drop constraint webhooks_state_is_known;
alter table webhooks add constraint webhooks_state_is_known check (state in ('active', 'paused', 'off'));

-- A person pauses a webhook. Workers of the version before send to those that are active alone, so a paused one rests there as well.
alter table webhooks drop constraint webhooks_state_is_known;
alter table webhooks add constraint webhooks_state_is_known check (state in ('active', 'paused', 'off'));

-- What a time of a subscription brought, as its worker counted it; a list of subscriptions shows it without comparing again. Workers of
-- the version before compare without storing it.
alter table batches add column difference json;

-- The numbers of the calls that have money reserved, so that a reservation whose answer is lost on the way is made once.
-- A worker of the version before writes none; whoever acquires the run after it begins with none.
alter table runs add column calls_in_flight int[] not null default '{}';

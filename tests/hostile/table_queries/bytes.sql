-- Bytes, which are written as twice as many letters.
select LISTS[LONG::blob] from range(2)

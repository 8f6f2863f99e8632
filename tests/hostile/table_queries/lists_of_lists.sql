-- Lists of a hundred lists of a hundred long texts.
select LISTS[LONG] from range(2)

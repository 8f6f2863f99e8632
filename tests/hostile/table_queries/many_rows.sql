-- Many rows of long texts.
select LONG, LONG, LONG, LONG from range(1000)

-- Maps of long texts to lists of them.
select map(list_transform(range(90), a -> a || LONG), list_transform(range(90), a -> [LONG, LONG])) from range(9)

-- Structs that hold structs.
select {'a': list_transform(range(90), a -> {'b': list_transform(range(90), b -> [LONG, LONG])})}

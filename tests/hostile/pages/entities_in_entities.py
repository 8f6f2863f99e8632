"""XML whose entities stand for each other."""

ENTITIES = "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 30))
BODY = f"<!DOCTYPE html [<!ENTITY a0 'tide'>{ENTITIES}]><html><body><p>&a29;</p></body></html>".encode()
TYPE = "application/xhtml+xml"

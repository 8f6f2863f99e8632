-- refused: holds the operator public.===, which
create operator === (leftarg = text, rightarg = text, function = texteq);

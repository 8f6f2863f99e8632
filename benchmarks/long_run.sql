-- epochs
select count(*) from entries where kind = 'opening' and run_id = (select run_id from entries order by at desc limit 1);

-- One row for each year that has a value: "指标" means indicator, and "2023年" is the year 2023.
select "指标" as indicator, left(year, 4)::smallint as year, value::numeric as value
from indicator_staging as line
cross join lateral jsonb_each_text(to_jsonb(line)) as cell (year, value)
where year ~ '^\d{4}年$' and value <> ''

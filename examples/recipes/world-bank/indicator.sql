-- One row for each year that has a value: the keys of the JSON object are the names of the header.
select
  "Indicator Code" as indicator, "Country Code" as country, "Country Name" as country_name,
  year::smallint, value::numeric
from indicator_staging as line
cross join lateral jsonb_each_text(to_jsonb(line)) as cell (year, value)
where year ~ '^\d{4}$' and value <> ''

-- One row for each month that has a value: the keys of the JSON object are the names of the header.
select
  series[2] as unit, series[3] as coicop, series[4] as geo, to_date(month, 'YYYY-MM') as month,
  substring(field from '[\d.]+')::numeric as value, substring(field from '[a-z]+') as flag
from price_index_staging as line
cross join lateral string_to_array("freq,unit,coicop,geo\TIME_PERIOD", ',') as series
cross join lateral jsonb_each_text(to_jsonb(line)) as cell (month, field)
where month ~ '^\d{4}-\d\d$' and field ~ '\d'

-- A record continues the one before it if a parenthesis is open there. `part` counts those that do not.
with counted as (
  select *, coalesce(sum((town ~ '（')::int - (town ~ '）')::int) over before, 0) as open
  from record
  window before as (
    partition by municipality, postcode order by _line rows between unbounded preceding and 1 preceding
  )
), numbered as (
  select *, sum((open = 0)::int) over (partition by municipality, postcode order by _line) as part
  from counted
)
select municipality, postcode, prefecture, city, string_agg(town, '' order by _line) as town
from numbered
group by municipality, postcode, prefecture, city, part

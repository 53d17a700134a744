-- One row per station and day, from the hourly reports.
-- Unqualified names are the tables of this run; `set search_path = noaa` makes the same query work in psql.
select
  wban,
  observed_at::date as day,
  count(*)::integer as observations,
  min(dry_bulb_c) as min_dry_bulb_c,
  max(dry_bulb_c) as max_dry_bulb_c,
  round(avg(dry_bulb_c)::numeric, 1) as mean_dry_bulb_c,
  -- An hour's total stands in its hourly report (AA); special reports (SP) repeat part of it.
  coalesce(sum(rain_in) filter (where record_type = 'AA'), 0) as rain_in,
  bool_or(rain_is_trace) as had_trace_of_rain,
  max(greatest(wind_speed_mph, wind_gust_mph)) as peak_wind_mph
from observation
group by wban, observed_at::date
order by wban, day

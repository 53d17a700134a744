-- A run that is continued keeps how its earlier attempts ended, oldest first (startedAt, endedAt, errorCode, error), and when the last of
-- them began; null: it never was continued.
alter table etl.run
  add column earlier jsonb not null default '[]',
  add column continued_at timestamptz;

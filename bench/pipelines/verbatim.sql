select count(*) as records from observation_staging

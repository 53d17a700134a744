select count(*) as records from order_staging

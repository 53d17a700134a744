# Loads CSV files into a table of PostgreSQL by another program: peer.py duckdb|adbc JSON, with url, schema, table, names, types, paths,
# header, delimiter, quote and null.

import glob
import json
import os
import sys

job = json.loads(sys.argv[2])


def load_by_duckdb():
    import duckdb

    connection = duckdb.connect()
    try:
        connection.execute("load postgres")
    except duckdb.Error:
        # The package of the extension, where none can be downloaded.
        import duckdb_extension_postgres_scanner as package

        [path] = glob.glob(os.path.join(package.__path__[0], "extensions/*/*.duckdb_extension"))
        connection.execute(f"load '{path}'")
    connection.execute(f"attach '{job['url']}' as pg (type postgres)")
    connection.execute(
        f"insert into pg.{job['schema']}.{job['table']} select * from read_csv($paths, auto_detect = false,"
        " header = $header, delim = $delimiter, quote = $quote, escape = $quote, nullstr = $null, columns = $columns)",
        {
            **{key: job[key] for key in ("paths", "header", "delimiter", "quote", "null")},
            "columns": dict(zip(job["names"], (type.replace("jsonb", "json") for type in job["types"]))),
        },
    )


def load_by_adbc():
    import pyarrow
    from adbc_driver_postgresql import dbapi
    from pyarrow import csv

    arrow_types = {
        "smallint": pyarrow.int16(),
        "integer": pyarrow.int32(),
        "bigint": pyarrow.int64(),
        "real": pyarrow.float32(),
        "double precision": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "date": pyarrow.date32(),
        "timestamp without time zone": pyarrow.timestamp("us"),
        "timestamp with time zone": pyarrow.timestamp("us", "UTC"),
    }
    types = {
        name: arrow_types.get(type, pyarrow.string()) for name, type in zip(job["names"], job["types"])
    }
    with dbapi.connect(job["url"]) as connection, connection.cursor() as cursor:
        for path in job["paths"]:
            rows = csv.open_csv(
                path,
                csv.ReadOptions(
                    column_names=job["names"], skip_rows=int(job["header"]), block_size=1 << 24
                ),
                csv.ParseOptions(
                    delimiter=job["delimiter"],
                    quote_char=job["quote"] or False,
                    newlines_in_values=job["quote"] != "",
                ),
                csv.ConvertOptions(
                    column_types=types,
                    null_values=[job["null"]],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
            cursor.adbc_ingest(job["table"], rows, mode="append", db_schema_name=job["schema"])
        connection.commit()


{"duckdb": load_by_duckdb, "adbc": load_by_adbc}[sys.argv[1]]()

// NOAA's Quality Controlled Local Climatological Data (QCLCD): hourly weather and the station list, as NOAA ships them.
//
//   npx etl run pipelines/noaa.ts
//
// The format is described in data/noaa/QCLCDDocumentation.txt. What that means for the columns below:
// - a blank and M are missing values; Visibility also says `null`, which the document does not mention;
// - numbers are padded with blanks, hence `trim`;
// - WindDirection VR is wind from no steady direction: no number, but not missing either;
// - HourlyPrecip T is a trace of rain: it counts as 0.00 and has a flag of its own;
// - every element has a flag column, where `s` marks a suspect value. Those flags that occur are kept.

import { column, csv, definePipeline, index, present, sqlFile } from 'sluice';

const suspect = (header: string) => column.boolean(header, { true: ['s'] }).default(false);

export default definePipeline({
  name: 'noaa',
  schema: 'noaa',
  tables: {
    station: {
      source: csv('data/noaa/*station.txt', { delimiter: '|', quote: null }),
      // Seven islands of Micronesia and the Marshalls have a WMO number only; observations refer to WBAN.
      filter: present('WBAN'),
      columns: {
        wban: column.text('WBAN'),
        wmo: column.text('WMO').nullable(),
        call_sign: column.text('CallSign').nullable(),
        climate_division: column.text('ClimateDivisionCode').nullable(),
        climate_division_state: column.text('ClimateDivisionStateCode').nullable(),
        climate_division_station: column.text('ClimateDivisionStationCode').nullable(),
        name: column.text('Name').nullable(),
        state: column.varchar('State', { length: 2 }).nullable(),
        location: column.text('Location').nullable(),
        latitude: column.numeric('Latitude', { precision: 9, scale: 6 }),
        longitude: column.numeric('Longitude', { precision: 9, scale: 6 }),
        ground_height_ft: column.numeric('GroundHeight', { precision: 7, scale: 1 }).nullable(),
        station_height_ft: column.integer('StationHeight').nullable(),
        barometer_ft: column.integer('Barometer').nullable(),
        utc_offset_h: column.smallint('TimeZone').nullable(),
      },
      primaryKey: ['wban'],
    },

    observation: {
      source: csv('data/noaa/*hourly.txt', { trim: true, nulls: ['', 'M', 'null'] }),
      columns: {
        wban: column.text('WBAN'),
        // Local standard time of the station, all year round.
        observed_at: column.timestamp(['Date', 'Time'], { format: 'YYYYMMDDHHmm' }),
        station_type: column.smallint('StationType'),
        // AA is the hourly report, SP a special one between two of them.
        record_type: column.text('RecordType'),
        sky_condition: column.text('SkyCondition').nullable(),
        sky_condition_suspect: suspect('SkyConditionFlag'),
        visibility_mi: column.real('Visibility').nullable(),
        visibility_suspect: suspect('VisibilityFlag'),
        weather: column.text('WeatherType').nullable(),
        weather_suspect: suspect('WeatherTypeFlag'),
        dry_bulb_f: column.smallint('DryBulbFarenheit').nullable(),
        dry_bulb_c: column.real('DryBulbCelsius').nullable(),
        dry_bulb_suspect: suspect('DryBulbCelsiusFlag'),
        wet_bulb_f: column.smallint('WetBulbFarenheit').nullable(),
        wet_bulb_c: column.real('WetBulbCelsius').nullable(),
        dew_point_f: column.smallint('DewPointFarenheit').nullable(),
        dew_point_c: column.real('DewPointCelsius').nullable(),
        dew_point_suspect: suspect('DewPointCelsiusFlag'),
        relative_humidity: column.smallint('RelativeHumidity').nullable(),
        wind_speed_mph: column.smallint('WindSpeed').nullable(),
        wind_direction: column.smallint('WindDirection', { nulls: ['VR'] }).nullable(),
        wind_is_variable: column.boolean('WindDirection', { true: ['VR'], else: false }).default(false),
        wind_gust_mph: column.smallint('ValueForWindCharacter').nullable(),
        station_pressure_inhg: column.real('StationPressure').nullable(),
        pressure_tendency: column.smallint('PressureTendency').nullable(),
        // Three hours' change without its sign, which the tendency holds; 014 is 1.4 hPa.
        pressure_change_dhpa: column.smallint('PressureChange').nullable(),
        sea_level_pressure_inhg: column.real('SeaLevelPressure').nullable(),
        sea_level_pressure_suspect: suspect('SeaLevelPressureFlag'),
        rain_in: column.numeric('HourlyPrecip', { precision: 5, scale: 2, tokens: { T: '0' } }).nullable(),
        rain_is_trace: column.boolean('HourlyPrecip', { true: ['T'], else: false }).default(false),
        rain_suspect: suspect('HourlyPrecipFlag'),
        altimeter_inhg: column.real('Altimeter').nullable(),
      },
      primaryKey: ['wban', 'observed_at'],
      indexes: [index('observed_at', { using: 'brin' })],
      rejectLimit: 0,
    },

    daily: {
      from: ['observation'],
      transform: sqlFile('noaa/daily.sql'),
      primaryKey: ['wban', 'day'],
    },
  },
});

// A transit timetable: several files of one zip.

import { column, csv, definePipeline } from 'sluice';

const file = (name: string) => csv(`examples/recipes/gtfs/gtfs.zip!/${name}.txt`, { trim: true });
const text = column.text;
const place = column.of('point', ['stop_lon', 'stop_lat'], { separator: ',' });
const nr = column.integer('stop_sequence');
const departure = column.of('interval', 'departure_time').nullable();

export default definePipeline({
  name: 'gtfs',
  schema: 'gtfs',
  tables: {
    stop: {
      source: file('stops'),
      columns: { id: text('stop_id'), name: text('stop_name').nullable(), location: place.nullable() },
      primaryKey: ['id'],
    },
    trip: {
      source: file('trips'),
      columns: { id: text('trip_id'), route: text('route_id'), service: text('service_id') },
      primaryKey: ['id'],
    },
    stop_time: {
      source: file('stop_times'),
      columns: { trip: text('trip_id'), nr, stop: text('stop_id'), departure },
      primaryKey: ['trip', 'nr'],
      foreignKeys: [{ columns: 'trip', references: 'trip' }],
    },
  },
});

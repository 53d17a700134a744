// All shapes.

import type { Shape } from './contract.ts';
import { shape as crimes } from './crimes.ts';
import { shape as events } from './events.ts';
import { shape as gtfs } from './gtfs.ts';
import { shape as hits } from './hits.ts';
import { shape as ledger } from './ledger.ts';
import { shape as lineitem } from './lineitem.ts';
import { shape as noaa } from './noaa.ts';
import { shape as orders } from './orders.ts';
import { shape as places } from './places.ts';
import { shape as prices } from './prices.ts';
import { shape as series } from './series.ts';
import { shape as taxi } from './taxi.ts';
import { shape as titles } from './titles.ts';

export const shapes: readonly Shape[] = [
  orders,
  taxi,
  prices,
  crimes,
  gtfs,
  lineitem,
  events,
  noaa,
  ledger,
  titles,
  series,
  places,
  hits,
];

// Load of computers every ten seconds, as the Time Series Benchmark Suite makes it: ten tags of the computer, ten doubles.

import { column, csv, definePipeline } from 'sluice';
import { batchesOf } from '../generate.ts';
import { between, isoSecond, pick, randomFrom, type Random } from '../random.ts';
import { params, type Shape } from './contract.ts';

const pipeline = definePipeline({
  name: 'bench_series',
  schema: 'bench_series',
  params,
  tables: ({ staging }) => ({
    series: {
      source: csv('*series.csv'),
      staging,
      columns: {
        time: column.timestamptz('time'),
        hostname: column.text('hostname'),
        region: column.text('region'),
        datacenter: column.text('datacenter'),
        rack: column.text('rack'),
        os: column.text('os'),
        arch: column.text('arch'),
        team: column.text('team'),
        service: column.text('service'),
        service_version: column.text('service_version'),
        service_environment: column.text('service_environment'),
        usage_user: column.double('usage_user'),
        usage_system: column.double('usage_system'),
        usage_idle: column.double('usage_idle'),
        usage_nice: column.double('usage_nice'),
        usage_iowait: column.double('usage_iowait'),
        usage_irq: column.double('usage_irq'),
        usage_softirq: column.double('usage_softirq'),
        usage_steal: column.double('usage_steal'),
        usage_guest: column.double('usage_guest'),
        usage_guest_nice: column.double('usage_guest_nice'),
      },
      primaryKey: ['hostname', 'time'],
    },
  }),
});

const hosts = 4000;
const regions = [
  'us-east-1',
  'us-west-1',
  'us-west-2',
  'eu-west-1',
  'eu-central-1',
  'ap-southeast-2',
  'sa-east-1',
];

interface Host {
  readonly tags: string;
  readonly usages: number[];
}

const makeHost = (random: Random, index: number): Host => {
  const region = pick(random, regions);
  const tags = [
    `host_${index}`,
    region,
    `${region}${pick(random, ['a', 'b', 'c'])}`,
    between(random, 0, 99),
    pick(random, ['Ubuntu15.10', 'Ubuntu16.10', 'Ubuntu16.04LTS']),
    pick(random, ['x64', 'x86']),
    pick(random, ['SF', 'NYC', 'LON', 'CHI']),
    between(random, 0, 19),
    between(random, 0, 1),
    pick(random, ['production', 'staging', 'test']),
  ].join(',');
  return { tags, usages: Array.from({ length: 10 }, () => random() * 100) };
};

/** The next value of a random walk between 0 and 100. */
const walk = (random: Random, value: number): number =>
  Math.min(100, Math.max(0, value + (random() + random() + random() - 1.5) * 2));

export default pipeline;

export const shape: Shape = {
  name: 'series',
  title: 'timestamptz, ten short texts, ten doubles of 15 to 17 digits',
  pipeline,
  files: {
    nameEnd: 'series.csv',
    headerLine:
      'time,hostname,region,datacenter,rack,os,arch,team,service,service_version,service_environment,usage_user,usage_system,usage_idle,usage_nice,usage_iowait,usage_irq,usage_softirq,usage_steal,usage_guest,usage_guest_nice\n',
    lines: (seed) => {
      const random = randomFrom(seed);
      const all = Array.from({ length: hosts }, (_, index) => makeHost(random, index));
      let [index, timeMs, time] = [0, Date.UTC(2024, 0, 1), ''];
      return batchesOf(() => {
        if (index % hosts === 0) {
          time = `${isoSecond(new Date(timeMs))}+00`;
          timeMs += 10_000;
        }
        const { tags, usages } = all[index % hosts]!;
        index += 1;
        for (const [at, value] of usages.entries()) usages[at] = walk(random, value);
        return `${time},${tags},${usages.join(',')}\n`;
      });
    },
  },
};

// Which partitions a run would replace of tables whose others stay, as far as that is known before their files are loaded.

import type { PipelineSpec } from '../../declaration.ts';
import type { Client } from '../../db/client.ts';
import { modeOf } from '../../publish/names.ts';
import { namesOfTouched } from '../../publish/partitions/touched.ts';
import { firstOf } from '../../wording.ts';
import { namesOf } from '../landing.ts';
import type { PlannedTable } from './plan.ts';

/** How many partitions are named. */
const namedMax = 20;

/** By the names of tables. Of those that are `refused` nothing is known: they may have no column of the file. */
export const foreseenPartitions = async (
  client: Client,
  spec: PipelineSpec,
  planned: readonly PlannedTable[],
  refused: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> => {
  const texts = new Map<string, string>();
  for (const { table, files, intake } of planned) {
    if (intake.extent === 'whole' || modeOf(table.publish) !== 'touched' || refused.has(table.name)) continue;
    const known = await namesOfTouched(client, namesOf(spec, table), intake.outgoing.files);
    const parts = [
      ...(known.length === 0
        ? []
        : [`${firstOf(known, namedMax).join(', ')}, which have rows of files that changed or leave`]),
      ...(files.length === 0 ? [] : ['those that rows of the new and changed files belong to']),
    ];
    texts.set(table.name, parts.length === 0 ? 'none' : `replaced: ${parts.join('; and ')}`);
  }
  return texts;
};

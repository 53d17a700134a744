// Questions of `etl init` on a terminal: the types of ambiguous columns, and the encoding of a file.

import type { AskEncoding } from '../tools/init/draft-files.ts';
import type { InitDraft } from '../tools/init/write-init.ts';
import type { WrittenTable } from '../tools/init/write-pipeline.ts';
import type { Prompt } from './prompt.ts';

export const fieldName = (header: readonly string[], index: number): string =>
  header[index] || `field ${index + 1}`;

/** Asks for the types of ambiguous columns. */
export const settle = async (draft: InitDraft, prompt: Prompt): Promise<InitDraft> => {
  const { settleColumn } = await import('../tools/init/write-init.ts');
  const tables: WrittenTable[] = [];
  for (const found of draft.tables) {
    let table = found;
    for (const [index, { doubts, alternatives }] of found.decisions.entries()) {
      if (alternatives.length === 0) continue;
      const name = fieldName(found.header, index);
      const answers = ['text', ...alternatives.map(({ label }) => label)];
      // The remark goes on with what to declare if the column is kept as text.
      const [doubt] = doubts[0]!.split(': kept as text');
      const chosen = await prompt.choice(`${found.name}, ${name}: ${doubt}`, answers);
      if (chosen > 0) table = settleColumn(table, index, alternatives[chosen - 1]!.decision);
    }
    tables.push(table);
  }
  return { ...draft, tables };
};

export const askEncoding =
  (prompt: Prompt, beforeAsking: () => void): AskEncoding =>
  async (file, found) => {
    beforeAsking();
    const answers = found.map(({ encoding, samples }) => `${encoding}: ${samples.join(', ')}`);
    return found[await prompt.choice(`${file} is not UTF-8. Which texts are right?`, answers)]!;
  };

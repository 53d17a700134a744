// The instructions of a Dockerfile, stage by stage.

import { readProjectFile } from '../unit/project/source-files.ts';

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

/** What a stage says with one instruction, in order. */
export const saidBy = (stage: Stage, name: string): readonly string[] =>
  stage.instructions.filter((instruction) => instruction.name === name).map(({ text }) => text);

export const readDockerfile = (path: string): readonly Stage[] => {
  const lines = readProjectFile(path)
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const stages: { image: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push({ image: text.split(' ')[0]!, instructions: [] });
    else stages.at(-1)!.instructions.push({ name, text });
  }
  return stages;
};

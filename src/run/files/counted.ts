// Counted files. Imports no types, because the library's public types use it.

import { plural } from '../../core/wording.ts';

/** Number of files, and the names of the first ones. */
export interface Counted {
  /** Number of files. */
  readonly count: number;
  /** Names of the first five of these files. */
  readonly names: readonly string[];
}

const namedMax = 5;

export class CountedFiles implements Counted {
  count = 0;
  readonly names: string[] = [];

  add(name: string): void {
    this.count += 1;
    if (this.names.length < namedMax) this.names.push(name);
  }

  text(): string {
    const more = this.count > this.names.length ? ', …' : '';
    return `${plural(this.count, 'file')}: ${this.names.join(', ')}${more}`;
  }
}

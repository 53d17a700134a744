// Joins the compiled modules into few files: Node takes longer to find, read and link five hundred modules than a small run takes.
// They are CommonJS, which loads faster than ES modules.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** Modules that something outside loads by their place: a host, `etl`, Node for a thread. They stay there, and lead to the bundle. */
const doors = ['index', 'cli/main', 'load/thread/load-thread', 'load/thread/read-thread'];

/** Where the bundle is; modules that look for something beside them count from here. */
const bundleName = 'bundle';

/**
 * What starts often. Modules that the same ones of these need are one file, so that each of them loads few files, and no code that it
 * does not need. Other modules are divided by the bundler: a command or a part that is imported when it is used.
 */
const starts = {
  thread: 'load/thread/load-thread.js',
  reader: 'load/thread/read-thread.js',
  program: 'cli/main.js',
  run: 'run/run-pipeline.js',
  work: 'run/carry-out.js',
};

const { dependencies, peerDependencies } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);
/**
 * Packages that are joined with ours, and only as much of them as is used: of zod a tenth, without its fifty languages. What every run
 * loads, and what is no CommonJS. A schema of a user's own copy of zod is one for ours, too, because zod tells what is a schema by its
 * traits, and keeps its registry and settings globally.
 */
const joined = new Set([
  '@bomb.sh/tab',
  'commander',
  'csv-parse',
  'p-map',
  'pg',
  'pg-copy-streams',
  'picomatch',
  'tinyglobby',
  'zod',
  'zstddec',
]);
/** A file of its own with all that it needs, except for what it loads for other servers than ours. */
const ownFile = 'bullmq';
const packages = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
const packageOf = (id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
/** They look for these, and do without. */
const optional = new Set(['@valkey/valkey-glide', 'msgpackr-extract', 'pg-cloudflare', 'pg-native']);

const posix = (path) => path.split(sep).join('/');

/**
 * `import.meta.url` is that of the module as it was compiled: it leads to package.json, migrations and threads. What it requires is
 * joined where that is to be, and only sources ask for what runs them.
 */
const placeOf = (directory) => ({
  name: 'place',
  transform: (code, id) => {
    if (!code.includes('import.meta.')) return null;
    const path = JSON.stringify(`../${posix(relative(directory, id))}`);
    return code
      .replaceAll(/createRequire\(import\.meta\.url\)\('([^']+)'\)/g, (whole, name) => {
        if (name === ownFile) return `require('./${ownFile}.cjs')`;
        return joined.has(packageOf(name)) ? `require('${name}')` : whole;
      })
      .replaceAll('import.meta.resolve(', 'String(')
      .replaceAll('import.meta.url', `new URL(${path}, import.meta.url).href`);
  },
});

/** Names the file of a module by what needs it; null leaves it to the bundler. */
const createNaming = (directory) => {
  let needed;
  let library;
  const closure = (first, context) => {
    const found = new Set();
    const add = (id) => {
      if (found.has(id)) return;
      found.add(id);
      for (const next of context.getModuleInfo(id)?.importedIds ?? []) add(next);
    };
    add(first);
    return found;
  };
  const isDoor = new Set(doors.map((door) => join(directory, `${door}.js`)));
  const isOfLibrary = (id, context) => (library ??= closure(join(directory, 'index.js'), context)).has(id);
  return (id, context) => {
    needed ??= Object.entries(starts).map(([name, path]) => [name, closure(join(directory, path), context)]);
    const name = needed.flatMap(([start, ids]) => (ids.has(id) ? [start] : [])).join('-');
    if (name === '' || isDoor.has(id)) return null;
    // A host must not load the command line for one module of it.
    return name === 'program' && isOfLibrary(id, context) ? 'library-program' : name;
  };
};

/** Modules that more of them need come first: the bundler takes a module with everything that it needs and that is left. */
const groupsOf = (naming) => {
  const count = Object.keys(starts).length;
  return Array.from({ length: count }, (_, fewer) => ({
    debugName: `needed by ${count - fewer}`,
    priority: count - fewer,
    name: (id, context) => {
      const name = naming(id, context);
      return name?.split('-').length === count - fewer ? name : null;
    },
  }));
};

const filesBelow = (directory) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

/** The licences of the packages in these files ask to be with them. */
const writeLicences = (directory, files) => {
  const ids = files.flatMap(({ moduleIds = [] }) => moduleIds);
  const parts = ids.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(posix(id)) ?? []);
  const texts = [...new Set(parts)].map((part) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(part, 'package.json'), 'utf8'));
    const file = readdirSync(part).find((entry) => /^licen[cs]e/i.test(entry));
    // Some have only the name of theirs.
    const text =
      file === undefined ? `${license}, ${author?.name ?? author}\n` : readFileSync(join(part, file), 'utf8');
    return `${name} ${version}\n\n${text}`;
  });
  writeFileSync(join(directory, 'licences.txt'), texts.toSorted().join('\n\n'));
};

const settings = {
  platform: 'node',
  makeAbsoluteExternalsRelative: false,
  tsconfig: false,
  // Modules are imported when they are used for what Node loads, not for what it downloads.
  checks: { ineffectiveDynamicImport: false },
  // A package that is not declared would be missing where this one is installed.
  onLog: (level, { message }) => {
    if (level === 'warn') throw new Error(message);
  },
};
const output = { format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' };

const write = async (options, outputOptions) => {
  const made = await rolldown({ ...settings, ...options });
  const written = await made.write({ ...output, ...outputOptions });
  await made.close();
  return written.output;
};

/** What has been written at a door leads to the file of the bundle, with the same names. */
const writeDoor = (directory, door, { exports }) => {
  const up = '../'.repeat(door.split('/').length - 1) || './';
  const names = exports.toSorted().join(', ');
  const file = `${up}${bundleName}/${door.replaceAll('/', '-')}.cjs`;
  const text =
    exports.length === 0
      ? `import '${file}';\n`
      : `import made from '${file}';\nexport const { ${names} } = made;\n`;
  writeFileSync(join(directory, `${door}.js`), text);
};

/**
 * Replaces the compiled modules of a directory by the bundle, and by doors that lead to it. Other packages than the joined ones are not
 * part of it: optional ones stay optional, and a host shares ours.
 */
export const bundle = async (directory) => {
  const modules = filesBelow(directory).filter((path) => path.endsWith('.js'));
  const input = Object.fromEntries(
    doors.map((door) => [door.replaceAll('/', '-'), join(directory, `${door}.js`)]),
  );
  const dir = join(directory, bundleName);
  const ours = await write(
    {
      input,
      // Comments name modules from here: each build gives the same bytes.
      cwd: directory,
      external: (id) =>
        isBuiltin(id) ||
        id === `./${ownFile}.cjs` ||
        optional.has(id) ||
        (packages.has(packageOf(id)) && !joined.has(packageOf(id))),
      plugins: [placeOf(directory)],
    },
    { dir, codeSplitting: { groups: groupsOf(createNaming(directory)) } },
  );
  const queues = await write(
    {
      input: { [ownFile]: fileURLToPath(import.meta.resolve(ownFile).replace('/esm/', '/cjs/')) },
      cwd: directory,
      external: (id) => isBuiltin(id) || optional.has(id) || id === 'ioredis' || id === 'pg',
    },
    { dir },
  );
  writeLicences(dir, [...ours, ...queues]);
  for (const path of modules) rmSync(path);
  for (const door of doors) {
    const name = door.replaceAll('/', '-');
    writeDoor(
      directory,
      door,
      ours.find((file) => file.isEntry && file.name === name),
    );
  }
};

// Joins the compiled modules into few files: Node takes longer to find, read and link five hundred modules than a small run takes.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';

/** Modules that something outside loads by their place: a host, `etl`, Node for a thread. They stay there, and lead to the bundle. */
const doors = ['index', 'cli/main', 'run/load/load-thread', 'run/load/stream/read-thread'];

/** Where the bundle is; modules that look for something beside them count from here. */
const bundleName = 'bundle';

/**
 * What starts often. Modules that the same ones of these need are one file, so that each of them loads few files, and no code that it
 * does not need. Other modules are divided by the bundler: a command or a part that is imported when it is used.
 */
const starts = {
  thread: 'run/load/load-thread.js',
  program: 'cli/main.js',
  run: 'run/run-pipeline.js',
};

const { dependencies, peerDependencies } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);
/**
 * Packages that are joined with ours, and only as much of them as is used: of zod a tenth, without its fifty languages. A schema of a
 * user's own copy is one for ours, too, because zod tells what is a schema by its traits, and keeps its registry and settings globally.
 */
const joined = ['zod'];
const packages = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
for (const name of joined) packages.delete(name);
const packageOf = (id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];

const posix = (path) => path.split(sep).join('/');

/** `import.meta.url` is that of the module as it was compiled: it leads to package.json, migrations and threads. */
const placeOf = (directory) => ({
  name: 'place',
  transform: (code, id) => {
    if (!code.includes('import.meta.url')) return null;
    const path = JSON.stringify(`../${posix(relative(directory, id))}`);
    return code.replaceAll('import.meta.url', `new URL(${path}, import.meta.url).href`);
  },
});

/** Modules that stay are imported from where they are. */
const keep = (directory, stays) => ({
  name: 'keep',
  resolveId: (source, importer) => {
    const path = importer === undefined ? source : join(dirname(importer), source);
    return stays.has(path) ? { id: `../${posix(relative(directory, path))}`, external: true } : null;
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
const writeLicences = (directory, { output }) => {
  const ids = output.flatMap(({ moduleIds = [] }) => moduleIds);
  const parts = ids.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(posix(id)) ?? []);
  const texts = [...new Set(parts)].map((part) => {
    const { name, version } = JSON.parse(readFileSync(join(part, 'package.json'), 'utf8'));
    const file = readdirSync(part).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name} ${version}\n\n${readFileSync(join(part, file), 'utf8')}`;
  });
  writeFileSync(join(directory, 'licences.txt'), texts.toSorted().join('\n\n'));
};

/**
 * Replaces the compiled modules of a directory by the bundle, and by doors that lead to it. Other packages than the joined ones are not
 * part of it: optional ones stay optional, and a host shares ours. `kept` are modules that stay as they are.
 */
export const bundle = async (directory, kept) => {
  const stays = new Set(kept.map((path) => join(directory, path)));
  const modules = filesBelow(directory).filter((path) => path.endsWith('.js'));
  const input = Object.fromEntries(
    doors.map((door) => [door.replaceAll('/', '-'), join(directory, `${door}.js`)]),
  );
  const made = await rolldown({
    input,
    // Comments name modules from here: each build gives the same bytes.
    cwd: directory,
    platform: 'node',
    external: (id) => isBuiltin(id) || packages.has(packageOf(id)),
    plugins: [placeOf(directory), keep(directory, stays)],
    makeAbsoluteExternalsRelative: false,
    tsconfig: false,
    // Modules are imported when they are used for what Node loads, not for what it downloads.
    checks: { ineffectiveDynamicImport: false },
    // A package that is not declared would be missing where this one is installed.
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(message);
    },
  });
  const written = await made.write({
    dir: join(directory, bundleName),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: { groups: groupsOf(createNaming(directory)) },
  });
  await made.close();
  writeLicences(join(directory, bundleName), written);
  for (const path of modules) if (!stays.has(path)) rmSync(path);
  for (const door of doors) {
    const up = '../'.repeat(door.split('/').length - 1) || './';
    writeFileSync(
      join(directory, `${door}.js`),
      `export * from '${up}${bundleName}/${door.replaceAll('/', '-')}.js';\n`,
    );
  }
};

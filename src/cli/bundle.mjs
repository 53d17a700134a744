// Bundles the compiled modules into few CommonJS files: Node needs longer to find, read and link
// hundreds of ES modules than a small run takes.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** Modules that are loaded by path ("doors"): short modules that load the bundle replace them. */
const doors = ['index', 'cli/main', 'load/thread/load-thread', 'load/thread/read-thread'];

/** Loads the bundle for `etl` and its threads, so it is not in the bundle itself. */
const codeCache = 'core/code-cache.js';

const bundleName = 'bundle';

/**
 * Entry points that start often. Modules that are needed by the same entry points are put into one
 * file, so that an entry point loads few files, and only code that it needs. The bundler chooses
 * the files of all other modules, such as commands, which are imported when they run.
 */
const starts = {
  thread: 'load/thread/load-thread.js',
  reader: 'load/thread/read-thread.js',
  program: 'cli/main.js',
  run: 'run/run-pipeline.js',
  work: 'run/carry-out.js',
};

const { dependencies, peerDependencies } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
/**
 * Packages in the bundle: packages that every run loads, and ES modules. Unused parts are left out,
 * such as nine tenths of zod. A user's schema from another copy of zod still works: zod recognizes
 * schemas by their traits and has a global registry.
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
/** This package and its dependencies are bundled into a file of their own. */
const ownFile = 'bullmq';
const packages = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
const packageOf = (id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
/** Packages that bundled packages use if they are installed. */
const optional = new Set(['@valkey/valkey-glide', 'msgpackr-extract', 'pg-cloudflare', 'pg-native']);

const posix = (path) => path.split(sep).join('/');

/**
 * Replaces `import.meta.url` by the URL that the module had before bundling, relative to which it
 * finds package.json, migrations and threads. A package's `createRequire` becomes `require`, which
 * the bundler resolves.
 */
const originalUrls = (directory) => ({
  name: 'original-urls',
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

/** Names a module's file by the entry points that need the module; null: the bundler chooses. */
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
    // A host program must not load the whole command line for one module.
    return name === 'program' && isOfLibrary(id, context) ? 'library-program' : name;
  };
};

/**
 * Modules that more entry points need have a higher priority, because the bundler adds to a group
 * all dependencies that are not yet in another group.
 */
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

const writeLicences = (directory, files) => {
  const ids = files.flatMap(({ moduleIds = [] }) => moduleIds);
  const parts = ids.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(posix(id)) ?? []);
  const texts = [...new Set(parts)].map((part) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(part, 'package.json'), 'utf8'));
    const file = readdirSync(part).find((entry) => /^licen[cs]e/i.test(entry));
    // Some packages have no licence file, only the licence's name in package.json.
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
  // The warning is about download size. Our dynamic imports save startup time.
  checks: { ineffectiveDynamicImport: false },
  // A warning can mean an undeclared package, which would be missing after installation.
  onLog: (level, { message }) => {
    if (level === 'warn') throw new Error(message);
  },
};
// Code that V8 takes from a cache cannot call import().
const output = {
  format: 'cjs',
  dynamicImportInCjs: false,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name].cjs',
};

const write = async (options, outputOptions) => {
  const made = await rolldown({ ...settings, ...options });
  const written = await made.write({ ...output, ...outputOptions });
  await made.close();
  return written.output;
};

/** Writes a door, a module that loads the bundle. The library's door has no code cache. */
const writeDoor = (directory, door, { exports }) => {
  const up = '../'.repeat(door.split('/').length - 1) || './';
  const file = `${door.replaceAll('/', '-')}.cjs`;
  const load =
    door === 'index'
      ? `import made from '${up}${bundleName}/${file}';\n`
      : `import { requireCached } from '${up}${codeCache}';\nconst made = requireCached('${file}');\n`;
  const names = exports.toSorted().join(', ');
  const text = exports.length === 0 ? load : `${load}export const { ${names} } = made;\n`;
  writeFileSync(join(directory, `${door}.js`), text);
};

/**
 * Writes what bundlers take instead of the library (the condition `module`, which Node does not know): it loads the
 * package when it runs. Inside a bundle, the library would not find its threads, its migrations and optional packages.
 */
const writeBundlersDoor = (directory, names, { message, hint }) => {
  // In a bundle in CommonJS, import.meta.url is empty.
  const text = `import { createRequire } from 'node:module';
const file = typeof __filename === 'string' ? __filename : import.meta.url;
const load = createRequire(file);
try {
  load.resolve('sluice');
} catch (cause) {
  const message = ${JSON.stringify(message)}.replace('{file}', () => file);
  throw Object.assign(new Error(message, { cause }), { code: 'ETL_BUNDLED', hint: ${JSON.stringify(hint)} });
}
export const { ${names.toSorted().join(', ')} } = load('sluice');
`;
  writeFileSync(join(directory, 'bundled.js'), text);
};

/**
 * Replaces the compiled modules of a directory by the bundle and the doors. Packages outside
 * `joined` are imported at run time, so that optional ones stay optional and a host shares them.
 */
export const bundle = async (directory) => {
  const { catalogue } = await import(pathToFileURL(join(directory, 'core/errors/errors.js')).href);
  const modules = filesBelow(directory).filter((path) => path.endsWith('.js'));
  const input = Object.fromEntries(
    doors.map((door) => [door.replaceAll('/', '-'), join(directory, `${door}.js`)]),
  );
  const dir = join(directory, bundleName);
  const ours = await write(
    {
      input,
      // The bundle's comments have paths relative to `cwd`, so each build gives the same bytes.
      cwd: directory,
      external: (id) =>
        isBuiltin(id) ||
        id === `./${ownFile}.cjs` ||
        optional.has(id) ||
        (packages.has(packageOf(id)) && !joined.has(packageOf(id))),
      plugins: [originalUrls(directory)],
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
  for (const path of modules) if (path !== join(directory, codeCache)) rmSync(path);
  const entryOf = (door) => ours.find((file) => file.isEntry && file.name === door.replaceAll('/', '-'));
  for (const door of doors) writeDoor(directory, door, entryOf(door));
  writeBundlersDoor(directory, entryOf('index').exports, catalogue.ETL_BUNDLED);
};

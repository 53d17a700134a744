// Hosts of a test: namespaces of network, processes, mounts and shared memory, on a bridge that the test can cut and split.
//
// No namespace has a name: each lives as long as its first process, which ends when its standard input closes. So nothing is left when a
// test ends in whatever way, and no packet gets out of these namespaces.

import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { layCable, type SetCable } from './hosts-cable.ts';

const execute = promisify(execFile);
const kinds = ['--net', '--mount', '--pid', '--uts', '--ipc'] as const;

const problemOf = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'only root can make hosts';
  const commands = 'ip link add name a type bridge && mount -t tmpfs none /mnt';
  const tried = spawnSync('unshare', [...kinds, '--fork', 'sh', '-c', commands], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `no hosts can be made here: ${tried.error ?? tried.stderr}`;
};

/** Why tests with hosts cannot run; printed. In CI, root has hosts: a problem fails the tests. */
export const hostsProblem = ((): string | undefined => {
  const problem = problemOf();
  if (problem !== undefined) console.log(`skipped: ${problem}`);
  return process.env['CI'] !== undefined && process.getuid?.() === 0 ? undefined : problem;
})();

/** Mounts what is the host's own, says under which number others see its first process, and waits without a child, which would be killed. */
const firstProcess = `set -e
hostname "$1"
mount -t tmpfs -o mode=0755 none "$2"
mount -t tmpfs -o mode=1777 none /dev/shm
ip link set lo up
cd "$2"
read -r pid _ </proc/self/stat
mount -t proc none /proc
echo "$pid"
while read -r _; do :; done`;

interface Namespaces {
  readonly child: ChildProcess;
  /** Arguments for nsenter, before those of a program. */
  readonly enter: readonly string[];
  /** Of the first process, as this test sees it. */
  readonly pid: string;
}

const makeNamespaces = async (name: string, home: string): Promise<Namespaces> => {
  const args = [...kinds, '--fork', '--kill-child', 'sh', '-c', firstProcess, 'sh', name, home];
  const child = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [unknown];
  const pid = String(line).trim();
  if (!Buffer.isBuffer(line)) throw new Error(`the host ${name} cannot be made: ${pid}`);
  return { child, pid, enter: ['--target', pid, ...kinds, '--wd'] };
};

/** The system ends the other processes before it lets the first one end. */
const endNamespaces = async ({ child }: Namespaces): Promise<void> => {
  const ended = once(child, 'exit');
  child.stdin!.end();
  await ended;
};

/** Processes that were started with this home directory in their arguments or their environment. */
const processesOf = (home: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return ['cmdline', 'environ'].some((name) =>
        readFileSync(`/proc/${pid}/${name}`, 'utf8').includes(home),
      );
    } catch {
      return false;
    }
  });

export interface Host {
  readonly name: string;
  readonly address: string;
  /** Where this test finds the host's home directory. */
  readonly files: string;
  /** The arguments with which `nsenter` runs a program on the host, in its home directory. */
  readonly enter: readonly string[];
  /** Starts a program, which has its temporary files in the home directory; its errors are printed. */
  readonly start: (args: readonly string[], env?: NodeJS.ProcessEnv) => ChildProcess;
  /** Runs a shell's command to its end, and returns what it prints. */
  readonly run: (command: string) => Promise<string>;
  /** SIGKILL to all processes of the host; its system closes their connections. */
  readonly kill: () => Promise<void>;
  /** Nothing gets to it or from it, and nobody hears of it. */
  readonly unplug: () => Promise<void>;
  readonly plugIn: () => Promise<void>;
}

export interface Network {
  /** A directory of the same path on every host, with files of its own on each. */
  readonly home: string;
  /** Adds a host, also under the name of one that was removed. */
  readonly add: (name: string) => Promise<Host>;
  /** Adds a host behind a cable that can delay and lose packets. */
  readonly addFar: (name: string) => Promise<readonly [Host, SetCable]>;
  /** Ends a host with all that it has. Its peers are told, unless it is unplugged. */
  readonly remove: (host: Host) => Promise<void>;
  /** These hosts reach each other and no others, and the others do not reach them. */
  readonly split: (hosts: readonly Host[]) => Promise<void>;
  readonly heal: () => Promise<void>;
  /** Ends all hosts; fails if a process of theirs is left. */
  readonly close: () => Promise<void>;
}

/** Makes a pair of interfaces, each where it belongs: this system never has them. */
const layWire = async (network: Namespaces, own: Namespaces, port: string): Promise<void> => {
  const ends = ['name', 'eth0', 'netns', own.pid, 'type', 'veth', 'peer', 'name', port, 'netns', network.pid];
  await execute('ip', ['link', 'add', ...ends]);
};

const makeHost = async (
  { enter: enterNetwork }: Namespaces,
  own: Namespaces,
  { name, home, port, address }: { name: string; home: string; port: string; address: string },
): Promise<Host> => {
  const { pid, enter } = own;
  const inNetwork = (...args: readonly string[]) => execute('nsenter', [...enterNetwork, 'ip', ...args]);
  const start: Host['start'] = (args, env = {}) =>
    spawn('nsenter', [...enter, ...args], {
      env: { ...process.env, TMPDIR: home, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const run: Host['run'] = async (command) =>
    (await execute('nsenter', [...enter, 'sh', '-c', command])).stdout;
  await run(`ip addr add ${address}/24 dev eth0 && ip link set eth0 up`);
  await inNetwork('link', 'set', port, 'master', 'whole', 'up');
  return {
    name,
    address,
    files: `/proc/${pid}/cwd`,
    enter,
    start,
    run,
    // The shell is not among them, nor the first process.
    kill: async () => void (await run('kill -KILL -1 || true')),
    unplug: async () => void (await inNetwork('link', 'set', port, 'down')),
    plugIn: async () => void (await inNetwork('link', 'set', port, 'up')),
  };
};

/** Makes a network without hosts. */
export const openNetwork = async (): Promise<Network> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-network-'));
  // A server does not run as root, and must get to its files.
  chmodSync(directory, 0o755);
  const home = join(directory, 'home');
  mkdirSync(home);
  const network = await makeNamespaces('network', home);
  const inNetwork = async (command: string): Promise<void> =>
    void (await execute('nsenter', [...network.enter, 'sh', '-c', command]));
  const hosts = new Map<Host, { readonly own: Namespaces; readonly port: string }>();
  const addresses = new Map<string, string>();
  let made = 0;
  const move = (some: readonly Host[], bridge: string) =>
    inNetwork(some.map((host) => `ip link set ${hosts.get(host)!.port} master ${bridge}`).join(' && '));
  const remove: Network['remove'] = async (host) => {
    await endNamespaces(hosts.get(host)!.own);
    hosts.delete(host);
  };
  await inNetwork(
    'for bridge in whole part; do ip link add $bridge type bridge && ip link set $bridge up; done',
  );
  const add = async <T>(name: string, connect: typeof layWire | typeof layCable): Promise<[Host, T]> => {
    const own = await makeNamespaces(name, home);
    if (!addresses.has(name)) addresses.set(name, `10.77.0.${addresses.size + 1}`);
    const port = `port${(made += 1)}`;
    const connected = (await connect(network, own, port)) as T;
    const host = await makeHost(network, own, { name, home, port, address: addresses.get(name)! });
    hosts.set(host, { own, port });
    return [host, connected];
  };
  return {
    home,
    add: async (name) => (await add(name, layWire))[0],
    addFar: (name) => add<SetCable>(name, layCable),
    remove,
    split: (some) => move(some, 'part'),
    heal: () => move([...hosts.keys()], 'whole'),
    close: async () => {
      for (const host of hosts.keys()) await remove(host);
      await endNamespaces(network);
      rmSync(directory, { recursive: true });
      const left = processesOf(home);
      if (left.length > 0) throw new Error(`processes are left on hosts: ${left.join(', ')}`);
    },
  };
};

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getPostgresUser, isRoot, type SystemUser } from '../../../src/postgres/system-user.ts';
import { getPostgresPrograms, getPython, unpackIn } from '../processes/debian.ts';
import { startDatabaseHaproxy } from '../processes/haproxy.ts';
import { LIMITED } from '../processes/process.ts';
import { freePort } from '../servers/port.ts';
import { until } from '../wait.ts';
import { processesIn, signalIfRunning } from './owned-postgres.ts';
import { withClient } from './postgres.ts';

const PACKAGES = [
  'patroni',
  'etcd-server',
  'python3-cdiff',
  'python3-click',
  'python3-colorama',
  'python3-dateutil',
  'python3-dnspython',
  'python3-etcd',
  'python3-pkg-resources',
  'python3-prettytable',
  'python3-psutil',
  'python3-psycopg2',
  'python3-six',
  'python3-urllib3',
  'python3-wcwidth',
  'python3-yaml',
];
const NAMES = ['a', 'b', 'c'];
const ETCD = 'etcd';
const LOG_CHARACTERS = 3000;
/** The smallest values that Patroni allows, in seconds. Without a renewal for `ttl` seconds, the primary counts as lost. */
const TIMES = { ttl: 20, loop_wait: 1, retry_timeout: 3 };
/** How long Patroni tries to restart a crashed primary, in seconds. With 0, Patroni promotes a standby at once. */
const START_TIMEOUT = 0;
const POLL_MS = 50;
const SECONDS = 120;

/** What is killed: only PostgreSQL, or also its Patroni, as when a machine fails. */
export type Failure = 'PostgreSQL' | 'machine';

type Killed = {
  /** Resolves when Patroni reports that another member is the primary and accepts writes. */
  untilPromoted(): Promise<void>;
  /**
   * Starts the killed Patroni again. If only PostgreSQL was killed, the running Patroni restarts it. Resolves when two standbys
   * replicate, one of them synchronously.
   */
  restore(): Promise<void>;
};

export type PatroniCluster = {
  /** The URL of the database `charter` through HAProxy, for a superuser. */
  readonly url: string;
  /** Kills the primary. Resolves when its processes have ended. */
  killPrimary(failure: Failure): Promise<Killed>;
  stop(): Promise<void>;
};

type Member = {
  readonly name: string;
  readonly port: number;
  readonly apiPort: number;
  readonly folder: string;
  /** The data folder of the member's PostgreSQL. */
  readonly data: string;
  /** The path of Patroni's configuration file. */
  readonly configuration: string;
};

/** Starts three PostgreSQL servers of Debian with synchronous replication behind HAProxy. Patroni and etcd manage the servers. */
export async function startPatroni(): Promise<PatroniCluster> {
  const user = isRoot() ? await getPostgresUser() : null;
  const folder = await mkdtemp(join(tmpdir(), 'charter-patroni-'));
  await chmod(folder, 0o755);
  if (user !== null) await chown(folder, user.uid, user.gid);
  const processes = new Processes(folder, user);
  const members: Member[] = [];
  const end = async () => {
    clearTimeout(limit);
    await processes.killAll();
    for (const { data } of members) await killProcessesIn(data);
    await rm(folder, { recursive: true, force: true });
  };
  // Ends the processes of a test that exceeds its time limit. PostgreSQL would outlive a killed Patroni.
  const limit = setTimeout(() => void end(), LIMITED.timeout);
  try {
    for (const name of NAMES) members.push(await createMember(folder, name, user));
    await startMembers(members, processes);
    const backends = members.map(({ port, apiPort }) => ({ port, checkPort: apiPort }));
    const haproxy = await startDatabaseHaproxy(backends);
    return {
      url: urlOf(haproxy, 'charter'),
      killPrimary: (failure) => killPrimary(failure, { members, processes }),
      async stop() {
        await haproxy.stop();
        await end();
      },
    };
  } catch (cause) {
    const logs = await processes.readLogs();
    await end();
    throw new Error(`The cluster does not start:\n${logs}`, { cause });
  }
}

async function startMembers(members: readonly Member[], processes: Processes): Promise<void> {
  processes.unpack();
  const etcd = await startEtcd(processes);
  for (const member of members) await writeFile(member.configuration, JSON.stringify(configurationOf(member, etcd)));
  // The first member creates the cluster, and the other members copy it.
  for (const member of members) {
    await startMember(member, processes);
    const isRunning = async () => (await readStatus(member))?.state === 'running';
    await until(`PostgreSQL ${member.name} to run`, isRunning, { seconds: SECONDS });
  }
  await untilReplicated(members);
  await withClient(urlOf(await getPrimary(members), 'postgres'), (client) => client.query('create database charter'));
}

type Cluster = { readonly members: readonly Member[]; readonly processes: Processes };

async function killPrimary(failure: Failure, { members, processes }: Cluster): Promise<Killed> {
  const primary = await getPrimary(members);
  if (failure === 'machine') await processes.kill(primary.name);
  await killProcessesIn(primary.data);
  const others = members.filter((each) => each !== primary);
  return {
    async untilPromoted() {
      const ask = () => getPrimary(others).catch(() => delay(POLL_MS, null));
      await until('a new primary', ask, { seconds: SECONDS });
    },
    async restore() {
      if (failure === 'machine') await startMember(primary, processes);
      await untilReplicated(members);
    },
  };
}

/** Runs the programs of a cluster, in a folder that they may write to. */
class Processes {
  readonly #folder: string;
  readonly #user: SystemUser;
  readonly #programs: string;
  readonly #running = new Map<string, ChildProcess>();

  constructor(folder: string, user: SystemUser) {
    this.#folder = folder;
    this.#user = user;
    this.#programs = join(folder, 'programs');
  }

  unpack(): void {
    unpackIn(this.#programs, PACKAGES);
  }

  startPatroni(name: string, configuration: string): Promise<void> {
    return this.#start(name, getPython(), ['-m', 'patroni', configuration]);
  }

  startEtcd(options: Readonly<Record<string, string>>): Promise<void> {
    const all = Object.entries({ 'data-dir': join(this.#folder, ETCD), ...options });
    const parameters = all.map(([option, value]) => `--${option}=${value}`);
    return this.#start(ETCD, join(this.#programs, 'usr/bin/etcd'), parameters);
  }

  async kill(name: string): Promise<void> {
    const child = this.#running.get(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async killAll(): Promise<void> {
    for (const name of this.#running.keys()) await this.kill(name);
  }

  /** Returns the end of each program's log. */
  async readLogs(): Promise<string> {
    const logs = [...this.#running.keys()].map((name) => readFile(this.#logOf(name), 'utf8'));
    return (await Promise.all(logs)).map((log) => log.slice(-LOG_CHARACTERS)).join('\n');
  }

  #logOf(name: string): string {
    return join(this.#folder, `${name}.log`);
  }

  async #start(name: string, program: string, parameters: readonly string[]): Promise<void> {
    const log = await open(this.#logOf(name), 'a');
    const env = {
      PATH: `${getPostgresPrograms()}:/usr/bin:/bin`,
      PYTHONPATH: join(this.#programs, 'usr/lib/python3/dist-packages'),
      LC_ALL: 'C.UTF-8',
      HOME: this.#folder,
    };
    const options = { ...this.#user, cwd: this.#folder, env };
    this.#running.set(name, spawn(program, parameters, { ...options, stdio: ['ignore', log.fd, log.fd] }));
    await log.close();
  }
}

async function createMember(parent: string, name: string, user: SystemUser): Promise<Member> {
  const folder = join(parent, name);
  await mkdir(folder);
  if (user !== null) await chown(folder, user.uid, user.gid);
  const [port, apiPort] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  return { name, port, apiPort, folder, data: join(folder, 'data'), configuration: join(folder, 'patroni.json') };
}

/** Returns Patroni's configuration as an object. Patroni reads YAML, and JSON is valid YAML. */
function configurationOf({ name, port, apiPort, folder, data }: Member, etcd: string): object {
  const api = `127.0.0.1:${apiPort}`;
  const address = `127.0.0.1:${port}`;
  return {
    scope: 'charter',
    name,
    restapi: { listen: api, connect_address: api },
    etcd3: { host: etcd },
    bootstrap: {
      dcs: {
        ...TIMES,
        primary_start_timeout: START_TIMEOUT,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { auth: 'trust' }, 'data-checksums'],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: data,
      pgpass: join(folder, 'pgpass'),
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
      parameters: { unix_socket_directories: folder, max_connections: 100 },
      pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
    },
  };
}

async function startEtcd(processes: Processes): Promise<string> {
  const address = `127.0.0.1:${await freePort('127.0.0.1')}`;
  const peer = `http://127.0.0.1:${await freePort('127.0.0.1')}`;
  await processes.startEtcd({
    'listen-client-urls': `http://${address}`,
    'advertise-client-urls': `http://${address}`,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
  });
  return address;
}

function startMember({ name, configuration }: Member, processes: Processes): Promise<void> {
  return processes.startPatroni(name, configuration);
}

function urlOf({ port }: { readonly port: number }, database: string): string {
  return `postgresql://postgres@127.0.0.1:${port}/${database}`;
}

type Status = { readonly isLeader: boolean; readonly state: string; readonly role: string };

/** Returns the state of the member's PostgreSQL as its Patroni reports it; `null` if Patroni does not run. */
async function readStatus({ apiPort }: Member): Promise<Status | null> {
  try {
    const response = await fetch(`http://127.0.0.1:${apiPort}/primary`);
    const { state, role }: { state: string; role: string } = JSON.parse(await response.text());
    return { isLeader: response.ok, state, role };
  } catch {
    return null;
  }
}

/**
 * Returns the member that is the primary according to Patroni, and is no longer a standby. Before version 4, Patroni calls the
 * primary "master".
 */
async function getPrimary(members: readonly Member[]): Promise<Member> {
  for (const member of members) {
    const status = await readStatus(member);
    if (status?.isLeader && status.state === 'running' && /^(primary|master)$/.test(status.role)) return member;
  }
  throw new Error('There is no primary.');
}

/** Waits until all standbys replicate, and Patroni regards one of them as synchronous and may thus promote it. */
async function untilReplicated(members: readonly Member[]): Promise<void> {
  const ask = async () => {
    const primary = await getPrimary(members);
    const [roles, standbys] = await Promise.all([rolesSeenBy(primary), countStandbysOf(primary)]);
    return roles.includes('sync_standby') && standbys === members.length - 1;
  };
  const patient = () =>
    ask()
      .catch(() => false)
      .then((isSo) => isSo || delay(POLL_MS, false));
  await until('the standbys to replicate', patient, { seconds: SECONDS });
}

async function rolesSeenBy({ apiPort }: Member): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${apiPort}/cluster`);
  const { members }: { members: { role: string }[] } = JSON.parse(await response.text());
  return members.map(({ role }) => role);
}

async function countStandbysOf(primary: Member): Promise<number> {
  const { rows } = await withClient(urlOf(primary, 'postgres'), (client) =>
    client.query(`select count(*)::int as standbys from pg_stat_replication where state = 'streaming'`),
  );
  return rows[0].standbys;
}

/** Kills the processes of a PostgreSQL again and again until none is left, because PostgreSQL may be starting another process. */
async function killProcessesIn(data: string): Promise<void> {
  await until('the processes to end', async () => {
    const pids = await processesIn(data);
    for (const pid of pids) signalIfRunning(pid, 'SIGKILL');
    return pids.length === 0;
  });
}

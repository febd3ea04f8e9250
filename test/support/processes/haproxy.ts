import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withClient } from '../postgres/postgres.ts';
import { freePort } from '../servers/port.ts';
import { getProgram, replaceEach } from './debian.ts';
import { kill, LIMITED, type Running, runningOf, untilReady } from './process.ts';

const DEPLOY = join(import.meta.dirname, '../../../scripts/dist/deploy');
// The HAProxy configurations that each release artifact contains.
const CONFIGURATION = await readFile(join(DEPLOY, 'haproxy.cfg'), 'utf8');
const CELLS_CONFIGURATION = await readFile(join(DEPLOY, 'haproxy-cells.cfg'), 'utf8');
const DATABASE_CONFIGURATION = await readFile(join(DEPLOY, 'haproxy-postgresql.cfg'), 'utf8');

/** The line of the configuration that sets where HAProxy listens. */
const BIND = /^ +bind .*$/m;
const PEM = 'charter.pem';

type Haproxy = {
  /** The URL without TLS. Only the tests have it, not the configuration from the artifact. */
  readonly url: string;
  /** The URL with TLS and `certificate`, as in the configuration from the artifact. */
  readonly tlsUrl: string;
  /** The self-signed certificate of localhost, in PEM. */
  readonly certificate: string;
  stop(): Promise<void>;
};

/** Starts HAProxy in front of two servers on these ports of 127.0.0.1. Resolves when one of the servers is ready. */
export async function startHaproxy([first, second]: readonly [number, number]): Promise<Haproxy> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-haproxy-'));
  const [port, tlsPort] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  const certificate = await writeCertificate(folder);
  const bind = BIND.exec(CONFIGURATION)?.[0] ?? '';
  const used = bind.replace(' :443 ', ` 127.0.0.1:${tlsPort} `).replace('/etc/haproxy/charter.pem', join(folder, PEM));
  const replacements = {
    [bind]: `${used}\n    bind 127.0.0.1:${port}`,
    '127.0.0.1:3001': `127.0.0.1:${first}`,
    '127.0.0.1:3002': `127.0.0.1:${second}`,
  };
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const { stop } = await run(replaceEach(CONFIGURATION, replacements), { folder, isReady });
  return { url, tlsUrl: `https://localhost:${tlsPort}`, certificate, stop };
}

type CellsHaproxy = {
  readonly url: string;
  /** Returns the id of the current process. */
  pid(): number;
  /** Returns the log of the current process. */
  log(): string;
  /** Replaces the map of moved keys, and restarts HAProxy with it. */
  useMovedKeys(map: string): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts HAProxy in front of three cells, each a server on one of these ports of 127.0.0.1. Resolves when one of the cells is
 * ready.
 */
export async function startCellsHaproxy(ports: readonly [number, number, number]): Promise<CellsHaproxy> {
  const maps = await mkdtemp(join(tmpdir(), 'charter-cells-'));
  const port = await freePort('127.0.0.1');
  const bind = BIND.exec(CELLS_CONFIGURATION)?.[0] ?? '';
  const replacements = {
    [bind]: `    bind 127.0.0.1:${port}`,
    '/etc/haproxy': maps,
    ...Object.fromEntries(ports.map((each, i) => [`127.0.0.1:${3001 + i}`, `127.0.0.1:${each}`])),
  };
  await writeFile(join(maps, 'cells.map'), await readFile(join(DEPLOY, 'cells.map')));
  const start = async (map: string) => {
    await writeFile(join(maps, 'moved-keys.map'), map);
    const folder = await mkdtemp(join(tmpdir(), 'charter-haproxy-'));
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    return run(replaceEach(CELLS_CONFIGURATION, replacements), { folder, isReady });
  };
  let started = await start('');
  return {
    url: `http://127.0.0.1:${port}`,
    pid: () => started.pid,
    log: () => started.printed.stdout,
    async useMovedKeys(map) {
      await started.stop();
      started = await start(map);
    },
    async stop() {
      await started.stop();
      await rm(maps, { recursive: true, force: true });
    },
  };
}

/** Starts HAProxy in front of PostgreSQL. Resolves when HAProxy has found the primary. */
export async function startDatabaseHaproxy(
  servers: readonly { readonly port: number; readonly checkPort: number }[],
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-haproxy-'));
  const port = await freePort('127.0.0.1');
  const lines = servers.map((server, i) => [
    `10.0.0.1${i + 1}:5432`,
    // In production, each Patroni has its own machine, and all have the same port. Here, three run on one machine.
    `127.0.0.1:${server.port} port ${server.checkPort}`,
  ]);
  const replacements = { '127.0.0.1:5000': `127.0.0.1:${port}`, ...Object.fromEntries(lines) };
  const isReady = () =>
    withClient(`postgresql://postgres@127.0.0.1:${port}/postgres`, () => Promise.resolve(true)).catch(() => false);
  const { stop } = await run(replaceEach(DATABASE_CONFIGURATION, replacements), { folder, isReady });
  return { port, stop };
}

type Run = {
  readonly folder: string;
  readonly isReady: () => Promise<boolean>;
};

type Started = Pick<Running, 'printed'> & { readonly pid: number; stop(): Promise<void> };

/** Starts HAProxy with this configuration. Resolves when HAProxy is ready. `stop` also removes the folder. */
async function run(configuration: string, { folder, isReady }: Run): Promise<Started> {
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, configuration);
  const running = runningOf(spawn(getProgram('haproxy', 'haproxy'), ['-db', '-f', file], LIMITED));
  const stop = async () => {
    await kill(running);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(running, { name: 'HAProxy', isReady });
    return { pid: running.child.pid ?? Number.NaN, printed: running.printed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Writes a certificate with its key in the format that HAProxy needs, and returns the certificate. */
async function writeCertificate(folder: string): Promise<string> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const parameters = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
  await promisify(execFile)(getProgram('openssl', 'openssl'), [
    ...parameters.split(' '),
    '-addext',
    'subjectAltName=DNS:localhost',
    '-keyout',
    key,
    '-out',
    certificate,
  ]);
  const text = await readFile(certificate, 'utf8');
  await writeFile(join(folder, PEM), text + (await readFile(key, 'utf8')));
  return text;
}

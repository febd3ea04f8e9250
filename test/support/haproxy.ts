import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './debian.ts';
import { freePort } from './free-port.ts';
import { until } from './wait.ts';

/** The configuration that is part of the artifact. */
export const CONFIGURATION = await readFile(join(import.meta.dirname, '../../scripts/dist/deploy/haproxy.cfg'), 'utf8');

/** Its line in the configuration. */
const BIND = /^ +bind .*$/m;
const PEM = 'charter.pem';

export type Haproxy = {
  /** Without TLS, which only the tests' HAProxy accepts, too. */
  readonly url: string;
  /** As in the configuration, with `certificate`. */
  readonly tlsUrl: string;
  /** Of localhost, signed by itself, in PEM. */
  readonly certificate: string;
  stop(): Promise<void>;
};

/** HAProxy in front of two servers on these ports of 127.0.0.1. Resolves when one of them is ready. */
export async function startHaproxy([first, second]: readonly [number, number]): Promise<Haproxy> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-haproxy-'));
  const [port, tlsPort] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  const certificate = await writeCertificate(folder);
  const file = join(folder, 'haproxy.cfg');
  const bind = BIND.exec(CONFIGURATION)?.[0] ?? '';
  const used = bind.replace(' :443 ', ` 127.0.0.1:${tlsPort} `).replace('/etc/haproxy/charter.pem', join(folder, PEM));
  const replacements = {
    [bind]: `${used}\n    bind 127.0.0.1:${port}`,
    '127.0.0.1:3001': `127.0.0.1:${first}`,
    '127.0.0.1:3002': `127.0.0.1:${second}`,
  };
  const edited = Object.entries(replacements).reduce((text, [from, to]) => text.replace(from, to), CONFIGURATION);
  await writeFile(file, edited);
  const child = spawn(findProgram('haproxy', 'haproxy'), ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  const url = `http://127.0.0.1:${port}`;
  await until('a server behind HAProxy', () => {
    if (child.exitCode !== null) throw new Error(`HAProxy does not start: ${printed}`);
    return fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    url,
    tlsUrl: `https://localhost:${tlsPort}`,
    certificate,
    async stop() {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Writes a certificate and its key as HAProxy wants them, and returns the certificate. */
async function writeCertificate(folder: string): Promise<string> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const parameters = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
  await promisify(execFile)(findProgram('openssl', 'openssl'), [
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

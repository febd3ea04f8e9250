import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './debian.ts';
import { freePort } from './free-port.ts';
import { until } from './wait.ts';

/** The configuration that is part of the artifact. */
export const CONFIGURATION = await readFile(join(import.meta.dirname, '../../scripts/dist/deploy/haproxy.cfg'), 'utf8');

export type Haproxy = {
  readonly url: string;
  stop(): Promise<void>;
};

/** HAProxy in front of two servers on these ports of 127.0.0.1. Resolves when one of them is ready. */
export async function startHaproxy([first, second]: readonly [number, number]): Promise<Haproxy> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-haproxy-'));
  const port = await freePort('127.0.0.1');
  const file = join(folder, 'haproxy.cfg');
  const ports = {
    ':8080': `127.0.0.1:${port}`,
    '127.0.0.1:3001': `127.0.0.1:${first}`,
    '127.0.0.1:3002': `127.0.0.1:${second}`,
  };
  const edited = Object.entries(ports).reduce((text, [shown, used]) => text.replace(shown, used), CONFIGURATION);
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
    async stop() {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// Two servers behind HAProxy, with the configuration of the artifact.
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { freePort } from '../support/http/free-port.ts';
import { startRequests } from '../support/http/requests.ts';
import { length } from '../support/length.ts';
import { createScratchDatabase } from '../support/postgres/postgres.ts';
import { type Charter, organizationAt, startCharter } from '../support/processes/charter.ts';
import { startHaproxy } from '../support/processes/haproxy.ts';
import { kill } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const RESTARTS = length({ full: 2, figures: 40 });
const MINUTES = length({ full: 10, figures: 30 });
const LIFE = { lifeSeconds: MINUTES * 60 };

test(
  'each server is drained and restarted in turn under load, and no request fails',
  async () => {
    const database = await createScratchDatabase();
    const ports = [await freePort('127.0.0.1'), await freePort('127.0.0.1')] as const;
    const start = (port: number) =>
      startCharter(
        {
          DATABASE_URL: database.url,
          PORT: `${port}`,
          PUBLIC_URL: 'https://charter.example.org',
          DRAIN_SECONDS: '3',
          TRUSTED_PROXIES: 'loopback',
        },
        LIFE,
      );
    const servers: Charter[] = [await start(ports[0]), await start(ports[1])];
    const haproxy = await startHaproxy(ports, LIFE);
    try {
      const { statusCode, headers } = await getWithTls(`${haproxy.tlsUrl}/sign-in`, haproxy.certificate);
      expect({ statusCode, hsts: headers['strict-transport-security'] }).toEqual({
        statusCode: 200,
        hsts: expect.stringMatching(/^max-age=\d+/),
      });
      const { key } = await organizationAt(database.url, haproxy);
      const load = startRequests(haproxy.url, key);
      for (let i = 0; i < RESTARTS; i += 1) {
        await load.afterMore(50);
        const old = servers[i % 2];
        old?.child.kill('SIGTERM');
        expect((await old?.ended)?.code).toBe(0);
        const next = await start(i % 2 === 0 ? ports[0] : ports[1]);
        servers[i % 2] = next;
        // Until HAProxy uses it again, the other one must not stop.
        await until('a request from HAProxy', () => next.printed.stdout.includes('/api/parent_programs'));
      }
      expect(await load.end()).toEqual({ failures: [] });
    } finally {
      await haproxy.stop();
      for (const server of servers) await kill(server);
      await database.drop();
    }
  },
  MINUTES * 60_000,
);

/** Trusts only this certificate. */
async function getWithTls(url: string, certificate: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { ca: certificate, agent: false }, resolve).on('error', reject);
  const response = await promise;
  response.resume();
  return response;
}

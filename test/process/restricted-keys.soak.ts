// Two processes behind a proxy: nothing is accepted by the old state of a key after its change was confirmed.
import { MAX_REQUESTS_PER_SECOND, NO_LIMITS } from '../../src/domain/request-limits.ts';
import { restrictKey } from '../../src/service/keys/restrict-key.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createPeople, giveKey } from '../support/data/actors.ts';
import { KEYRING } from '../support/data/encryption.ts';
import { Client } from '../support/http/client.ts';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const CLIENTS = 32;
const CHANGES = 60;
const LIST = '/api/parent_programs';
const HERE = '203.0.113.7';
const ELSEWHERE = '198.51.100.9';
/** Nothing reaches a limit: a 429 would not tell by which addresses the key was judged. */
const LIMITS = { ...NO_LIMITS, perKey: MAX_REQUESTS_PER_SECOND };

type Sent = {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly address: string;
  readonly status: number;
  readonly policy: string | undefined;
};

test('32 clients of two processes: no response is by the addresses or the limit before a confirmed change', async () => {
  await withScratchDatabase(async (DATABASE_URL) => {
    const env = {
      DATABASE_URL,
      TRUSTED_PROXIES: 'loopback',
      PUBLIC_URL: 'http://charter.example.org',
      RATE_LIMIT_PER_KEY: String(LIMITS.perKey),
      RATE_LIMIT_PER_ORGANIZATION: '0',
      RATE_LIMIT_PER_ADDRESS: '0',
    };
    const processes = await Promise.all([startCharter(env), startCharter(env)]);
    const db = openDatabase({ url: DATABASE_URL, keyring: KEYRING, poolSize: 4, onIdleError: () => {} });
    try {
      const { administrator, member } = await createPeople(db);
      const { id: keyId, key } = await giveKey(db, member);
      const requestsSent: Sent[] = [];
      let isEnding = false;
      const run = async (i: number) => {
        const client = new Client(processes[i % 2]?.url ?? '', key);
        for (let n = 0; !isEnding; n += 1) {
          const address = (i + n) % 4 < 2 ? HERE : ELSEWHERE;
          const sending = { headers: { 'X-Forwarded-For': `${HERE}, ${address}` } };
          const name = i % 4 === 0 ? undefined : `${i} ${n} from ${address}`;
          const sentAt = performance.now();
          const { status, headers } =
            name === undefined ? await client.get(LIST, sending) : await client.post(LIST, { name }, sending);
          const policy = headers['ratelimit-policy'];
          requestsSent.push({ sentAt, receivedAt: performance.now(), address, status, policy });
        }
      };
      const failures: unknown[] = [];
      const clients = Array.from({ length: CLIENTS }, (_, i) => run(i).catch((error: unknown) => failures.push(error)));
      const periods: { address: string; from: number; to: number; limit: number }[] = [];
      for (let i = 0; i < CHANGES; i += 1) {
        const addresses = i % 2 === 0 ? `${HERE}/24` : '198.51.100.0/24';
        const forbidden = i % 2 === 0 ? ELSEWHERE : HERE;
        const limit = LIMITS.perKey - 1 - (i % 2);
        const change = { addresses, requestsPerSecond: limit, requestLimits: LIMITS };
        const request = { keyId, userId: member.userId, ...change, lockedOut: [HERE, ELSEWHERE] };
        expect(await restrictKey(db, administrator, request)).toEqual({ kind: 'done' });
        const from = performance.now();
        // Whatever was committed before the answer was allowed then.
        const names = await writtenFrom(forbidden);
        const since = requestsSent.length;
        await until('more requests of both addresses', () => {
          expect(failures).toEqual([]);
          const more = requestsSent.slice(since).filter(({ sentAt }) => sentAt > from);
          return [200, 201, 403].every((status) => more.filter((each) => each.status === status).length > 4);
        });
        periods.push({ address: forbidden, from, to: performance.now(), limit });
        expect(await writtenFrom(forbidden)).toEqual(names);
      }
      isEnding = true;
      await Promise.all(clients);
      const sentIn = ({ from, to }: { from: number; to: number }) =>
        requestsSent.filter(({ sentAt, receivedAt }) => sentAt > from && receivedAt < to);
      const late = periods.flatMap((period) => sentIn(period).filter(({ address }) => address === period.address));
      expect(late.length).toBeGreaterThan(5 * CHANGES);
      expect(late.filter(({ status }) => status !== 403 && status !== 503)).toEqual([]);
      for (const period of periods) {
        const policies = sentIn(period).flatMap(({ policy }) => (policy === undefined ? [] : [policy]));
        expect(new Set(policies)).toEqual(new Set([expect.stringContaining(`q=${period.limit};`)]));
      }
      // A busy machine may refuse some under load.
      const statuses = new Set(requestsSent.map(({ status }) => status).filter((status) => status !== 503));
      expect(statuses).toEqual(new Set([200, 201, 403]));

      async function writtenFrom(address: string): Promise<string[]> {
        const where = { organizationId: member.scope.organizationId, name: { endsWith: ` from ${address}` } };
        const rows = await db.prisma.parentProgram.findMany({ where, select: { name: true }, orderBy: { id: 'asc' } });
        return rows.map(({ name }) => name);
      }
    } finally {
      await db.close();
      await Promise.all(processes.map(kill));
    }
  });
});

import { changeRole, deactivateUser } from '../../src/service/accounts/change-user.ts';
import { moveKey } from '../../src/service/keys/move-key.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createPeople, giveKey } from '../support/data/actors.ts';
import { KEYRING } from '../support/data/encryption.ts';
import { giveIntegration, giveIntegrationKey } from '../support/data/integrations.ts';
import { isLoadRefusal } from '../support/http/load-refusal.ts';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { type Charter, startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const MOVES = 20;
/** Responses that each client gets before and after each change. */
const RESPONSES = 100;

type Body = { readonly integration?: { readonly id: string } | null; readonly permissions?: readonly string[] };

type Use = {
  readonly key: string;
  readonly sentAt: number;
  readonly status: number;
  /** Of GET /api/key; undefined if it was refused. */
  readonly integration: string | null | undefined;
  readonly permissions: readonly string[] | undefined;
};

/** Clients that each send one GET /api/key after the other until `end`. */
function startClients(servers: readonly Charter[], keys: readonly string[]) {
  const uses: Use[] = [];
  let isEnding = false;
  const run = async (key: string, { url }: { url: string }) => {
    while (!isEnding) {
      const sentAt = performance.now();
      const response = await fetch(`${url}/api/key`, { headers: { Authorization: `Bearer ${key}` } });
      const body: Body = JSON.parse(await response.text());
      if (isLoadRefusal({ status: response.status, retryAfter: response.headers.get('retry-after') ?? undefined }))
        continue;
      const { status } = response;
      uses.push({
        key,
        sentAt,
        status,
        integration: body.integration === null ? null : body.integration?.id,
        permissions: body.permissions,
      });
    }
  };
  const clients = keys.map((key, i) => run(key, servers[i % servers.length] ?? { url: '' }));
  const failed = Promise.all(clients).then(() => new Promise<never>(() => {}));
  return {
    uses,
    /** Until there are so many more responses with each key to requests that were sent from now on. */
    async afterMore(count: number): Promise<number> {
      const from = performance.now();
      const isEnough = () => [...new Set(keys)].every((key) => sentFrom(uses, from, key).length >= count);
      await Promise.race([until(`${count} more responses with each key`, isEnough), failed]);
      return from;
    },
    async end() {
      isEnding = true;
      await Promise.all(clients);
    },
  };
}

function sentFrom(uses: readonly Use[], from: number, key: string): Use[] {
  return uses.filter((use) => use.key === key && use.sentAt >= from);
}

async function withTwoProcesses(work: (db: Database, servers: readonly Charter[]) => Promise<void>): Promise<void> {
  await withScratchDatabase(async (DATABASE_URL) => {
    const servers = await Promise.all([startCharter({ DATABASE_URL }), startCharter({ DATABASE_URL })]);
    const db = openDatabase({ url: DATABASE_URL, keyring: KEYRING, poolSize: 4, onIdleError: () => {} });
    try {
      await work(db, servers);
    } finally {
      await db.close();
      await Promise.all(servers.map(kill));
    }
  });
}

test('16 clients with keys of two integrations notice nothing when their owner is demoted and deactivated', () =>
  withTwoProcesses(async (db, servers) => {
    const { administrator, manager } = await createPeople(db);
    const integrations = [await giveIntegration(db, manager), await giveIntegration(db, manager)];
    const keys = await Promise.all(integrations.map((each) => giveIntegrationKey(db, manager, each)));
    const own = (await giveKey(db, manager)).key;
    const [first, second] = keys.map(({ key }) => key);
    // Four clients have the person's own key, which the deactivation ends.
    const used = Array.from({ length: 20 }, (_, i) => (i < 16 ? (i % 2 === 0 ? first : second) : own) ?? '');
    const clients = startClients(servers, used);
    try {
      await clients.afterMore(RESPONSES);
      const { userId } = manager;
      orThrow(await changeRole(db, administrator, { userId, role: 'viewer', newOwner: manager.email }));
      await clients.afterMore(RESPONSES);
      orThrow(await deactivateUser(db, administrator, { userId, newOwner: administrator.email }));
      const confirmedAt = await clients.afterMore(RESPONSES);
      const ofIntegrations = clients.uses.filter(({ key }) => key !== own);
      expect(ofIntegrations.filter(({ status }) => status !== 200)).toEqual([]);
      expect(new Set(ofIntegrations.map(({ integration }) => integration))).toEqual(
        new Set(integrations.map(({ id }) => id)),
      );
      expect(sentFrom(clients.uses, confirmedAt, own).filter(({ status }) => status !== 401)).toEqual([]);
    } finally {
      await clients.end();
    }
  }));

// The attack: a server that keeps the holder of a key goes on with the permissions of the user.
test('32 clients on two processes get no response by the old state once a move is confirmed', () =>
  withTwoProcesses(async (db, servers) => {
    const { administrator, member } = await createPeople(db);
    for (let i = 0; i < MOVES; i += 1) {
      const { id: integrationId } = await giveIntegration(db, administrator, { role: 'viewer' });
      const { id: keyId, key, name } = await giveKey(db, member);
      const clients = startClients(
        servers,
        Array.from({ length: 32 }, () => key),
      );
      try {
        await clients.afterMore(RESPONSES * 32);
        const beganAt = performance.now();
        orThrow(await moveKey(db, administrator, { keyId, userId: member.userId, integrationId, name }));
        const confirmedAt = await clients.afterMore(RESPONSES * 32);
        const isOld = ({ integration, permissions }: Use) => integration === null && permissions?.length === 2;
        const isNew = ({ integration, permissions }: Use) =>
          integration === integrationId && permissions?.join() === 'parent_programs:read';
        expect(clients.uses.filter((use) => !isOld(use) && !isNew(use))).toEqual([]);
        expect(clients.uses.filter((use) => use.sentAt < beganAt).some(isOld)).toBe(true);
        expect(sentFrom(clients.uses, confirmedAt, key).filter((use) => !isNew(use))).toEqual([]);
        const write = {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: '{"name":"Late"}',
        };
        for (const { url } of servers) {
          const status = await until('a response other than a refusal under load', async () => {
            const { status, headers } = await fetch(`${url}/api/parent_programs`, write);
            const retryAfter = headers.get('retry-after') ?? undefined;
            return !isLoadRefusal({ status, retryAfter }) && status;
          });
          expect(status).toBe(403);
        }
      } finally {
        await clients.end();
      }
    }
  }));

import type { IssuedKey } from '../../src/service/keys/issue-key.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createActor, createScope, giveKey } from '../support/data/actors.ts';
import { KEYRING } from '../support/data/encryption.ts';
import { Client } from '../support/http/client.ts';
import { judgeKeys, type KeyUse, type Span } from '../support/http/linearizability.ts';
import { reportAsProgram } from '../support/http/reports.ts';
import { useScratchDatabase } from '../support/postgres/postgres.ts';
import { startCharter } from '../support/processes/charter.ts';
import { kill } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const CLIENTS = 32;
const KEYS = 8;

test('no process accepts a key after a report to another one was answered, while 32 clients use it', async () => {
  const { url: DATABASE_URL } = await useScratchDatabase();
  const processes = await Promise.all([startCharter({ DATABASE_URL }), startCharter({ DATABASE_URL })]);
  const db = openDatabase({ url: DATABASE_URL, keyring: KEYRING, poolSize: 4, onIdleError: () => {} });
  try {
    const actor = await createActor(db, await createScope(db), 'member');
    const keys: IssuedKey[] = [];
    for (let i = 0; i < KEYS; i += 1) keys.push(await giveKey(db, actor));
    const [uses, ends]: [KeyUse[], Map<string, Span>] = [[], new Map()];
    let isOver = false;
    const call = async (n: number) => {
      for (let i = n; !isOver; i += 1) {
        const { id, key } = keys[i % KEYS] ?? { id: '', key: '' };
        const sent = performance.now();
        const client = new Client(processes[i % 3 === 0 ? 0 : 1]?.url ?? '', key);
        const { status } = await client.get('/api/parent_programs');
        uses.push({ key: id, sent, received: performance.now(), status });
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, n) => call(n));
    for (const [i, { id, key }] of keys.entries()) {
      const sent = performance.now();
      ends.set(id, { sent, received: Number.POSITIVE_INFINITY });
      const { status } = await reportAsProgram(processes[i % 2]?.url ?? '', { keys: [key] });
      ends.set(id, { sent, received: performance.now() });
      expect(status).toBe(200);
      // Each client has used the key since.
      const enough = uses.length + CLIENTS * KEYS;
      await until('uses of the reported key', () => uses.length >= enough);
    }
    isOver = true;
    await Promise.all(clients);
    expect(judgeKeys(uses, ends)).toEqual([]);
    // A busy machine may also refuse a request with 503.
    const statuses = uses.map(({ status }) => status).filter((status) => status !== 503);
    expect(new Set(statuses)).toEqual(new Set([200, 401]));
    for (const { printed } of processes)
      for (const { key } of keys) expect(printed.stdout).not.toContain(key.slice(20));
  } finally {
    await db.close();
    await Promise.all(processes.map(kill));
  }
});

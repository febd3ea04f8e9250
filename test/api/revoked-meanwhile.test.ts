import { connect, type Socket } from 'node:net';
import { revokeKey } from '../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../src/service/keys/rotate-key.ts';
import { suspendOrganization } from '../../src/service/operator/organizations.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { changeRole, deactivateUser } from '../../src/service/people/change-user.ts';
import { Client, parseRaw } from '../support/clients/client.ts';
import { createPeople, giveKey, type People } from '../support/data/actors.ts';
import { useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

// The race: the holder of a leaked key sends the heads of writes, waits until the key has been revoked, and then sends the rest.
// The server accepted the key when it read each head.

/** Generous time limits, because the halves of a request may arrive far apart on a busy machine. */
const PATIENT = { headersSeconds: 600, requestSeconds: 600 };
const server = await useServer({ timeLimits: PATIENT });

const WRITES = 64;

type Leaked = People & { readonly keyId: string; readonly key: string };
type End = (leaked: Leaked) => Promise<unknown>;

const ENDS: readonly (readonly [string, number, End])[] = [
  [
    'revocation of the key',
    401,
    ({ administrator, member, keyId }) => revokeKey(server.db, administrator, { keyId, userId: member.userId }),
  ],
  [
    'rotation of the key',
    401,
    ({ administrator, member, keyId }) =>
      rotateKey(server.db, administrator, { keyId, userId: member.userId, environment: 'live' }),
  ],
  [
    'deactivation of the user',
    401,
    ({ administrator, member }) => deactivateUser(server.db, administrator, { userId: member.userId }),
  ],
  [
    'change of the role',
    403,
    ({ administrator, member }) =>
      changeRole(server.db, administrator, { userId: member.userId, role: 'viewer' }).then(orThrow),
  ],
  ['suspension of the organization', 403, ({ scope }) => suspendOrganization(server.db, scope.organizationId)],
];

async function leak(): Promise<Leaked> {
  const people = await createPeople(server.db);
  const { id, key } = await giveKey(server.db, people.member);
  return { ...people, keyId: id, key };
}

async function createProgram({ key }: Leaked, name: string): Promise<string> {
  const { status, body } = await new Client(server.url, key).post('/api/parent_programs', { name });
  expect(status).toBe(201);
  return body.id;
}

/** A write in two parts: `head` is sent before the key ends, and `rest` afterwards. */
type Write = { readonly head: string; readonly rest: string; readonly isAuthenticated: boolean };

function writeOf(i: number, { key }: Leaked, programId: string): Write {
  const kinds = ['create', 'create once', 'update', 'delete'];
  const kind = kinds[i % kinds.length];
  const path = kind?.startsWith('create') ? '/api/parent_programs' : `/api/parent_programs/${programId}`;
  const method = kind === 'update' ? 'PATCH' : kind === 'delete' ? 'DELETE' : 'POST';
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: charter.test', `Authorization: Bearer ${key}`];
  // The server does not wait for the body of a DELETE, so its head is sent in two parts.
  if (kind === 'delete') return { head: `${lines.join('\r\n')}\r\n`, rest: '\r\n', isAuthenticated: false };
  const body = JSON.stringify({ name: `Written late ${i}` });
  if (kind === 'create once') lines.push(`Idempotency-Key: late-${i}`);
  lines.push('Content-Type: application/json', `Content-Length: ${body.length}`, 'Expect: 100-continue', '', '');
  return { head: lines.join('\r\n'), rest: body, isAuthenticated: true };
}

type Sending = { readonly socket: Socket; readonly received: { text: string }; readonly write: Write };

async function begin(write: Write): Promise<Sending> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const received = { text: '' };
  socket.on('data', (chunk) => {
    received.text += chunk.toString();
  });
  socket.on('error', () => undefined);
  socket.write(write.head);
  // Node sends 100 Continue when it passes the request to the application.
  if (write.isAuthenticated) await until('100 Continue', () => received.text.startsWith('HTTP/1.1 100'));
  return { socket, received, write };
}

async function complete({ socket, received, write }: Sending): Promise<number> {
  socket.write(write.rest);
  const isWhole = () => /HTTP\/1\.1 [2-5][\s\S]*\r\n\r\n/.test(received.text);
  await until('the response', isWhole);
  socket.destroy();
  // RateLimit headers are for accepted keys only, and this key has ended.
  if (/^HTTP\/1\.1 401 /m.test(received.text)) expect(received.text).not.toMatch(/^RateLimit/m);
  return parseRaw(received.text.replace(/(\r\n\r\n)[^{]*$/, '$1')).status;
}

async function rowsOf({ scope }: Leaked): Promise<unknown[]> {
  const { organizationId } = scope;
  const programs = 'select * from parent_programs where organization_id = $1 order by id';
  const keys = 'select * from idempotency_keys where organization_id = $1 order by key';
  const found = await Promise.all([programs, keys].map((text) => server.db.pool.query(text, [organizationId])));
  return found.map(({ rows }) => rows);
}

test.each(ENDS)('no write of 64 half-sent ones is made after the %s', async (_, status, end) => {
  const leaked = await leak();
  const programs = await Promise.all(Array.from({ length: WRITES }, (_, i) => createProgram(leaked, `Program ${i}`)));
  const sendings = await Promise.all(programs.map((id, i) => begin(writeOf(i, leaked, id))));
  // Look-ups of keys complete in order. So when this request has its response, every complete head has been authenticated.
  expect((await new Client(server.url, leaked.key).get('/api/key')).status).toBe(200);
  // Half of the writes race with the end of the key. The others are completed after the key has ended.
  const racing = sendings.slice(0, WRITES / 2).map(complete);
  orThrowAny(await end(leaked));
  const before = await rowsOf(leaked);
  const late = await Promise.all(sendings.slice(WRITES / 2).map(complete));
  expect(late).toEqual(late.map(() => status));
  for (const raced of await Promise.all(racing)) expect([200, 201, 204, status]).toContain(raced);
  expect(await rowsOf(leaked)).toEqual(before);
});

function orThrowAny(outcome: unknown): void {
  const kind = typeof outcome === 'object' && outcome !== null && 'kind' in outcome ? outcome.kind : 'done';
  expect(['done', 'issued']).toContain(kind);
}

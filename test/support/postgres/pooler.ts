// Behaves towards its clients as a connection pooler does. Only the long tests use the real PgBouncer.
import type { Socket } from 'node:net';
import { SESSION_SETTINGS } from '../../../src/store/sql/session-settings.ts';
import { proxyDatabase } from './database-proxy.ts';
import { withClient } from './postgres.ts';

export type TestPooler = {
  /** The database URL that leads through the pooler. */
  readonly url: string;
  readonly clients: () => number;
  close(): Promise<void>;
} & AsyncDisposable;

/** Stores the session settings, which a pooler does not forward, for the URL's user in the URL's database. */
export async function setSessionSettings(url: string): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  await withClient(url, async (client) => {
    for (const [name, value] of Object.entries(SESSION_SETTINGS))
      await client.query(`alter role current_user in database ${database} set ${name} = '${value}'`);
  });
}

type PoolerOptions = { readonly keepsStatements?: boolean; readonly acceptsOptions?: boolean };

/**
 * Starts a pooler that, like PgBouncer, refuses the startup parameter "options", and tells a client another process id than that
 * of the database session. With `keepsStatements`, the pooler renames prepared statements, like PgBouncer since 1.21. Unlike
 * PgBouncer, the pooler opens a session for each client.
 */
export async function startPooler(
  databaseUrl: string,
  { keepsStatements = false, acceptsOptions = false }: PoolerOptions = {},
): Promise<TestPooler> {
  let clients = 0;
  const { url, stop } = await proxyDatabase(databaseUrl, (inward, outward) => {
    clients += 1;
    onMessage(inward, { isFirstTyped: false }, (message, type) => {
      if (type === null && !acceptsOptions && message.includes('\0options\0')) return void inward.end(REFUSAL);
      outward.write(keepsStatements ? renameStatement(message, type) : message);
    });
    onMessage(outward, { isFirstTyped: true }, (message, type) => {
      inward.write(type === 'K' ? withOtherProcess(message) : message);
    });
  });
  return { url, clients: () => clients, close: stop, [Symbol.asyncDispose]: stop };
}

/** Calls `use` with each message of PostgreSQL's protocol. A client's first message has no type, so `type` is then `null`. */
function onMessage(
  socket: Socket,
  { isFirstTyped }: { readonly isFirstTyped: boolean },
  use: (message: Buffer, type: string | null) => void,
): void {
  let [rest, isTyped] = [Buffer.alloc(0), isFirstTyped];
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const start = isTyped ? 1 : 0;
      if (rest.length < start + 4) return;
      const end = start + rest.readInt32BE(start);
      if (rest.length < end) return;
      use(rest.subarray(0, end), isTyped ? rest.toString('latin1', 0, 1) : null);
      rest = rest.subarray(end);
      isTyped = true;
    }
  });
}

function messageOf(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const REFUSAL = messageOf('E', Buffer.from('SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: options\0\0'));

/** Changes the process id in a BackendKeyData message. */
function withOtherProcess(message: Buffer): Buffer {
  const content = Buffer.from(message.subarray(5));
  content.writeInt32BE(~content.readInt32BE(0));
  return messageOf('K', content);
}

/**
 * Renames the prepared statement in a Parse or Bind message. In Parse, the statement's name comes first. In Bind, it comes after
 * the name of the portal, which is always empty here.
 */
function renameStatement(message: Buffer, type: string | null): Buffer {
  if (type !== 'P' && type !== 'B') return message;
  const start = type === 'P' ? 5 : 6;
  if (message[start] === 0) return message;
  const content = [message.subarray(5, start), Buffer.from('pooler_'), message.subarray(start)];
  return messageOf(type, Buffer.concat(content));
}

// The minimal server with which Charter is compared. For each request, it executes two prepared statements: one finds the key,
// and the other reads or writes the same rows as Charter. Its connection pool is as large as Charter's, and its heap grows alike,
// but its young generation has V8's own limit. The server has no validation, no permissions and no logs. It sends only the headers
// that HTTP requires.
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import pg from 'pg';
import { tuneGarbageCollection } from '../../src/heap.ts';

const COLUMNS = 'id, name, description, external_id, metadata, created_at, updated_at';
const SQL = {
  find_key: `
    select k.organization_id, o.name as organization_name, o.suspended_at, o.cursor_key,
           k.id, k.name, k.permissions, k.expires_at, k.rotated_at, k.revoked_at, u.role, u.deactivated_at
    from api_keys k
    join users u on u.organization_id = k.organization_id and u.id = k.user_id
    join organizations o on o.id = k.organization_id
    where k.key_hash = $1`,
  first_page: `select ${COLUMNS} from parent_programs where organization_id = $1 order by created_at, id limit 25`,
  next_page: `
    select ${COLUMNS} from parent_programs where organization_id = $1 and (created_at, id) > ($2, $3)
    order by created_at, id limit 25`,
  by_id: `select ${COLUMNS} from parent_programs where organization_id = $1 and id = $2`,
  create: `
    insert into parent_programs (organization_id, id, name, description) values ($1, $2, $3, $4) returning ${COLUMNS}`,
  create_many: `
    insert into parent_programs (organization_id, id, name, description)
    select $1, gen_random_uuid(), name, description from json_to_recordset($2) as r (name text, description text)
    returning ${COLUMNS}`,
  update: `
    update parent_programs set description = $3, updated_at = now() where organization_id = $1 and id = $2
    returning ${COLUMNS}`,
} as const;

tuneGarbageCollection();
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
// Connections without triggers, so that their writes create no events.
const silent = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: 10,
  options: '-c session_replication_role=replica',
});
const query = async (name: keyof typeof SQL, values: unknown[], connections = pool) =>
  (await connections.query({ name, text: SQL[name], values })).rows;

createServer((req, res) => {
  respond(req, res).catch(() => res.writeHead(500).end());
}).listen(Number(process.env['PORT']), '127.0.0.1');
process.once('disconnect', () => process.exit());

async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const hash = createHash('sha256')
    .update(String(req.headers.authorization?.slice('Bearer '.length)))
    .digest();
  const [key] = await query('find_key', [hash]);
  if (key === undefined) return void res.writeHead(401).end();
  const text = JSON.stringify(await bodyFor(req, key.organization_id));
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  res.writeHead(req.method === 'POST' ? 201 : 200, headers).end(text);
}

async function bodyFor(req: IncomingMessage, organizationId: string): Promise<unknown> {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://raw');
  const id = pathname.split('/')[3];
  if (req.method === 'POST' && id === 'batch') {
    const { changes } = await readJson(req);
    const rows = JSON.stringify(changes.map(({ body }: { body: object }) => body));
    return { data: await query('create_many', [organizationId, rows], silent) };
  }
  if (req.method === 'POST') {
    const { name, description } = await readJson(req);
    return (await query('create', [organizationId, randomUUID(), name, description]))[0];
  }
  if (req.method === 'PATCH')
    return (await query('update', [organizationId, id, (await readJson(req)).description]))[0];
  if (id !== undefined) return (await query('by_id', [organizationId, id]))[0];
  const after = searchParams.get('after');
  if (after === null) return { data: await query('first_page', [organizationId]) };
  return { data: await query('next_page', [organizationId, after, searchParams.get('id')]) };
}

async function readJson(req: IncomingMessage) {
  let text = '';
  for await (const chunk of req) text += chunk;
  return JSON.parse(text);
}

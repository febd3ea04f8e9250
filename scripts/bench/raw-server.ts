// What Charter is measured against: the same two statements a request, prepared, on a pool of the same size, and nothing
// else: no routes, no validation, no permissions, no log, no headers but what HTTP needs.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import pg from 'pg';

const FIND_KEY = {
  name: 'find_key',
  text: `
    select k.organization_id, o.name as organization_name, o.suspended_at, o.cursor_key,
           k.id, k.name, k.permissions, k.expires_at, k.rotated_at, k.revoked_at, u.role, u.deactivated_at
    from api_keys k
    join users u on u.organization_id = k.organization_id and u.id = k.user_id
    join organizations o on o.id = k.organization_id
    where k.key_hash = $1`,
};
const FIRST_PAGE = {
  name: 'first_page',
  text: `
    select id, name, description, external_id, metadata, created_at, updated_at
    from parent_programs where organization_id = $1 order by created_at, id limit 25`,
};

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });

createServer((req, res) => {
  answer(req, res).catch(() => res.writeHead(500).end());
}).listen(Number(process.env['PORT']), '127.0.0.1');
process.once('disconnect', () => process.exit());

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const hash = createHash('sha256')
    .update(String(req.headers.authorization?.slice('Bearer '.length)))
    .digest();
  const key = (await pool.query({ ...FIND_KEY, values: [hash] })).rows[0];
  if (key === undefined) return void res.writeHead(401).end();
  const { rows } = await pool.query({ ...FIRST_PAGE, values: [key.organization_id] });
  const text = JSON.stringify({ data: rows });
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text);
}

// Fastify with pg, for the comparison of processor time: the same two statements as raw, a route with a schema for the
// response, which Fastify compiles into a serializer. FASTIFY is the folder in which it is installed.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import pg from 'pg';

const { default: fastify } = createRequire(join(process.env.FASTIFY ?? '', 'node_modules/'))('fastify');
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const KEY = `
  select k.organization_id, k.permissions, k.expires_at, k.revoked_at, u.role, u.deactivated_at, o.suspended_at
  from api_keys k
  join users u on u.organization_id = k.organization_id and u.id = k.user_id
  join organizations o on o.id = k.organization_id
  where k.key_hash = $1`;
const PAGE = `
  select id, name, description, external_id, metadata, created_at, updated_at
  from parent_programs where organization_id = $1 order by created_at, id limit 25`;

const text = { type: 'string' };
const textOrNull = { type: 'string', nullable: true };
const instant = { type: 'string', format: 'date-time' };
const properties = {
  ...{ id: text, name: text, description: textOrNull, external_id: textOrNull },
  ...{ metadata: { type: 'object', additionalProperties: text }, created_at: instant, updated_at: instant },
};
const page = { type: 'object', properties: { data: { type: 'array', items: { type: 'object', properties } } } };

const app = fastify();
app.get('/api/parent_programs', { schema: { response: { 200: page } } }, async (request, reply) => {
  const key = String(request.headers.authorization).slice('Bearer '.length);
  const hash = createHash('sha256').update(key).digest();
  const found = await pool.query({ name: 'key', text: KEY, values: [hash] });
  if (found.rows.length === 0) return reply.code(401).send();
  const { rows } = await pool.query({ name: 'page', text: PAGE, values: [found.rows[0].organization_id] });
  return { data: rows };
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
process.once('disconnect', () => process.exit());

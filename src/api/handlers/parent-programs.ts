import type { components, operations } from '../../../generated/openapi.d.ts';
import type { ParentProgram } from '../../domain/parent-program.ts';
import { cursorKeyOf } from '../../service/cursor-key.ts';
import * as service from '../../service/parent-programs.ts';
import * as store from '../../store/parent-program-list.ts';
import { findParentProgram } from '../../store/parent-programs.ts';
import { entityTagOf, requireIfMatch } from '../conditional.ts';
import { nextPage, openCursor, sealCursor } from '../cursor.ts';
import { readInstant } from '../instant.ts';
import { JsonText } from '../json-text.ts';
import type { Handler } from '../operation.ts';

type Sort = NonNullable<NonNullable<operations['listParentPrograms']['parameters']['query']>['sort']>;

const ORDERS: Record<Sort, { sortField: store.SortField; descending: boolean }> = {
  created_at: { sortField: 'created_at', descending: false },
  '-created_at': { sortField: 'created_at', descending: true },
  updated_at: { sortField: 'updated_at', descending: false },
  '-updated_at': { sortField: 'updated_at', descending: true },
  name: { sortField: 'name', descending: false },
  '-name': { sortField: 'name', descending: true },
};

export const listParentPrograms: Handler<'listParentPrograms'> = async ({ query, caller }, { db }) => {
  const { limit, cursor, sort, search, external_id: externalId, updated_since: since } = query;
  const seal = { key: cursorKeyOf(db, caller), list: JSON.stringify([sort, search, externalId, since]) };
  const { rows, version } = await store.listParentPrograms(db, caller.scope, {
    ...ORDERS[sort],
    limit: limit + 1,
    after: cursor === undefined ? null : openCursor(seal, cursor),
    search,
    externalId,
    updatedSince: since === undefined ? undefined : readInstant(since),
  });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const next = last === undefined ? null : sealCursor(seal, last.position);
  const separated = shown.map(({ json }, i) => (i === 0 ? json : `,${json}`));
  const page: components['schemas']['ParentProgramPage']['page'] = { limit, next_cursor: next };
  return {
    status: 200,
    headers: next === null ? {} : { Link: `<${nextPage('/api/parent_programs', query, next)}>; rel="next"` },
    body: new JsonText('{"data":[', ...separated, '],"page":', JSON.stringify(page), '}'),
    version,
  };
};

export const createParentProgram: Handler<'createParentProgram'> = async ({ body, headers, caller }, deps) => {
  const { name, description = null, external_id: externalId = null, metadata = {} } = body;
  const program = await service.createParentProgram(
    { ...deps, caller },
    { content: { name, description, externalId, metadata }, idempotencyKey: headers['idempotency-key'] },
  );
  return { status: 201, headers: { Location: `/api/parent_programs/${program.id}` }, body: present(program) };
};

export const getParentProgram: Handler<'getParentProgram'> = async ({ path, caller }, { db }) => {
  const found = await findParentProgram(db, caller.scope, path.id);
  if (found === null) throw service.noSuchParentProgram();
  return { status: 200, headers: {}, body: present(found.program), version: found.version };
};

export const updateParentProgram: Handler<'updateParentProgram'> = async ({ path, body, headers, caller }, deps) => {
  const { name, description, external_id: externalId, metadata } = body;
  const program = await service.updateParentProgram(
    { ...deps, caller },
    {
      id: path.id,
      patch: { name, description, externalId, metadata },
      precondition: unchangedSince(headers['if-match']),
    },
  );
  return { status: 200, headers: {}, body: present(program) };
};

export const deleteParentProgram: Handler<'deleteParentProgram'> = async ({ path, headers, caller }, deps) => {
  await service.removeParentProgram(
    { ...deps, caller },
    { id: path.id, precondition: unchangedSince(headers['if-match']) },
  );
  return { status: 204, headers: {}, body: null };
};

function present(program: ParentProgram): components['schemas']['ParentProgram'] {
  return {
    id: program.id,
    name: program.name,
    description: program.description,
    external_id: program.externalId,
    metadata: program.metadata,
    created_at: program.createdAt,
    updated_at: program.updatedAt,
  };
}

function unchangedSince(ifMatch: string | undefined): service.Precondition {
  return (current) => {
    const entityTag = entityTagOf(JSON.stringify(present(current)));
    requireIfMatch(ifMatch, (tag) => tag === entityTag, STALE);
  };
}

const STALE =
  'The parent program has changed since you read it. Read it again, then retry with its new ETag in If-Match.';

import type { components } from '../../../generated/openapi.d.ts';
import type { ParentProgram } from '../../domain/parent-program.ts';
import * as service from '../../service/resources/parent-programs.ts';
import { getRow } from '../../service/resources/rows.ts';
import * as store from '../../store/parent-program-list.ts';
import { PARENT_PROGRAMS } from '../../store/parent-programs.ts';
import { entityTagOf, requireIfMatch } from '../conditional.ts';
import { readInstant } from '../instant.ts';
import { respondWithPage } from '../list-page.ts';
import type { Handler } from '../operation.ts';

const PATH = '/api/parent_programs';

export const listParentPrograms: Handler<'listParentPrograms'> = ({ query, caller }, { db }) => {
  const { search, external_id: externalId, updated_since: since } = query;
  const updatedSince = since === undefined ? undefined : readInstant(since);
  return respondWithPage(
    db,
    { query, caller },
    {
      path: PATH,
      read: (page) => store.listParentPrograms(db, caller.scope, { ...page, search, externalId, updatedSince }),
    },
  );
};

export const createParentProgram: Handler<'createParentProgram'> = async ({ body, headers, caller }, deps) => {
  const { name, description = null, external_id: externalId = null, metadata = {} } = body;
  const program = await service.createParentProgram(
    { ...deps, caller },
    { content: { name, description, externalId, metadata }, idempotencyKey: headers['idempotency-key'] },
  );
  return { status: 201, headers: { Location: `${PATH}/${program.id}` }, body: present(program) };
};

export const getParentProgram: Handler<'getParentProgram'> = async ({ path, caller }, { db }) => {
  const { row, version } = await getRow(db, caller.scope, PARENT_PROGRAMS, path.id);
  return { status: 200, headers: {}, body: present(row), version };
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

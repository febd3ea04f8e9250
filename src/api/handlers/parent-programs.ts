import type { components } from '../../../generated/openapi.d.ts';
import { listParentPrograms as list } from '../../service/resources/parent-programs.ts';
import { createRow, getRow, removeRow, updateRow } from '../../service/resources/rows.ts';
import { PARENT_PROGRAMS, type ParentProgram } from '../../store/tables/parent-programs.ts';
import { unchangedSince } from '../conditional.ts';
import { readInstant } from '../instant.ts';
import { respondWithPage } from '../list-page.ts';
import type { Handler } from '../operation.ts';

const PATH = '/api/parent_programs';
const SHOWN = { noun: PARENT_PROGRAMS.noun, present };

export const listParentPrograms: Handler<'listParentPrograms'> = ({ query, caller }, { db }) => {
  const { search, external_id: externalId, updated_since: since } = query;
  const updatedSince = since === undefined ? undefined : readInstant(since);
  return respondWithPage(
    db,
    { query, caller },
    { path: PATH, read: (page) => list(db, caller.scope, { ...page, search, externalId, updatedSince }) },
  );
};

export const createParentProgram: Handler<'createParentProgram'> = async ({ body, headers, caller }, deps) => {
  const { name, description = null, external_id: externalId = null, metadata = {} } = body;
  const content = { name, description, externalId, metadata };
  const idempotencyKey = headers['idempotency-key'];
  const program = await createRow({ ...deps, caller }, PARENT_PROGRAMS, { content, idempotencyKey });
  return { status: 201, headers: { Location: `${PATH}/${program.id}` }, body: present(program) };
};

export const getParentProgram: Handler<'getParentProgram'> = async ({ path, caller }, { db }) => {
  const { row, version } = await getRow(db, caller.scope, PARENT_PROGRAMS, path.id);
  return { status: 200, headers: {}, body: present(row), version };
};

export const updateParentProgram: Handler<'updateParentProgram'> = async ({ path, body, headers, caller }, deps) => {
  const { name, description, external_id: externalId, metadata } = body;
  const patch = { name, description, externalId, metadata };
  const precondition = unchangedSince(headers['if-match'], SHOWN);
  const program = await updateRow({ ...deps, caller }, PARENT_PROGRAMS, { id: path.id, patch, precondition });
  return { status: 200, headers: {}, body: present(program) };
};

export const deleteParentProgram: Handler<'deleteParentProgram'> = async ({ path, headers, caller }, deps) => {
  const precondition = unchangedSince(headers['if-match'], SHOWN);
  await removeRow({ ...deps, caller }, PARENT_PROGRAMS, { id: path.id, precondition });
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

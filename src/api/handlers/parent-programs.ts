import type { components } from '../../../generated/openapi.d.ts';
import type { PatchOf } from '../../domain/resources/merge-patch.ts';
import { upsertRow } from '../../service/resources/batch.ts';
import { listParentPrograms as list } from '../../service/resources/pages.ts';
import { createRow, getRow, removeRow, updateRow } from '../../service/resources/rows.ts';
import type { ContentOf } from '../../store/resources/table.ts';
import { PARENT_PROGRAMS, type ParentProgram } from '../../store/resources/tables/parent-programs.ts';
import { respondToBatch } from '../batch.ts';
import { readInstant } from '../instant.ts';
import { respondWithPage } from '../list-page.ts';
import type { Handler } from '../operation.ts';
import { preconditionOfUpdate, preconditionOfUpsert } from '../response.ts';

const PATH = '/api/parent_programs';
const OWN_ID = 'external_id';
const SHOWN = { noun: PARENT_PROGRAMS.noun, ownId: OWN_ID, present };

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
  const content = contentOf(body);
  const idempotencyKey = headers['idempotency-key'];
  const program = await createRow({ ...deps, caller }, PARENT_PROGRAMS, { content, idempotencyKey });
  return { status: 201, headers: { Location: `${PATH}/${program.id}` }, body: present(program) };
};

export const getParentProgram: Handler<'getParentProgram'> = async ({ path, caller }, { db }) => {
  const { row, version } = await getRow(db, caller.scope, PARENT_PROGRAMS, path.id);
  return { status: 200, headers: {}, body: present(row), version };
};

export const updateParentProgram: Handler<'updateParentProgram'> = async ({ path, body, headers, caller }, deps) => {
  const patch = patchOf(body);
  const precondition = preconditionOfUpdate(headers['if-match'], SHOWN);
  const program = await updateRow({ ...deps, caller }, PARENT_PROGRAMS, { id: path.id, patch, precondition });
  return { status: 200, headers: {}, body: present(program) };
};

export const deleteParentProgram: Handler<'deleteParentProgram'> = async ({ path, headers, caller }, deps) => {
  const precondition = preconditionOfUpdate(headers['if-match'], SHOWN);
  await removeRow({ ...deps, caller }, PARENT_PROGRAMS, { id: path.id, precondition });
  return { status: 204, headers: {}, body: null };
};

export const upsertParentProgram: Handler<'upsertParentProgram'> = async ({ path, body, headers, caller }, deps) => {
  const conditions = { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] };
  const { kind, row } = await upsertRow({ ...deps, caller }, PARENT_PROGRAMS, {
    content: replacementOf(path.external_id, body),
    precondition: preconditionOfUpsert(conditions, SHOWN),
  });
  if (kind === 'updated') return { status: 200, headers: {}, body: present(row) };
  return { status: 201, headers: { Location: `${PATH}/${row.id}` }, body: present(row) };
};

export const batchParentPrograms: Handler<'batchParentPrograms'> = (input, deps) =>
  respondToBatch(input, deps, {
    table: PARENT_PROGRAMS,
    operations: {
      create: 'createParentProgram',
      upsert: 'upsertParentProgram',
      update: 'updateParentProgram',
      delete: 'deleteParentProgram',
    },
    ownId: OWN_ID,
    contentOf,
    replacementOf,
    patchOf,
    present,
  });

type Schemas = components['schemas'];
type Content = ContentOf<ParentProgram>;

function contentOf(body: Schemas['ParentProgramCreate']): Content {
  const { name, description = null, external_id: externalId = null, metadata = {} } = body;
  return { name, description, externalId, metadata };
}

/** The content without the omitted fields: a PUT replaces all of it. */
function replacementOf(externalId: string, body: Schemas['ParentProgramUpsert']): Content {
  return { ...contentOf(body), externalId };
}

function patchOf(body: Schemas['ParentProgramUpdate']): PatchOf<Content> {
  const { name, description, external_id: externalId, metadata } = body;
  return { name, description, externalId, metadata };
}

function present(program: ParentProgram): Schemas['ParentProgram'] {
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

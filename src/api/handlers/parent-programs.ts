import { upsertRow } from '../../service/resources/batch.ts';
import { listParentPrograms as list } from '../../service/resources/pages.ts';
import { createRow, getRow, removeRow, updateRow } from '../../service/resources/rows.ts';
import { PARENT_PROGRAMS } from '../../store/resources/tables/parent-programs.ts';
import { respondToBatch } from '../batch.ts';
import { readInstant } from '../instant.ts';
import { respondWithPage } from '../list-page.ts';
import type { Handler } from '../operation.ts';
import { preconditionOfUpdate, preconditionOfUpsert } from '../response.ts';

const PATH = '/api/parent_programs';

export const listParentPrograms: Handler<'listParentPrograms'> = (input, { db }) =>
  respondWithPage(db, input, {
    path: PATH,
    read: (page, { search, updated_since: since, ...equals }) => {
      const updatedSince = since === undefined ? undefined : readInstant(since);
      return list(db, input.caller.scope, { ...page, search, updatedSince, equals });
    },
  });

export const createParentProgram: Handler<'createParentProgram'> = async ({ body, headers, caller }, deps) => {
  const creation = { content: body, idempotencyKey: headers['idempotency-key'] };
  const program = await createRow({ ...deps, caller }, PARENT_PROGRAMS, creation);
  return { status: 201, headers: { Location: `${PATH}/${program.id}` }, body: program };
};

export const getParentProgram: Handler<'getParentProgram'> = async ({ path, caller }, { db }) => {
  const { row, version } = await getRow(db, caller.scope, PARENT_PROGRAMS, path.id);
  return { status: 200, headers: {}, body: row, version };
};

export const updateParentProgram: Handler<'updateParentProgram'> = async ({ path, body, headers, caller }, deps) => {
  const precondition = preconditionOfUpdate(headers['if-match'], PARENT_PROGRAMS);
  const change = { id: path.id, patch: body, precondition };
  return { status: 200, headers: {}, body: await updateRow({ ...deps, caller }, PARENT_PROGRAMS, change) };
};

export const deleteParentProgram: Handler<'deleteParentProgram'> = async ({ path, headers, caller }, deps) => {
  const precondition = preconditionOfUpdate(headers['if-match'], PARENT_PROGRAMS);
  await removeRow({ ...deps, caller }, PARENT_PROGRAMS, { id: path.id, precondition });
  return { status: 204, headers: {}, body: null };
};

export const upsertParentProgram: Handler<'upsertParentProgram'> = async ({ path, body, headers, caller }, deps) => {
  const conditions = { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] };
  const { kind, row } = await upsertRow({ ...deps, caller }, PARENT_PROGRAMS, {
    content: { ...body, ...path },
    precondition: preconditionOfUpsert(conditions, PARENT_PROGRAMS),
  });
  if (kind === 'updated') return { status: 200, headers: {}, body: row };
  return { status: 201, headers: { Location: `${PATH}/${row.id}` }, body: row };
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
  });

import { parseInstant } from '../../domain/resources/instant.ts';
import { listParentPrograms as list } from '../../service/resources/pages.ts';
import { PARENT_PROGRAMS } from '../../store/resources/tables/parent-programs.ts';
import { respondToBatch } from '../batch.ts';
import { respondWithPage } from '../list-page.ts';
import type { Handler } from '../operation.ts';
import { respondToCreation, respondToDeletion, respondToUpdate, respondToUpsert, respondWithRow } from '../rows.ts';

export const listParentPrograms: Handler<'listParentPrograms'> = (input, { db }) =>
  respondWithPage(db, input, {
    path: '/api/parent_programs',
    read: (page, { search, updated_since: since, ...equals }) => {
      const updatedSince = since === undefined ? undefined : parseInstant(since);
      return list(db, input.caller.scope, { ...page, search, updatedSince, equals });
    },
  });

export const createParentProgram: Handler<'createParentProgram'> = (input, deps) =>
  respondToCreation(input, deps, PARENT_PROGRAMS);

export const getParentProgram: Handler<'getParentProgram'> = (input, deps) =>
  respondWithRow(input, deps, PARENT_PROGRAMS);

export const updateParentProgram: Handler<'updateParentProgram'> = (input, deps) =>
  respondToUpdate(input, deps, PARENT_PROGRAMS);

export const deleteParentProgram: Handler<'deleteParentProgram'> = (input, deps) =>
  respondToDeletion(input, deps, PARENT_PROGRAMS);

export const getParentProgramByExternalId: Handler<'getParentProgramByExternalId'> = (input, deps) =>
  respondWithRow(input, deps, PARENT_PROGRAMS);

export const upsertParentProgram: Handler<'upsertParentProgram'> = (input, deps) =>
  respondToUpsert(input, deps, PARENT_PROGRAMS);

export const deleteParentProgramByExternalId: Handler<'deleteParentProgramByExternalId'> = (input, deps) =>
  respondToDeletion(input, deps, PARENT_PROGRAMS);

export const batchParentPrograms: Handler<'batchParentPrograms'> = (input, deps) =>
  respondToBatch(input, deps, {
    table: PARENT_PROGRAMS,
    operations: {
      create: 'createParentProgram',
      upsert: 'upsertParentProgram',
      update: 'updateParentProgram',
      delete: 'deleteParentProgram',
      deleteByOwnId: 'deleteParentProgramByExternalId',
    },
  });

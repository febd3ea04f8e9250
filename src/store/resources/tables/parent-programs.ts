import type { components } from '../../../../generated/openapi.d.ts';
import { defineTable } from '../table.ts';

type Schemas = components['schemas'];
export type ParentProgram = Schemas['ParentProgram'];

const MAX_METADATA_ENTRIES = 50;

export const PARENT_PROGRAMS = defineTable<ParentProgram, Schemas['ParentProgramCreate']>({
  name: 'parent_programs',
  noun: 'parent program',
  writePermission: 'parent_programs:write',
  columns: { name: 'text', description: 'text', external_id: 'text', metadata: 'jsonb' },
  defaults: { description: null, external_id: null, metadata: {} },
  unique: ['external_id'],
  ownId: 'external_id',
  maxEntries: { metadata: MAX_METADATA_ENTRIES },
});

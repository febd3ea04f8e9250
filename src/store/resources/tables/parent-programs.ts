import { defineTable, type Stored } from '../table.ts';

export type ParentProgram = Stored & {
  readonly name: string;
  readonly description: string | null;
  /** The integrator's own id, unique in the organization. */
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

const MAX_METADATA_ENTRIES = 50;

export const PARENT_PROGRAMS = defineTable<ParentProgram>({
  name: 'parent_programs',
  noun: 'parent program',
  writePermission: 'parent_programs:write',
  columns: { name: 'text', description: 'text', externalId: 'text', metadata: 'jsonb' },
  unique: ['externalId'],
  ownId: 'externalId',
  maxEntries: { metadata: MAX_METADATA_ENTRIES },
});

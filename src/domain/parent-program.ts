/** A parent program as it is stored. */
export type ParentProgram = {
  /** UUIDv7. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** The integrator's own id, unique in the organization. */
  readonly externalId: string | null;
  readonly metadata: Metadata;
  /** RFC 3339, UTC, with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
};

export type Metadata = Readonly<Record<string, string>>;

export type NewParentProgram = Pick<ParentProgram, 'name' | 'description' | 'externalId' | 'metadata'>;

/** A JSON merge patch (RFC 7396): a missing member changes nothing, null clears. */
export type ParentProgramPatch = {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string | null>> | null | undefined;
};

export const MAX_METADATA_ENTRIES = 50;

export function applyPatch(program: ParentProgram, patch: ParentProgramPatch): NewParentProgram {
  return {
    name: patch.name ?? program.name,
    description: patch.description === undefined ? program.description : patch.description,
    externalId: patch.externalId === undefined ? program.externalId : patch.externalId,
    metadata: patch.metadata === undefined ? program.metadata : mergeMetadata(program.metadata, patch.metadata),
  };
}

/** True if nothing would change. */
export function isSameContent(a: NewParentProgram, b: NewParentProgram): boolean {
  return contentOf(a) === contentOf(b);
}

/** Equal texts for equal contents, whatever the order of the metadata. */
export function contentOf({ name, description, externalId, metadata }: NewParentProgram): string {
  return JSON.stringify([name, description, externalId, Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function mergeMetadata(current: Metadata, patch: Readonly<Record<string, string | null>> | null): Metadata {
  if (patch === null) return {};
  // A Map, because assigning "__proto__" to an object would lose the entry.
  const merged = new Map(Object.entries(current));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

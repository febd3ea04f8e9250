// A minimal model of the parent programs of one organization, independent of the server's code.
import { isDeepStrictEqual } from 'node:util';
import type { components } from '../../generated/openapi.d.ts';

export type Program = components['schemas']['ParentProgram'];
export type Creation = components['schemas']['ParentProgramCreate'];
export type Patch = components['schemas']['ParentProgramUpdate'];
export type Content = Pick<Program, 'name' | 'description' | 'external_id' | 'metadata'>;

export type Kept = { readonly program: Program; readonly entityTag: string };
export type Filters = { readonly search?: string; readonly external_id?: string; readonly updated_since?: string };

const MOST_ENTRIES = 50;

export class Programs {
  /** Programs by id. */
  readonly kept = new Map<string, Kept>();
  /** Ids, including those of deleted programs. */
  readonly ids: string[] = [];
  /** Responses by Idempotency-Key. */
  readonly responses = new Map<string, { readonly content: Content; readonly program: Program }>();

  isTaken(externalId: string | null, by?: string): boolean {
    const others = [...this.kept.values()].filter(({ program }) => program.id !== by);
    return externalId !== null && others.some(({ program }) => program.external_id === externalId);
  }

  keep(kept: Kept): void {
    const { id } = kept.program;
    if (!this.ids.includes(id)) this.ids.push(id);
    this.kept.set(id, kept);
  }

  listed(sort: string, { search, external_id: externalId, updated_since: since }: Filters): Program[] {
    const field = sort.replace('-', '');
    const sign = sort.startsWith('-') ? -1 : 1;
    return [...this.kept.values()]
      .map(({ program }) => program)
      .filter(({ name }) => search === undefined || name.toLowerCase().includes(search.toLowerCase()))
      .filter((program) => externalId === undefined || program.external_id === externalId)
      .filter(({ updated_at: updatedAt }) => since === undefined || updatedAt >= since)
      .sort((a, b) => sign * (byCodePoint(sortValueOf(a, field), sortValueOf(b, field)) || byCodePoint(a.id, b.id)));
  }
}

function sortValueOf(program: Program, field: string): string {
  return String(new Map(Object.entries(program)).get(field));
}

function byCodePoint(a: string, b: string): number {
  // The byte order of UTF-8 equals the order of code points.
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function contentOf({ name, description = null, external_id = null, metadata = {} }: Creation): Content {
  return { name, description, external_id, metadata };
}

/** Merge patch by RFC 7396. Null: too many entries would remain. */
export function patched(content: Content, { metadata, ...fields }: Patch): Content | null {
  const entries = new Map(metadata === null ? [] : Object.entries(content.metadata));
  for (const [name, value] of Object.entries(metadata ?? {})) {
    if (value === null) entries.delete(name);
    else entries.set(name, value);
  }
  if (entries.size > MOST_ENTRIES) return null;
  return { ...content, ...fields, metadata: Object.fromEntries(entries) };
}

export function isSame(a: Content, b: Content): boolean {
  return isDeepStrictEqual(contentIn(a), contentIn(b));
}

function contentIn({ name, description, external_id, metadata }: Content): Content {
  return { name, description, external_id, metadata };
}

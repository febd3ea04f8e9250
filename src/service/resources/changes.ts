import type { DomainError } from '../../domain/errors.ts';
import type { PatchOf } from '../../domain/resources/merge-patch.ts';
import type { ContentOf, Stored, Table } from '../../store/resources/table.ts';
import type { Sought } from '../../store/sql/row-batches.ts';

// The changes of a batch, and the rows on which they depend.

export type Conditional<Current> = {
  /** Throws unless the row is as the caller expects it. */
  readonly precondition: (current: Current) => void;
};

export type Change<Row extends Stored> =
  | { readonly kind: 'create'; readonly content: ContentOf<Row> }
  /** Creates the row with this value of `ownId`, or replaces its content. Null: there is no such row. */
  | ({ readonly kind: 'upsert'; readonly content: ContentOf<Row> } & Conditional<Row | null>)
  | ({ readonly kind: 'update'; readonly id: string; readonly patch: PatchOf<ContentOf<Row>> } & Conditional<Row>)
  | ({ readonly kind: 'delete'; readonly id: string } & Conditional<Row>)
  /** Not valid in itself. */
  | { readonly kind: 'refused'; readonly error: DomainError };

export type Outcome<Row> =
  | { readonly kind: 'created' | 'updated'; readonly row: Row }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'refused'; readonly error: DomainError };

export type Batch<Row extends Stored> = {
  readonly changes: readonly Change<Row>[];
  /** Makes all changes or none: throws a RefusedChangesError if one is refused. */
  readonly isAtomic: boolean;
};

/** False for creations without unique values. */
export function dependsOnRows({ ids, unique }: Sought): boolean {
  return ids.length > 0 || [...unique.values()].some((values) => values.length > 0);
}

/** The rows that the outcomes of the changes depend on. */
export function soughtBy<Row extends Stored>(table: Table<Row>, changes: readonly Change<Row>[]): Sought {
  const ids = new Set<string>();
  const unique = new Map<string, Set<string>>((table.unique ?? []).map((field) => [field, new Set()]));
  for (const change of changes) {
    if (change.kind === 'update' || change.kind === 'delete') ids.add(change.id);
    const content = change.kind === 'update' ? change.patch : 'content' in change ? change.content : {};
    for (const [field, value] of valuesOf(table, content)) unique.get(field)?.add(value);
  }
  return { ids: [...ids], unique: new Map([...unique].map(([field, values]) => [field, [...values]])) };
}

/** The unique fields that have a value. */
export function valuesOf<Row extends Stored>({ unique = [] }: Table<Row>, content: object): [string, string][] {
  const values = new Map<string, unknown>(Object.entries(content));
  return unique.flatMap((field): [string, string][] => {
    const value = values.get(field);
    return value === null || value === undefined ? [] : [[field, String(value)]];
  });
}

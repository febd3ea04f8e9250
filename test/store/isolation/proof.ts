import type { Database } from '../../../src/store/database.ts';
import type { Tenant } from '../../support/postgres/store.ts';

/** `ours` acts; the proof shows that `theirs` is neither read nor changed. */
export type World = { readonly db: Database; readonly ours: Tenant; readonly theirs: Tenant };

/** By name of the store function: the proof that it stays within its scope. */
export type Proofs = Readonly<Record<string, (world: World) => Promise<void>>>;

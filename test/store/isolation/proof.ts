import type { Database } from '../../../src/store/database.ts';
import type { Tenant } from '../../support/store.ts';

/** `ours` acts; whatever it does, `theirs` is neither seen nor changed. */
export type World = { readonly db: Database; readonly ours: Tenant; readonly theirs: Tenant };

/** By the name of the store's function: what shows that it stays within its scope. */
export type Proofs = Readonly<Record<string, (world: World) => Promise<void>>>;

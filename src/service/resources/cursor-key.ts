import type { Caller } from '../../domain/caller.ts';
import type { Database } from '../../store/sql/database.ts';
import { placeOfCursorKey } from '../../store/sql/secrets.ts';

/** About 3 MB of memory. */
const MAX_KEYS = 10_000;

/** Decrypted keys by their encrypted form: decrypting one costs as much as two cursors. */
const decrypted = new WeakMap<Database, Map<string, string>>();

/** The key that signs the page cursors of the caller's organization: 32 bytes in hexadecimal. */
export function cursorKeyOf(db: Database, { scope, cursorKey }: Pick<Caller, 'scope' | 'cursorKey'>): string {
  const known = decrypted.get(db) ?? new Map<string, string>();
  decrypted.set(db, known);
  const found = known.get(cursorKey);
  if (found !== undefined) return found;
  const key = db.keyring.decrypt(Buffer.from(cursorKey, 'hex'), placeOfCursorKey(scope.organizationId)).toString('hex');
  if (known.size >= MAX_KEYS) known.clear();
  known.set(cursorKey, key);
  return key;
}

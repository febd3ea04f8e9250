import type { KeyAccess } from '../../service/key-access.ts';
import type { SignedIn } from '../http/visit.ts';
import type { Html } from '../markup/html.ts';

/** Whose keys a room is about, and where it stands: one's own, or another user's. */
export type KeyPlace = {
  /** The path of the room, as Express reads it. */
  readonly root: string;
  holderId(visit: SignedIn): string;
  /** Where the keys are, such as "/profile/api-keys". */
  base(visit: SignedIn): string;
  /** What stands above the list. */
  head(visit: SignedIn, access: KeyAccess): Html;
};

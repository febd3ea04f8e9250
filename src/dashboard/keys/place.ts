import type { KeyAccess } from '../../service/key-access.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { Html } from '../markup/html.ts';

/** Whose keys a room is about, and where it stands: one's own, or another user's. */
export type KeyPlace = {
  /** The path of the room, as Express reads it. */
  readonly root: string;
  holderId(context: SignedInContext): string;
  /** Where the keys are, such as "/profile/api-keys". */
  base(context: SignedInContext): string;
  /** What stands above the list. */
  head(context: SignedInContext, access: KeyAccess): Html;
};

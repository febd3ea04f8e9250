import type { Html } from '../../html/html.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import type { SignedInContext } from '../http/request-context.ts';

/** A request about the keys of one user: one's own, or another user's. */
export type KeyContext = SignedInContext & {
  readonly holderId: string;
  readonly isOwn: boolean;
  /** The URL of the list of keys, such as "/profile/api-keys". */
  readonly listUrl: string;
  /** The heading above the list. */
  readonly head: (holder: KeyAccess['holder']) => Html;
};

/** A part of the dashboard that has pages for keys. */
export type KeyPlace = {
  /** The path before "/api-keys", as Express reads it. */
  readonly root: string;
  locate(context: SignedInContext): Pick<KeyContext, 'holderId' | 'listUrl' | 'head'>;
};

export function keyContext(context: SignedInContext, place: KeyPlace): KeyContext {
  const location = place.locate(context);
  return { ...context, ...location, isOwn: location.holderId === context.actor.userId };
}

/** A link from an error page back to the list. */
export function toList({ listUrl }: KeyContext): { name: string; href: string } {
  return { name: 'See the API keys', href: listUrl };
}

import type { IssuedKey } from '../../service/issue-key.ts';
import type { KeyAccess } from '../../service/key-access.ts';
import type { KeyView } from '../../service/list-keys.ts';
import type { Problem } from '../http/errors.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import type { KeyPlace } from './place.ts';
import { revealPage } from './reveal.ts';

export function toKeys(base: string): { name: string; href: string } {
  return { name: 'See the API keys', href: base };
}

/** The one answer that holds a key. It is made here, written at once and kept nowhere. */
export function reveal(
  context: SignedInContext,
  place: KeyPlace,
  { issued, holder, replaced }: { issued: IssuedKey; holder: KeyAccess['holder']; replaced: KeyView | null },
): View {
  const { actor, origin } = context;
  const isOwn = holder.id === actor.userId;
  const main = revealPage({ issued, holder, isOwn, base: place.base(context), origin, replaced });
  return page(context, { title: replaced === null ? 'API key created' : 'API key rotated', main });
}

/** Somebody was first, or the key has ended: the message tells who and when. */
export function conflict(context: SignedInContext, place: KeyPlace, { status, message }: Problem): View {
  const told = { status, title: 'This cannot be done now', message, link: toKeys(place.base(context)) };
  return page(context, { status, title: told.title, main: errorPage(told) });
}

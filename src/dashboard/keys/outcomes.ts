import type { IssuedKey } from '../../service/issue-key.ts';
import type { KeyAccess } from '../../service/key-access.ts';
import type { KeyView } from '../../service/list-keys.ts';
import type { Answer } from '../http/answer.ts';
import type { Problem } from '../http/errors.ts';
import type { SignedIn } from '../http/visit.ts';
import { errorPage } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import type { KeyPlace } from './place.ts';
import { revealPage } from './reveal.ts';

export function toKeys(base: string): { name: string; href: string } {
  return { name: 'See the API keys', href: base };
}

/** The one answer that holds a key. It is made here, written at once and kept nowhere. */
export function reveal(
  visit: SignedIn,
  place: KeyPlace,
  { issued, holder, replaced }: { issued: IssuedKey; holder: KeyAccess['holder']; replaced: KeyView | null },
): Answer {
  const { actor, origin } = visit;
  const isOwn = holder.id === actor.userId;
  const main = revealPage({ issued, holder, isOwn, base: place.base(visit), origin, replaced });
  return page(visit, { title: replaced === null ? 'API key created' : 'API key rotated', main });
}

/** Somebody was first, or the key has ended: the message tells who and when. */
export function conflict(visit: SignedIn, place: KeyPlace, { status, message }: Problem): Answer {
  const told = { status, title: 'This cannot be done now', message, link: toKeys(place.base(visit)) };
  return page(visit, { status, title: told.title, main: errorPage(told) });
}

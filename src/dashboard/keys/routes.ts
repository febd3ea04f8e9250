import { listKeys } from '../../service/list-keys.ts';
import type { Answer } from '../http/answer.ts';
import { act, type Room } from '../http/room.ts';
import type { SignedIn } from '../http/visit.ts';
import { html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import { done } from '../markup/parts.ts';
import { rename, revoke, rotate, showDeed } from './change.ts';
import { create, showCreate } from './create.ts';
import { keyList } from './list.ts';
import type { KeyPlace } from './place.ts';
import { whyNoKey } from './refusal.ts';

/** The same pages for one's own keys and for another user's. */
export function keyPages(place: KeyPlace): Room['pages'] {
  const all = `${place.root}/api-keys`;
  const one = `${all}/:keyId`;
  return [
    {
      path: all,
      show: (visit) => showList(visit, place),
      act: act(['name', 'expiry', 'once'], (visit, form) => create(visit, place, form), ['permissions']),
    },
    { path: `${all}/new`, show: (visit) => showCreate(visit, place) },
    {
      path: `${one}/rotate`,
      show: (visit) => showDeed(visit, place, 'rotate'),
      act: act(['once'], (visit, form) => rotate(visit, place, form)),
    },
    {
      path: `${one}/rename`,
      show: (visit) => showDeed(visit, place, 'rename'),
      act: act(['name'], (visit, form) => rename(visit, place, form)),
    },
    {
      path: `${one}/revoke`,
      show: (visit) => showDeed(visit, place, 'revoke'),
      act: act([], (visit) => revoke(visit, place)),
    },
  ];
}

const DONE = new Map([
  ['renamed', 'The key has its new name.'],
  ['revoked', 'The key is revoked. It is refused from now on.'],
]);

async function showList(visit: SignedIn, place: KeyPlace): Promise<Answer> {
  const { actor, now } = visit;
  const after = visit.query.get('after');
  const list = await listKeys(visit.dashboard.db, actor, place.holderId(visit), { after, now });
  const isOwn = list.holder.id === actor.userId;
  const refusal = await whyNoKey(visit, list, 'create');
  const base = place.base(visit);
  return page(visit, {
    title: isOwn ? 'API keys' : `API keys of ${list.holder.name}`,
    main: html`${place.head(visit, list)}${done(DONE.get(visit.query.get('done') ?? ''))}${keyList({ list, isOwn, isFirst: after === null, base, now, refusal })}`,
  });
}

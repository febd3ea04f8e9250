import { listKeys } from '../../service/list-keys.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { act, type Room } from '../http/room.ts';
import type { View } from '../http/view.ts';
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
      show: (context) => showList(context, place),
      act: act(['name', 'expiry', 'once'], (context, form) => create(context, place, form), ['permissions']),
    },
    { path: `${all}/new`, show: (context) => showCreate(context, place) },
    {
      path: `${one}/rotate`,
      show: (context) => showDeed(context, place, 'rotate'),
      act: act(['once'], (context, form) => rotate(context, place, form)),
    },
    {
      path: `${one}/rename`,
      show: (context) => showDeed(context, place, 'rename'),
      act: act(['name'], (context, form) => rename(context, place, form)),
    },
    {
      path: `${one}/revoke`,
      show: (context) => showDeed(context, place, 'revoke'),
      act: act([], (context) => revoke(context, place)),
    },
  ];
}

const DONE = new Map([
  ['renamed', 'The key has its new name.'],
  ['revoked', 'The key is revoked. It is refused from now on.'],
]);

async function showList(context: SignedInContext, place: KeyPlace): Promise<View> {
  const { actor, now } = context;
  const after = context.query.get('after');
  const list = await listKeys(context.dashboard.db, actor, place.holderId(context), { after, now });
  const isOwn = list.holder.id === actor.userId;
  const refusal = await whyNoKey(context, list, 'create');
  const base = place.base(context);
  return page(context, {
    title: isOwn ? 'API keys' : `API keys of ${list.holder.name}`,
    main: html`${place.head(context, list)}${done(DONE.get(context.query.get('done') ?? ''))}${keyList({ list, isOwn, isFirst: after === null, base, now, refusal })}`,
  });
}

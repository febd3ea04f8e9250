import { form, type Section } from '../http/page-routes.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { provenForm } from '../proof/proven.ts';
import { type KeyContext, type KeyPlace, keyContext } from './context.ts';
import { create, showCreate } from './create.ts';
import { showKey } from './key.ts';
import { showList } from './list.ts';
import { move, showMove } from './move.ts';
import { rename, showRename } from './rename.ts';
import { restrict, showRestrict } from './restrict.ts';
import { revoke, showRevoke } from './revoke.ts';
import { rotate, showRotate } from './rotate.ts';

/** The pages for one's own keys, or for another user's. */
export function keyPages(place: KeyPlace): Section['pages'] {
  const get = (show: (context: KeyContext) => Promise<View>) => (context: SignedInContext) =>
    show(keyContext(context, place));
  const list = `${place.root}/api-keys`;
  const one = `${list}/:keyId`;
  return [
    {
      path: list,
      get: get(showList),
      post: provenForm(
        ['name', 'expiry', 'expiry_date', 'addresses', 'requests_per_second', 'form_id'],
        (context, sent) => create(keyContext(context, place), sent),
        { lists: ['permissions'] },
      ),
    },
    { path: `${list}/new`, get: get(showCreate) },
    { path: one, get: get(showKey) },
    {
      path: `${one}/rotate`,
      get: get(showRotate),
      post: provenForm(['form_id', 'key_name', 'expiry', 'addresses', 'take'], (context, sent) =>
        rotate(keyContext(context, place), sent),
      ),
    },
    {
      path: `${one}/rename`,
      get: get(showRename),
      post: form(['name'], (context, sent) => rename(keyContext(context, place), sent)),
    },
    {
      path: `${one}/restrict`,
      get: get(showRestrict),
      post: provenForm(['addresses', 'requests_per_second', 'locked_out', 'take'], (context, sent) =>
        restrict(keyContext(context, place), sent),
      ),
    },
    {
      path: `${one}/move`,
      get: get(showMove),
      post: provenForm(['integration', 'name'], (context, sent) => move(keyContext(context, place), sent)),
    },
    {
      path: `${one}/revoke`,
      get: get(showRevoke),
      post: provenForm(['key_name'], (context, sent) => revoke(keyContext(context, place), sent)),
    },
  ];
}

import { fileUrlOf, keyUrl, newKeyUrl, requestsUrl } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { provenForm } from '../proof/proven.ts';
import { form, type SignedInPage } from '../routing/page-routes.ts';
import { readKey } from './confirmation.ts';
import { type KeyContext, type KeyPlace, keyContext, withFreshUses } from './context.ts';
import { CREATE_FORM, create, showCreate } from './create.ts';
import { showKey } from './key.ts';
import { showList } from './list.ts';
import { MOVE_FORM, move, showMove } from './move.ts';
import { RENAME_FORM, rename, showRename } from './rename.ts';
import { downloadKeyRequests, FILTERS, filterKeyRequests, showKeyRequests } from './requests.ts';
import { RESTRICT_FORM, restrict, showRestrict } from './restrict.ts';
import { REVOKE_FORM, revoke, showRevoke } from './revoke.ts';
import { ROTATE_FORM, rotate, showRotate } from './rotate.ts';

export function keyPages(place: KeyPlace): SignedInPage[] {
  const get = (show: (context: KeyContext) => Promise<View>) =>
    withFreshUses((context) => show(keyContext(context, place)));
  const nameOf = async (context: SignedInContext) => (await readKey(keyContext(context, place))).key.name;
  const { listPath: list, mayEnter } = place;
  const urls = { listUrl: list, back: null };
  const key = { id: ':keyId' };
  const requests = requestsUrl(list, key.id);
  return [
    {
      path: list,
      mayEnter,
      get: get(showList),
      post: provenForm('create an API key', CREATE_FORM, (context, sent) => create(keyContext(context, place), sent)),
    },
    { path: newKeyUrl(list), mayEnter, get: get(showCreate) },
    { path: keyUrl(key, urls), mayEnter, get: get(showKey) },
    {
      path: requests,
      mayEnter,
      get: get(showKeyRequests),
      post: form(FILTERS, (context, sent) => filterKeyRequests(keyContext(context, place), sent)),
    },
    { path: fileUrlOf(requests), mayEnter, get: get(downloadKeyRequests) },
    {
      path: keyUrl(key, urls, 'rotate'),
      mayEnter,
      get: get(showRotate),
      post: provenForm('rotate the API key', ROTATE_FORM, (context, sent) => rotate(keyContext(context, place), sent), {
        nameOf,
      }),
    },
    {
      path: keyUrl(key, urls, 'rename'),
      mayEnter,
      get: get(showRename),
      post: form(RENAME_FORM, (context, sent) => rename(keyContext(context, place), sent)),
    },
    {
      path: keyUrl(key, urls, 'restrict'),
      mayEnter,
      get: get(showRestrict),
      post: provenForm(
        'restrict the API key',
        RESTRICT_FORM,
        (context, sent) => restrict(keyContext(context, place), sent),
        { nameOf },
      ),
    },
    {
      path: keyUrl(key, urls, 'move'),
      mayEnter,
      get: get(showMove),
      post: provenForm('move the API key', MOVE_FORM, (context, sent) => move(keyContext(context, place), sent), {
        nameOf,
      }),
    },
    {
      path: keyUrl(key, urls, 'revoke'),
      mayEnter,
      postsDuringMove: true,
      get: get(showRevoke),
      post: provenForm('revoke the API key', REVOKE_FORM, (context, sent) => revoke(keyContext(context, place), sent), {
        nameOf,
      }),
    },
  ];
}

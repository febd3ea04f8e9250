import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import type { KeyAccess } from '../../service/authority/keys.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { type KeyPage, type KeyUrls, keyUrl } from '../http/addresses.ts';

export const ACTION_NAMES: Record<KeyPage, string> = {
  rotate: 'Rotate',
  rename: 'Rename',
  restrict: 'Restrict',
  move: 'Move',
  revoke: 'Revoke',
};

/** Returns the icon and the name of an action, which are the content of a link. */
export function actionLabel(action: KeyPage): Html {
  return html`${icon(action)}${ACTION_NAMES[action]}`;
}

/**
 * Returns whether the action is possible in the key's state. An expired key can only be revoked, which frees its name for another
 * key.
 */
export function isPossible(action: KeyPage, { state }: Pick<KeyDetails, 'state'>): boolean {
  return state === 'active' || (state === 'expired' && action === 'revoke');
}

/** Returns the actions that the actor may carry out on the key. Only the key of a user can be moved to an integration. */
export function actionsOn(
  key: KeyDetails,
  { refusal, mayRevoke }: Pick<KeyAccess, 'refusal' | 'mayRevoke'>,
): KeyPage[] {
  const moves: KeyPage[] = key.holder.kind === 'person' ? ['move'] : [];
  const changes: KeyPage[] = refusal === null ? ['rotate', 'rename', 'restrict', ...moves] : [];
  const ends: KeyPage[] = mayRevoke ? ['revoke'] : [];
  return [...changes, ...ends].filter((action) => isPossible(action, key));
}

/** Returns the menu of actions for a key in a list; `false` if the actor may carry out no action. */
export function keyMenu(
  key: KeyDetails,
  access: Pick<KeyAccess, 'refusal' | 'mayRevoke'>,
  urls: KeyUrls,
): Html | false {
  const links = actionsOn(key, access).map(
    (action) =>
      html`<li><a href="${keyUrl(key, urls, action)}"${action === 'revoke' && html` class="danger-text"`}>${actionLabel(action)}</a></li>`,
  );
  return (
    links.length > 0 &&
    html`<details class="menu"><summary class="dots">${icon('dots')}<span class="unseen">Actions for key ${key.name}</span></summary><ul>${links}</ul></details>`
  );
}

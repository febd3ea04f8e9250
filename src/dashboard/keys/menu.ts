import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { ACTION_ICONS, actionsOn, actionUrl, type KeyUrls } from './actions.ts';

/** What may be done with a key, in a list of keys; false: nothing. */
export function keyMenu(
  key: KeyDetails,
  access: Pick<KeyAccess, 'refusal' | 'mayRevoke'>,
  urls: KeyUrls,
): Html | false {
  const links = actionsOn(key, access).map(
    (action) =>
      html`<li><a href="${actionUrl(key, action, urls)}"${action === 'Revoke' && html` class="danger-text"`}>${icon(ACTION_ICONS[action])}${action}</a></li>`,
  );
  return (
    links.length > 0 &&
    html`<details class="menu"><summary class="dots">${icon('dots')}<span class="unseen">Actions for key ${key.name}</span></summary><ul>${links}</ul></details>`
  );
}

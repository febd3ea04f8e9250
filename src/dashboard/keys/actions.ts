import { isIntegration } from '../../domain/holder.ts';
import type { IconName } from '../../html/icons.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';
import { urlOf } from '../http/url.ts';

export type Action = 'Rotate' | 'Rename' | 'Restrict' | 'Move' | 'Revoke';

export const ACTION_ICONS: Record<Action, IconName> = {
  Rotate: 'rotate',
  Rename: 'rename',
  Restrict: 'restrict',
  Move: 'move',
  Revoke: 'revoke',
};

/**
 * What may be done with a key. Only a key of a user can be moved, to an integration. An expired key can only be revoked, which
 * frees its name.
 */
export function actionsOn(
  { state, holder }: KeyDetails,
  { refusal, mayRevoke }: Pick<KeyAccess, 'refusal' | 'mayRevoke'>,
): Action[] {
  const moves: Action[] = isIntegration(holder) ? [] : ['Move'];
  const changes: Action[] = refusal === null && state === 'active' ? ['Rotate', 'Rename', 'Restrict', ...moves] : [];
  const ends: Action[] = mayRevoke && (state === 'active' || state === 'expired') ? ['Revoke'] : [];
  return [...changes, ...ends];
}

/** Where the pages of a key are, and which list they lead back to. */
export type KeyUrls = {
  /** The list of the user's keys, such as "/profile/api-keys". */
  readonly listUrl: string;
  /** See backFrom; `null` for the list of the user's keys. */
  readonly back: string | null;
};

/** The key's own page. */
export function keyUrl({ id }: Pick<KeyDetails, 'id'>, { listUrl, back }: KeyUrls): string {
  return urlOf(`${listUrl}/${id}`, { back });
}

/** The page that asks for confirmation. */
export function actionUrl({ id }: Pick<KeyDetails, 'id'>, action: Action, { listUrl, back }: KeyUrls): string {
  return urlOf(`${listUrl}/${id}/${action.toLowerCase()}`, { back });
}

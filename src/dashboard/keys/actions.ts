import type { IconName } from '../../html/icons.ts';
import type { KeyAccess } from '../../service/keys/key-access.ts';
import type { KeyDetails } from '../../service/keys/list-keys.ts';

export type Action = 'Rotate' | 'Rename' | 'Revoke';

export const ACTION_ICONS: Record<Action, IconName> = { Rotate: 'rotate', Rename: 'rename', Revoke: 'revoke' };

/** What may be done with a key. An expired key can only be revoked, which frees its name. */
export function actionsOn({ state }: KeyDetails, { refusal, mayRevoke }: KeyAccess): Action[] {
  const changes: Action[] = refusal === null && state === 'active' ? ['Rotate', 'Rename'] : [];
  const ends: Action[] = mayRevoke && (state === 'active' || state === 'expired') ? ['Revoke'] : [];
  return [...changes, ...ends];
}

/** The page that asks for confirmation. */
export function actionUrl({ id }: KeyDetails, action: Action, listUrl: string): string {
  return `${listUrl}/${id}/${action.toLowerCase()}`;
}

import { type Holder, isIntegration } from '../../domain/holder.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { userUrl } from '../people/user-head.ts';

export const INTEGRATIONS_URL = '/organization/integrations';

export function integrationUrl(id: string): string {
  return `${INTEGRATIONS_URL}/${id}`;
}

/** The id in the path. */
export function integrationIdOf({ params }: SignedInContext): string {
  return params['integrationId'] ?? '';
}

/** The page of a user or an integration. */
export function holderUrl(holder: Pick<Holder, 'id' | 'email'>): string {
  return isIntegration(holder) ? integrationUrl(holder.id) : userUrl(holder.id);
}

/** The list of the keys of a user or an integration. */
export function keysUrlOf(holder: Pick<Holder, 'id' | 'email'>): string {
  return `${holderUrl(holder)}/api-keys`;
}

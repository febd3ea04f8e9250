import type { WebhookEndpointDetails } from '../../store/webhooks/webhook-endpoints.ts';
import type { SignedInContext } from '../http/request-context.ts';

/** Returns the id in the path, which may be malformed. */
export function endpointIdOf({ params }: SignedInContext): string {
  return params['endpointId'] ?? '';
}

export function messageIdOf({ params }: SignedInContext): string {
  return params['messageId'] ?? '';
}

/** Returns the host of the endpoint's URL, which serves as a short name of the endpoint. */
export function hostOf({ url }: Pick<WebhookEndpointDetails, 'url'>): string {
  return new URL(url).host;
}

/** Returns the path and the query of the endpoint's URL, which distinguish endpoints of one host. */
export function pathOf({ url }: Pick<WebhookEndpointDetails, 'url'>): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

import type { WebhookEndpointDetails } from '../../store/webhooks/webhook-endpoints.ts';
import type { SignedInContext } from '../http/request-context.ts';

/** Returns the id in the path as it was sent. The id may be malformed. */
export function endpointIdOf({ params }: SignedInContext): string {
  return params['endpointId'] ?? '';
}

export function messageIdOf({ params }: SignedInContext): string {
  return params['messageId'] ?? '';
}

/** Returns the host of the URL, which is a short name of the endpoint. */
export function hostOf({ url }: Pick<WebhookEndpointDetails, 'url'>): string {
  return new URL(url).host;
}

/** Returns the rest of the URL, which distinguishes endpoints with the same host. */
export function pathOf({ url }: Pick<WebhookEndpointDetails, 'url'>): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

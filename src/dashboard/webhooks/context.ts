import type { WebhookEndpointDetails } from '../../store/webhooks/webhook-endpoints.ts';
import type { SignedInContext } from '../http/request-context.ts';

/** The id in the path, as it was sent. */
export function endpointIdOf({ params }: SignedInContext): string {
  return params['endpointId'] ?? '';
}

export function messageIdOf({ params }: SignedInContext): string {
  return params['messageId'] ?? '';
}

/** The host of the URL, as a short name of the endpoint. */
export function hostOf({ url }: Pick<WebhookEndpointDetails, 'url'>): string {
  return new URL(url).host;
}

/** The rest of the URL, which tells endpoints of the same host apart. */
export function pathOf({ url }: Pick<WebhookEndpointDetails, 'url'>): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

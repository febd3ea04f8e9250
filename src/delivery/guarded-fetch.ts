import { request as requestHttp } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { isForbiddenAddress, type WebhookTargets } from '../domain/forbidden-address.ts';
import { type ProviderFetch, ProviderUnreachableError } from '../service/provider-access.ts';
import { createCheckedLookup, describeFailure, FORBIDDEN, NO_RESPONSE } from './connections.ts';
import { type ResolveName, resolveName } from './resolve-name.ts';

const MAX_BODY_BYTES = 256 * 1024;
const PROVIDER_SECONDS = 10;

type Options = {
  readonly targets: WebhookTargets;
  /** Resolves a host name. Default: by DNS queries. */
  readonly resolve?: ResolveName;
  /** The timeout of the whole exchange in seconds. Default: 10. */
  readonly timeoutSeconds?: number;
};

/**
 * Returns a function for requests to identity providers of organizations, with the same rules as for webhooks: the address is
 * checked when a connection is made, and redirects are not followed. Every failure is a ProviderUnreachableError.
 */
export function createGuardedFetch({
  targets: { allowHttp, allowedNetworks },
  resolve = resolveName,
  timeoutSeconds = PROVIDER_SECONDS,
}: Options): ProviderFetch {
  const isForbidden = (address: string) => isForbiddenAddress(address, allowedNetworks);
  const lookup = createCheckedLookup(resolve, isForbidden);
  // Each request has its own connection, because requests are rare. The environment variable NODE_TLS_REJECT_UNAUTHORIZED must
  // not turn off the check of certificates.
  const agent = new Agent({ rejectUnauthorized: true });
  return async (text, { method, headers, body }) => {
    const url = new URL(text);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowHttp))
      throw new ProviderUnreachableError('Charter must not use http:// for identity providers, only https://.');
    // For a URL with an IP address, Node does not call the look-up that checks addresses.
    if (isIP(host) !== 0 && isForbidden(host)) throw new ProviderUnreachableError(NOT_ALLOWED);
    const options = { method, headers: { ...headers, 'Accept-Encoding': 'identity' }, lookup };
    return new Promise((settle, reject) => {
      const request =
        url.protocol === 'http:'
          ? requestHttp(url, { ...options, agent: false })
          : requestHttps(url, { ...options, agent });
      const fail = (words: string) => {
        clearTimeout(timer);
        reject(new ProviderUnreachableError(words));
        request.destroy();
      };
      const timer = setTimeout(() => fail(`${NO_RESPONSE} within ${timeoutSeconds} seconds.`), timeoutSeconds * 1000);
      request.on('error', (error) => fail(wordsOf(error)));
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        if (Number(response.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return fail(TOO_LARGE);
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_BODY_BYTES) return fail(TOO_LARGE);
          chunks.push(chunk);
        });
        response.once('error', (error) => fail(describeFailure(error)));
        response.once('end', () => {
          clearTimeout(timer);
          const { statusCode: status = 0 } = response;
          if (status < 200 || status > 599) return fail(`The status ${status} of the response does not exist.`);
          const isEmpty = [204, 205, 304].includes(status);
          settle(
            new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers: headersOf(response.rawHeaders) }),
          );
        });
      });
      request.end(body);
    });
  };
}

/** The codes of errors for a certificate whose authority Node does not know. */
const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function wordsOf(error: NodeJS.ErrnoException): string {
  const words = describeFailure(error);
  if (words === FORBIDDEN) return NOT_ALLOWED;
  if (!UNKNOWN_AUTHORITY.has(error.code ?? '')) return words;
  return `Charter does not know the authority of the provider’s certificate (${words}). An operator adds it with NODE_EXTRA_CA_CERTS.`;
}

const NOT_ALLOWED = `${FORBIDDEN} An operator allows its network with WEBHOOKS_ALLOWED_NETWORKS.`;
const TOO_LARGE = `The response is larger than ${MAX_BODY_BYTES / 1024} KiB.`;

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = '', value = ''] = raw.slice(i, i + 2);
    headers.append(name, value);
  }
  return headers;
}

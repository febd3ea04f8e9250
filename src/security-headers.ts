import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** Sets the security headers of a web page. The page may override some of them afterwards. */
export type SetPageHeaders = (res: ServerResponse) => void;

/** Returns whether people reach Charter by HTTPS; `false` if `publicUrl` is unknown. */
export function isHttps(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith('https://') ?? false;
}

/**
 * Returns a function that sets the security headers for everything except the API. If `publicUrl` begins with https, the headers
 * tell browsers to use only HTTPS (RFC 6797).
 */
export function pageSecurityHeaders(publicUrl: string | undefined): SetPageHeaders {
  const setHeaders = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        scriptSrc: ["'self'"],
        connectSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    // With "no-referrer", browsers would send "Origin: null" with the dashboard's own forms.
    referrerPolicy: { policy: 'same-origin' },
    // Subdomains are not included, because they may be other servers of the operator.
    strictTransportSecurity: isHttps(publicUrl) && { maxAge: 31_536_000, includeSubDomains: false },
    xFrameOptions: { action: 'deny' },
  });
  return (res) => setHeaders(res.req, res, () => {});
}

/**
 * Returns the security headers that an API needs, by name: X-Content-Type-Options and, with HTTPS, Strict-Transport-Security.
 * They are the same for every response, so the API computes them only once.
 */
export function apiSecurityHeaders(publicUrl?: string): Readonly<Record<string, string>> {
  const page = new ServerResponse(new IncomingMessage(new Socket()));
  pageSecurityHeaders(publicUrl)(page);
  const names = ['X-Content-Type-Options', 'Strict-Transport-Security'];
  return Object.fromEntries(
    names.filter((name) => page.hasHeader(name)).map((name) => [name, String(page.getHeader(name))]),
  );
}

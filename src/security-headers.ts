import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

type Options = {
  /** Whether people reach Charter by HTTPS: browsers are then told to use nothing else (RFC 6797). */
  readonly isHttps: boolean;
};

/**
 * The security headers of every page, as Express middleware. A route may replace one of them: the documentation has a content
 * security policy of its own, and the contract may be read from other origins.
 */
export function securityHeaders({ isHttps }: Options): ReturnType<typeof helmet> {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        scriptSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    // With "no-referrer", browsers would send "Origin: null" with the dashboard's own forms.
    referrerPolicy: { policy: 'same-origin' },
    // Not for subdomains: they may be other servers of the operator.
    strictTransportSecurity: isHttps && { maxAge: 31_536_000, includeSubDomains: false },
    xFrameOptions: { action: 'deny' },
  });
}

/**
 * Those of the headers that concern an API, by name: X-Content-Type-Options and, with HTTPS, Strict-Transport-Security. They
 * are the same for every response, so the API can add them once, where it renders responses.
 */
export function apiSecurityHeaders(options: Options): Readonly<Record<string, string>> {
  const page = pageHeaders(options);
  const names = ['X-Content-Type-Options', 'Strict-Transport-Security'];
  return Object.fromEntries(
    names.filter((name) => page.hasHeader(name)).map((name) => [name, String(page.getHeader(name))]),
  );
}

/** Express middleware that removes the headers of a page again, for a response that the API sends in its place. */
export function withoutPageHeaders(options: Options): RequestHandler {
  const names = pageHeaders(options).getHeaderNames();
  return (_req, res, next) => {
    for (const name of names) res.removeHeader(name);
    next();
  };
}

function pageHeaders(options: Options): ServerResponse {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  securityHeaders(options)(req, res, () => {});
  return res;
}

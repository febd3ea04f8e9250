import accepts from 'accepts';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { fileAt, markdownOf, OUTSIDE_PATHS, presentPathOf } from './paths.ts';
import {
  type Encoding,
  EXAMPLE_ORIGIN,
  GENERATED,
  isOriginless,
  LINKS,
  type PublishedFile,
  type ReadBuilt,
  readerOf,
  readPublished,
} from './published-file.ts';

export type Publication = {
  routes(options: RouteOptions): Router;
  /**
   * Reads and compresses the largest and the most read files for the origin that readers call, so that no request waits for that.
   * Never rejects: a request for a file that cannot be read fails, and says why in the log.
   */
  prepare(origin: string): Promise<void>;
};

export type PublicationOptions = {
  /** `readerOf(GENERATED)` by default. */
  readonly readBuilt?: ReadBuilt;
  /** Where readers get support. The files name none if it is omitted. */
  readonly supportUrl?: string | undefined;
};

export type RouteOptions = {
  /** Sets the security headers of a web page; the files replace some of them. */
  readonly setPageHeaders: (res: Response) => void;
  /** The origin that the files show. The one that the reader called is used if it is omitted. */
  readonly publicUrl: string | undefined;
  /** Another origin at which the same files are, such as that of a cell beside the one that all cells share. */
  readonly otherUrl?: string | undefined;
};

/** Public routes to the contract and its documentation. Not part of the contract. */
export function openPublication({ readBuilt = readerOf(GENERATED), supportUrl }: PublicationOptions = {}): Publication {
  const files = new Map<string, Read>();
  const read = async (name: string, origin: string): Promise<PublishedFile | null> => {
    const readNamed = (of: string) => readPublished(readBuilt, name, { origin: of, supportUrl });
    const reading =
      files.get(name) ?? (isOriginless(name) ? cacheRead(() => readNamed('')) : cacheReadByOrigin(readNamed));
    // This comes before the read, so that concurrent requests share it.
    files.set(name, reading);
    let file: PublishedFile | null = null;
    try {
      file = await reading(origin);
      return file;
    } finally {
      // Clients can ask for any number of names.
      if (file === null) files.delete(name);
    }
  };
  return {
    routes: (options) => routesTo(read, { ...options, supportUrl }),
    async prepare(origin) {
      // The files are read one after the other, because a sign-in needs the same threads for its password hash.
      for (const path of ['/docs', '/docs/getting-started', '/docs/reference', '/docs/all', ...OUTSIDE_PATHS])
        await read(fileAt(path) ?? '', origin).catch(() => null);
    },
  };
}

type ReadNamed = (name: string, origin: string) => Promise<PublishedFile | null>;

type Published = RouteOptions & Pick<PublicationOptions, 'supportUrl'>;

function routesTo(read: ReadNamed, options: Published): Router {
  const { setPageHeaders } = options;
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/', (req: Request, res: Response, next: NextFunction) => {
    res.setHeader('Link', `${LINKS}, </.well-known/api-catalog>; rel="api-catalog"`);
    res.setHeader('Vary', 'Accept');
    // The dashboard is for browsers.
    if (accepts(req).type(['json', 'html']) === 'html') next();
    else res.redirect(303, '/.well-known/api-catalog');
  });
  router.all('/.well-known/security.txt', (req: Request, res: Response, next: NextFunction) => {
    const { supportUrl, publicUrl = originOf(req), otherUrl = publicUrl } = options;
    const text = securityTxtOf({ supportUrl, origins: [publicUrl, otherUrl] }, new Date());
    if (text === null) return next();
    setPageHeaders(res);
    if (!METHODS.split(', ').includes(req.method)) return respondMethodNotAllowed(res);
    res.type('text/plain').set('Cache-Control', 'max-age=86400').send(text);
  });
  router.all(
    // An expression, because Express decodes a parameter, and throws for one that is malformed.
    [/^\/docs(?:\/.*)?$/, ...OUTSIDE_PATHS],
    (req: Request, res: Response, next: NextFunction) => {
      setPageHeaders(res);
      const moved = presentPathOf(req.path);
      if (moved !== null) return res.redirect(308, moved);
      const file = fileAt(req.path);
      if (file === null) return next();
      respond(read, options, { file, req, res, next }).catch(next);
    },
  );
  return router;
}

type Read = (origin: string) => Promise<PublishedFile | null>;

/** Each origin costs the memory of all files again, 3 MB, and up to a tenth of a second to compress one of them. */
const MAX_ORIGINS = 4;
const REPLACEMENT_INTERVAL_MS = 10_000;

/** Clients can make up any number of origins. If there are too many, further ones get the file that shows the example. */
function cacheReadByOrigin(read: Read): Read {
  const reads = new Map<string, Read>();
  const example = cacheRead(() => read(EXAMPLE_ORIGIN));
  let replacedAt = Number.NEGATIVE_INFINITY;
  return (origin) => {
    const known = reads.get(origin);
    if (known !== undefined) {
      // The origin moves to the end of the order, so that made-up origins replace each other, and not one that readers use.
      reads.delete(origin);
      reads.set(origin, known);
      return known(origin);
    }
    const [leastRecent] = reads.keys();
    if (reads.size >= MAX_ORIGINS && leastRecent !== undefined) {
      const now = performance.now();
      if (now - replacedAt < REPLACEMENT_INTERVAL_MS) return example(origin);
      replacedAt = now;
      reads.delete(leastRecent);
    }
    const added = cacheRead(() => read(origin));
    reads.set(origin, added);
    return added(origin);
  };
}

/** Reads the file once, and again as long as it is missing or cannot be read. */
function cacheRead(read: () => Promise<PublishedFile | null>): Read {
  let reading: Promise<PublishedFile | null> | undefined;
  return async () => {
    const current = reading ?? read();
    reading = current;
    try {
      const file = await current;
      if (file === null) reading = undefined;
      return file;
    } catch (error) {
      reading = undefined;
      throw error;
    }
  };
}

const METHODS = 'GET, HEAD, OPTIONS';
/** The encodings, the smallest one first. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];

type Asked = { readonly file: string; readonly req: Request; readonly res: Response; readonly next: NextFunction };

async function respond(read: ReadNamed, { publicUrl }: RouteOptions, { file, req, res, next }: Asked): Promise<void> {
  if (!METHODS.split(', ').includes(req.method)) return respondMethodNotAllowed(res);
  const origin = publicUrl ?? originOf(req);
  const isMarkdown = file.endsWith('.html') && accepts(req).type(['html', 'text/markdown']) === 'text/markdown';
  const found = await read(isMarkdown ? markdownOf(file) : file, origin);
  if (found === null) return (await read('docs/index.html', origin)) === null ? respondMissing(res) : next();
  for (const [name, value] of Object.entries(found.headers)) res.setHeader(name, value);
  if (isMarkdown) res.setHeader('Vary', 'Accept, Accept-Encoding');
  if (req.method === 'OPTIONS') return respondOptions(res);
  const accepted = accepts(req).encodings();
  const { representations } = found;
  const encoding = ENCODINGS.find((each) => representations[each] && accepted.includes(each)) ?? 'identity';
  const { bytes, entityTag } = representations[encoding] ?? representations.identity;
  res.setHeader('ETag', entityTag);
  if (isMatch(entityTag, req.headers['if-none-match'])) return void res.writeHead(304).end();
  if (encoding !== 'identity') res.setHeader('Content-Encoding', encoding);
  res.writeHead(200, { 'Content-Length': bytes.length });
  res.end(bytes);
}

const HOST = /^([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;

/** The origin that the reader called; the example's for a Host header that is not a host. */
function originOf({ protocol, headers: { host = '' } }: Request): string {
  return HOST.test(host) ? `${protocol}://${host}` : EXAMPLE_ORIGIN;
}

/** RFC 9110 section 13.1.2. Not Express's `req.fresh`, which is false for a request with Cache-Control: no-cache. */
function isMatch(entityTag: string, header = ''): boolean {
  const tags: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return header.trim() === '*' || tags.includes(entityTag);
}

/** A browser sends OPTIONS before a request with If-None-Match from another origin. */
function respondOptions(res: Response): void {
  res
    .writeHead(204, { Allow: METHODS, 'Access-Control-Allow-Methods': METHODS, 'Access-Control-Allow-Headers': '*' })
    .end();
}

function respondMethodNotAllowed(res: Response): void {
  res
    .status(405)
    .set({ Allow: METHODS, 'Cache-Control': 'no-store' })
    .json({ message: 'This path supports GET and HEAD.' });
}

function respondMissing(res: Response): void {
  res
    .status(503)
    .set({ 'Cache-Control': 'no-store', 'Content-Security-Policy': "default-src 'none'" })
    .type('html')
    .send(MISSING);
}

const MISSING = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The documentation has not been built</title>
<h1>The documentation has not been built</h1>
<p>Run <code>npm run docs</code> on the server, then load this page again. The contract itself is at
<a href="/openapi.yaml">/openapi.yaml</a>.</p>
</html>
`;

const LIFE_DAYS = 180;

type About = {
  readonly supportUrl: string | undefined;
  /** The origins at which the file is. The documentation is at the first one. */
  readonly origins: readonly [string, ...string[]];
};

/**
 * The security.txt of the server (RFC 9116): whom to tell about a vulnerability, and what to do with a leaked key. Returns
 * `null` without a contact, which the RFC requires, as an e-mail address or by HTTPS.
 */
function securityTxtOf({ supportUrl, origins }: About, now: Date): string | null {
  if (supportUrl === undefined || supportUrl.startsWith('http:')) return null;
  const expires = new Date(now.getTime() + LIFE_DAYS * 86_400_000);
  return [
    `Contact: ${supportUrl}`,
    `Expires: ${expires.toISOString()}`,
    ...[...new Set(origins)].map((origin) => `Canonical: ${origin}/.well-known/security.txt`),
    `Policy: ${origins[0]}/docs/leaked-keys`,
    'Preferred-Languages: en',
    '',
  ].join('\n');
}

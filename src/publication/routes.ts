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
   * Reads and compresses the largest and the most requested files for this origin, so that requests need not wait. Never rejects:
   * if a file cannot be read, a request for the file fails and logs the reason.
   */
  prepare(origin: string): Promise<void>;
};

export type PublicationOptions = {
  /** Reads the files of the build. Default: `readerOf(GENERATED)`. */
  readonly readBuilt?: ReadBuilt;
  /** The URL at which readers get support. If it is omitted, the files do not mention support. */
  readonly supportUrl?: string | undefined;
};

export type RouteOptions = {
  /** Sets the security headers of a web page. The headers of a file replace some of them. */
  readonly setPageHeaders: (res: Response) => void;
  /** The origin that the files contain. Default: the origin of the request. */
  readonly publicUrl: string | undefined;
  /** Another origin that serves the same files. For example, a cell has its own origin and the origin that all cells share. */
  readonly otherUrl?: string | undefined;
};

/** Creates the public routes to the contract and its documentation. The contract does not contain these routes. */
export function openPublication({ readBuilt = readerOf(GENERATED), supportUrl }: PublicationOptions = {}): Publication {
  const files = new Map<string, Read>();
  const read = async (name: string, origin: string): Promise<PublishedFile | null> => {
    const readNamed = (of: string) => readPublished(readBuilt, name, { origin: of, supportUrl });
    const reading =
      files.get(name) ?? (isOriginless(name) ? cacheRead(() => readNamed('')) : cacheReadByOrigin(readNamed));
    // The entry is set before the read, so that concurrent requests share the read.
    files.set(name, reading);
    let file: PublishedFile | null = null;
    try {
      file = await reading(origin);
      return file;
    } finally {
      // Entries for missing files are deleted, because clients can ask for any number of names.
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
    // Browsers are passed on to the dashboard. Other clients are redirected to the API catalog.
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
    // The routes use a regular expression, because Express would decode a parameter, and throw if it is malformed.
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

/**
 * The maximum number of origins whose files are cached. Each origin takes another 3 MB, and up to a tenth of a second to compress
 * a file.
 */
const MAX_ORIGINS = 4;
const REPLACEMENT_INTERVAL_MS = 10_000;

/**
 * Caches the file by origin. The attack: a client sends requests with any number of invented origins. A new origin replaces a
 * cached origin only every ten seconds. Until then, requests with other new origins get the file with the example's origin.
 */
function cacheReadByOrigin(read: Read): Read {
  const reads = new Map<string, Read>();
  const example = cacheRead(() => read(EXAMPLE_ORIGIN));
  let replacedAt = Number.NEGATIVE_INFINITY;
  return (origin) => {
    const known = reads.get(origin);
    if (known !== undefined) {
      // The origin moves to the end of the order, so that invented origins replace each other, and not an origin that readers
      // use.
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

/** Caches the result of a read. A file that is missing or cannot be read is read again at the next request. */
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
/** The encodings in order of preference, the smallest result first. */
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

/** Returns the origin of the request, or the example's origin if the Host header is not a host. */
function originOf({ protocol, headers: { host = '' } }: Request): string {
  return HOST.test(host) ? `${protocol}://${host}` : EXAMPLE_ORIGIN;
}

/**
 * Returns whether If-None-Match contains the entity tag (RFC 9110 section 13.1.2). Express's `req.fresh` is not used, because it
 * is false for a request with Cache-Control: no-cache.
 */
function isMatch(entityTag: string, header = ''): boolean {
  const tags: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return header.trim() === '*' || tags.includes(entityTag);
}

/** Responds to OPTIONS, which browsers send before a cross-origin request with If-None-Match. */
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
  /** The origins that serve the security.txt. The first one also serves the documentation. */
  readonly origins: readonly [string, ...string[]];
};

/**
 * Returns the content of security.txt (RFC 9116), which says whom to tell about a vulnerability and what to do with a leaked key.
 * Returns `null` if there is no contact with an e-mail address or an HTTPS URL, because the RFC requires such a contact.
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

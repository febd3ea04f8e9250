import accepts from 'accepts';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { type Encoding, GENERATED, LINKS, type Published, readDocument, readPage } from './published.ts';

export type Publication = {
  readonly routes: Router;
  /** Reads and compresses everything, so that nobody who asks waits for it. */
  prepare(): Promise<void>;
};

/** The contract and its documentation, for everybody; not part of the contract. */
export function openPublication(generated: URL = GENERATED): Publication {
  const files = new Map([
    ['/docs', once(() => readPage(generated, 'index.html'))],
    ['/docs/plain.html', once(() => readPage(generated, 'plain.html'))],
    ['/openapi.json', once(() => readDocument(generated, 'openapi.json'))],
    ['/openapi.yaml', once(() => readDocument(generated, 'openapi.yaml'))],
  ]);
  return {
    routes: routesTo(files),
    async prepare() {
      // One after the other: whoever signs in meanwhile needs the threads, too.
      for (const read of files.values()) await read();
    },
  };
}

function routesTo(files: ReadonlyMap<string, Read>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.all('/', (_req: Request, res: Response, next: NextFunction) => {
    res.setHeader('Link', LINKS);
    next();
  });
  for (const [path, read] of files) router.all(path, answer(read));
  router.all(['/docs/', '/docs/index.html'], (_req: Request, res: Response) => res.redirect(308, '/docs'));
  return router;
}

type Read = () => Promise<Published | null>;

/** Read once, and then kept; asked for again as long as there is none. */
function once(read: Read): Read {
  let kept: Promise<Published | null> | undefined;
  return async () => {
    kept ??= read();
    const published = await kept.catch(() => null);
    if (published === null) kept = undefined;
    return published;
  };
}

const METHODS = 'GET, HEAD, OPTIONS';
/** The smallest first. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];

function answer(read: Read) {
  return async (req: Request, res: Response): Promise<void> => {
    if (!METHODS.split(', ').includes(req.method)) return refuse(res, 405, 'This path takes GET and HEAD.');
    const published = await read();
    if (published === null) return missing(res);
    for (const [name, value] of Object.entries(published.headers)) res.setHeader(name, value);
    if (req.method === 'OPTIONS') return allow(res);
    const accepted = accepts(req).encodings();
    const encoding = ENCODINGS.find((each) => accepted.includes(each)) ?? 'identity';
    const { bytes, entityTag } = published.representations[encoding];
    res.setHeader('ETag', entityTag);
    if (isKnown(entityTag, req.headers['if-none-match'])) return void res.writeHead(304).end();
    if (encoding !== 'identity') res.setHeader('Content-Encoding', encoding);
    res.writeHead(200, { 'Content-Length': bytes.length });
    res.end(bytes);
  };
}

/** RFC 9110 section 13.1.2. Not Express's `fresh`: it asks for the body whenever a script sends the header by itself. */
function isKnown(entityTag: string, header = ''): boolean {
  const tags: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return header.trim() === '*' || tags.includes(entityTag);
}

/** Asked by a browser before it sends If-None-Match from another origin. */
function allow(res: Response): void {
  res
    .writeHead(204, { Allow: METHODS, 'Access-Control-Allow-Methods': METHODS, 'Access-Control-Allow-Headers': '*' })
    .end();
}

function refuse(res: Response, status: number, message: string): void {
  res.setHeader('Allow', METHODS);
  res.status(status).set('Cache-Control', 'no-store').json({ message });
}

function missing(res: Response): void {
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

import { createHash, hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip' | 'identity';
export type Representation = { readonly bytes: Buffer; readonly entityTag: string };

/** A file that is published as it is: read, hashed and compressed once. */
export type Published = {
  readonly representations: Readonly<Record<Encoding, Representation>>;
  readonly headers: Readonly<Record<string, string>>;
};

/** Where `npm run generate` and `npm run docs` write. */
export const GENERATED = new URL('../../generated/', import.meta.url);

/** The addresses of the documentation's files, which link to each other by their names in one folder. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'index.html': '/docs',
  'plain.html': '/docs/plain.html',
  'openapi.json': '/openapi.json',
  'openapi.yaml': '/openapi.yaml',
};
const LINK = /href="(index\.html|plain\.html|openapi\.json|openapi\.yaml)"/g;

/** Null: the documentation has not been built. */
export async function readPage(folder: URL, name: 'index.html' | 'plain.html'): Promise<Published | null> {
  const built = await readFile(new URL(`docs/${name}`, folder), 'utf8').catch(nullWhereMissing);
  if (built === null) return null;
  const page = built.replace(LINK, (_, file: string) => `href="${ADDRESSES[file]}"`);
  return prepare(Buffer.from(page), {
    ...PAGE_HEADERS,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policyOf(page),
  });
}

export async function readDocument(folder: URL, name: 'openapi.json' | 'openapi.yaml'): Promise<Published> {
  return prepare(await readFile(new URL(name, folder)), { ...DOCUMENT_HEADERS, 'Content-Type': TYPES[name] });
}

/**
 * What the OpenAPI Initiative has agreed on; the suffixes tell whoever does not know it how to read it (RFC 6839, RFC 9512).
 * "application/openapi+json" is a draft still (draft-ietf-httpapi-rest-api-mediatypes).
 */
const TYPES = {
  'openapi.json': 'application/vnd.oai.openapi+json;version=3.1',
  'openapi.yaml': 'application/vnd.oai.openapi+yaml;version=3.1',
};

const COMMON = {
  // To be asked for each time; the answer is then 304 and short.
  'Cache-Control': 'public, no-cache',
  Vary: 'Accept-Encoding',
  // RFC 8631.
  Link: '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"',
  'X-Content-Type-Options': 'nosniff',
};
const PAGE_HEADERS = {
  ...COMMON,
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
/** The document is public, and editors and code generators in a browser read it from wherever they are. */
const DOCUMENT_HEADERS = {
  ...COMMON,
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Link',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

export const LINKS = COMMON.Link;

/**
 * The scripts are those that the page was built with, and no others. Its styles are made while it runs; they may stand
 * in the page, and load nothing. Its search runs in workers, which it makes of its own text.
 */
function policyOf(page: string): string {
  const scripts = [...page.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map(([, script = '']) => {
    return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  });
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : [...new Set(scripts)].join(' ')}`,
    "style-src 'unsafe-inline'",
    ...['img-src data:', 'font-src data:'],
    'worker-src blob:',
    ...["form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'"],
  ].join('; ');
}

async function prepare(bytes: Buffer, headers: Record<string, string>): Promise<Published> {
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(bytes),
  ]);
  const representations = { br: represent(br), gzip: represent(zipped), identity: represent(bytes) };
  return { representations, headers };
}

/** The best would take ten times as long for the last fortieth. */
const BROTLI_QUALITY = 5;

/** Each encoding has its own strong tag (RFC 9110 section 8.8.3). */
function represent(bytes: Buffer): Representation {
  return { bytes, entityTag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"` };
}

function nullWhereMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

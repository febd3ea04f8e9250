import { createHash, hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip' | 'identity';
export type Representation = { readonly bytes: Buffer; readonly entityTag: string };

/** A published file, read, hashed and compressed once. */
export type PublishedFile = {
  /** A file that is compressed already has only `identity`. */
  readonly representations: { readonly identity: Representation } & Readonly<Partial<Record<Encoding, Representation>>>;
  readonly headers: Readonly<Record<string, string>>;
};

/** The output folder of `npm run generate` and `npm run docs`. */
export const GENERATED = new URL('../../generated/', import.meta.url);

/** Paths of the published files. The built pages link to each other by file name. */
const PATHS: Readonly<Record<string, string>> = {
  'index.html': '/docs',
  'plain.html': '/docs/plain.html',
  'openapi.json': '/openapi.json',
  'openapi.yaml': '/openapi.yaml',
  'postman.json': '/postman.json',
  'charter-client.tgz': '/charter-client.tgz',
};
const LINK = /href="(index\.html|plain\.html|openapi\.json|openapi\.yaml|postman\.json|charter-client\.tgz)"/g;

/** The default of `base_url` in the contract, for which the pages and the collection are built. */
export const EXAMPLE_ORIGIN = 'http://127.0.0.1:3000';

/** `origin` is where readers reach the server. Null: the documentation has not been built. */
export async function readPage(
  folder: URL,
  name: 'index.html' | 'plain.html',
  origin: string,
): Promise<PublishedFile | null> {
  const built = await readFile(new URL(`docs/${name}`, folder), 'utf8').catch(nullIfMissing);
  if (built === null) return null;
  const page = built
    .replace(LINK, (_, file: string) => `href="${PATHS[file]}"`)
    .replaceAll(EXAMPLE_ORIGIN, () => origin);
  return prepare(Buffer.from(page), {
    ...COMMON,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policyOf(page),
  });
}

/** Null: the contract has not been bundled. */
export async function readDocument(folder: URL, name: 'openapi.json' | 'openapi.yaml'): Promise<PublishedFile | null> {
  const bytes = await readFile(new URL(name, folder)).catch(nullIfMissing);
  return bytes === null ? null : prepare(bytes, { ...DOCUMENT_HEADERS, 'Content-Type': TYPES[name] });
}

/** The Postman collection, whose address is `origin`. Null: the documentation has not been built. */
export async function readCollection(folder: URL, origin: string): Promise<PublishedFile | null> {
  const built = await readFile(new URL('docs/postman.json', folder), 'utf8').catch(nullIfMissing);
  if (built === null) return null;
  const collection = built.replaceAll(EXAMPLE_ORIGIN, () => origin);
  return prepare(Buffer.from(collection), { ...DOCUMENT_HEADERS, 'Content-Type': 'application/json' });
}

/** The package `charter-client`, for `npm install`. Null: the documentation has not been built. */
export async function readClient(folder: URL): Promise<PublishedFile | null> {
  const bytes = await readFile(new URL('docs/charter-client.tgz', folder)).catch(nullIfMissing);
  if (bytes === null) return null;
  const headers = { ...DOCUMENT_HEADERS, 'Content-Type': 'application/gzip' };
  return { representations: { identity: represent(bytes) }, headers };
}

/**
 * The media types of the OpenAPI Initiative; their suffixes name the syntax (RFC 6839, RFC 9512). "application/openapi+json" is
 * still a draft (draft-ietf-httpapi-rest-api-mediatypes).
 */
const TYPES = {
  'openapi.json': 'application/vnd.oai.openapi+json;version=3.1',
  'openapi.yaml': 'application/vnd.oai.openapi+yaml;version=3.1',
};

const COMMON = {
  // Revalidated each time, which mostly ends in a short 304.
  'Cache-Control': 'public, no-cache',
  Vary: 'Accept-Encoding',
  // RFC 8631.
  Link: '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"',
};
/** The document is public: editors and code generators in a browser read it from any origin. */
const DOCUMENT_HEADERS = {
  ...COMMON,
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Link',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

export const LINKS = COMMON.Link;

/**
 * Content-Security-Policy of a page. Allows its own inline scripts by hash and no others, inline styles, which are created at run
 * time, and workers from blobs, in which its search runs.
 */
function policyOf(page: string): string {
  const scripts = [...page.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map(([, script = '']) => {
    return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  });
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : [...new Set(scripts)].join(' ')}`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    'worker-src blob:',
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

async function prepare(bytes: Buffer, headers: Record<string, string>): Promise<PublishedFile> {
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(bytes),
  ]);
  const representations = { br: represent(br), gzip: represent(zipped), identity: represent(bytes) };
  return { representations, headers };
}

/** The highest quality takes ten times as long and saves another 2.5%. */
const BROTLI_QUALITY = 5;

/** Each encoding has its own strong tag (RFC 9110 section 8.8.3). */
function represent(bytes: Buffer): Representation {
  return { bytes, entityTag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"` };
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { rewriteLinks } from './paths.ts';

export type Encoding = 'br' | 'gzip' | 'identity';
export type Representation = { readonly bytes: Buffer; readonly entityTag: string };

/** A published file, which is read, hashed and compressed once. */
export type PublishedFile = {
  /** The file's content by encoding. A file that is already compressed has only `identity`. */
  readonly representations: { readonly identity: Representation } & Readonly<Partial<Record<Encoding, Representation>>>;
  readonly headers: Readonly<Record<string, string>>;
};

/** The output folder of `npm run generate` and `npm run docs`. */
export const GENERATED = new URL('../../generated/', import.meta.url);

/**
 * The default of `base_url` in the contract. The build of the documentation and of the collection uses it as the server's origin.
 */
export const EXAMPLE_ORIGIN = 'http://127.0.0.1:3000';

/** The support contact that the build of the documentation uses. It always has a line of its own. */
export const EXAMPLE_SUPPORT = 'https://support.invalid/';
const SUPPORT_LINES = /^.*https:\/\/support\.invalid\/.*\n/gm;

/** The value of the Link header, with the links to the contract and its documentation (RFC 8631). */
export const LINKS = '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"';

/** Returns whether the file is the same for every origin. */
export function isOriginless(name: string): boolean {
  return !/\.(html|md|txt|xml)$|postman\.json$|api-catalog$/.test(name);
}

export type Shown = {
  /** The origin at which readers reach the server. */
  readonly origin: string;
  /** The URL at which readers get support. If it is `undefined`, lines about support are omitted. */
  readonly supportUrl: string | undefined;
};

/** Reads a file of the build by its name in `generated`. Resolves to `null` if there is no such file. */
export type ReadBuilt = (name: string) => Promise<Buffer | null>;

export function readerOf(folder: URL): ReadBuilt {
  return (name) => readFile(new URL(name, folder)).catch(nullIfMissing);
}

/** Reads a file of `generated` and adapts it to the origin; returns `null` if the file does not exist. */
export async function readPublished(readBuilt: ReadBuilt, name: string, options: Shown): Promise<PublishedFile | null> {
  const built = await readBuilt(name);
  if (built === null) return null;
  const headers = headersOf(name);
  if (/\.(png|tgz)$/.test(name)) return { representations: { identity: represent(built) }, headers };
  if (HASHED.test(name)) return { representations: await readCompressed(readBuilt, name, built), headers };
  const text = isOriginless(name) ? built : Buffer.from(adaptText(built.toString(), name, options));
  return { representations: await compress(text), headers };
}

function adaptText(text: string, name: string, { origin, supportUrl }: Shown): string {
  const isPage = name.endsWith('.html');
  const support = isPage ? supportUrl?.replace(/[&"<>]/g, (each) => `&#${each.charCodeAt(0)};`) : supportUrl;
  const supported =
    support === undefined ? text.replace(SUPPORT_LINES, '') : text.replaceAll(EXAMPLE_SUPPORT, () => support);
  return (isPage ? rewriteLinks(supported) : supported).replaceAll(EXAMPLE_ORIGIN, () => origin);
}

/** Matches files whose name contains a hash of their content. */
const HASHED = /^docs\/assets\/.*\.(js|css)$/;

/** Matches documents that editors, code generators and agents in a browser read from any origin. */
const DOCUMENT = /\.(json|yaml|tgz|md|txt)$|api-catalog$/;

/**
 * The media types by the end of the file name; the first match applies. The types of the OpenAPI Initiative have suffixes that
 * name the syntax (RFC 6839, RFC 9512). "application/openapi+json" is still a draft (draft-ietf-httpapi-rest-api-mediatypes).
 */
const TYPES: readonly (readonly [string, string])[] = [
  ['openapi.json', 'application/vnd.oai.openapi+json;version=3.1'],
  ['openapi.yaml', 'application/vnd.oai.openapi+yaml;version=3.1'],
  ['.html', 'text/html; charset=utf-8'],
  ['.md', 'text/markdown; charset=utf-8'],
  ['.txt', 'text/plain; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.xml', 'application/xml'],
  ['.json', 'application/json'],
  ['.tgz', 'application/gzip'],
  ['api-catalog', 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'],
];

export function typeOf(name: string): string {
  return TYPES.find(([end]) => name.endsWith(end))?.[1] ?? 'application/octet-stream';
}

function headersOf(name: string): Record<string, string> {
  const isPage = name.endsWith('.html');
  return {
    'Content-Type': typeOf(name),
    // All other files are revalidated each time, which usually results in a short 304.
    'Cache-Control': HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'public, no-cache',
    Vary: isPage || name.endsWith('.md') ? 'Accept, Accept-Encoding' : 'Accept-Encoding',
    Link: LINKS,
    ...(isPage && { 'Content-Security-Policy': policyOf(name) }),
    ...(DOCUMENT.test(name) && {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': 'ETag, Link',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    }),
  };
}

/** Returns the Content-Security-Policy of a page. Redoc creates styles at run time, and a worker for its search. */
function policyOf(name: string): string {
  const isRedoc = name === 'docs/reference.html';
  return [
    "default-src 'none'",
    name === 'docs/all.html' ? "script-src 'none'" : "script-src 'self'",
    isRedoc ? "style-src 'self' 'unsafe-inline'" : "style-src 'self'",
    "img-src 'self' data:",
    // The form of an operation sends requests to the server that serves the page.
    ...(name.startsWith('docs/reference/') ? ["connect-src 'self'"] : []),
    ...(isRedoc ? ['font-src data:', 'worker-src blob:'] : []),
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** Reads the compressed versions that the build has created beside the file. */
async function readCompressed(
  readBuilt: ReadBuilt,
  name: string,
  built: Buffer,
): Promise<PublishedFile['representations']> {
  const [br, zipped] = await Promise.all(['br', 'gz'].map((extension) => readBuilt(`${name}.${extension}`)));
  return { identity: represent(built), ...(br && { br: represent(br) }), ...(zipped && { gzip: represent(zipped) }) };
}

async function compress(bytes: Buffer): Promise<PublishedFile['representations']> {
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
    promisify(gzip)(bytes),
  ]);
  return { br: represent(br), gzip: represent(zipped), identity: represent(bytes) };
}

/** The quality of the Brotli compression. The highest quality would take ten times as long and save another 2.5%. */
const BROTLI_QUALITY = 5;

/** Returns the representation of a file in one encoding. Each encoding has its own strong entity tag (RFC 9110 section 8.8.3). */
function represent(bytes: Buffer): Representation {
  return { bytes, entityTag: `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"` };
}

/** The error codes for a file that does not exist, a path that uses a file as a folder, and a path that is too long. */
const MISSING: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'];

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (MISSING.includes(error.code)) return null;
  throw error;
}

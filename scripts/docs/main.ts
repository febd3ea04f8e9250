// Builds the documentation as static files from the contract and the guides. Also builds the files to which the documentation
// links: the contract, the Postman collection, and the packages of the client, the mock and charter-mcp. See --help.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { readSupportUrl } from '../../src/config.ts';
import { EXAMPLE_SUPPORT } from '../../src/publication/published-file.ts';
import { buildPackage, pack } from '../client/build-package.ts';
import { runMain } from '../command-line.ts';
import { buildMcpPackage } from '../mcp/build-package.ts';
import { buildMockPackage } from '../mock/package/pack-mock.ts';
import { beginStamp } from '../stamps.mjs';
import { root } from '../tool.ts';
import { originOf, readContract } from './contract.ts';
import { readSource } from './guides.ts';
import { readSite } from './site.ts';

const HELP = `npm run docs   builds the documentation in generated/docs, from which "npm start" serves it at /docs

npm run docs -- --server URL [--base PATH] [--support CONTACT] [--out FOLDER]   builds it for another web server

  --server  the URL of the API that the pages show, such as https://api.example.org
  --base    where readers find the pages: a path on that server, or a URL (default: /docs)
  --support where readers get support: an e-mail address or a URL. Every page then links to it
  --out     the folder for the files (default: generated/site). Copy its content to the web server

A server of Charter shows its own URL instead, or PUBLIC_URL, and the support of SUPPORT_CONTACT.
`;
const OPTIONS = {
  server: { type: 'string' },
  base: { type: 'string', default: '/docs' },
  support: { type: 'string' },
  out: { type: 'string', default: 'generated/site' },
} as const;

await runMain(OPTIONS, HELP, build);

type Options = { server?: string | undefined; base: string; support?: string | undefined; out: string };

async function build(options: Options): Promise<void> {
  const contract = await readContract(join(root, 'generated/openapi.json'));
  const example = originOf(contract.document);
  const server = options.server === undefined ? example : urlOf(options.server, '--server');
  const folder = options.server === undefined ? join(root, 'generated/docs') : resolve(options.out);
  const stamp = options.server === undefined ? beginStamp('docs') : () => {};
  const address = urlOf(new URL(options.base, `${server}/`).href, '--base');
  const support =
    options.server === undefined ? EXAMPLE_SUPPORT : (readSupportUrl('--support', options.support) ?? null);
  const [site, client, mock, mcp, ...documents] = await Promise.all([
    readSource(root, contract).then((source) =>
      readSite(root, source, { server, address, support, isServed: options.server === undefined }),
    ),
    readPacked(buildPackage),
    readPacked(buildMockPackage),
    readPacked(buildMcpPackage),
    ...['openapi.json', 'openapi.yaml', 'postman.json'].map((name) => readFile(join(root, 'generated', name), 'utf8')),
  ]);
  const [json = '', yaml = '', postman = ''] = documents;
  const files = new Map<string, string | Buffer>([
    ...[...site].map(([name, content]): [string, string | Buffer] => [name, content()]),
    ['openapi.json', json],
    ['openapi.yaml', yaml],
    ['postman.json', postman.replaceAll(example, () => server)],
    ['charter-client.tgz', client],
    ['charter-mock.tgz', mock],
    ['charter-mcp.tgz', mcp],
  ]);
  await Promise.all([...files].map(([name, content]) => publish(join(folder, name), content)));
  await removeOthers(folder, new Set(files.keys()));
  stamp();
  process.stdout.write(`${folder} contains the documentation.\n`);
  if (options.server === undefined)
    process.stdout.write(
      `Its pages name ${example}, which "npm start" replaces. To publish them elsewhere, see --help.\n`,
    );
}

/** Returns the URL without a slash at the end. Throws if the text is not a URL. */
function urlOf(text: string, option: string): string {
  if (!/^https?:\/\/[^/?#]/.test(text) || !URL.canParse(text))
    throw new Error(`${option} is not a URL: "${text}".\n\n${HELP}`);
  return text.replace(/\/+$/, '');
}

async function readPacked(buildInto: (folder: string) => Promise<void>): Promise<Buffer> {
  const temporary = await mkdtemp(join(tmpdir(), 'charter-package-'));
  try {
    const built = join(temporary, 'package');
    await buildInto(built);
    return await readFile(await pack(built, temporary));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Writes the file. If its name contains a hash, also writes compressed files. The largest file takes seconds to compress. */
async function publish(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await replace(path, content);
  if (!/\/assets\/.*\.(js|css)$/.test(path)) return;
  const bytes = Buffer.from(content);
  const compressed = [
    ['br', () => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })],
    ['gz', () => promisify(gzip)(bytes, { level: 9 })],
  ] as const;
  for (const [extension, compress] of compressed)
    if (!existsSync(`${path}.${extension}`)) await replace(`${path}.${extension}`, await compress());
}

/** Removes the files that an earlier build has left. */
async function removeOthers(folder: string, names: ReadonlySet<string>): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path).replace(/\.(br|gz)$/, '');
    if (entry.isFile() && !names.has(name) && !entry.name.startsWith('.charter')) await rm(path);
  }
}

/** Replaces the file atomically, so that readers get either the old or the new file. */
async function replace(path: string, content: string | Buffer): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, content);
  await rename(temporary, path);
}

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { bytesOf, type Content, type Entry } from './content.ts';

const BLOCK = 512;
/**
 * The modification time of all files, in seconds since 1970, so that the same files give the same archive. It is 1 January 1980,
 * the earliest time in ZIP files.
 */
const MODIFIED_AT = 315_532_800;

/** Writes a compressed tar file (POSIX.1-1988, "ustar") of the folder. The owner of all files is root. */
export async function writeTar(file: string, folder: string, content: Content): Promise<void> {
  await pipeline(Readable.from(blocksOf(folder, content)), createGzip({ level: 9 }), createWriteStream(file));
}

function* blocksOf(folder: string, content: Content): Generator<Buffer> {
  for (const path of foldersOf(content)) yield headerOf(`${folder}/${path}`, { type: '5', mode: 0o755 });
  for (const [path, entry] of content) {
    const name = `${folder}/${path}`;
    if (entry.kind === 'link') yield headerOf(name, { type: '2', mode: 0o777, link: entry.target });
    else yield* fileOf(name, entry);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function* fileOf(name: string, entry: Exclude<Entry, { kind: 'link' }>): Generator<Buffer> {
  const bytes = bytesOf(entry);
  yield headerOf(name, { type: '0', mode: entry.mode, size: bytes.length });
  yield bytes;
  yield Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
}

/** Returns all folders, parents first. Each ends with a slash; "" is the top folder. */
function foldersOf(content: Content): string[] {
  const folders = new Set(['']);
  for (const path of content.keys())
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) folders.add(path.slice(0, at + 1));
  return [...folders].toSorted();
}

type Header = { readonly type: '0' | '2' | '5'; readonly mode: number; readonly size?: number; readonly link?: string };

function headerOf(path: string, { type, mode, size = 0, link = '' }: Header): Buffer {
  const header = Buffer.alloc(BLOCK);
  const { prefix, name } = splitPath(path);
  if (Buffer.byteLength(link) > 100) throw new Error(`The link ${path} is too long for a tar file.`);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  header.write(name, 0);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(size, 11), 124);
  header.write(octal(MODIFIED_AT, 11), 136);
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  header.write(link, 157);
  header.write('ustar\x0000', 257);
  header.write('root', 265);
  header.write('root', 297);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

/**
 * Splits a path into the two fields of the tar header: a name of up to 100 bytes, and up to 155 bytes for the folders before it.
 */
function splitPath(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== '' && Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { prefix, name };
  }
  throw new Error(`The path ${path} is too long for a tar file.`);
}

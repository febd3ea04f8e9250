import type { IncomingMessage } from 'node:http';

/** Of the URL and the headers of a request together. */
export const MAX_HEAD_BYTES = 16 * 1024;
/** What Node's parser accepts, so that a request above the limit can be told what is too large. */
export const MAX_PARSED_HEAD_BYTES = 2 * MAX_HEAD_BYTES;

/** ": " and the line break. */
const SEPARATORS = 4;

export type HeadSize = {
  readonly bytes: number;
  /** The name of the header that takes most of them, and how many. */
  readonly largest: { readonly name: string; readonly bytes: number };
};

/** Null if the URL and the headers are within the limit. Node's parser has one character for each byte. */
export function findTooLargeHead({
  url = '',
  rawHeaders,
}: Pick<IncomingMessage, 'url' | 'rawHeaders'>): HeadSize | null {
  let bytes = url.length;
  for (const text of rawHeaders) bytes += text.length;
  bytes += (rawHeaders.length / 2) * SEPARATORS;
  if (bytes <= MAX_HEAD_BYTES) return null;
  const sizes = new Map<string, number>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2);
    sizes.set(name, (sizes.get(name) ?? 0) + name.length + value.length + SEPARATORS);
  }
  const [[name, size] = ['', 0]] = [...sizes].toSorted(([, a], [, b]) => b - a);
  return { bytes, largest: { name, bytes: size } };
}

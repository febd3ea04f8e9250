// A request as it is sent, and the same request as a shell command.
import { gzipSync } from 'node:zlib';
import type { Sending } from '../support/clients/client.ts';
import type { KeyKind } from './draft.ts';

export type Outgoing = {
  readonly method: string;
  readonly url: string;
  readonly headers: NonNullable<Sending['headers']>;
  readonly body: string | Buffer | undefined;
  readonly key: KeyKind;
  readonly scheme: string;
  /** The id in the path, and the requests that created its row. The last of them returned the id in `field`. */
  readonly made?: { readonly by: readonly Outgoing[]; readonly field: string; readonly id: string } | undefined;
};

/** The maximum length of a body in the command, in characters. A longer body is shown compressed. */
const MOST_SHOWN = 2000;

const VARIABLES: Record<Exclude<KeyKind, 'none'>, string> = {
  ours: '$CHARTER_KEY',
  'read-only': '$CHARTER_READ_ONLY_KEY',
  'other organization': '$CHARTER_OTHER_KEY',
  revoked: '$CHARTER_REVOKED_KEY',
};

/** Returns the request as one line for bash, which reads the server's address from CHARTER_URL, and the key from CHARTER_KEY. */
export function curlOf(outgoing: Outgoing): string {
  const { made } = outgoing;
  if (made === undefined) return lineOf(outgoing, '-i');
  const lines = made.by.map((by) => lineOf(by, '-f')).join(' > /dev/null; ');
  const id = `ID=$(${lines} | grep -o '"${made.field}":"[^"]*"' | head -1 | cut -d '"' -f 4)`;
  return `${id}; ${lineOf(outgoing, '-i').replaceAll(made.id, `'"$ID"'`)}`;
}

function lineOf({ method, url, headers, body, key, scheme }: Outgoing, option: string): string {
  const isAnnounced = Object.hasOwn(headers, 'Authorization') || key === 'none';
  const sent = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers };
  const given = Object.entries(sent).flatMap(([name, value]) => headerLines(name, value));
  const inArgument = typeof body === 'string' && body.length < MOST_SHOWN && !body.includes('\0');
  const data = body === undefined ? [] : [`--data-binary ${inArgument ? quote(body) : '@-'}`];
  const line = [
    `curl -s -g --path-as-is ${option}`,
    method === 'HEAD' && body === undefined ? '-I' : `-X ${method}`,
    ...(isAnnounced ? [] : [`-H "Authorization: ${scheme}${VARIABLES[key]}"`]),
    ...given,
    ...data,
    `"$CHARTER_URL"${quote(url)}`,
  ].join(' ');
  if (body === undefined || inArgument) return line;
  return `base64 -d <<< ${gzipSync(body).toString('base64')} | gunzip | ${line}`;
}

/** Returns curl's options for a header. A name followed by a colon removes a header that curl sends by default. */
function headerLines(name: string, value: string | readonly string[] | undefined): string[] {
  if (value === undefined) return name === 'Authorization' ? [] : [`-H '${name}:'`];
  return [value].flat().map((each) => `-H ${quote(each === '' ? `${name};` : `${name}: ${each}`, 'latin1')}`);
}

export function quote(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const bytes = [...Buffer.from(text, encoding)].map((byte) => {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x27 && byte !== 0x5c;
    return isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  });
  return `$'${bytes.join('')}'`;
}

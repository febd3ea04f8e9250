import type { IncomingMessage } from 'node:http';

const MAX_CHARACTERS = 300;

export function requestLine(
  { method = 'GET', url = '/' }: Pick<IncomingMessage, 'method' | 'url'>,
  status: number,
): string {
  return printable(`${method} ${url} -> ${status}`);
}

/** Text from a client or a server for the terminal: without control characters and API keys, 300 characters at most. */
export function printable(text: string): string {
  const safe = text.replace(/charter_(live|test)_\w+/g, 'charter_$1_…').replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return safe.length > MAX_CHARACTERS ? `${safe.slice(0, MAX_CHARACTERS)}…` : safe;
}

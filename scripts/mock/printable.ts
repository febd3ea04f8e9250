import type { IncomingMessage } from 'node:http';

const MOST_CHARACTERS = 300;

/** A request in one line: no control character of a stranger reaches the terminal, and no key. */
export function lineOf({ method = 'GET', url = '/' }: Pick<IncomingMessage, 'method' | 'url'>, status: number): string {
  return plain(`${method} ${url} -> ${status}`);
}

export function plain(text: string): string {
  const shown = text.replace(/charter_(live|test)_\w+/g, 'charter_$1_…').replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return shown.length > MOST_CHARACTERS ? `${shown.slice(0, MOST_CHARACTERS)}…` : shown;
}

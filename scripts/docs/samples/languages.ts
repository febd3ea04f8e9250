// Code samples for every operation, from the contract's examples. Each can be run as it is: it reads the address of the
// server from CHARTER_URL and the key from CHARTER_API_KEY, and fails if the response is an error.
import type { Operation } from '../../../src/contract/document.ts';
import { curl } from './curl.ts';
import { go } from './go.ts';
import { javascript } from './javascript.ts';
import { php } from './php.ts';
import { python } from './python.ts';
import { requestOf, type SampleRequest } from './request.ts';
import { typescript } from './typescript.ts';

export type Language = {
  /** The name for people. */
  readonly label: string;
  /** The name for syntax highlighters. */
  readonly lang: string;
  readonly write: (request: SampleRequest) => string;
};
export type Sample = { readonly lang: string; readonly label: string; readonly source: string };

export const LANGUAGES: readonly Language[] = [
  { label: 'curl', lang: 'bash', write: curl },
  { label: 'TypeScript', lang: 'typescript', write: typescript },
  { label: 'JavaScript', lang: 'javascript', write: javascript },
  { label: 'Python', lang: 'python', write: python },
  { label: 'Go', lang: 'go', write: go },
  { label: 'PHP', lang: 'php', write: php },
];

export function samplesOf(operation: Operation): readonly Sample[] {
  const request = requestOf(operation);
  return LANGUAGES.map(({ label, lang, write }) => ({ lang, label, source: write(request) }));
}

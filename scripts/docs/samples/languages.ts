// Code samples for every operation, made of the contract's own examples. Each can be run as it is shown: it reads the
// server's address from CHARTER_URL and the key from CHARTER_API_KEY, and ends with an error unless it succeeds.
import type { Operation } from '../../../src/api/document.ts';
import { curl } from './curl.ts';
import { javascript } from './javascript.ts';
import { python } from './python.ts';
import { requestOf, type SampleRequest } from './request.ts';
import { typescript } from './typescript.ts';

export type Language = {
  /** As a person calls it. */
  readonly label: string;
  /** As highlighters call it. */
  readonly lang: string;
  readonly write: (request: SampleRequest) => string;
};
export type Sample = { readonly lang: string; readonly label: string; readonly source: string };

export const LANGUAGES: readonly Language[] = [
  { label: 'curl', lang: 'bash', write: curl },
  { label: 'TypeScript', lang: 'typescript', write: typescript },
  { label: 'JavaScript', lang: 'javascript', write: javascript },
  { label: 'Python', lang: 'python', write: python },
];

export function samplesOf(operation: Operation): readonly Sample[] {
  const request = requestOf(operation);
  return LANGUAGES.map(({ label, lang, write }) => ({ lang, label, source: write(request) }));
}

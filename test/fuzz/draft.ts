// A generated request before it is sent. Keys and ids are filled in when it is sent.
import fc from 'fast-check';
import type { Operation } from '../support/contract/contract.ts';

/** Whose key the request has. "none": the draft's own headers decide. */
export type KeyKind = 'ours' | 'read-only' | 'other organization' | 'revoked' | 'none';
/** The row that the path's parameter names: the row created just before, or one that the caller cannot reach. */
export type Subject = 'own' | 'unknown';

export type Draft = {
  readonly operation: Operation;
  readonly method: string;
  /** The percent-encoded path. OWN_ID stands for the id of the row created just before. */
  readonly path: string;
  readonly query: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** `undefined` if the request has no body. */
  readonly body: string | Buffer | undefined;
  readonly key: KeyKind;
  /** The authentication scheme and the space before the key, such as "Bearer ". */
  readonly scheme: string;
  readonly subject: Subject;
  /** The flaws of the request. Empty if it is valid. */
  readonly flaws: readonly Flaw[];
};

/** The order of checks that the document defines. The first check that fails determines the response. */
export const STAGES = ['address', 'key', 'permission', 'input'] as const;

export type Flaw = {
  readonly stage: (typeof STAGES)[number];
  readonly status: number;
  /** The field that the 422 must name. */
  readonly field?: string | undefined;
};

export type Change = (draft: Draft) => Draft;

/** The maximum length of a URL, which the document states only in prose. */
export const MOST_URL_BYTES = 8 * 1024;

export const OWN_ID = '{OWN_ID}';

export const unchanged: Change = (draft) => draft;

export function withHeader(name: string, value: string | string[] | undefined): Change {
  return (draft) => ({ ...draft, headers: { ...draft.headers, [name]: value } });
}

export function flawedDraft(change: Change, flaw: Flaw): Change {
  return (draft) => ({ ...change(draft), flaws: [...draft.flaws, flaw] });
}

/**
 * Returns whether the text is a valid header value: Latin-1 without control characters, and without surrounding spaces, which
 * HTTP strips.
 */
export function isSendable(text: string): boolean {
  return /^([\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(text);
}

/** Generates percent-encodings of the text: of the reserved characters and sometimes of others, in upper and lower case. */
export function encodings(text: string, { isQuery }: { isQuery: boolean }): fc.Arbitrary<string> {
  const plain = encodeURIComponent(text);
  const whole = [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const forms = [plain, whole, whole.toUpperCase(), ...(isQuery ? [plain.replaceAll('%20', '+')] : [])];
  return fc.constantFrom(...forms);
}

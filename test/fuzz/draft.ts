// A generated request before it is sent. Its keys and ids are filled in when it is sent.
import fc from 'fast-check';
import type { Operation } from '../support/contract/contract.ts';

/** The owner of the key. "none": the draft's own headers decide. */
export type KeyKind = 'ours' | 'read-only' | 'other organization' | 'revoked' | 'none';
/** The target of the path parameter: the item created just before, or an item out of the caller's reach. */
export type Subject = 'own' | 'unknown';

export type Draft = {
  readonly operation: Operation;
  readonly method: string;
  /** Percent-encoded. OWN_ID stands for the id of the item created just before. */
  readonly path: string;
  readonly query: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** `undefined` if the request has no body. */
  readonly body: string | Buffer | undefined;
  readonly key: KeyKind;
  /** The scheme before the key, such as "Bearer ". */
  readonly scheme: string;
  readonly subject: Subject;
  /** Empty if the request is valid. */
  readonly flaws: readonly Flaw[];
};

/** The order of checks that the document defines: the first failing stage determines the response. */
export const STAGES = ['address', 'key', 'permission', 'input'] as const;

export type Flaw = {
  readonly stage: (typeof STAGES)[number];
  readonly status: number;
  /** The exact fields that the 422 must name. */
  readonly field?: string | undefined;
};

/** Derives a draft from another. */
export type Change = (draft: Draft) => Draft;

/** A bound that the document states only in prose. */
export const MOST_URL_BYTES = 8 * 1024;

export const OWN_ID = '{OWN_ID}';

export const unchanged: Change = (draft) => draft;

export function withHeader(name: string, value: string | string[] | undefined): Change {
  return (draft) => ({ ...draft, headers: { ...draft.headers, [name]: value } });
}

export function flawedDraft(change: Change, flaw: Flaw): Change {
  return (draft) => ({ ...change(draft), flaws: [...draft.flaws, flaw] });
}

/** Valid header values: Latin-1 without control characters and without surrounding spaces, which HTTP strips. */
export function isSendable(text: string): boolean {
  return /^([\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(text);
}

/** Percent-encodes the reserved characters and sometimes others, in either letter case. */
export function encodings(text: string, { isQuery }: { isQuery: boolean }): fc.Arbitrary<string> {
  const plain = encodeURIComponent(text);
  const whole = [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const forms = [plain, whole, whole.toUpperCase(), ...(isQuery ? [plain.replaceAll('%20', '+')] : [])];
  return fc.constantFrom(...forms);
}

// A request as it is made up, before it is sent: the keys and the ids in it are known only then.
import fc from 'fast-check';
import type { Operation } from '../support/contract.ts';

/** Whose key is sent; "none": whatever the headers say. */
export type KeyKind = 'ours' | 'read-only' | 'other organization' | 'revoked' | 'none';
/** What the path's parameter names: what was made just before, or nothing that the caller can reach. */
export type Subject = 'own' | 'unknown';

export type Draft = {
  readonly operation: Operation;
  readonly method: string;
  /** Encoded; OWN_ID stands for the id of what was made just before. */
  readonly path: string;
  readonly query: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined: none. */
  readonly body: string | Buffer | undefined;
  readonly key: KeyKind;
  /** How the key is announced: "Bearer ". */
  readonly scheme: string;
  readonly subject: Subject;
  /** What is wrong with it. */
  readonly flaws: readonly Flaw[];
};

/** The order in which a request is checked, as the document tells it: the first stage that fails gives the answer. */
export const STAGES = ['address', 'key', 'permission', 'input'] as const;

export type Flaw = {
  readonly stage: (typeof STAGES)[number];
  readonly status: number;
  /** What the 422 must name, and nothing else. */
  readonly field?: string | undefined;
};

/** Of a draft, another one. */
export type Change = (draft: Draft) => Draft;

/** The document's bounds, which it tells in words. */
export const MOST_URL_BYTES = 8 * 1024;
export const MOST_BODY_BYTES = 100 * 1024;

export const OWN_ID = '{OWN_ID}';

export const unchanged: Change = (draft) => draft;

export function withHeader(name: string, value: string | string[] | undefined): Change {
  return (draft) => ({ ...draft, headers: { ...draft.headers, [name]: value } });
}

export function flawed(change: Change, flaw: Flaw): Change {
  return (draft) => ({ ...change(draft), flaws: [...draft.flaws, flaw] });
}

/** What a header can carry: Latin-1 without controls, and no blank at its ends, which are no part of it. */
export function isSendable(text: string): boolean {
  return /^([\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(text);
}

/** Percent-encoded as far as it must be, or further, in either letter case. */
export function encodings(text: string, { isQuery }: { isQuery: boolean }): fc.Arbitrary<string> {
  const plain = encodeURIComponent(text);
  const whole = [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const forms = [plain, whole, whole.toUpperCase(), ...(isQuery ? [plain.replaceAll('%20', '+')] : [])];
  return fc.constantFrom(...forms);
}

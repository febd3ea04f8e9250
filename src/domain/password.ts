import { COMMON_WORDS } from './common-passwords.ts';

export const PASSWORD_CHARACTERS = 15;
/** Enough where a second factor stands beside it. */
export const PASSWORD_CHARACTERS_WITH_SECOND_FACTOR = 12;
export const PASSWORD_CHARACTERS_AT_MOST = 128;

/** Whose password it is to be: what everybody knows of somebody is no secret. */
export type PasswordOwner = {
  readonly name: string;
  readonly email: string;
  readonly organizationName: string;
  readonly hasSecondFactor: boolean;
};

/** Characters that are left once everything guessable is taken out, at least. */
const UNGUESSABLE_CHARACTERS = 6;

/**
 * One form for one text, however a keyboard composes it: NFC (RFC 8265 section 4.2). Nothing else is changed, no blank is
 * trimmed, and letter case counts.
 */
export function normalPassword(password: string): string {
  return password.normalize('NFC');
}

export function passwordCharacters(hasSecondFactor: boolean): number {
  return hasSecondFactor ? PASSWORD_CHARACTERS_WITH_SECOND_FACTOR : PASSWORD_CHARACTERS;
}

export function isLongEnough(password: string, { hasSecondFactor }: Pick<PasswordOwner, 'hasSecondFactor'>): boolean {
  return charactersOf(password) >= passwordCharacters(hasSecondFactor);
}

/** What is wrong with it, in words for people; null: nothing. */
export function passwordProblem(password: string, owner: PasswordOwner): string | null {
  const characters = charactersOf(password);
  const least = passwordCharacters(owner.hasSecondFactor);
  if (!isLongEnough(password, owner)) return `must have at least ${least} characters; this has ${characters}.`;
  if (characters > PASSWORD_CHARACTERS_AT_MOST) {
    return `must have at most ${PASSWORD_CHARACTERS_AT_MOST} characters; this has ${characters}.`;
  }
  const own = wordsOf(owner);
  const text = plain(password);
  const unguessable = withoutRuns(without(text, [...COMMON_WORDS, ...own]));
  if (unguessable.length >= UNGUESSABLE_CHARACTERS && new Set(unguessable).size > 3) return null;
  return own.some((word) => text.includes(word))
    ? 'is too easy to guess: it is made of your name, your e-mail or your organization. Take a few unrelated words.'
    : 'is too easy to guess: it is among the passwords that are tried first. Take a few unrelated words.';
}

function charactersOf(password: string): number {
  return [...normalPassword(password)].length;
}

/** As a guesser varies it: letter case, accents, "p@ssw0rd" and punctuation make no difference. */
function plain(text: string): string {
  const swapped = text.normalize('NFKD').toLowerCase().replace(/@/g, 'a').replace(/\$/g, 's').replace(/!/g, 'i');
  // Digits stand for letters only beside letters; a number stays one.
  const spelled = swapped.replace(/(?<=\p{L})[0134578](?=\p{L})/gu, (digit) => SPELLED[digit] ?? digit);
  return spelled.replace(/[^\p{L}\p{N}]/gu, '');
}

const SPELLED: Record<string, string> = { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b' };

function wordsOf({ name, email, organizationName }: PasswordOwner): string[] {
  const [local = '', host = ''] = email.split('@');
  const words = [name, local, ...host.split('.'), organizationName].flatMap((text) => [
    plain(text),
    ...text.split(/[^\p{L}\p{N}]+/u).map(plain),
  ]);
  return [...new Set(words)].filter((word) => word.length >= 3);
}

/** The longest first, so that no rest of a long word remains. */
function without(text: string, words: readonly string[]): string {
  let rest = text;
  for (const word of words.toSorted((a, b) => b.length - a.length)) rest = rest.replaceAll(plain(word), '');
  return rest;
}

/** Without what repeats, counts up or counts down: of "wxkwxk" three characters remain, of "aaaa", "4567" and "dcba" one. */
function withoutRuns(text: string): string {
  const once = text.replace(/(.{2,12}?)\1+/gu, '$1');
  const codes = [...once].map((character) => character.codePointAt(0) ?? 0);
  return [...once]
    .filter((_, i) => {
      const step = (codes[i] ?? 0) - (codes[i - 1] ?? Number.NaN);
      return !(Math.abs(step) <= 1);
    })
    .join('');
}

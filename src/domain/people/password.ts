export const PASSWORD_CHARACTERS = 15;
const PASSWORD_CHARACTERS_WITH_SECOND_FACTOR = 12;
export const MAX_PASSWORD_CHARACTERS = 128;

/** The user of the password. The words in these fields are easy to guess. */
export type PasswordOwner = {
  readonly name: string;
  readonly email: string;
  readonly organizationName: string;
  readonly hasSecondFactor: boolean;
};

/** The minimum number of characters that must remain after everything that is easy to guess is removed. */
const MIN_UNGUESSABLE_CHARACTERS = 6;

/**
 * Returns the password in NFC, because keyboards compose the same text differently (RFC 8265 section 4.2). Does not trim the
 * password or change its letter case.
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

/** Returns why the password is refused, as the end of a sentence about the password; `null` if the password is accepted. */
export function checkPasswordStrength(password: string, owner: PasswordOwner): string | null {
  const characters = charactersOf(password);
  const least = passwordCharacters(owner.hasSecondFactor);
  if (!isLongEnough(password, owner)) return `must be at least ${least} characters long; it has ${characters}.`;
  if (characters > MAX_PASSWORD_CHARACTERS) {
    return `must be at most ${MAX_PASSWORD_CHARACTERS} characters long; it has ${characters}.`;
  }
  const own = wordsOf(owner);
  const text = plain(password);
  const unguessable = withoutRuns(without(text, [...COMMON_WORDS, ...own]));
  if (unguessable.length >= MIN_UNGUESSABLE_CHARACTERS && new Set(unguessable).size > 3) return null;
  return own.some((word) => text.includes(word))
    ? 'is too easy to guess: it consists of your name, your e-mail or your organization. Use a few unrelated words.'
    : 'is too easy to guess: it is a common password. Use a few unrelated words.';
}

function charactersOf(password: string): number {
  return [...normalPassword(password)].length;
}

/**
 * Returns the text without the variations that guessing programs try: letter case, accents, punctuation and spellings such as
 * "p@ssw0rd".
 */
function plain(text: string): string {
  const swapped = text.normalize('NFKD').toLowerCase().replace(/@/g, 'a').replace(/\$/g, 's').replace(/!/g, 'i');
  // A digit is replaced by a letter only between letters, so that a number stays a number.
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

/** Removes the words from the text, the longest first, so that no part of a long word remains. */
function without(text: string, words: readonly string[]): string {
  let rest = text;
  for (const word of words.toSorted((a, b) => b.length - a.length)) rest = rest.replaceAll(plain(word), '');
  return rest;
}

/** Shortens repetitions and sequences: "wxkwxk" becomes three characters; "aaaa", "4567" and "dcba" become one. */
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

/**
 * Common words, neighbouring keys and sequences of digits, in lower case, which guessing programs try first. A password that
 * consists of them is weak whatever its length, so they are removed before its strength is measured.
 */
const COMMON_WORDS: readonly string[] = `
  passwords password passwort passphrase motdepasse contrasena passwd wachtwoord welcome letmein changeme default
  temporary temp secret access login signin administrator admin root user guest test testing master system manager
  charter organization company dashboard apikey example qwertyuiop qwertzuiop azertyuiop qwerty qwertz azerty asdfghjkl
  asdfgh asdf zxcvbnm zxcvbn yxcvbnm qazwsxedc qazwsx 1qaz2wsx3edc 1qaz2wsx 1q2w3e4r5t6y 1q2w3e4r5t 1q2w3e4r q1w2e3r4t5
  q1w2e3r4 zaq12wsx poiuytrewq lkjhgfdsa mnbvcxz iloveyou loveyou sunshine princess football baseball basketball
  superman batman dragon monkey shadow michael jennifer jordan ashley trustno1 starwars whatever freedom computer
  internet liverpool chelsea arsenal pokemon hello love please mustang spring summer autumn winter january february
  march april june july august september october november december monday tuesday wednesday thursday friday
  correcthorsebatterystaple correcthorse batterystaple thisismypassword opensesame abracadabra
`
  .trim()
  .split(/\s+/);

import { invalidField } from './errors.ts';

const MAX_CHARACTERS = 100;
/** Invisible in a list, or turning its text around: line breaks, NUL (which PostgreSQL refuses), bidirectional controls. */
const UNSEEN = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;
const KEY = /charter_(live|test)_[0-9A-Za-z]{20,}/;

/** The name as it is stored, in one form (NFC, without blanks around it), so that names that look equal are equal. */
export function parseKeyName(text: string): string {
  const name = text.normalize('NFC').trim();
  if (name === '' || [...name].length > MAX_CHARACTERS)
    throw invalidField('name', `must be 1 to ${MAX_CHARACTERS} characters, not all blank.`);
  if (UNSEEN.test(name) || !name.isWellFormed())
    throw invalidField('name', 'must hold no line breaks and no invisible control characters.');
  // Names are shown, logged and audited.
  if (KEY.test(name)) throw invalidField('name', 'must not hold an API key. Name what the key is for.');
  return name;
}

import { createHash } from 'node:crypto';
import { invalidField } from './errors.ts';

// The rules for all names that people enter and that others read in lists, mails, the audit log and terminals.

/** The maximum lengths of names in code points. The columns of the database have the same limits. */
export const MAX_CHARACTERS = { person: 200, organization: 200, integration: 200, key: 100 };

/**
 * Characters that are refused: line breaks, control characters (PostgreSQL refuses NUL, and a terminal interprets ESC), unpaired
 * surrogates and bidirectional controls.
 */
const HARMFUL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
/** Letters and symbols that look like a space: Hangul fillers and the empty Braille pattern. */
const BLANK = /[\u115f\u1160\u3164\uffa0\u2800]/gu;
/**
 * Invisible characters: zero-width spaces and joiners, soft hyphens. They are allowed, because emoji and Persian words need some
 * of them.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** A whole API key, or most of a key. A prefix, as lists show it, is allowed. */
const KEY = /charter_(live|test)_([a-z0-9]{1,12}_)?[0-9a-z]{20,}/i;

/** Returns the name in the form in which it is stored: NFC, trimmed. Throws an error for `field` if the name is not allowed. */
export function parseName(
  text: string,
  { kind, field = 'name' }: { kind: keyof typeof MAX_CHARACTERS; field?: string },
): string {
  const name = text.normalize('NFC').trim();
  const look = lookOf(name);
  if (HARMFUL.test(name))
    throw invalidField(
      field,
      'must not contain line breaks, control characters or marks that change the text direction. Type it instead of pasting it.',
    );
  if (KEY.test(look))
    throw invalidField(field, 'must not contain an API key, because other people can see the name. Use a description.');
  if (!VISIBLE.test(look)) throw invalidField(field, 'must not be blank.');
  const characters = [...name].length;
  if (characters > MAX_CHARACTERS[kind])
    throw invalidField(field, `must be at most ${MAX_CHARACTERS[kind]} characters long; it has ${characters}.`);
  return name;
}

/**
 * Returns a text of several lines in the form in which it is stored. The text may be empty. Throws an error for `field` if the
 * text is not allowed.
 */
export function parseText(text: string, { field, maxCharacters }: { field: string; maxCharacters: number }): string {
  const stored = text.replaceAll('\r\n', '\n').normalize('NFC').trim();
  if (HARMFUL.test(stored.replaceAll('\n', ' ')))
    throw invalidField(field, 'must not contain control characters or marks that change the text direction.');
  if (KEY.test(lookOf(stored)))
    throw invalidField(field, 'must not contain an API key, because other people can see it.');
  const characters = [...stored].length;
  if (characters > maxCharacters)
    throw invalidField(field, `must be at most ${maxCharacters} characters long; it has ${characters}.`);
  return stored;
}

/** Returns the text without invisible characters, and with every kind of space replaced by an ordinary one. */
function lookOf(name: string): string {
  return name.normalize('NFC').replace(BLANK, ' ').replace(INVISIBLE, '').replace(/\s+/gu, ' ').trim();
}

/**
 * Returns a search text in the form in which names are stored, cut to a length, and without NUL characters, which PostgreSQL
 * refuses.
 */
export function searchText(text: string, maxCharacters: number): string {
  return [...text.replaceAll('\0', '').normalize('NFC').trim()].slice(0, maxCharacters).join('');
}

/**
 * Returns the SHA-256 of the name's normal form. The hash is equal for names that differ only in letter case, spaces, invisible
 * characters or compatibility variants such as full-width letters (NFKC).
 */
export function nameKeyOf(name: string): Buffer<ArrayBuffer> {
  // The text is converted to upper case first, because that makes letters equal that lower case alone keeps apart, such as "ß"
  // and "SS".
  const form = lookOf(lookOf(name).normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC'));
  return createHash('sha256').update(form).digest();
}

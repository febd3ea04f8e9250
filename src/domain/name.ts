import { invalidField } from './errors.ts';

// The one rule for names that people give and others read: in lists, mails, the audit log and on terminals.

/** In characters (code points), as the columns count them. */
const MAX_CHARACTERS = { person: 200, organization: 200, key: 100 };

/**
 * Line breaks and controls (NUL, which PostgreSQL refuses, and ESC, which a terminal obeys), what turns the text behind it
 * around, and halves of characters.
 */
const HARMFUL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
/** Shown as a blank, though Unicode counts them among letters and symbols: the fillers of Hangul, and Braille without a dot. */
const BLANK = /[\u115f\u1160\u3164\uffa0\u2800]/gu;
/** Not shown: zero-width blanks and joiners, soft hyphens. Emoji and Persian words need some, so they may stand in a name. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
const SEEN = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** Most of a key; as much as lists show of one is none. */
const KEY = /charter_(live|test)_[0-9a-z]{20,}/i;

/** The name as it is stored: NFC, without blanks around it. A refusal names the field. */
export function parseName(
  text: string,
  { kind, field = 'name' }: { kind: keyof typeof MAX_CHARACTERS; field?: string },
): string {
  const name = text.normalize('NFC').trim();
  const look = lookOf(name);
  if (HARMFUL.test(name))
    throw invalidField(
      field,
      'must hold no line breaks, no control characters and no marks that turn the direction of text. Type it instead of pasting it.',
    );
  if (KEY.test(look))
    throw invalidField(field, 'must not hold an API key, which nobody else may see. Say in words who or what it is.');
  if (!SEEN.test(look)) throw invalidField(field, 'must hold at least one character that can be seen.');
  const characters = [...name].length;
  if (characters > MAX_CHARACTERS[kind])
    throw invalidField(field, `must be at most ${MAX_CHARACTERS[kind]} characters; these are ${characters}.`);
  return name;
}

/** Equal for names that a reader cannot tell apart by their blanks and unseen characters. Letter case tells them apart. */
export function lookOf(name: string): string {
  return name.normalize('NFC').replace(BLANK, ' ').replace(UNSEEN, '').replace(/\s+/gu, ' ').trim();
}

/** Returns a text as bytes. If a character is not in the encoding, its number is written instead, such as U+20AC. */
export type Encoder = (text: string) => Buffer;

/**
 * Returns the encoder of an encoding. Node has decoders for these encodings, but no encoders. `encoding` is a name that
 * `TextDecoder` accepts.
 */
export function encoderOf(encoding: string): Encoder {
  if (encoding === 'utf-8') return (text) => Buffer.from(text, 'utf8');
  if (encoding === 'utf-16le') return (text) => Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16be') return (text) => Buffer.from(text, 'utf16le').swap16();
  const bytesOf = bytesByCharacter(encoding);
  return (text) => {
    const bytes = Array.from(text, (character) => bytesOf.get(character) ?? astralBytesOf(character, encoding));
    // Decoders refuse a switch to ASCII that is immediately followed by another switch, so such a switch to ASCII is removed.
    return Buffer.from(bytes.join('').replaceAll(`${ASCII}\x1B`, '\x1B'), 'latin1');
  };
}

/**
 * Returns a decoder for a file that is read in pieces. The decoder keeps a byte order mark, and throws if bytes are invalid in
 * the encoding.
 */
export function decoderOf(encoding: string): { decode(bytes?: Uint8Array): string } {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return {
    decode(bytes) {
      const text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
      return encoding === 'windows-1252' ? text.replaceAll(/[\x80-\x9F]/g, withoutControls) : text;
    },
  };
}

/** The characters of the bytes 80 to 9F in windows-1252. Node 20 decodes these bytes as control characters instead. */
const UPPER_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ';

function withoutControls(character: string): string {
  return UPPER_1252[character.charCodeAt(0) - 0x80] ?? character;
}

const ASCII = '\x1B(B';

/**
 * Returns the bytes of each character. Decodes every sequence of bytes that may be a character, each on a line of its own, and
 * reads the characters from the lines. In the returned strings, the code of each character is the value of a byte.
 */
function bytesByCharacter(encoding: string): ReadonlyMap<string, string> {
  const sequences = [...sequencesOf(encoding)];
  const decoded = new TextDecoder(encoding).decode(Buffer.from(sequences.join('\n'), 'latin1'));
  const found = new Map([...'\r\n'].map((character) => [character, character]));
  for (const [at, line] of decoded.split('\n').entries()) {
    const character = encoding === 'windows-1252' ? line.replace(/[\x80-\x9F]/, withoutControls) : line;
    const isOne = character !== '\uFFFD' && [...character].length === 1;
    if (isOne && !found.has(character)) found.set(character, sequences[at] ?? '');
  }
  return found;
}

function* sequencesOf(encoding: string): Generator<string, void, void> {
  const byte = String.fromCharCode;
  for (let only = 0; only <= 0xff; only += 1) if (only !== 0x0a && only !== 0x0d) yield byte(only);
  if (encoding === 'iso-2022-jp') {
    for (let lead = 0x21; lead <= 0x7e; lead += 1) {
      yield `\x1B(J${byte(lead)}${ASCII}`;
      yield `\x1B(I${byte(lead)}${ASCII}`;
      for (let trail = 0x21; trail <= 0x7e; trail += 1) yield `\x1B$B${byte(lead, trail)}${ASCII}`;
    }
    return;
  }
  if (!/^(big5|euc-jp|euc-kr|gbk|gb18030|shift_jis)$/.test(encoding)) return;
  for (let lead = 0x81; lead <= 0xfe; lead += 1)
    for (let trail = 0x40; trail <= 0xfe; trail += 1) yield byte(lead, trail);
  if (encoding === 'euc-jp')
    for (let lead = 0xa1; lead <= 0xfe; lead += 1)
      for (let trail = 0xa1; trail <= 0xfe; trail += 1) yield byte(0x8f, lead, trail);
  if (encoding === 'gb18030') for (let pointer = 0; pointer < BASIC_POINTERS; pointer += 1) yield fourBytes(pointer);
}

const BASIC_POINTERS = 39_420;
const FIRST_ASTRAL_POINTER = 189_000;

/** Returns the four bytes of a pointer in gb18030 (Encoding Standard, section 10.2.2). */
function fourBytes(pointer: number): string {
  const [second, third] = [Math.floor(pointer / 1260) % 10, Math.floor(pointer / 10) % 126];
  return String.fromCharCode(0x81 + Math.floor(pointer / 12_600), 0x30 + second, 0x81 + third, 0x30 + (pointer % 10));
}

/**
 * Returns the bytes of a character that is not in the table of the encoding: four bytes in gb18030; in other encodings, the
 * character's number, such as "U+20AC".
 */
function astralBytesOf(character: string, encoding: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (encoding === 'gb18030' && code > 0xffff) return fourBytes(FIRST_ASTRAL_POINTER + code - 0x1_0000);
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

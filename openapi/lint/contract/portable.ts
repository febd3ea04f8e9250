import { isObject, type Json } from '../../../src/contract/document.ts';
import { type Context, type Place, type Rule, report } from '../rule.ts';
import { walkBody, walkSchemas } from '../walk.ts';

// Clients in every language compile the contract's patterns. A pattern must therefore be valid in ECMA-262 with and without the
// flag "u", in RE2 (Go), Rust's regex (pydantic), Python's re and PCRE2. JSON Schema Core, section 6.4, lists portable tokens.
// Some validators refuse an unknown format.

export const portable: Rule = {
  name: 'portable',
  visitor: {
    Schema(schema, context) {
      checkSchema(schema, context);
    },
    Response(response, context) {
      walkBody(response, context, refuseBlankRule(context));
    },
    WebhooksMap: {
      RequestBody(body, context) {
        walkBody(body, context, refuseBlankRule(context));
      },
    },
    Header(header, context) {
      walkSchemas(header['schema'], context.location.child('schema'), context, refuseBlankRule(context));
    },
  },
  mistakes: [
    {
      find: 'pattern: \\S',
      replace: 'pattern: \\w',
      says: 'This pattern contains "\\w", which is not the same in every language.',
    },
    {
      find: 'pattern: \\S',
      replace: "pattern: '^[^\\u0000]*$'",
      says: 'This pattern contains "[^", which is not the same in every language.',
    },
    {
      find: 'pattern: \\S',
      replace: "pattern: '^(?=A)'",
      says: 'This pattern contains "(?=", which is not the same in every language.',
    },
    {
      find: 'pattern: \\S',
      replace: "pattern: '^[ A-z--]*$'",
      says: 'This pattern contains "[ A-z--]", which is not the same in every language.',
    },
    {
      find: '          description: The shelf.\n',
      replace: '          description: The shelf.\n          pattern: \\S\n',
      says: 'This pattern of a response refuses blank texts, and languages do not agree on what is blank.',
    },
    {
      find: '            format: uuid\n',
      replace: '            format: identifier\n',
      says: 'The format "identifier" is not one that every validator knows.',
    },
  ],
};

/** The formats of JSON Schema that libraries support, and OpenAPI's formats for numbers. */
const FORMATS = ['uuid', 'uri', 'uri-reference', 'date-time', 'date', 'email', 'int32', 'int64', 'float', 'double'];

/**
 * The pattern for "not blank". Languages differ slightly in what `\S` matches. This is harmless in a request: the server may
 * refuse a value that the client accepts.
 */
const NOT_BLANK = '\\S';

const ESCAPE = String.raw`\\[\\^$.*+?()[\]{}|t]`;
/** Matches a printable ASCII character in a character class. "-" may only be the last character of the class. */
const MEMBER = `(?:${ESCAPE}|[ -,.-Z_-~])`;
const TOKEN = new RegExp(
  [
    ESCAPE,
    '[ !"#%&\',\\-/0-9:;<=>@A-Z_a-z~]',
    // In Rust, "&&" and "~~" are operators in a character class.
    `\\[(?![^\\]]*(?:&&|~~))(?:${MEMBER}(?:-${MEMBER})?)+-?\\]`,
    String.raw`\((?:\?:)?(?!\?)`,
    '[)|^$]',
    // RE2 allows at most 1,000 repetitions.
    String.raw`(?:[*+?]|\{(?:\d{1,3}|1000)(?:,(?:\d{1,3}|1000)?)?\})(?![*+{])`,
  ].join('|'),
  'y',
);

/** Returns what is wrong with a pattern; `null` if all languages compile it and give it the same meaning. */
export function problemOfPattern(pattern: string): string | null {
  if (pattern === NOT_BLANK) return null;
  try {
    for (const flags of ['', 'u']) new RegExp(pattern, flags);
  } catch (error) {
    const reason = String(error instanceof Error ? error.message : error).replace(/^.*: /, '');
    return `is not a regular expression: ${reason}.`;
  }
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < pattern.length) {
    const { lastIndex } = TOKEN;
    if (TOKEN.test(pattern)) continue;
    const [token] = /^(?:\\.|\[\^|\[[^\]]*\]|\(\?<?.|.)/su.exec(pattern.slice(lastIndex)) ?? [pattern];
    return `contains "${token}", which is not the same in every language.`;
  }
  return null;
}

function checkSchema({ pattern, format }: Json, context: Context): void {
  const problem = typeof pattern === 'string' ? problemOfPattern(pattern) : null;
  if (problem !== null)
    report(context, {
      at: context.location.child('pattern'),
      message: `This pattern ${problem}`,
      remedy:
        'Use printable ASCII characters, classes of allowed ones such as [0-9A-F], groups, "|", the quantifiers *, +, ? and {1,5}, and the anchors ^ and $. Beside these, "\\S" alone says that a text must not be blank.',
    });
  if (typeof format === 'string' && !FORMATS.includes(format))
    report(context, {
      at: context.location.child('format'),
      message: `The format "${format}" is not one that every validator knows.`,
      remedy: `Write a pattern, or one of these formats: ${FORMATS.join(', ')}.`,
    });
}

function refuseBlankRule(context: Context): (schema: Json, place: Place) => void {
  return (schema, place) => {
    if (!isObject(schema) || schema['pattern'] !== NOT_BLANK) return;
    report(context, {
      at: place.child('pattern'),
      message: 'This pattern of a response refuses blank texts, and languages do not agree on what is blank.',
      remedy: 'Remove it here: the server refuses the request that would store such a text.',
    });
  };
}

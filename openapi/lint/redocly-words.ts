import { basename } from 'node:path';

// What Redocly finds, in the words of whoever writes. A rule that is not here speaks for itself.

export type Finding = {
  readonly ruleId: string;
  readonly message: string;
  readonly suggest: readonly string[];
  /** "#/get/parameters/0"; "" where the file cannot be read. */
  readonly pointer: string;
  /** The lines of its file, down to the one on which it stands. */
  readonly lines: readonly string[];
};

export type Words = { readonly words: string; readonly remedy: string; readonly rule: string };

export function wordsFor(finding: Finding): Words {
  const { ruleId, message, suggest } = finding;
  if (ruleId.startsWith('charter/')) {
    const [words = message, remedy = ''] = message.split('\n');
    return { words, remedy, rule: ruleId.slice('charter/'.length) };
  }
  const unreadable = UNREADABLE.exec(message)?.[1] ?? (ruleId === 'yaml' ? message : undefined);
  if (unreadable !== undefined) return { ...yamlWords(unreadable, finding), rule: 'yaml' };
  const known = KNOWN.flatMap(({ rule, when, say }) => {
    const match = rule.test(ruleId) ? when.exec(message) : null;
    return match === null ? [] : [say(match, finding)];
  });
  const hint = suggest.length === 0 ? '' : `Did you mean ${suggest.map((each) => `"${each}"`).join(' or ')}?`;
  const [words = plain(message), remedy = `See https://redocly.com/docs/cli/rules/oas/${ruleId}.`] = known[0] ?? [];
  return { words, remedy: hint || remedy, rule: ruleId };
}

const UNREADABLE = /^Failed to parse: (.+?) in "/;

/** As Redocly writes code, so that every message quotes alike. */
function plain(message: string): string {
  return message.replace(/`([^`]*)`/g, '"$1"');
}

type Known = {
  readonly rule: RegExp;
  readonly when: RegExp;
  readonly say: (match: RegExpExecArray, finding: Finding) => [words: string, remedy: string];
};

const KNOWN: readonly Known[] = [
  {
    rule: /^struct$/,
    when: /^Property `(.+)` is not expected here/,
    say: ([, name]) => [
      `There is no "${name}" here in OpenAPI.`,
      'Look for a typing error, and whether the line is indented as far as it should be; or take it out.',
    ],
  },
  {
    rule: /^struct$/,
    when: /^The field `(.+)` must be present on this level/,
    say: ([, name]) => [`"${name}" is missing here.`, `Add "${name}:"; or look whether it is indented too far.`],
  },
  {
    rule: /^struct$/,
    when: /^Expected type `(\w+)`(?: \((\w+)\))? but got `(\w+)`/,
    say: ([, type = '', kind = type, got = '']) => [
      `Here stands ${KINDS[got] ?? got}, where ${KINDS[kind] ?? kind} belongs.`,
      'Look whether the lines below are indented as they should be, and whether a text needs quotes.',
    ],
  },
  {
    rule: /^struct$/,
    when: /^`(.+)` can be one of the following only: (.+)$/,
    say: ([, name, values]) => [`"${name}" does not take this value.`, `It takes: ${values}`],
  },
  {
    rule: /^no-unresolved-refs$/,
    when: /no such file or directory '(.+)'/,
    say: ([, path]) => [
      `There is no file "${basename(path ?? '')}" at this place.`,
      'Mend the path, which starts at the folder of this file; or write the missing file.',
    ],
  },
  {
    rule: /^no-unresolved-refs$/,
    when: /./,
    say: () => ['This reference leads nowhere.', 'Mend the path behind "$ref:", or write what it leads to.'],
  },
  {
    rule: /^operation-operationId-unique$/,
    when: /./,
    say: (_, { pointer }) => [
      `The operationId "${pointer.split('/').at(-1)}" is taken by another operation.`,
      'Give each operation an id of its own.',
    ],
  },
  {
    rule: /^(operation-operationId|operation-summary|operation-description)$/,
    when: /`(operationId|summary|description)`/,
    say: ([, name]) => [`This operation has no ${name}.`, `Add "${name}:".`],
  },
  {
    rule: /^parameter-description$/,
    when: /./,
    say: () => ['This parameter has no description.', 'Add "description:", one sentence that says what it does.'],
  },
  {
    rule: /^tag-description$/,
    when: /./,
    say: () => ['This tag has no description.', 'Add "description:", one sentence on what the operations have in common.'],
  },
  {
    rule: /^struct$/,
    when: /^Must contain at least one of the following fields: (.+?)\.?$/,
    say: ([, names = '']) => [`One of these is missing here: ${names}.`, 'Add it; or look whether it is indented too far.'],
  },
  {
    rule: /^operation-tag-defined$/,
    when: /be defined$/,
    say: () => ['This operation has no tag.', 'Add "tags:"; or look whether the line is indented too far.'],
  },
  {
    rule: /^operation-tag-defined$/,
    when: /./,
    say: () => ['This tag is not among those of openapi/openapi.yaml.', 'Mend its name, or add it there under "tags:".'],
  },
  {
    rule: /^operation-singular-tag$/,
    when: /./,
    say: () => ['This operation does not have exactly one tag.', 'Keep the one under which a reader looks for it.'],
  },
  {
    rule: /^scalar-property-missing-example$/,
    when: /./,
    say: () => ['This field has no example.', 'Add "examples:", a list of at least one value.'],
  },
  {
    rule: /^no-invalid-(schema|parameter|media-type)-examples$/,
    when: /conform to the schema: (.+?)\.?$/,
    say: ([, reason]) => [
      `This example is not what the contract allows: ${reasonOf(reason ?? '')}.`,
      'Mend the example; or, if it is right, the schema that it is an example of.',
    ],
  },
  {
    rule: /^no-invalid-(schema|parameter|media-type)-examples$/,
    when: /^Example validation errored: (.+?)\.?$/,
    say: ([, reason = '']) => [
      `The schema of this example cannot be used: ${reason}.`,
      'Mend the schema first. Then the example is looked at.',
    ],
  },
  {
    rule: /^response-contains-header$/,
    when: /"(.+)" header/,
    say: ([, name]) => [
      `This answer does not show the header ${name}, which every answer has.`,
      'Add it under "headers:", as the other answers do.',
    ],
  },
  {
    rule: /^(request|response)-mime-type$/,
    when: /Mime type "(.+)"/,
    say: ([, type]) => [`This API does not speak "${type}".`, 'Write "application/json:".'],
  },
  {
    rule: /^no-unused-components$/,
    when: /Component: "(.+)"/,
    say: ([, name]) => [`Nothing uses "${name}".`, 'Point to it with "$ref:", or delete it.'],
  },
  {
    rule: /^no-required-schema-properties-undefined$/,
    when: /'(.+)'/,
    say: ([, name]) => [
      `"${name}" is required, but there is no such field.`,
      'Mend the name under "required:", or add the field under "properties:".',
    ],
  },
  {
    rule: /^security-defined$/,
    when: /no `(.+)` security scheme/,
    say: ([, name]) => [`There is no key named "${name}".`, 'Write "apiKey".'],
  },
];

/** As Ajv gives it. */
function reasonOf(reason: string): string {
  return plain(reason)
    .replace(/must NOT have additional properties "(.+)"/, '"$1" is no field of it')
    .replace(/must have required property '(.+)'/, '"$1" is missing')
    .replace(/ property type must be (\w+)/, ' must be of the type $1');
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'a group of "name: value" lines',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'nothing',
};

function yamlWords(reason: string, { lines }: Finding): { words: string; remedy: string } {
  if (reason.includes('must be JSON object')) {
    return {
      words: 'This file does not begin with "name: value" lines.',
      remedy: 'Bring back what stood here; the contract begins with "openapi: 3.1.0".',
    };
  }
  if (reason.includes('tab characters')) {
    return { words: 'A tab stands where only spaces may.', remedy: 'Put two spaces in its place for each level.' };
  }
  if (reason.includes('duplicated mapping key')) {
    return { words: 'The name on this line stands here twice.', remedy: 'Keep one of the two.' };
  }
  // YAML reads on until the next mark, and stumbles far below.
  const open = lines.findLastIndex((line) => OPEN_QUOTE.test(line));
  if (open >= 0) {
    const where = open === lines.length - 1 ? 'on this line' : `on line ${open + 1}`;
    return { words: `A quotation mark is opened ${where} and not closed.`, remedy: 'Close it, with the same mark.' };
  }
  // What YAML takes for a second name on the line is most often a colon in a sentence.
  if (/^[^"'`]*: .*: /.test(lines.at(-1) ?? '')) {
    return { words: 'The text on this line holds a colon.', remedy: 'Put the whole text in quotes, or write it below ">-".' };
  }
  if (reason.includes('indentation') || reason.includes('mapping')) {
    return {
      words: 'This line is indented differently from those that it belongs to.',
      remedy: 'Indent it as far as its neighbours: two spaces for each level.',
    };
  }
  return {
    words: `This is not readable YAML: ${reason}.`,
    remedy: 'Compare the indentation, the quotes and the colons with a file that is read.',
  };
}

/** A text that begins with a mark and has no other one on its line. */
const OPEN_QUOTE = /^\s*(?:- )?(?:[^\s:]+: )?(?:"[^"]*|'[^']*)$/;

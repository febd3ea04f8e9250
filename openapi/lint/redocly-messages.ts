import { basename } from 'node:path';

// The messages and remedies for Redocly's findings. Rules without an entry here keep Redocly's own message.

type Finding = {
  readonly ruleId: string;
  readonly message: string;
  readonly suggest: readonly string[];
  /** The JSON Pointer of the finding, such as "#/get/parameters/0"; empty if the file cannot be parsed. */
  readonly pointer: string;
  /** The lines of the file up to and including the line of the finding. */
  readonly lines: readonly string[];
};

type Advice = { readonly message: string; readonly remedy: string; readonly rule: string };

export function adviceFor(finding: Finding): Advice {
  const { ruleId, message, suggest } = finding;
  if (ruleId.startsWith('charter/')) {
    const [text = message, remedy = ''] = message.split('\n');
    return { message: text, remedy, rule: ruleId.slice('charter/'.length) };
  }
  const unreadable = UNREADABLE.exec(message)?.[1] ?? (ruleId === 'yaml' ? message : undefined);
  if (unreadable !== undefined) return { ...yamlAdvice(unreadable, finding), rule: 'yaml' };
  const known = KNOWN.flatMap(({ rule, when, say }) => {
    const match = rule.test(ruleId) ? when.exec(message) : null;
    return match === null ? [] : [say(match, finding)];
  });
  const hint = suggest.length === 0 ? '' : `Did you mean ${suggest.map((each) => `"${each}"`).join(' or ')}?`;
  const [text = plain(message), remedy = `See https://redocly.com/docs/cli/rules/oas/${ruleId}.`] = known[0] ?? [];
  return { message: text, remedy: hint || remedy, rule: ruleId };
}

const UNREADABLE = /^Failed to parse: (.+?) in "/;

/** Replaces Redocly's backticks with quotation marks, which all other messages use. */
function plain(message: string): string {
  return message.replace(/`([^`]*)`/g, '"$1"');
}

type Known = {
  readonly rule: RegExp;
  readonly when: RegExp;
  readonly say: (match: RegExpExecArray, finding: Finding) => [message: string, remedy: string];
};

const KNOWN: readonly Known[] = [
  {
    rule: /^struct$/,
    when: /^Property `(.+)` is not expected here/,
    say: ([, name]) => [
      `OpenAPI has no "${name}" at this place.`,
      'Check the spelling and the indentation, or remove the line.',
    ],
  },
  {
    rule: /^struct$/,
    when: /^The field `(.+)` must be present on this level/,
    say: ([, name]) => [`"${name}" is missing here.`, `Add "${name}:", or check whether it is indented too far.`],
  },
  {
    rule: /^struct$/,
    when: /^Expected type `(\w+)`(?: \((\w+)\))? but got `(\w+)`/,
    say: ([, type = '', kind = type, got = '']) => [
      `This is ${KINDS[got] ?? got}, but must be ${KINDS[kind] ?? kind}.`,
      'Check the indentation of the lines below, and whether a text needs quotes.',
    ],
  },
  {
    rule: /^struct$/,
    when: /^`(.+)` can be one of the following only: (.+)$/,
    say: ([, name, values]) => [`"${name}" cannot have this value.`, `Choose one of: ${values}`],
  },
  {
    rule: /^no-unresolved-refs$/,
    when: /no such file or directory '(.+)'/,
    say: ([, path]) => [
      `The file "${basename(path ?? '')}" does not exist.`,
      'Correct the path, which is relative to this file, or add the missing file.',
    ],
  },
  {
    rule: /^no-unresolved-refs$/,
    when: /./,
    say: () => ['This reference has no target.', 'Correct the path after "$ref:", or add the target.'],
  },
  {
    rule: /^(operation-operationId|operation-summary|operation-description)$/,
    when: /`(operationId|summary|description)`/,
    say: ([, name]) => [`This operation has no ${name}.`, `Add "${name}:".`],
  },
  {
    rule: /^parameter-description$/,
    when: /./,
    say: () => ['This parameter has no description.', 'Add "description:": one sentence that says what it does.'],
  },
  {
    rule: /^tag-description$/,
    when: /./,
    say: () => [
      'This tag has no description.',
      'Add "description:": one sentence that says what its operations have in common.',
    ],
  },
  {
    rule: /^struct$/,
    when: /^Must contain at least one of the following fields: (.+?)\.?$/,
    say: ([, names = '']) => [
      `One of these is missing here: ${names}.`,
      'Add it, or check whether it is indented too far.',
    ],
  },
  {
    rule: /^operation-tag-defined$/,
    when: /be defined$/,
    say: () => ['This operation has no tag.', 'Add "tags:", or check whether the line is indented too far.'],
  },
  {
    rule: /^operation-tag-defined$/,
    when: /./,
    say: () => ['This tag is not listed in openapi/openapi.yaml.', 'Correct its name, or add it there under "tags:".'],
  },
  {
    rule: /^operation-singular-tag$/,
    when: /./,
    say: () => ['This operation does not have exactly one tag.', 'Keep the tag under which readers will look for it.'],
  },
  {
    rule: /^scalar-property-missing-example$/,
    when: /./,
    say: () => ['This field has no example.', 'Add "examples:" with at least one value.'],
  },
  {
    rule: /^no-invalid-(schema|parameter|media-type)-examples$/,
    when: /conform to the schema: (.+?)\.?$/,
    say: ([, reason]) => [
      `This example does not match its schema: ${reasonOf(reason ?? '')}.`,
      'Correct the example or, if the example is right, the schema.',
    ],
  },
  {
    rule: /^no-invalid-(schema|parameter|media-type)-examples$/,
    when: /^Example validation errored: (.+?)\.?$/,
    say: ([, reason = '']) => [
      `The schema of this example is not valid: ${reason}.`,
      'Correct the schema first; the example is checked after that.',
    ],
  },
  {
    rule: /^(request|response)-mime-type$/,
    when: /Mime type "(.+)"/,
    say: ([, type]) => [
      `This API does not use "${type}".`,
      'Write "application/json:". A body of PATCH can also have "application/merge-patch+json:".',
    ],
  },
  {
    rule: /^no-unused-components$/,
    when: /Component: "(.+)"/,
    say: ([, name]) => [`Nothing uses "${name}".`, 'Refer to it with "$ref:", or delete it.'],
  },
  {
    rule: /^no-required-schema-properties-undefined$/,
    when: /'(.+)'/,
    say: ([, name]) => [
      `"${name}" is required, but there is no such field.`,
      'Correct the name under "required:", or add the field under "properties:".',
    ],
  },
  {
    rule: /^security-defined$/,
    when: /no `(.+)` security scheme/,
    say: ([, name]) => [`The contract has no security scheme "${name}".`, 'Write "apiKey".'],
  },
];

/** Returns Ajv's reason in simpler words. */
function reasonOf(reason: string): string {
  return plain(reason)
    .replace(/must NOT have additional properties "(.+)"/, '"$1" is not one of its fields')
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

function yamlAdvice(reason: string, { lines }: Finding): { message: string; remedy: string } {
  if (reason.includes('must be JSON object')) {
    return {
      message: 'This file does not begin with "name: value" lines.',
      remedy: 'Restore its content. The contract begins with "openapi: 3.1.0".',
    };
  }
  if (reason.includes('tab characters')) {
    return { message: 'This line is indented with a tab.', remedy: 'Indent it with two spaces for each level.' };
  }
  if (reason.includes('duplicated mapping key')) {
    return { message: 'The name on this line is used twice.', remedy: 'Keep one of the two.' };
  }
  // If a quotation mark is not closed, the YAML parser reads up to the next quotation mark. It reports the mistake there, far
  // below the unclosed quotation mark.
  const open = lines.findLastIndex((line) => OPEN_QUOTE.test(line));
  if (open >= 0) {
    const where = open === lines.length - 1 ? 'on this line' : `on line ${open + 1}`;
    return { message: `The quotation mark ${where} is not closed.`, remedy: 'Close it with the same mark.' };
  }
  // If a line contains a second colon, the value is usually a sentence with a colon.
  if (/^[^"'`]*: .*: /.test(lines.at(-1) ?? '')) {
    return {
      message: 'The text on this line contains a colon.',
      remedy: 'Put the whole text in quotes, or write it below ">-".',
    };
  }
  if (reason.includes('indentation') || reason.includes('mapping')) {
    return {
      message: 'This line is not indented like its neighbours.',
      remedy: 'Indent it like them: two spaces for each level.',
    };
  }
  return {
    message: `This is not valid YAML: ${reason}.`,
    remedy: 'Compare the indentation, the quotes and the colons with those of another file.',
  };
}

/** Matches a line whose value begins with a quotation mark that is not closed on that line. */
const OPEN_QUOTE = /^\s*(?:- )?(?:[^\s:]+: )?(?:"[^"]*|'[^']*)$/;

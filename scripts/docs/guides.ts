// Reads the guides in openapi/guides, and the files with which writers configure the documentation.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import {
  type Examples,
  firstExample,
  type Json,
  type Operation,
  operationsOf,
  sufficientPermissionsOf,
  type Webhook,
  webhooksOf,
} from '../../src/contract/document.ts';
import { type Contract, conventionsOf } from './contract.ts';
import { type Heading, headingsOf, linksOf } from './markdown.ts';

export type Guide = {
  /** The path relative to the root of the checkout. */
  readonly file: string;
  /** The name of the page: the name of the file without ".md". */
  readonly slug: string;
  readonly title: string;
  /** The group in guides.yaml that contains the guide. */
  readonly group: string;
  /** The Markdown. Its title is replaced with an empty line, and its empty code blocks are filled in from the contract. */
  readonly text: string;
  readonly headings: readonly Heading[];
};

/** What readers type when a place of the documentation is the best answer. */
export type Questions = {
  /** The place as in the links of guides, such as "errors.md#at-a-glance" or "operation:getKey", or a name such as "external_id". */
  readonly place: string;
  /** The line of the place in questions.yaml. */
  readonly line: number;
  readonly asked: readonly string[];
};

/** Everything that is published, read from the hand-written files. */
export type Source = {
  readonly contract: Contract;
  /** The guides in reading order. The last guide is the conventions of the API, from the contract's description. */
  readonly guides: readonly Guide[];
  /** The images, by their path in the guides, such as "images/x.png". */
  readonly images: ReadonlyMap<string, Buffer>;
  /** The settings in branding.yaml that are not empty. */
  readonly branding: ReadonlyMap<string, string>;
  readonly questions: readonly Questions[];
};

/** The folder of the guides and of the files with which writers configure the documentation. */
export const GUIDES = 'openapi/guides';
const LIST = `${GUIDES}/guides.yaml`;
export const QUESTIONS = `${GUIDES}/questions.yaml`;
/** The names of pages that are not guides. */
const RESERVED = ['index', 'reference', 'all', 'plain', 'conventions', 'llms', 'images', 'assets'];

export async function readSource(root: string, contract: Contract): Promise<Source> {
  const problems: Problem[] = [];
  const listed = guidesIn(await readFile(join(root, LIST), 'utf8'));
  const read = await Promise.all(listed.map((each) => readGuide(root, each, contract, problems)));
  const guides = read.filter((guide) => guide !== null);
  const branding = await readPairs(root, 'branding.yaml');
  const questions = questionsIn(await readFile(join(root, QUESTIONS), 'utf8').catch(() => ''));
  problems.push(...questions.problems);
  const images = await readImages(root, guides, problems);
  const logo = branding.get('logo');
  if (logo !== undefined) images.set(logo, await readFile(join(root, GUIDES, logo)));
  if (problems.length > 0) throw errorOf(problems);
  const text = conventionsOf(contract);
  const conventions = {
    slug: 'conventions',
    title: 'Conventions',
    group: 'Reference',
    text,
    headings: headingsOf(text),
  };
  return {
    contract,
    guides: [
      // The blocks are filled in after all checks, because the checks report line numbers of the files.
      ...guides.map((guide) => {
        const text = fillFromContract(guide.text, contract.document);
        return { ...guide, text, headings: headingsOf(text) };
      }),
      { file: 'openapi/openapi.yaml', ...conventions },
    ],
    images,
    branding,
    questions: questions.found,
  };
}

async function readGuide(
  root: string,
  { name, file, line, group }: Listed,
  { info: { version } }: Contract,
  problems: Problem[],
): Promise<Guide | null> {
  const slug = name.slice(0, -'.md'.length);
  const whole = await readFile(join(root, file), 'utf8').catch(() => null);
  if (whole === null || RESERVED.includes(slug)) {
    const message = whole === null ? `There is no ${file}.` : `The address /docs/${slug} is taken.`;
    problems.push({ file: LIST, line, message: `${message} Write it under another name, or remove it from the list.` });
    return null;
  }
  const title = /^# +(.+?) *$/m.exec(whole.split('\n', 1)[0] ?? '')?.[1];
  if (title === undefined) {
    problems.push({ file, line: 1, message: 'A guide must begin with its title: "# Title".' });
    return null;
  }
  // In the READMEs of our packages, `<version>` stands for the version of the package, which is the version of the contract.
  const read = file.startsWith(GUIDES) ? whole : whole.replaceAll('<version>', version);
  const text = read.replace(/^.*/, '').replaceAll('\r\n', '\n');
  const headings = headingsOf(text);
  for (const { line: at } of headings.filter(({ level }) => level === 1))
    problems.push({ file, line: at, message: 'A guide has only one title. Begin this heading with "##".' });
  return { file, slug, title, group, text, headings };
}

async function readImages(root: string, guides: readonly Guide[], problems: Problem[]): Promise<Map<string, Buffer>> {
  const images = new Map<string, Buffer>();
  for (const { file, text } of guides) {
    for (const { target, line } of linksOf(text).filter(({ isImage }) => isImage)) {
      const isNamed = /^images\/[\w-]+\.(png|svg)$/.test(target);
      const bytes = isNamed ? await readFile(join(root, GUIDES, target)).catch(() => null) : null;
      if (bytes !== null) images.set(target, bytes);
      else {
        const message = `There is no picture "${target}". Add it to ${GUIDES}/images as .png or .svg.`;
        problems.push({ file, line, message });
      }
    }
  }
  return images;
}

/** Returns the values in the file's lines "name: value", by name. Leaves out lines without a value. */
async function readPairs(root: string, name: string): Promise<Map<string, string>> {
  const text = await readFile(join(root, GUIDES, name), 'utf8').catch(() => '');
  const pairs = text.matchAll(/^(?<key>[^#:\n][^:\n]*): +(?:"(?<quoted>.*)"|(?<plain>.*\S)) *$/gm);
  return new Map(
    [...pairs].map(({ groups }) => [groups?.['key'] ?? '', groups?.['quoted'] ?? groups?.['plain'] ?? '']),
  );
}

/** Returns the questions in the text of questions.yaml, in the order of the text, and the problems with the text. */
export function questionsIn(text: string): { found: Questions[]; problems: Problem[] } {
  const lines = new LineCounter();
  const { contents, errors } = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems = errors.map(({ message, pos: [at] }) => ({ line: lines.linePos(at).line, message }));
  if (contents !== null && !isMap(contents)) problems.push({ line: 1, message: 'The text is not a map.' });
  const found = (isMap(contents) ? contents.items : []).flatMap(({ key, value }) => {
    const place = isScalar(key) ? String(key.value) : '';
    const { line } = lines.linePos((isScalar(key) && key.range?.[0]) || 0);
    if (isSeq(value))
      return [{ place, line, asked: value.items.map((item) => String(isScalar(item) ? item.value : item)) }];
    problems.push({ line, message: `The questions for "${place}" are not a list.` });
    return [];
  });
  return { found, problems: problems.map((problem) => ({ file: QUESTIONS, ...problem })) };
}

/** A problem that stops the build. `npm run lint` finds more problems, and prints a remedy for each. */
export type Problem = { readonly file: string; readonly line: number; readonly message: string };

/** Returns an error with one line for each problem, such as "openapi/guides/errors.md:12  The problem." */
export function errorOf(problems: readonly Problem[]): Error {
  return new Error(problems.map(({ file, line, message }) => `${file}:${line}  ${message}`).join('\n'));
}

/** A guide that openapi/guides/guides.yaml lists. */
type Listed = {
  readonly name: string;
  /** The path relative to the root of the checkout. */
  readonly file: string;
  readonly line: number;
  readonly group: string;
};

/**
 * Returns the guides in the text of openapi/guides/guides.yaml, in reading order, each with its group. "- limits.md" is a file in
 * the same folder; "- charter-client.md: src/client/README.md" is a file elsewhere.
 */
export function guidesIn(list: string): Listed[] {
  let group = '';
  return list.split('\n').flatMap((text, i) => {
    group = /^(\w.*):$/.exec(text)?.[1] ?? group;
    const [, name, file = `${GUIDES}/${name}`] = /^- (\S+\.md)(?:: (\S+\.md))?$/.exec(text) ?? [];
    return name === undefined ? [] : [{ name, file, line: i + 1, group }];
  });
}

/** Matches an empty code block of a guide. Its label names the example or the webhook to show. */
const EMPTY = /^```(?:json example=(?<example>\w+)|text webhook=(?<webhook>[\w.]+))\n(?=```$)/gm;
/** The maximum number of characters on one line of an object or an array. */
const WIDTH = 100;

/** Matches an empty code block. Its label names the table that replaces the block. */
const TABLE = /^```table (permissions|webhooks|filters)(?:=(\w+))?\n```$/gm;
/** The parameters of every list that are not filters. */
const OF_EVERY_LIST = ['limit', 'cursor', 'sort'];

/** Returns the Markdown of a guide. The contract's examples and tables replace its empty code blocks. */
export function fillFromContract(text: string, document: Json): string {
  const { examples }: { readonly examples?: Examples } = Object(document['components']);
  const webhooks = webhooksOf(document);
  const filled = text.replace(EMPTY, (opening, ...[name, webhookName]) => {
    const example = examples?.[name];
    const webhook = webhooks.find((each) => each.name === webhookName);
    if (example !== undefined) return `${opening}${jsonText(example.value)}\n`;
    return webhook === undefined ? opening : `${opening}${headOf(webhook)}\n`;
  });
  return filled.replace(TABLE, (_, kind: keyof typeof TABLES, operationId: string) => {
    const rows = TABLES[kind](document, operationId).map((cells) => `| ${cells.join(' | ')} |`);
    return [rows[0], '|---|---|', ...rows.slice(1)].join('\n');
  });
}

/** The rows of each table. The first row is the titles of the columns. */
const TABLES = {
  permissions: (document: Json) => {
    const operations = operationsOf(document);
    const permissions = [...new Set(operations.flatMap(sufficientPermissionsOf))];
    const linksOf = (permission: string) =>
      operations.filter((each) => sufficientPermissionsOf(each).includes(permission)).map(linkTo);
    return [['permission', 'allows'], ...permissions.map((each) => [`\`${each}\``, linksOf(each).join(', ')])];
  },
  webhooks: (document: Json) => {
    const rows = webhooksOf(document).map(({ name, operationId, requestBody }) => {
      const { description } = requestBody?.content['application/json']?.schema ?? {};
      return [`[${name}](operation:${operationId})`, String(description)];
    });
    return [['type', 'meaning'], ...rows];
  },
  filters: (document: Json, operationId: string) => {
    const { parameters = [] } = operationsOf(document).find((each) => each.operationId === operationId) ?? {};
    const filters = parameters.filter((each) => each.in === 'query' && !OF_EVERY_LIST.includes(each.name));
    const sentenceOf = (description: string) => /^.*?\.(?=\s|$)/s.exec(description)?.[0].replaceAll('\n', ' ') ?? '';
    return [['parameter', 'effect'], ...filters.map((each) => [`\`${each.name}\``, sentenceOf(each.description)])];
  },
} as const;

const linkTo = ({ operationId }: Pick<Operation, 'operationId'>) => `[${operationId}](operation:${operationId})`;

/** Returns the request line and the headers of the request that delivers an event. */
function headOf({ parameters = [] }: Webhook): string {
  const headers = parameters.map(({ name, examples }) => `${name}: ${firstExample(examples)}`);
  return ['POST /webhooks HTTP/1.1', 'Content-Type: application/json', ...headers].join('\n');
}

/** Returns the value as JSON. An object or an array is on one line if it fits. */
export function jsonText(value: unknown, indent = ''): string {
  const line = inOneLine(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH) return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Array.isArray(value)
    ? value.map((item) => jsonText(item, inner))
    : Object.entries(value).map(([name, member]) => `"${name}": ${jsonText(member, inner)}`);
  return `${open}\n${members.map((member) => `${inner}${member}`).join(',\n')}\n${indent}${close}`;
}

/** Returns the value as JSON on one line, with spaces after colons and commas and inside braces. */
function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `"${name}": ${inOneLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { adviceFor } from '../../openapi/lint/redocly-messages.ts';
import { root, tryTool } from '../tool.ts';
import { inOrder, type Problem } from './problem.ts';

export const CONTRACT = 'openapi/openapi.yaml';
/** The configuration of Redocly. It includes our rules, and the plug-in that composes the contract from its sources. */
export const CONFIG = 'openapi/lint/redocly.yaml';

type Position = { readonly line: number; readonly col: number };
/** A problem as "redocly lint --format=json" prints it. */
type Found = {
  readonly ruleId: string;
  readonly message: string;
  readonly suggest: readonly string[];
  readonly location: readonly {
    readonly source: { readonly ref: string };
    readonly pointer?: string;
    readonly start: Position;
  }[];
};

/** Returns the problems that Redocly and our rules find in the contract. */
export async function lintContract(): Promise<Problem[]> {
  const [problems = []] = await lintDocuments([CONTRACT]);
  return problems;
}

/** Returns the problems of several documents (contracts or workflows), in the order of `files`. */
export async function lintDocuments(files: readonly string[]): Promise<Problem[][]> {
  const options = ['--config', CONFIG, '--format=json', '--max-problems=1000'];
  const { stdout, printed } = await tryTool('redocly', ['lint', ...files, ...options]);
  const reports = reportsIn(stdout);
  if (reports.length === files.length) return reports.map(({ problems }) => problemsOf(problems));
  // If Redocly cannot read the main file of a document, it prints an error instead of a report.
  const {
    message,
    file,
    line = '1',
    col = '1',
  } = (UNREADABLE.exec(printed) ?? NO_DOCUMENT.exec(printed))?.groups ?? {};
  if (message === undefined || file === undefined) throw new Error(`Redocly failed:\n${withoutRoot(printed)}`);
  const start = { line: Number(line), col: Number(col) };
  const source = { ref: relative(root, file) };
  return [[problemOf({ ruleId: 'yaml', message, suggest: [], location: [{ source, start }] })]];
}

/** Returns the problems in our own words, with paths relative to the root of the checkout. Each mistake occurs once. */
export function problemsOf(found: readonly Found[]): Problem[] {
  return withoutRepeats(inOrder(withoutEchoes(found).map(problemOf)));
}

const UNREADABLE = /^ {2}- (?<message>.+?) in "(?<file>.+)" \((?<line>\d+):(?<col>\d+)\)$/m;
const NO_DOCUMENT =
  /^Something went wrong when processing (?<file>.+):\s+- (?<message>Document must be JSON object.+)$/m;

/** Parses Redocly's output, which is a sequence of JSON objects. */
function reportsIn(text: string): { readonly problems: readonly Found[] }[] {
  return text === '' ? [] : JSON.parse(`[${text.replaceAll('}{\n', '},{\n')}]`);
}

/** Removes repeats: Redocly reports an unreadable file once for the file, and again for each reference to the file. */
function withoutEchoes(found: readonly Found[]): Found[] {
  const unreadable = found.filter(({ message }) => message.startsWith('Failed to parse: '));
  return found.filter(
    ({ message }) =>
      !unreadable.some((each) => message === each.message.replace('Failed to parse: ', "Can't resolve $ref: ")),
  );
}

/**
 * Merges several mistakes in one example into one problem. Removes repeats, which occur if a part of the contract is used in
 * several places.
 */
function withoutRepeats(problems: readonly Problem[]): Problem[] {
  const byPlace = Map.groupBy(problems, ({ file, line, column, rule }) => JSON.stringify([file, line, column, rule]));
  return [...byPlace.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    if (!first.rule.endsWith('-examples')) return [first, ...more.filter(({ message }) => message !== first.message)];
    return [{ ...first, message: [first, ...more].map(({ message }) => message).reduce(joinMessages) }];
  });
}

/** Joins two messages. If both begin with the same words and a colon, these words occur only once in the result. */
function joinMessages(one: string, other: string): string {
  const [start = '', reason = ''] = other.split(/: (.*)/s);
  return one.startsWith(`${start}: `) ? `${one.replace(/\.$/, '')}; ${reason}` : `${one} ${other}`;
}

function problemOf({ ruleId, message, suggest, location }: Found): Problem {
  const [place, ...others] = location;
  const { line, col } = place?.start ?? { line: 1, col: 1 };
  const file = place?.source.ref ?? CONTRACT;
  const pointer = place?.pointer ?? '';
  const lines = readFileSync(join(root, file), 'utf8').split('\n').slice(0, line);
  const advice = adviceFor({ ruleId, message: withoutRoot(message), suggest, pointer, lines });
  const elsewhere = others.map(({ source, start }) => ` The other place is ${source.ref}:${start.line}.`).join('');
  return { file, line, column: col, ...advice, message: `${advice.message}${elsewhere}` };
}

/** Makes absolute paths in the text relative to the root of the checkout. */
function withoutRoot(text: string): string {
  return text.replaceAll(`${root}/`, '');
}

/** The score that the contract must exceed. */
const FLOOR = 90;

/** Redocly's score of how easily programs can use the API. */
type Score = {
  /** The score, 0 to 100. */
  readonly points: number;
  /** The subscores below 100%, lowest first, such as "schema simplicity 60%, parameter simplicity 77%". */
  readonly lowered: string;
};

/** The score as "redocly score --format=json" prints it. The subscores are from 0 to 1. */
type Printed = { readonly agentReadiness: number; readonly subscores: Readonly<Record<string, number>> };

/** Returns the score of the contract; `null` if the contract cannot be read. */
export async function measureScore(): Promise<Score | null> {
  const { code, stdout } = await tryTool('redocly', ['score', CONTRACT, '--format=json']);
  return code === 0 ? scoreOf(JSON.parse(stdout)) : null;
}

export function scoreOf({ agentReadiness, subscores }: Printed): Score {
  const parts = Object.entries(subscores)
    .map(([name, share]) => ({ name: wordsOf(name), percent: Math.floor(share * 100) }))
    .filter(({ percent }) => percent < 100)
    .sort((a, b) => a.percent - b.percent);
  return { points: agentReadiness, lowered: parts.map(({ name, percent }) => `${name} ${percent}%`).join(', ') };
}

export function scoreText({ points, lowered }: Score): string {
  return `${points} of 100${lowered === '' ? '' : ` (${lowered})`}`;
}

export function problemOfScore(score: Score | null): Problem[] {
  if (score === null || score.points > FLOOR) return [];
  return [
    {
      file: CONTRACT,
      line: 1,
      column: 1,
      rule: 'score',
      message: `Redocly's score of the contract is ${scoreText(score)}, but must be above ${FLOOR}.`,
      remedy: `Run "npx redocly score ${CONTRACT} --operation-details" to see which operations lower it.`,
    },
  ];
}

/** Returns words such as "schema simplicity" for "schemaSimplicity". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillFromContract, guidesIn } from '../../../scripts/docs/guides.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'openapi/guides');
const document = JSON.parse(readFileSync(join(ROOT, 'generated/openapi.json'), 'utf8'));

export type Block = {
  readonly guide: string;
  /** The line where the block starts in the guide, from 1. */
  readonly line: number;
  readonly language: string;
  /** The options after the language of a code fence, such as "status=200". */
  readonly options: ReadonlyMap<string, string>;
  readonly code: string;
};

/** The guides, without the READMEs of the packages, because the tests of the packages run their examples. */
export const guideNames: readonly string[] = guidesIn(readFileSync(join(FOLDER, 'guides.yaml'), 'utf8'))
  .filter(({ name, file }) => file === `openapi/guides/${name}`)
  .map(({ name }) => name);

/** Returns the Markdown of a guide, filled in with the parts that the guide takes from the contract. */
export function readGuide(name: string): string {
  return fillFromContract(readFileSync(join(FOLDER, name), 'utf8'), document);
}

export function blocksOf(guide: string): Block[] {
  const text = readGuide(guide);
  return [...text.matchAll(/^```(\w*)([^\n]*)\n(.*?)^```$/gms)].map(
    ({ 1: language = '', 2: label = '', 3: code = '', index }) => {
      const options = label.trim() === '' ? [] : label.trim().split(/\s+/);
      return {
        guide,
        language,
        code,
        line: text.slice(0, index).split('\n').length,
        options: new Map(
          options.map((option): [string, string] => [option.split('=')[0] ?? '', option.split('=')[1] ?? '']),
        ),
      };
    },
  );
}

/** Returns the bold labels in the numbered list below a heading, in the order in which a reader clicks them. */
export function stepsOf(guide: string, heading: string): string[] {
  const [, after = ''] = readGuide(guide).split(`\n## ${heading}\n`);
  const section = after.split(/\n#+ /, 1)[0] ?? '';
  const steps = section.split('\n').filter((line) => /^(\d+\. | {3})/.test(line));
  return [...steps.join(' ').matchAll(/\*\*(.+?)\*\*/g)].map(([, words = '']) => words);
}

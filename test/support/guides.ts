import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guidesIn } from '../../scripts/guides.ts';

const FOLDER = join(import.meta.dirname, '../../openapi/guides');

export type Block = {
  readonly guide: string;
  /** 1 is the first line of the guide; for finding it. */
  readonly line: number;
  readonly language: string;
  /** "status=200" behind the language. */
  readonly options: ReadonlyMap<string, string>;
  readonly code: string;
};

export const guideNames: readonly string[] = guidesIn(readFileSync(join(FOLDER, 'guides.yaml'), 'utf8')).map(
  ({ name }) => name,
);

export function readGuide(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

/** Every block of code of a guide, in the order of reading. */
export function blocksOf(guide: string): Block[] {
  const text = readGuide(guide);
  return [...text.matchAll(/^```(\w*)([^\n]*)\n(.*?)^```$/gms)].map(
    ({ 1: language = '', 2: label = '', 3: code = '', index }) => {
      const options = label.trim() === '' ? [] : label.trim().split(/\s+/);
      return {
        ...{ guide, language, code, line: text.slice(0, index).split('\n').length },
        options: new Map(
          options.map((option): [string, string] => [option.split('=')[0] ?? '', option.split('=')[1] ?? '']),
        ),
      };
    },
  );
}

/** What is in bold in the numbered list below a heading: what a reader is told to look for, in this order. */
export function stepsOf(guide: string, heading: string): string[] {
  const [, after = ''] = readGuide(guide).split(`\n## ${heading}\n`);
  const section = after.split(/\n#+ /, 1)[0] ?? '';
  const steps = section.split('\n').filter((line) => /^(\d+\. | {3})/.test(line));
  return [...steps.join(' ').matchAll(/\*\*(.+?)\*\*/g)].map(([, words = '']) => words);
}

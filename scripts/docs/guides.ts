// Reads the guides in openapi/guides.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { guidesIn } from '../guides.ts';
import { type Heading, headingsOf, linksOf } from './markdown.ts';
import { errorOf, type Problem } from './problem.ts';

export type Guide = {
  /** The path from the root of the checkout. */
  readonly file: string;
  /** The file's name without ".md". */
  readonly slug: string;
  readonly title: string;
  /** The Markdown, with an empty line in place of the title. */
  readonly text: string;
  readonly headings: readonly Heading[];
};

export type Guides = {
  readonly all: readonly Guide[];
  /** The data URI of each image, by the path in the guides ("images/x.png"). */
  readonly images: ReadonlyMap<string, string>;
};

const FOLDER = 'openapi/guides';
const LIST = `${FOLDER}/guides.yaml`;

/** Every guide, in the order of guides.yaml. */
export async function readGuides(root: string): Promise<Guides> {
  const problems: Problem[] = [];
  const names = guidesIn(await readFile(join(root, LIST), 'utf8'));
  const all = (await Promise.all(names.map((name) => readGuide(root, name, problems)))).filter(
    (guide) => guide !== null,
  );
  const images = await readImages(root, all, problems);
  if (problems.length > 0) throw errorOf(problems);
  return { all, images };
}

type Listed = { readonly name: string; readonly line: number };

async function readGuide(root: string, { name, line }: Listed, problems: Problem[]): Promise<Guide | null> {
  const file = `${FOLDER}/${name}`;
  const whole = await readFile(join(root, file), 'utf8').catch(() => null);
  if (whole === null) {
    problems.push({ file: LIST, line, message: `There is no ${file}. Write it, or remove it from the list.` });
    return null;
  }
  const title = /^# +(.+?) *$/m.exec(whole.split('\n', 1)[0] ?? '')?.[1];
  if (title === undefined) {
    problems.push({ file, line: 1, message: 'A guide must begin with its title: "# Title".' });
    return null;
  }
  const text = whole.replace(/^.*/, '').replaceAll('\r\n', '\n');
  const headings = headingsOf(text);
  for (const { line: at } of headings.filter(({ level }) => level === 1))
    problems.push({ file, line: at, message: 'A guide has only one title. Begin this heading with "##".' });
  return { file, slug: name.slice(0, -'.md'.length), title, text, headings };
}

async function readImages(root: string, guides: readonly Guide[], problems: Problem[]): Promise<Map<string, string>> {
  const images = new Map<string, string>();
  for (const { file, text } of guides) {
    for (const { target, line } of linksOf(text).filter(({ isImage }) => isImage)) {
      const uri = await readImage(root, target);
      if (uri !== null) images.set(target, uri);
      else {
        const message = `There is no picture "${target}". Add it to ${FOLDER}/images as .png or .svg.`;
        problems.push({ file, line, message });
      }
    }
  }
  return images;
}

async function readImage(root: string, name: string): Promise<string | null> {
  const type = /^images\/[\w-]+\.(png|svg)$/.exec(name)?.[1];
  if (type === undefined) return null;
  const bytes = await readFile(join(root, FOLDER, name)).catch(() => null);
  return bytes && `data:image/${type === 'svg' ? 'svg+xml' : type};base64,${bytes.toString('base64')}`;
}

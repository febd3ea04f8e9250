import { posix } from 'node:path';
import type { Book } from '../book.ts';
import { nearest } from '../nearest.ts';
import type { PageRule } from '../page-rule.ts';

// No link is followed to another host: what stands there today says nothing of tomorrow, and a check works offline.

export const link: PageRule = {
  name: 'link',
  check({ file, tokens, report }, book) {
    for (const at of tokens.filter(({ type }) => DESTINATIONS.has(type))) {
      const fault = faultOf(at.text, file, book);
      if (fault !== null) report({ at, ...fault });
    }
  },
  mistakes: [
    { replace: '(#keys)', by: '(#kees)', says: 'There is no heading for "#kees" on this page.' },
    { replace: '(page.md)', by: '(paeg.md)', says: 'There is no file "paeg.md" here.' },
    { replace: '(page.md#more)', by: '(page.md#mroe)', says: 'There is no heading for "#mroe" in page.md.' },
    { replace: '(operation:getKey)', by: '(operation:getKeys)', says: 'There is no operation "getKeys".' },
    { replace: '(picture.png)', by: '(images/picture.png)', says: 'There is no file "images/picture.png" here.' },
    { replace: '(page.md)', by: '(../../README.md)', says: 'The published pages do not have "../../README.md".' },
    { replace: '(page.md)', by: '(/page.md)', says: 'This link does not start from the page that it stands on.' },
    { replace: '(https://example.org/)', by: '(https//example.org/)', says: 'There is no file "https//example.org/" here.' },
    { replace: '(https://example.org/)', by: '(https://)', says: 'This is no whole web address.' },
    { replace: '(https://example.org/)', by: '(file:///etc/hosts)', says: 'A published page cannot link to "file:".' },
  ],
};

const DESTINATIONS = new Set(['resourceDestinationString', 'definitionDestinationString', 'autolinkProtocol']);
const GUIDES = 'openapi/guides';

type Fault = { words: string; remedy: string };

/** What is wrong with a link from the page `file` to `target`; null: nothing. */
function faultOf(target: string, file: string, book: Book): Fault | null {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/i.exec(target) ?? [];
  switch (scheme?.toLowerCase()) {
    case undefined:
      return faultOfPath(target, file, book);
    case 'operation':
      return book.operationIds.has(rest)
        ? null
        : { words: `There is no operation "${rest}".`, remedy: instead(rest, book.operationIds) };
    case 'http':
    case 'https':
      return URL.canParse(target)
        ? null
        : { words: 'This is no whole web address.', remedy: 'Copy the address from the browser once more.' };
    case 'mailto':
      return null;
    default:
      return { words: `A published page cannot link to "${scheme}:".`, remedy: 'Link to a page or to a web address.' };
  }
}

function faultOfPath(target: string, file: string, book: Book): Fault | null {
  const [path = '', anchor] = target.split('#');
  if (path.startsWith('/')) {
    const remedy = 'Write it as seen from this file: "authentication.md", or "../guides/authentication.md".';
    return { words: 'This link does not start from the page that it stands on.', remedy };
  }
  const isOwn = path === '';
  const to = isOwn ? file : posix.join(posix.dirname(file), decodeURIComponent(path));
  if (isWithin(file, GUIDES) && !isWithin(to, GUIDES)) {
    const remedy = 'Link to a guide or an operation, or give the web address of the file.';
    return { words: `The published pages do not have "${path}".`, remedy };
  }
  if (!book.has(to)) {
    const remedy = instead(posix.basename(path), book.namesIn(posix.dirname(to)));
    return { words: `There is no file "${path}" here.`, remedy };
  }
  if (anchor === undefined || !to.endsWith('.md')) return null;
  const anchors = book.anchorsOf(to);
  const where = isOwn ? 'on this page' : `in ${path}`;
  const words = `There is no heading for "#${anchor}" ${where}.`;
  return anchors.has(anchor) ? null : { words, remedy: instead(anchor, anchors, '#') };
}

/** The sample is a guide as well. */
function isWithin(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`);
}

function instead(typed: string, candidates: Iterable<string>, prefix = ''): string {
  const names = [...candidates];
  const near = nearest(typed, names);
  if (near !== undefined) return `Did you mean "${prefix}${near}"?`;
  return names.length === 0 || names.length > 12
    ? 'Mend the link, or write what it leads to.'
    : `There are: ${names.map((name) => `${prefix}${name}`).join(', ')}.`;
}

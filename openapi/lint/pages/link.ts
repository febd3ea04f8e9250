import { posix } from 'node:path';
import type { LinkTargets } from '../link-targets.ts';
import { nearest } from '../nearest.ts';
import type { PageRule } from '../page-rule.ts';

// Links to other hosts are not requested, because the check must work offline, and pages of other hosts may change at any time.

export const link: PageRule = {
  name: 'link',
  check({ file, tokens, report }, targets) {
    for (const at of tokens.filter(({ type }) => DESTINATIONS.has(type))) {
      const fault = faultOf(at.text, file, targets);
      if (fault !== null) report({ at, ...fault });
    }
  },
  mistakes: [
    { find: '(#keys)', replace: '(#kees)', says: 'This page has no heading "#kees".' },
    { find: '(page.md)', replace: '(paeg.md)', says: 'The file "paeg.md" does not exist.' },
    { find: '(page.md)', replace: '(50%.md)', says: 'The file "50%.md" does not exist.' },
    { find: '(page.md#more)', replace: '(page.md#mroe)', says: 'page.md has no heading "#mroe".' },
    { find: '(operation:getKey)', replace: '(operation:getKeys)', says: 'The contract has no operation "getKeys".' },
    { find: '(picture.png)', replace: '(images/picture.png)', says: 'The file "images/picture.png" does not exist.' },
    { find: '(page.md)', replace: '(../../README.md)', says: '"../../README.md" is not published.' },
    { find: '(page.md)', replace: '(/page.md)', says: 'This link begins with "/".' },
    {
      find: '(https://example.org/)',
      replace: '(https//example.org/)',
      says: 'The file "https//example.org/" does not exist.',
    },
    { find: '(https://example.org/)', replace: '(https://)', says: 'This web address is not valid.' },
    {
      find: '(https://example.org/)',
      replace: '(file:///etc/hosts)',
      says: 'A published page cannot link to "file:".',
    },
  ],
};

const DESTINATIONS = new Set(['resourceDestinationString', 'definitionDestinationString', 'autolinkProtocol']);
const GUIDES = 'openapi/guides';

type Advice = { readonly message: string; readonly remedy: string };

/** Returns what is wrong with a link from the page `file` to `target`; `null` if the link is right. */
function faultOf(target: string, file: string, targets: LinkTargets): Advice | null {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/i.exec(target) ?? [];
  switch (scheme?.toLowerCase()) {
    case undefined:
      return faultOfPath(target, file, targets);
    case 'operation': {
      const ids = new Set([...targets.operationIds, ...targets.webhookIds]);
      return ids.has(rest)
        ? null
        : { message: `The contract has no operation "${rest}".`, remedy: suggestion(rest, ids) };
    }
    case 'http':
    case 'https':
      return URL.canParse(target)
        ? null
        : { message: 'This web address is not valid.', remedy: 'Copy it from the browser again.' };
    case 'mailto':
      return null;
    default:
      return {
        message: `A published page cannot link to "${scheme}:".`,
        remedy: 'Link to a page or to a web address.',
      };
  }
}

function faultOfPath(target: string, file: string, targets: LinkTargets): Advice | null {
  const [path = '', anchor] = target.split('#');
  if (path.startsWith('/')) {
    const remedy = 'Give the path relative to this file: "authentication.md" or "../guides/authentication.md".';
    return { message: 'This link begins with "/".', remedy };
  }
  const isOwn = path === '';
  const to = isOwn ? file : posix.join(posix.dirname(file), decode(path));
  if (isWithin(file, GUIDES) && !isWithin(to, GUIDES) && !targets.guidesElsewhere.includes(to)) {
    const remedy = 'Link to a guide, to an operation, or to the web address of the file.';
    return { message: `"${path}" is not published.`, remedy };
  }
  if (!targets.has(to)) {
    const remedy = suggestion(posix.basename(path), targets.namesIn(posix.dirname(to)));
    return { message: `The file "${path}" does not exist.`, remedy };
  }
  if (anchor === undefined || !to.endsWith('.md')) return null;
  const anchors = targets.anchorsOf(to);
  const message = `${isOwn ? 'This page' : path} has no heading "#${anchor}".`;
  return anchors.has(anchor) ? null : { message, remedy: suggestion(anchor, anchors, '#') };
}

/** Decodes a path. Returns a path with invalid percent-encoding unchanged, because no file has such a name. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function isWithin(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`);
}

function suggestion(typed: string, candidates: Iterable<string>, prefix = ''): string {
  const names = [...candidates];
  const near = nearest(typed, names);
  if (near !== undefined) return `Did you mean "${prefix}${near}"?`;
  return names.length === 0 || names.length > 12
    ? 'Correct the link, or add its target.'
    : `Choose one of: ${names.map((name) => `${prefix}${name}`).join(', ')}.`;
}

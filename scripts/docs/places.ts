import { posix } from 'node:path';
import type { Operation, Webhook } from '../../src/contract/document.ts';
import { errorOf, type Guide, type Problem, type Source } from './guides.ts';
import { withTargets } from './markdown.ts';

/** The target of a link in a guide. */
type Target =
  | { readonly kind: 'guide'; readonly slug: string; readonly anchor: string | null }
  | { readonly kind: 'operation'; readonly operation: Operation | Webhook }
  | { readonly kind: 'file'; readonly name: string };

/** Returns the URL of a target in one format of the documentation. */
export type Places = (target: Target) => string;

/** Returns the URL for a link from one page of the site to another page in the same folder. */
export const ON_PAGES: Places = (target) => {
  if (target.kind === 'operation') return `${operationName(target.operation)}.html`;
  return target.kind === 'file'
    ? target.name
    : `${target.slug}.html${target.anchor === null ? '' : `#${target.anchor}`}`;
};

/** Returns the URL for a link within the page that contains everything. */
export const ON_ONE_PAGE: Places = (target) => {
  if (target.kind === 'operation') return `#${operationPlace(target.operation)}`;
  return target.kind === 'file' ? target.name : `#${guidePlace(target.slug, target.anchor)}`;
};

/** Returns the URL for a link from one Markdown file to another. */
export const IN_MARKDOWN: Places = (target) => {
  if (target.kind === 'operation') return `${operationName(target.operation)}.md`;
  return target.kind === 'file' ? target.name : `${target.slug}.md${target.anchor === null ? '' : `#${target.anchor}`}`;
};

export function guidePlace(slug: string, anchor: string | null = null): string {
  return anchor === null ? `/${slug}` : `/${slug}/${anchor}`;
}

export function tagPlace(name: string): string {
  return `/${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
}

/** Returns the place of an operation or a webhook on the page. It is the same as in Redoc. */
export function operationPlace({ tags: [tag = ''], operationId }: Pick<Operation, 'tags' | 'operationId'>): string {
  return `${tagPlace(tag)}/${operationId.toLowerCase()}`;
}

/** Returns the name of an operation's or a webhook's page, which is also that of the Markdown file. */
export function operationName({ operationId }: Pick<Operation, 'operationId'>): string {
  return `reference/${operationId}`;
}

export function schemaPlace(name: string): string {
  return `/schemas/${name}`;
}

/** Returns the Markdown of the guide. The targets of its links are replaced with the URLs from `places`. */
export function withLinks({ file, text }: Guide, source: Source, places: Places): string {
  const problems: Problem[] = [];
  const written = withTargets(text, ({ target, line, isImage }) => {
    if (/^(https?:\/\/|mailto:)/.test(target)) return target;
    const found = isImage ? ({ kind: 'file', name: target } as const) : targetOf(target, file, source);
    if (found !== undefined) return places(found);
    const message = `The link to "${target}" has no target. Link to a guide (errors.md#anchor), an operation (operation:getKey) or a web address (https://...).`;
    problems.push({ file, line, message });
    return target;
  });
  if (problems.length > 0) throw errorOf(problems);
  return written;
}

/** Returns the target of a link in the file `from`; `undefined` if the target does not exist. */
function targetOf(target: string, from: string, { contract, guides }: Source): Target | undefined {
  if (target.startsWith('operation:')) {
    const all = [...contract.operations, ...contract.webhooks];
    const operation = all.find(({ operationId }) => target === `operation:${operationId}`);
    return operation && { kind: 'operation', operation };
  }
  const [path = '', anchor = null] = target.split('#');
  const file = path === '' ? from : posix.join(posix.dirname(from), path);
  const guide = guides.find((each) => each.file === file || `${each.slug}.md` === path);
  if (guide === undefined) return undefined;
  if (anchor !== null && !guide.headings.some((each) => each.anchor === anchor)) return undefined;
  return { kind: 'guide', slug: guide.slug, anchor };
}

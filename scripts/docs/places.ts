import type { Operation } from '../../src/contract/document.ts';
import type { Contract } from './contract.ts';
import type { Guide, Guides } from './guides.ts';
import { type Heading, withHeadings, withTargets } from './markdown.ts';
import { errorOf, type Problem } from './problem.ts';

/** Both pages have the same anchors, so that a link to one works on the other. */
export function guidePlace(slug: string, anchor: string | null = null): string {
  return anchor === null ? `/${slug}` : `/${slug}/${anchor}`;
}

export function tagPlace(name: string): string {
  return `/${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
}

/** Of an operation or a webhook; the same as Redoc's. */
export function operationPlace({ tags: [tag = ''], operationId }: Pick<Operation, 'tags' | 'operationId'>): string {
  return `${tagPlace(tag)}/${operationId.toLowerCase()}`;
}

/** The guide's Markdown for a page of the documentation, with its links resolved to places on that page. */
export function placed(
  { file, slug, text }: Guide,
  { contract, guides, heading }: { contract: Contract; guides: Guides; heading: (heading: Heading) => string },
): string {
  const problems: Problem[] = [];
  const linked = withTargets(text, ({ target, line, isImage }) => {
    const address = isImage ? guides.images.get(target) : addressOf(target, slug, { contract, guides });
    if (address !== undefined) return address;
    const message = `The link to "${target}" has no target. Link to a guide (errors.md#anchor), an operation (operation:getKey) or a web address (https://...).`;
    problems.push({ file, line, message });
    return target;
  });
  if (problems.length > 0) throw errorOf(problems);
  return withHeadings(linked, heading).trim();
}

type Known = { readonly contract: Contract; readonly guides: Guides };

function addressOf(target: string, here: string, { contract, guides }: Known): string | undefined {
  if (/^(https?:\/\/|mailto:)/.test(target)) return target;
  if (target.startsWith('operation:')) {
    const all = [...contract.operations, ...contract.webhooks];
    const operation = all.find(({ operationId }) => target === `operation:${operationId}`);
    return operation && `#${operationPlace(operation)}`;
  }
  const [whole, slug = here, anchor = null] = /^(?:([a-z0-9-]+)\.md)?(?:#(.+))?$/.exec(target) ?? [];
  const guide = guides.all.find((each) => each.slug === slug);
  if (whole === undefined || guide === undefined) return undefined;
  if (anchor !== null && !guide.headings.some((each) => each.anchor === anchor)) return undefined;
  return `#${guidePlace(slug, anchor)}`;
}

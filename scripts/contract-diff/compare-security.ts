// Compares the security requirements of an operation.
import type { Comparison, Pair } from './comparison.ts';
import { canonical, listOf, namesOf, objectOf } from './json.ts';

/** One of the alternatives: the schemes that are required together, and their permissions. */
type Way = { readonly schemes: string; readonly permissions: string };

export function compareSecurity({ report }: Comparison, { spot, direction, before, after }: Pair<unknown>): void {
  const [olds, news] = [waysOf(before), waysOf(after)];
  const [wasOpen, isOpen] = [isOpenTo(olds), isOpenTo(news)];
  if (wasOpen !== isOpen) {
    report(isOpen ? 'security removed' : 'security added', spot, direction);
    return;
  }

  const removed = olds.filter((way) => !has(news, way));
  const added = news.filter((way) => !has(olds, way));
  const changed = removed.flatMap((way) => {
    const successor = added.find(({ schemes }) => schemes === way.schemes);
    return successor === undefined ? [] : [{ way, successor }];
  });
  for (const { way, successor } of changed)
    report('permission changed', spot, direction, { before: way.permissions, after: successor.permissions });
  for (const way of removed.filter((one) => changed.every((pair) => pair.way !== one)))
    report('security way removed', spot, direction, { name: way.schemes });
  for (const way of added.filter((one) => changed.every((pair) => pair.successor !== one)))
    report('security way added', spot, direction, { name: way.schemes });
}

/** The requirements in a list are alternatives (OpenAPI 3.1 section 4.8.30); an empty list requires nothing. */
function waysOf(security: unknown): readonly Way[] {
  const requirements = listOf(security).map(objectOf);
  return (requirements.length === 0 ? [{}] : requirements).map((requirement) => {
    const schemes = namesOf(requirement);
    const permissions = schemes.flatMap((scheme) => listOf(requirement[scheme]).map(String).sort());
    return { schemes: schemes.join(' and '), permissions: permissions.join(' and ') || 'no permission' };
  });
}

function isOpenTo(ways: readonly Way[]): boolean {
  return ways.some(({ schemes }) => schemes === '');
}

function has(ways: readonly Way[], way: Way): boolean {
  return ways.some((other) => canonical(other) === canonical(way));
}

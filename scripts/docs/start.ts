import { type Contract, originOf } from './contract.ts';
import type { Guides } from './guides.ts';
import { guidePlace } from './places.ts';

/** What a reader needs first, in Markdown: a key, the first call and the guides. A server shows its own address in it. */
export function startOf(contract: Contract, { all }: Guides): string {
  const origin = originOf(contract.document);
  const linkTo = (slug: string, title: string) => `[${title}](#${guidePlace(slug)})`;
  return `**1. Get a key.** Sign in to the [dashboard](${origin}/) and create an API key under My profile, API keys. ${linkTo('issuing-a-key', 'Issuing a key')} shows every step.

**2. Make the first call.** It works with every key, and returns what the key may do:

\`\`\`sh
curl -H "Authorization: Bearer <API_KEY>" \\
  "${origin}/api/key"
\`\`\`

**3. Go on.** ${linkTo('getting-started', 'Getting started')} lists and creates parent programs. All guides: ${all.map(({ slug, title }) => linkTo(slug, title)).join(' · ')}`;
}

import { type Contract, originOf } from './contract.ts';
import type { Guides } from './guides.ts';
import { guidePlace } from './places.ts';

const [ISSUING, STARTED] = ['issuing-a-key', 'getting-started'];

/** What a reader needs first, in Markdown: a key, the first call and the guides. A server shows its own address in it. */
export function startOf(contract: Contract, { all }: Guides): string {
  const origin = originOf(contract.document);
  const linkTo = (slug: string, title: string) => `[${title}](#${guidePlace(slug)})`;
  const others = all.filter(({ slug }) => slug !== ISSUING && slug !== STARTED);
  return `**1. Get a key.** Sign in to the [dashboard](${origin}/) and create an API key under My profile, API keys. ${linkTo(ISSUING, 'Issuing a key')} shows every step.

**2. Make the first call.** It works with every key, and returns what the key may do:

\`\`\`sh
curl -H "Authorization: Bearer <API_KEY>" \\
  "${origin}/api/key"
\`\`\`

**3. Go on.** ${linkTo(STARTED, 'Getting started')} lists and creates parent programs. The other guides: ${others.map(({ slug, title }) => linkTo(slug, title)).join(' · ')}`;
}

import type { Role } from '../../domain/people/role.ts';
import type { Html } from '../../html/html.ts';
import { INTEGRATIONS_URL, integrationKeysUrl, integrationUrl } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { head } from '../markup/parts.ts';
import { ROLE_WORDS } from '../markup/words.ts';

type HeadProps = {
  readonly integration: { readonly id: string; readonly name: string; readonly role: Role };
  readonly current: 'details' | 'api-keys';
};

export function integrationIdOf({ params }: SignedInContext): string {
  return params['integrationId'] ?? '';
}

export function integrationHead({ integration, current }: HeadProps): Html {
  const { id, name, role } = integration;
  const url = integrationUrl(id);
  return head({
    title: name,
    up: { name: 'Integrations', href: INTEGRATIONS_URL },
    lead: `Integration · ${ROLE_WORDS[role].name}`,
    tabs: {
      label: `Pages of ${name}`,
      tabs: [
        { name: 'Details', href: url, isCurrent: current === 'details' },
        { name: 'API keys', href: integrationKeysUrl(id), isCurrent: current === 'api-keys' },
      ],
    },
  });
}

import { ForbiddenError } from '../../domain/errors.ts';
import { getKeyAccess, type KeyAccess, type KeyRefusal } from '../../service/key-access.ts';
import type { KeyDeed } from '../../service/key-authority.ts';
import { listAdministrators } from '../../service/organization.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';
import type { Html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import { contacts } from './list.ts';
import { toKeys } from './outcomes.ts';
import type { KeyPlace } from './place.ts';

type TakingDeed = Exclude<KeyDeed, 'revoke'>;

/** Why the visitor may not do this with a key here, and who can help: on the list as on every page. Null: the visitor may. */
export async function whyNoKey(context: SignedInContext, access: KeyAccess, deed: TakingDeed): Promise<Html | null> {
  const { actor, dashboard } = context;
  const { holder, refusal } = access;
  if (refusal === null) return null;
  const administrators = refusal === 'role' ? await listAdministrators(dashboard.db, actor.scope) : [];
  return contacts(reasonOf(refusal, { holder, isOwn: holder.id === actor.userId, deed }), administrators);
}

type Wanted = Pick<KeyAccess, 'holder'> & { isOwn: boolean; deed: TakingDeed };

function reasonOf(refusal: KeyRefusal, { holder, isOwn, deed }: Wanted): string {
  const nothing = 'no API key can be created, rotated or renamed';
  switch (refusal) {
    case 'deactivated':
      return `${holder.name} is deactivated: ${nothing} until the user is reactivated.`;
    case 'suspended':
      return `While the organization is suspended, ${nothing}.`;
    case 'role': {
      if (isOwn) return `You may not ${deed} API keys. Contact an administrator or support.`;
      const whose = `${deed === 'create' ? 'for' : 'of'} an ${holder.role}`;
      return `You may not ${deed} API keys ${whose}, because a key has its user’s power. Contact an administrator.`;
    }
  }
}

/** The page in place of the form that may not be sent; null: it may. */
export async function refusedPage(
  context: SignedInContext,
  place: KeyPlace,
  { access, deed }: { access: KeyAccess; deed: TakingDeed },
): Promise<View | null> {
  const message = await whyNoKey(context, access, deed);
  if (message === null || access.refusal === null) return null;
  const { status, title } = HEADS[access.refusal];
  const main = errorPage({ status, title, message, link: toKeys(place.base(context)) });
  return page(context, { status, title, main });
}

const HEADS: Record<KeyRefusal, { status: number; title: string }> = {
  deactivated: { status: 409, title: 'This user is deactivated' },
  suspended: { status: 403, title: 'The organization is suspended' },
  role: { status: 403, title: 'You may not do this' },
};

/** Does the work; where the service refuses it, the page says why as the list does. */
export async function orRefused(
  context: SignedInContext,
  place: KeyPlace,
  deed: TakingDeed,
  work: () => Promise<View>,
): Promise<View> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForbiddenError)) throw error;
    const access = await getKeyAccess(context.dashboard.db, context.actor, place.holderId(context));
    const refused = await refusedPage(context, place, { access, deed });
    if (refused === null) throw error;
    return refused;
  }
}

import { invalidField } from '../../domain/errors.ts';
import { isPermission } from '../../domain/role.ts';
import { issueKey } from '../../service/issue-key.ts';
import { getKeyAccess } from '../../service/key-access.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { newOnceId, once } from '../http/send-once.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { createForm, type Typed, untyped } from './create-form.ts';
import { reveal, toKeys } from './outcomes.ts';
import type { KeyPlace } from './place.ts';
import { orRefused, refusedPage } from './refusal.ts';

export async function showCreate(context: SignedInContext, place: KeyPlace): Promise<View> {
  return createPage(context, place, { problem: null });
}

export async function create(
  context: SignedInContext,
  place: KeyPlace,
  form: Form<'name' | 'expiry' | 'once' | 'permissions'>,
): Promise<View> {
  const typed = { name: form.text('name'), permissions: form.all('permissions'), expiry: form.text('expiry') };
  const userId = place.holderId(context);
  const { db, environment } = context.dashboard;
  const act = async () => {
    const permissions = typed.permissions.filter(isPermission);
    if (permissions.length < typed.permissions.length)
      throw invalidField('permissions', 'must be among those that are offered.');
    const lifeDays = readLifeDays(typed.expiry);
    // Read before: between the making of a key and its showing nothing may fail.
    const { holder } = await getKeyAccess(db, context.actor, userId);
    const sent = { onceId: form.text('once'), made: 'key', link: toKeys(place.base(context)) } as const;
    return once(context, sent, async (formId) => {
      const request = { userId, name: typed.name, permissions, lifeDays, environment, formId };
      const issued = await issueKey(db, context.actor, request);
      return reveal(context, place, { issued, holder, replaced: null });
    });
  };
  return orAgain(
    () => orRefused(context, place, 'create', act),
    (problem) => createPage(context, place, { problem, typed }),
  );
}

async function createPage(
  context: SignedInContext,
  place: KeyPlace,
  { problem, typed }: { problem: Problem | null; typed?: Typed },
): Promise<View> {
  const { actor, now, formToken } = context;
  const access = await getKeyAccess(context.dashboard.db, actor, place.holderId(context));
  const refused = await refusedPage(context, place, { access, deed: 'create' });
  if (refused !== null) return refused;
  const frame = { base: place.base(context), formToken, onceId: newOnceId(context), problem };
  const isOwn = access.holder.id === actor.userId;
  const main = createForm(frame, { access, isOwn, typed: typed ?? untyped(access), now });
  return page(context, { title: 'Create API Key', status: problem?.status ?? 200, main });
}

/** As the form's choices are written; what is none of them is no number, which the service refuses. */
function readLifeDays(text: string): number | null {
  if (text === 'never') return null;
  return /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
}

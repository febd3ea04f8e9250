import { invalidField } from '../../domain/errors.ts';
import { isPermission } from '../../domain/role.ts';
import { issueKey } from '../../service/issue-key.ts';
import { getKeyAccess } from '../../service/key-access.ts';
import type { Answer } from '../http/answer.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { newOnceId, once } from '../http/send-once.ts';
import type { SignedIn } from '../http/visit.ts';
import { page } from '../markup/layout.ts';
import { createForm, type Typed, untyped } from './create-form.ts';
import { reveal, toKeys } from './outcomes.ts';
import type { KeyPlace } from './place.ts';
import { orRefused, refusedPage } from './refusal.ts';

export async function showCreate(visit: SignedIn, place: KeyPlace): Promise<Answer> {
  return createPage(visit, place, { problem: null });
}

export async function create(
  visit: SignedIn,
  place: KeyPlace,
  form: Form<'name' | 'expiry' | 'once' | 'permissions'>,
): Promise<Answer> {
  const typed = { name: form.text('name'), permissions: form.all('permissions'), expiry: form.text('expiry') };
  const userId = place.holderId(visit);
  const { db, environment } = visit.dashboard;
  const act = async () => {
    const permissions = typed.permissions.filter(isPermission);
    if (permissions.length < typed.permissions.length)
      throw invalidField('permissions', 'must be among those that are offered.');
    const lifeDays = readLifeDays(typed.expiry);
    // Read before: between the making of a key and its showing nothing may fail.
    const { holder } = await getKeyAccess(db, visit.actor, userId);
    const sent = { onceId: form.text('once'), made: 'key', link: toKeys(place.base(visit)) } as const;
    return once(visit, sent, async (formId) => {
      const request = { userId, name: typed.name, permissions, lifeDays, environment, formId };
      const issued = await issueKey(db, visit.actor, request);
      return reveal(visit, place, { issued, holder, replaced: null });
    });
  };
  return orAgain(
    () => orRefused(visit, place, 'create', act),
    (problem) => createPage(visit, place, { problem, typed }),
  );
}

async function createPage(
  visit: SignedIn,
  place: KeyPlace,
  { problem, typed }: { problem: Problem | null; typed?: Typed },
): Promise<Answer> {
  const { actor, now, formToken } = visit;
  const access = await getKeyAccess(visit.dashboard.db, actor, place.holderId(visit));
  const refused = await refusedPage(visit, place, { access, deed: 'create' });
  if (refused !== null) return refused;
  const frame = { base: place.base(visit), formToken, onceId: newOnceId(visit), problem };
  const isOwn = access.holder.id === actor.userId;
  const main = createForm(frame, { access, isOwn, typed: typed ?? untyped(access), now });
  return page(visit, { title: 'Create API Key', status: problem?.status ?? 200, main });
}

/** As the form's choices are written; what is none of them is no number, which the service refuses. */
function readLifeDays(text: string): number | null {
  if (text === 'never') return null;
  return /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
}

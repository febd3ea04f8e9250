import { getKey, type KeyView } from '../../service/list-keys.ts';
import { renameKey } from '../../service/rename-key.ts';
import { revokeKey } from '../../service/revoke-key.ts';
import { rotateKey } from '../../service/rotate-key.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { Refusal } from '../http/refusal.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { newOnceId, once } from '../http/send-once.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { type Deed, deedPage } from './change-forms.ts';
import { conflict, reveal, toKeys } from './outcomes.ts';
import type { KeyPlace } from './place.ts';
import { orRefused, refusedPage } from './refusal.ts';

/** What is done to one key is asked first: on a page of its own, so that it works without a script. */
export async function showDeed(context: SignedInContext, place: KeyPlace, deed: Deed): Promise<View> {
  const { key, ...access } = await getKey(context.dashboard.db, context.actor, wanted(context, place));
  if (deed === 'revoke' && !access.mayRevoke) throw new Refusal('not-yours');
  const refused = deed === 'revoke' ? null : await refusedPage(context, place, { access, deed });
  if (refused !== null) return refused;
  return deedAnswer(context, place, { deed, key, problem: null, typed: key.name });
}

type DeedShown = { deed: Deed; key: KeyView; problem: Problem | null; typed: string };

function deedAnswer(context: SignedInContext, place: KeyPlace, { deed, key, problem, typed }: DeedShown): View {
  const { formToken, now } = context;
  const frame = { base: place.base(context), formToken, onceId: newOnceId(context), problem, key, now, typed };
  const { title, main } = deedPage(deed, frame);
  return page(context, { title, status: problem?.status ?? 200, main });
}

export async function rotate(context: SignedInContext, place: KeyPlace, form: Form<'once'>): Promise<View> {
  const { db, environment } = context.dashboard;
  const act = async () => {
    // Read before: between the making of a key and its showing nothing may fail.
    const { key: replaced, holder } = await getKey(db, context.actor, wanted(context, place));
    const sent = { onceId: form.text('once'), made: 'rotation', link: toKeys(place.base(context)) } as const;
    return once(context, sent, async (formId) => {
      const request = { keyId: replaced.id, userId: holder.id, environment, formId };
      return reveal(context, place, { issued: await rotateKey(db, context.actor, request), holder, replaced });
    });
  };
  return orAgain(
    () => orRefused(context, place, 'rotate', act),
    async (problem) => conflict(context, place, problem),
  );
}

export async function revoke(context: SignedInContext, place: KeyPlace): Promise<View> {
  return orAgain(
    async () => {
      await revokeKey(context.dashboard.db, context.actor, wanted(context, place));
      return redirect(`${place.base(context)}?done=revoked`);
    },
    async (problem) => conflict(context, place, problem),
  );
}

export async function rename(context: SignedInContext, place: KeyPlace, form: Form<'name'>): Promise<View> {
  const { db } = context.dashboard;
  const name = form.text('name');
  const act = async () => {
    await renameKey(db, context.actor, { ...wanted(context, place), name });
    return redirect(`${place.base(context)}?done=renamed`);
  };
  return orAgain(
    () => orRefused(context, place, 'rename', act),
    async (problem) => {
      const { key } = await getKey(db, context.actor, wanted(context, place));
      if (key.state !== 'active') return conflict(context, place, problem);
      return deedAnswer(context, place, { deed: 'rename', key, problem, typed: name });
    },
  );
}

function wanted(context: SignedInContext, place: KeyPlace) {
  return { keyId: context.params['keyId'] ?? '', userId: place.holderId(context), now: context.now };
}

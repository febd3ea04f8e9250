import { getKey, type KeyView } from '../../service/list-keys.ts';
import { renameKey } from '../../service/rename-key.ts';
import { revokeKey } from '../../service/revoke-key.ts';
import { rotateKey } from '../../service/rotate-key.ts';
import { type Answer, redirect } from '../http/answer.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { Refusal } from '../http/refusal.ts';
import { newOnceId, once } from '../http/send-once.ts';
import type { SignedIn } from '../http/visit.ts';
import { page } from '../markup/layout.ts';
import { type Deed, deedPage } from './change-forms.ts';
import { conflict, reveal, toKeys } from './outcomes.ts';
import type { KeyPlace } from './place.ts';
import { orRefused, refusedPage } from './refusal.ts';

/** What is done to one key is asked first: on a page of its own, so that it works without a script. */
export async function showDeed(visit: SignedIn, place: KeyPlace, deed: Deed): Promise<Answer> {
  const { key, ...access } = await getKey(visit.dashboard.db, visit.actor, wanted(visit, place));
  if (deed === 'revoke' && !access.mayRevoke) throw new Refusal('not-yours');
  const refused = deed === 'revoke' ? null : await refusedPage(visit, place, { access, deed });
  if (refused !== null) return refused;
  return deedAnswer(visit, place, { deed, key, problem: null, typed: key.name });
}

type DeedShown = { deed: Deed; key: KeyView; problem: Problem | null; typed: string };

function deedAnswer(visit: SignedIn, place: KeyPlace, { deed, key, problem, typed }: DeedShown): Answer {
  const { formToken, now } = visit;
  const frame = { base: place.base(visit), formToken, onceId: newOnceId(visit), problem, key, now, typed };
  const { title, main } = deedPage(deed, frame);
  return page(visit, { title, status: problem?.status ?? 200, main });
}

export async function rotate(visit: SignedIn, place: KeyPlace, form: Form<'once'>): Promise<Answer> {
  const { db, environment } = visit.dashboard;
  const act = async () => {
    // Read before: between the making of a key and its showing nothing may fail.
    const { key: replaced, holder } = await getKey(db, visit.actor, wanted(visit, place));
    const sent = { onceId: form.text('once'), made: 'rotation', link: toKeys(place.base(visit)) } as const;
    return once(visit, sent, async (formId) => {
      const request = { keyId: replaced.id, userId: holder.id, environment, formId };
      return reveal(visit, place, { issued: await rotateKey(db, visit.actor, request), holder, replaced });
    });
  };
  return orAgain(
    () => orRefused(visit, place, 'rotate', act),
    async (problem) => conflict(visit, place, problem),
  );
}

export async function revoke(visit: SignedIn, place: KeyPlace): Promise<Answer> {
  return orAgain(
    async () => {
      await revokeKey(visit.dashboard.db, visit.actor, wanted(visit, place));
      return redirect(`${place.base(visit)}?done=revoked`);
    },
    async (problem) => conflict(visit, place, problem),
  );
}

export async function rename(visit: SignedIn, place: KeyPlace, form: Form<'name'>): Promise<Answer> {
  const { db } = visit.dashboard;
  const name = form.text('name');
  const act = async () => {
    await renameKey(db, visit.actor, { ...wanted(visit, place), name });
    return redirect(`${place.base(visit)}?done=renamed`);
  };
  return orAgain(
    () => orRefused(visit, place, 'rename', act),
    async (problem) => {
      const { key } = await getKey(db, visit.actor, wanted(visit, place));
      if (key.state !== 'active') return conflict(visit, place, problem);
      return deedAnswer(visit, place, { deed: 'rename', key, problem, typed: name });
    },
  );
}

function wanted(visit: SignedIn, place: KeyPlace) {
  return { keyId: visit.params['keyId'] ?? '', userId: place.holderId(visit), now: visit.now };
}

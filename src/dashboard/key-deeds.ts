import { type KeyView, listKeys } from '../service/list-keys.ts';
import { renameKey } from '../service/rename-key.ts';
import { revokeKey } from '../service/revoke-key.ts';
import { rotateKey } from '../service/rotate-key.ts';
import { type Answer, redirect } from './answer.ts';
import { orAgain, type Problem } from './errors.ts';
import type { Form } from './forms.ts';
import { conflict, reveal, toKeys } from './key-answers.ts';
import type { KeyPlace } from './key-place.ts';
import { page } from './layout.ts';
import { type Deed, deedPage } from './pages/key-deeds.ts';
import { Refusal } from './refusal.ts';
import { newOnceId, once } from './reveal.ts';
import type { SignedIn } from './visit.ts';

/** What is done to one key is asked first: on a page of its own, so that it works without a script. */
export async function showDeed(visit: SignedIn, place: KeyPlace, deed: Deed): Promise<Answer> {
  const list = await listKeys(visit.dashboard.db, visit.actor, place.holderId(visit), visit.now);
  const key = list.keys.find(({ id }) => id === keyIdOf(visit));
  if (key === undefined) throw new Refusal('not-found');
  if (!(deed === 'revoke' ? list.mayRevoke : list.mayTake)) throw new Refusal('not-yours');
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
  const request = { keyId: keyIdOf(visit), userId: place.holderId(visit), environment };
  return orAgain(
    async () => {
      const list = await listKeys(db, visit.actor, request.userId, visit.now);
      const replaced = list.keys.find(({ id }) => id === request.keyId) ?? null;
      const sent = { onceId: form.text('once'), made: 'rotation', link: toKeys(place.base(visit)) } as const;
      return once(visit, sent, async (formId) => {
        const issued = await rotateKey(db, visit.actor, { ...request, formId });
        return reveal(visit, place, { issued, list, replaced });
      });
    },
    async (problem) => conflict(visit, place, problem),
  );
}

export async function revoke(visit: SignedIn, place: KeyPlace): Promise<Answer> {
  const request = { keyId: keyIdOf(visit), userId: place.holderId(visit) };
  return orAgain(
    async () => {
      await revokeKey(visit.dashboard.db, visit.actor, request);
      return redirect(`${place.base(visit)}?done=revoked`);
    },
    async (problem) => conflict(visit, place, problem),
  );
}

export async function rename(visit: SignedIn, place: KeyPlace, form: Form<'name'>): Promise<Answer> {
  const { db } = visit.dashboard;
  const userId = place.holderId(visit);
  const name = form.text('name');
  return orAgain(
    async () => {
      await renameKey(db, visit.actor, { keyId: keyIdOf(visit), userId, name });
      return redirect(`${place.base(visit)}?done=renamed`);
    },
    async (problem) => {
      const key = (await listKeys(db, visit.actor, userId, visit.now)).keys.find(({ id }) => id === keyIdOf(visit));
      if (key === undefined || key.state !== 'active') return conflict(visit, place, problem);
      return deedAnswer(visit, place, { deed: 'rename', key, problem, typed: name });
    },
  );
}

function keyIdOf({ params }: SignedIn): string {
  return params['keyId'] ?? '';
}

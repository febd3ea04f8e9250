import { createHash, randomBytes } from 'node:crypto';
import { claimIdempotencyKey } from '../store/idempotency-keys.ts';
import type { Answer } from './answer.ts';
import { html } from './html.ts';
import { page } from './layout.ts';
import { errorPage } from './pages/error.ts';
import { Refusal } from './refusal.ts';
import { isSame, sign } from './session.ts';
import type { SignedIn } from './visit.ts';

// What is shown once is the answer to a form, and each such form may be sent once: reloading the answer, going back and
// sending again, or sending from two tabs must neither show a key again nor make a second one, on whichever process.

/** For a hidden field: a number used once, and proof that it was given to this session. */
export function newOnceId({ token }: SignedIn): string {
  const id = randomBytes(16).toString('base64url');
  return `${id}.${sign(token, `once ${id}`)}`;
}

/** True the first time only; of many at once, for one. */
export async function takeOnceId({ token, actor, dashboard }: SignedIn, onceId: string): Promise<boolean> {
  const [id = '', proof = ''] = onceId.split('.');
  if (!isSame(proof, sign(token, `once ${id}`))) throw new Refusal('forged');
  // Kept 24 hours, which no session outlives. Its space is shared with the API's, whose callers cannot guess an id.
  const claim = { key: `dashboard form ${id}`, requestHash: createHash('sha256').update(id).digest() };
  return (await claimIdempotencyKey(dashboard.db.prisma, actor.scope, claim)).kind === 'ours';
}

export function alreadySent(visit: SignedIn, link: { name: string; href: string }): Answer {
  const message = html`<p>If it made something, that was shown then and cannot be shown again. Nothing was made a second time.</p>
<p>If you did not copy what was shown, make a new one: of an API key, with Rotate in its menu.</p>`;
  const told = { status: 409, title: 'This form was sent already', message, link };
  return page(visit, { status: 409, title: told.title, main: errorPage(told) });
}

import { mayGovern } from '../../domain/role.ts';
import { getPolicy, updatePolicy } from '../../service/organization.ts';
import { downloadAudit, showAudit } from '../audit-log/routes.ts';
import { type Answer, redirect } from '../http/answer.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { act, type Room } from '../http/room.ts';
import type { SignedIn } from '../http/visit.ts';
import { page } from '../markup/layout.ts';
import * as pages from './pages.ts';

/** For administrators. */
export const organizationRoom: Room = {
  mayEnter: mayGovern,
  pages: [
    {
      path: '/organization',
      show: (visit) => showPolicy(visit, null),
      act: act(['members_may_create_keys', 'max_key_life_days', 'allows_unending_keys'], setPolicy),
    },
    { path: '/organization/audit-log', show: showAudit },
    { path: '/organization/audit-log.csv', show: downloadAudit },
  ],
};

async function showPolicy(visit: SignedIn, problem: Problem | null, typed?: pages.TypedPolicy): Promise<Answer> {
  const { actor, dashboard, formToken } = visit;
  const organization = await getPolicy(dashboard.db, actor);
  const done =
    visit.query.get('done') === 'saved' ? 'The policy is saved. It holds for keys made from now on.' : undefined;
  const main = pages.organization({
    organization,
    formToken,
    problem,
    done,
    typed: typed ?? pages.untyped(organization),
  });
  return page(visit, { title: 'Organization', status: problem?.status ?? 200, main });
}

async function setPolicy(
  visit: SignedIn,
  form: Form<'members_may_create_keys' | 'max_key_life_days' | 'allows_unending_keys'>,
): Promise<Answer> {
  const typed = {
    membersMayCreateKeys: form.has('members_may_create_keys'),
    maxKeyLifeDays: form.text('max_key_life_days').trim(),
    allowsUnendingKeys: form.has('allows_unending_keys'),
  };
  return orAgain(
    async () => {
      const days = /^\d{1,5}$/.test(typed.maxKeyLifeDays) ? Number(typed.maxKeyLifeDays) : Number.NaN;
      await updatePolicy(visit.dashboard.db, visit.actor, { ...typed, maxKeyLifeDays: days });
      return redirect('/organization?done=saved');
    },
    (problem) => showPolicy(visit, problem, typed),
  );
}

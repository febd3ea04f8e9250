import { mayGovern } from '../../domain/role.ts';
import { getPolicy, updatePolicy } from '../../service/organization.ts';
import { downloadAudit, showAudit } from '../audit-log/routes.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { act, type Room } from '../http/room.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import * as pages from './pages.ts';

/** For administrators. */
export const organizationRoom: Room = {
  mayEnter: mayGovern,
  pages: [
    {
      path: '/organization',
      show: (context) => showPolicy(context, null),
      act: act(['members_may_create_keys', 'max_key_life_days', 'allows_unending_keys'], setPolicy),
    },
    { path: '/organization/audit-log', show: showAudit },
    { path: '/organization/audit-log.csv', show: downloadAudit },
  ],
};

async function showPolicy(context: SignedInContext, problem: Problem | null, typed?: pages.TypedPolicy): Promise<View> {
  const { actor, dashboard, formToken } = context;
  const organization = await getPolicy(dashboard.db, actor);
  const done =
    context.query.get('done') === 'saved' ? 'The policy is saved. It holds for keys made from now on.' : undefined;
  const main = pages.organization({
    organization,
    formToken,
    problem,
    done,
    typed: typed ?? pages.untyped(organization),
  });
  return page(context, { title: 'Organization', status: problem?.status ?? 200, main });
}

async function setPolicy(
  context: SignedInContext,
  form: Form<'members_may_create_keys' | 'max_key_life_days' | 'allows_unending_keys'>,
): Promise<View> {
  const typed = {
    membersMayCreateKeys: form.has('members_may_create_keys'),
    maxKeyLifeDays: form.text('max_key_life_days').trim(),
    allowsUnendingKeys: form.has('allows_unending_keys'),
  };
  return orAgain(
    async () => {
      const days = /^\d{1,5}$/.test(typed.maxKeyLifeDays) ? Number(typed.maxKeyLifeDays) : Number.NaN;
      await updatePolicy(context.dashboard.db, context.actor, { ...typed, maxKeyLifeDays: days });
      return redirect('/organization?done=saved');
    },
    (problem) => showPolicy(context, problem, typed),
  );
}

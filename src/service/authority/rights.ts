import { ForbiddenError } from '../../domain/errors.ts';
import {
  mayGovern,
  mayManageIntegrations,
  maySeeKeysOfOthers,
  maySeePeople,
  maySeeWebhooks,
  type Role,
} from '../../domain/people/role.ts';

/** The rights that depend on the role alone, and the message for a person who lacks the right. */
const RIGHTS = {
  govern: {
    isOf: mayGovern,
    refusal: "You may not see or change your organization's settings. Contact an administrator.",
  },
  'see people': {
    isOf: maySeePeople,
    refusal: 'You may not see the users of your organization. Contact an administrator or support.',
  },
  'see keys of others': {
    isOf: maySeeKeysOfOthers,
    refusal: 'You may not see API keys of other users. Contact an administrator or support.',
  },
  'manage integrations': {
    isOf: mayManageIntegrations,
    refusal: 'You may not manage integrations. Contact an administrator or support.',
  },
  'see webhooks': {
    isOf: maySeeWebhooks,
    refusal: 'You may not see webhook endpoints. Contact an administrator of your organization.',
  },
  'change webhooks': {
    isOf: mayGovern,
    refusal: 'You may not change webhook endpoints. Contact an administrator of your organization.',
  },
} satisfies Record<string, { isOf: (role: Role) => boolean; refusal: string }>;

export function requireRight({ role }: { readonly role: Role }, right: keyof typeof RIGHTS): void {
  if (!RIGHTS[right].isOf(role)) throw new ForbiddenError(RIGHTS[right].refusal);
}

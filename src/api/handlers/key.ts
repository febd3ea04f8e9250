import { presentKey } from '../key-steps.ts';
import { type Handler, withoutDatabase } from '../operation.ts';

export const getKey: Handler<'getKey'> = withoutDatabase(async ({ caller }) => {
  return { status: 200, headers: {}, body: presentKey(caller), version: caller.organizationVersion };
});

import type { Fault } from '../fault.ts';
import { API_FAULTS } from './api.ts';
import { CLIENT_FAULTS } from './client.ts';
import { CONTRACT_FAULTS } from './contract.ts';
import { DATABASE_FAULTS } from './database.ts';
import { EVENT_FAULTS } from './events.ts';
import { HANDLER_FAULTS } from './handlers.ts';
import { ISOLATION_FAULTS } from './isolation.ts';
import { KEY_FAULTS } from './keys.ts';
import { LIMIT_FAULTS } from './limits.ts';
import { OPERATING_FAULTS } from './operating.ts';
import { PAGE_FAULTS } from './pages.ts';
import { PEOPLE_FAULTS } from './people.ts';
import { POOLER_FAULTS } from './pooler.ts';
import { PROMISE_FAULTS } from './promises.ts';
import { RESOURCE_FAULTS } from './resources.ts';
import { STOPPING_FAULTS } from './stopping.ts';
import { WEBHOOK_PAGE_FAULTS } from './webhook-pages.ts';
import { WEBHOOK_FAULTS } from './webhooks.ts';

/** All planted faults. To add one, add it to one of these lists. */
export const FAULTS: readonly Fault[] = [
  ...CONTRACT_FAULTS,
  ...RESOURCE_FAULTS,
  ...HANDLER_FAULTS,
  ...API_FAULTS,
  ...LIMIT_FAULTS,
  ...KEY_FAULTS,
  ...ISOLATION_FAULTS,
  ...DATABASE_FAULTS,
  ...POOLER_FAULTS,
  ...EVENT_FAULTS,
  ...WEBHOOK_FAULTS,
  ...CLIENT_FAULTS,
  ...PAGE_FAULTS,
  ...PEOPLE_FAULTS,
  ...WEBHOOK_PAGE_FAULTS,
  ...STOPPING_FAULTS,
  ...OPERATING_FAULTS,
  ...PROMISE_FAULTS,
];

const QUICK_TITLES = new Set([
  'a handler drops a field',
  'a handler hides its result from the compiler',
  'an example has a value of another type',
  'a guide links to a missing page',
  'a bound of the contract changes without new generated files',
  'a published version is edited',
  'a migration makes a column narrower',
  'findRow without the organization',
]);

/** One fault for nearly each kind of check, for every run of `npm test`. */
export const QUICK: readonly Fault[] = FAULTS.filter(({ title }) => QUICK_TITLES.has(title));

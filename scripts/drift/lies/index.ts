import type { Lie } from '../lie.ts';
import { API_LIES } from './api.ts';
import { CLIENT_LIES } from './client.ts';
import { CONTRACT_LIES } from './contract.ts';
import { DATABASE_LIES } from './database.ts';
import { HANDLER_LIES } from './handlers.ts';
import { ISOLATION_LIES } from './isolation.ts';
import { KEY_LIES } from './keys.ts';
import { PAGE_LIES } from './pages.ts';
import { PEOPLE_LIES } from './people.ts';

/** All planted faults. To add one, add it to one of these lists. */
export const LIES: readonly Lie[] = [
  ...CONTRACT_LIES,
  ...HANDLER_LIES,
  ...API_LIES,
  ...KEY_LIES,
  ...ISOLATION_LIES,
  ...DATABASE_LIES,
  ...CLIENT_LIES,
  ...PAGE_LIES,
  ...PEOPLE_LIES,
];

const QUICK_TITLES = new Set([
  'a handler drops a field',
  'a handler hides its result from the compiler',
  'an example has a value of another type',
  'a guide links to a missing page',
  'a bound of the contract changes without new generated files',
  'a published version is edited',
  'a migration makes a column narrower',
  'findParentProgram without the organization',
]);

/** One fault for nearly each kind of check, for every run of `npm test`. */
export const QUICK: readonly Lie[] = LIES.filter(({ title }) => QUICK_TITLES.has(title));

import type { Fault } from '../fault.ts';
import { API_FAULTS } from './api.ts';
import { EVENT_FAULTS } from './events.ts';
import { KEY_FAULTS } from './keys.ts';
import { ORGANIZATION_FAULTS } from './organizations.ts';
import { PEOPLE_FAULTS } from './people.ts';

/** All planted faults. Each breaks a promise to users that a single check guards. */
export const FAULTS: readonly Fault[] = [
  ...KEY_FAULTS,
  ...ORGANIZATION_FAULTS,
  ...API_FAULTS,
  ...EVENT_FAULTS,
  ...PEOPLE_FAULTS,
];

const QUICK_TITLES = new Set([
  'a handler drops a field',
  'a handler hides its result from the compiler',
  'an example has a value of another type',
  'a bound of the contract changes without new generated files',
  'a published version is edited',
  'a migration makes a column narrower',
  'findRow without the organization',
]);

/** One fault for nearly each kind of check, for every run of `npm test`. */
export const QUICK: readonly Fault[] = FAULTS.filter(({ title }) => QUICK_TITLES.has(title));

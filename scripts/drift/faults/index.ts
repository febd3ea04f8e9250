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

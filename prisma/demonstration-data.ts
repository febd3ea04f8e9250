import type { Role } from '../src/domain/people/role.ts';

type DemonstrationUser = { readonly email: string; readonly name: string; readonly role: Role };

export type DemonstrationProgram = {
  readonly name: string;
  readonly description: string | null;
  readonly externalId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

export const ORGANIZATION = 'Northwind Learning Alliance';
export const USERS: readonly DemonstrationUser[] = [
  { email: 'administrator@northwind.example', name: 'Adaeze Okafor', role: 'administrator' },
  { email: 'manager@northwind.example', name: 'Mateo Lindqvist', role: 'manager' },
  { email: 'member@northwind.example', name: 'Mei Tanaka', role: 'member' },
  { email: 'viewer@northwind.example', name: 'Viktor Dahl', role: 'viewer' },
];

export const INTEGRATION = {
  name: 'Enrolment sync',
  description: 'Copies parent programs to the enrolment system every quarter of an hour. Runs in the data centre.',
  role: 'member',
  ownerEmail: 'manager@northwind.example',
  noticeEmail: 'integrations@northwind.example',
} as const;

export const OTHER_ORGANIZATION = 'Harbour Skills Foundation';
export const OTHER_USERS: readonly DemonstrationUser[] = [
  { email: 'administrator@harbour.example', name: 'Hana Berger', role: 'administrator' },
];

const REGIONS = [
  'Nordic',
  'Alpine',
  'Baltic',
  'Atlantic',
  'Danube',
  'Iberian',
  'Adriatic',
  'Highland',
  'Aegean',
  'Celtic',
];
const SUBJECTS = [
  {
    name: 'Scholars Exchange',
    field: 'mobility',
    text: 'Semesters abroad for undergraduates of the partner universities',
  },
  {
    name: 'Apprenticeship Initiative',
    field: 'vocational',
    text: 'Paid apprenticeships with local firms, two days a week in class',
  },
  { name: 'Teacher Fellowship', field: 'teaching', text: 'A year of mentored practice for newly qualified teachers' },
  { name: 'Coding Academy', field: 'technology', text: 'Evening courses in programming for people who change careers' },
  {
    name: 'Early Readers Programme',
    field: 'literacy',
    text: 'Weekly reading hours in primary schools, led by volunteers',
  },
  {
    name: 'Green Skills Pathway',
    field: 'climate',
    text: 'Training in insulation, heat pumps and solar for building trades',
  },
  { name: 'Health Careers Scheme', field: 'health', text: 'Bursaries and placements for nursing and care students' },
  { name: 'Language Bridge', field: 'languages', text: 'Intensive language courses for newcomers, with childcare' },
  { name: 'Research Traineeship', field: 'research', text: 'Ten-week placements in university laboratories' },
  {
    name: 'Creative Arts Residency',
    field: 'arts',
    text: 'Studio space and a stipend for artists who teach in schools',
  },
];
const COHORTS = ['2025', '2026'];

/**
 * The program ids in the contract's examples. The first demonstration programs get these ids, so that the code samples in the
 * documentation work.
 */
export const SHOWN_PROGRAM_IDS = ['019c2291-34b8-752e-bca9-6513269e0d37', '019c4cee-335f-7a6a-8317-d23f128b2f33'];
/** The external ids in the contract's examples of paths, by the position of the demonstration program that gets each one. */
const SHOWN_EXTERNAL_IDS: ReadonlyMap<number, string> = new Map([
  [0, 'sis-20417'],
  [2, 'sis-20533'],
]);
/** The event id in the contract's examples. The event that the first demonstration program was created gets this id. */
export const SHOWN_EVENT_ID = '019d0555-53cc-7369-8000-000149774825';

/** Returns 200 parent programs: every combination of region, subject and cohort. Every fifth program has no external id. */
export function demonstrationPrograms(): DemonstrationProgram[] {
  const programs = COHORTS.flatMap((cohort) =>
    REGIONS.flatMap((region) =>
      SUBJECTS.map(({ name, field, text }, subject) => ({
        name: `${region} ${name} ${cohort}`,
        description: subject % 4 === 3 ? null : `${text}. ${region} region, cohort of ${cohort}.`,
        externalId:
          subject % 5 === 4 ? null : `${region.slice(0, 3).toUpperCase()}-${field.slice(0, 4).toUpperCase()}-${cohort}`,
        metadata: { field, region: region.toLowerCase(), cohort },
      })),
    ),
  );
  return programs.map((program, i) => ({ ...program, externalId: SHOWN_EXTERNAL_IDS.get(i) ?? program.externalId }));
}

export function otherPrograms(): DemonstrationProgram[] {
  return SUBJECTS.map(({ name, field, text }) => ({
    name: `Harbour ${name}`,
    description: `${text}.`,
    externalId: `HAR-${field.slice(0, 4).toUpperCase()}`,
    metadata: { field },
  }));
}

// The rows that the bench reads, as varied in length and content as real ones.

export const RARE_WORD = 'Zanzibar';
export const COMMON_WORD = 'Academy';
/** The name of the programs that a run creates. */
export const WRITTEN = 'Written by the bench';

const KINDS = [COMMON_WORD, 'Camp', 'Workshop', 'Fellowship', 'Residency', 'Course', 'League', 'Programme'];
const SUBJECTS = [
  ...['Robotics', 'Chamber Music', 'Marine Biology', 'Creative Writing', 'Football', 'Astronomy', 'Ceramics'],
  ...['Leadership', 'Ballet', 'Spanish', 'Mathematics', 'Theatre', 'Journalism', 'Sailing', 'Coding', 'Chess'],
];
const PLACES = [
  ...['Leeds', 'Boston', 'Porto', 'Kraków', 'Galway', 'Toronto', 'Wellington', 'Uppsala', 'Lyon', 'São Paulo'],
  ...['Nairobi', 'Kyoto', 'Santa Fe', 'Ljubljana', 'Cape Town', 'Aarhus', 'Valparaíso', 'Chennai'],
];
const SENTENCES = [
  'Mornings are taught in small groups; afternoons are for projects of the participants’ own.',
  'Open to ages 9 to 14, no experience needed.',
  'Runs over six weeks with a showing for families on the last evening.',
  'Meals, materials and insurance are included; a bursary covers up to half of the fee.',
  'Applications close a month before the first day, and places go in the order of arrival.',
];

/** The parameters of FILL_PROGRAMS. */
export const WORDS = [KINDS, SUBJECTS, PLACES, SENTENCES, RARE_WORD];

/** The first organization is the large one, the next 100 are small. $1: the ids; $2: the encrypted cursor keys. */
export const FILL_ORGANIZATIONS = `
  insert into organizations (id, name, cursor_key, created_at)
  select id, 'Bench organization ' || (i - 1), cursor_key, now() - interval '3 years'
  from unnest($1::uuid[], $2::bytea[]) with ordinality as made (id, cursor_key, i)`;

export const FILL_USERS = `
  insert into users (organization_id, id, email, name, role)
  select id, id, 'manager-' || id || '@bench.example', 'Bench manager', 'manager' from organizations`;

/** The contents of the rows repeat after this number of rows, so that pages 1 and 20,000 have the same length. */
const PERIOD = 19_999 * 25;

/** A number in [0, 1) from the row and the position in the statement, so that all runs measure the same rows. */
const draw = (_: string, place: number) =>
  `((hashint8(${place} + 10000 * (i % ${PERIOD})::bigint) + 2147483648) / 4294967296.0)`;

/**
 * The statement that creates programs over three years. One in four was updated. `size`: SQL for the number of programs of the
 * organization with this `number`. `isRare`: SQL for whether the name of the program `i` of an organization of this `size` has
 * the rare word. `order`: SQL for the order in which the rows are written; by default, one organization after the other.
 */
export function fillPrograms({
  size,
  isRare,
  order = '',
}: {
  readonly size: string;
  readonly isRare: string;
  readonly order?: string;
}): string {
  return `
  insert into parent_programs
    (organization_id, id, name, description, external_id, metadata, created_at, updated_at)
  select
    organization_id,
    uuidv7(created_at - now()),
    case when ${isRare} then $5 else pick($3) end
      || ' ' || pick($2) || ' ' || pick($1) || ' ' || extract(year from created_at) || '-' || lpad(i::text, 7, '0'),
    case when random() < 0.8
      then pick($4) || case when random() < 0.5 then ' ' || pick($4) else '' end
    end,
    case when random() < 0.6 then 'SIS-' || lpad(i::text, 8, '0') end,
    case when random() < 0.75
      then jsonb_build_object('region', pick($3), 'cost_center', 'CC-' || floor(1000 + random() * 9000),
                              'season', extract(quarter from created_at)::text)
      else '{}'
    end,
    created_at,
    case when random() < 0.25 then created_at + random() * (now() - created_at) else created_at end
  from (
    select id as organization_id, i, size,
           now() - interval '3 years' + (i - random()) * (interval '3 years' / size) as created_at
    from (select id, ${size} as size
          from organizations cross join lateral (select right(id::text, 12)::int as number) as numbered) as sizes
    cross join lateral generate_series(1, size) as i
    ${order}
  ) as created`
    .replace(/pick\((\$\d)\)/g, '($1::text[])[1 + floor(random() * cardinality($1::text[]))::int]')
    .replaceAll('random()', draw);
}

/** In order of time within an organization. One name in 50,000 has the rare word. */
export const FILL_PROGRAMS = fillPrograms({
  size: 'case when number = 0 then 1000000 when number <= 100 then 1000 else 10 end',
  isRare: 'i % 50000 = 7777',
});

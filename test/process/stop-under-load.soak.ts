import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beginCreate } from '../support/http/slow-create.ts';
import { startLoad } from '../support/http/steady-load.ts';
import { useScratchDatabase, withClient } from '../support/postgres/postgres.ts';
import {
  type Charter,
  HIGH_LIMITS,
  organizationAt,
  SERVES,
  startCharter,
  untilStopping,
} from '../support/processes/charter.ts';
import { kill, startNpm, untilPrinted } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const ROOT = join(import.meta.dirname, '../..');
const CLIENTS = 64;
/** Fewer, because several processes that have just started want more than the cores of a small machine. */
const CLIENTS_OF_WORKERS = 12;
const STOPS = 20;
const MINUTES = 60;

const database = await useScratchDatabase();

// A deployment must be invisible to clients that heed Connection: close. An acknowledged write must not be lost, and a client
// whose request fails without a response could not know whether it was carried out.
async function stopUnderLoad(charter: Charter, { clients = CLIENTS } = {}): Promise<void> {
  try {
    const { id, key } = await organizationAt(database.url, charter);
    const load = startLoad(charter.url, { key, clients });
    await until('all clients to be at work', load.isSteady);
    charter.child.kill('SIGTERM');
    const { created, problems } = await load.ended;
    const { code } = await charter.ended;
    expect({ problems, code }).toEqual({ problems: [], code: 0 });
    const names = await withClient(database.url, (client) =>
      client.query('select name from parent_programs where organization_id = $1', [id]),
    );
    expect(names.rows.map(({ name }) => name).sort()).toEqual(created.sort());
  } finally {
    await kill(charter);
  }
}

test(
  `SIGTERM under load, times ${STOPS}: every request gets its response, and the server exits with 0`,
  async () => {
    for (let i = 0; i < STOPS; i += 1) await stopUnderLoad(await startCharter({ DATABASE_URL: database.url }));
  },
  MINUTES * 60_000,
);

test(
  `SIGTERM under load to several workers, times ${STOPS}: the same`,
  async () => {
    for (let i = 0; i < STOPS; i += 1) {
      const charter = await startCharter({ DATABASE_URL: database.url, WORKERS: '3' });
      await stopUnderLoad(charter, { clients: CLIENTS_OF_WORKERS });
    }
  },
  MINUTES * 60_000,
);

test(
  `SIGTERM to npm under load, times ${STOPS}: the same, and npm exits with 0 after the server`,
  () =>
    withCommands(async (folder) => {
      for (let i = 0; i < STOPS; i += 1) await stopUnderLoad(await startByNpm(folder));
    }),
  MINUTES * 60_000,
);

test.each(['SIGINT', 'SIGTERM'] as const)(
  'npm start passes %s on, stays until the server has ended, and exits with 0',
  async (signal) => {
    await withCommands(async (folder) => {
      const charter = await startByNpm(folder);
      const { key } = await organizationAt(database.url, charter);
      const sending = await beginCreate(charter, key);
      charter.child.kill(signal);
      await untilStopping(charter);
      expect(charter.child.exitCode).toBeNull();
      sending.finish();
      const { code, stdout } = await charter.ended;
      expect(code).toBe(0);
      expect(stdout).toContain('"msg":"stopped"');
    });
  },
);

test('every command of package.json gets the signals that npm passes on', async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  // npm signals its shell, and a shell that has not been replaced by the command ends alone.
  expect(Object.values<string>(scripts).filter((script) => !script.startsWith('exec node '))).toEqual([]);
});

async function startByNpm(folder: string): Promise<Charter> {
  const env = { DATABASE_URL: database.url, PORT: '0', NODE_ENV: 'production', ...HIGH_LIMITS };
  const running = startNpm(folder, env);
  const [, url = ''] = await untilPrinted(running, SERVES);
  return { ...running, url };
}

/** A folder with the commands of package.json and the launcher, but without the set-up, which would install packages. */
async function withCommands(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-npm-'));
  try {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'charter', version: '0.0.0', scripts }));
    await mkdir(join(folder, 'scripts'));
    const launcher = pathToFileURL(join(ROOT, 'scripts/launch.mjs')).href;
    // Like scripts/run.mjs, which may itself run on an older Node, this names the Node that runs the server.
    const command = [process.execPath, ['--disable-warning=ExperimentalWarning', join(ROOT, 'src/main.ts')]];
    await writeFile(
      join(folder, 'scripts/run.mjs'),
      `import { launch } from ${JSON.stringify(launcher)};\nlaunch(...${JSON.stringify(command)});\n`,
    );
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

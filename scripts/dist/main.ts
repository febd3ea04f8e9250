// Makes the artifacts that operators deploy. Each variant is a folder and a tar file, which need only Node on the target.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { runMain } from '../command-line.ts';
import { root } from '../tool.ts';
import { type Content, contentOf, nameOf, type Variant, versionOf } from './content.ts';
import { writeTar } from './tar.ts';
import { readManifest } from './traced.ts';

const HELP = `npm run dist   makes generated/dist: Charter as a folder and as a tar file, which run with Node alone

  --output FOLDER        another folder than generated/dist
  --release VERSION      another version than that of package.json or, if CHANGELOG.md has something "Unreleased", the next
                         one with the commit, such as 1.1.0-dev.0a1b2c3
  --without-postgresql   only the variant for a PostgreSQL of your own

The variants run on the platform on which they are made.
`;

/** The maximum sizes of unpacked artifacts, in bytes. */
const LARGEST = { withPostgres: 120e6, without: 60e6 };

const OPTIONS = {
  output: { type: 'string', default: join(root, 'generated/dist') },
  release: { type: 'string' },
  'without-postgresql': { type: 'boolean', default: false },
} as const;

await runMain(OPTIONS, HELP, async ({ output, release = currentVersion(), 'without-postgresql': isWithout }) => {
  for (const hasPostgres of isWithout ? [false] : [false, true])
    await make({ version: release, hasPostgres }, resolve(output));
});

function currentVersion(): string {
  const { stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return versionOf({
    released: String(readManifest('package.json')['version']),
    changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
    commit: stdout?.trim() ?? '',
  });
}

async function make(variant: Variant, output: string): Promise<void> {
  const name = nameOf(variant);
  const content = await contentOf(variant);
  const [folder, tarFile] = [join(output, name), join(output, `${name}.tar.gz`)];
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const bytes = await writeFolder(folder, content);
  await writeTar(tarFile, name, content);
  await writeFile(`${tarFile}.sha256`, `${await sha256(tarFile)}  ${name}.tar.gz\n`);
  const largest = variant.hasPostgres ? LARGEST.withPostgres : LARGEST.without;
  const sizes = `${megabytes(bytes)} in ${content.size} files, ${megabytes((await stat(tarFile)).size)} packed`;
  process.stdout.write(`${relative(process.cwd(), tarFile)}: ${sizes}\n`);
  if (bytes > largest) throw new Error(`${name} is larger than ${megabytes(largest)}.`);
}

/** Writes all files, and returns their total size in bytes. */
async function writeFolder(folder: string, content: Content): Promise<number> {
  let bytes = 0;
  for (const [path, entry] of content) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    if (entry.kind === 'link') await symlink(entry.target, target);
    else {
      if (entry.kind === 'copy') await copyFile(entry.source, target);
      else await writeFile(target, entry.text);
      // Sets the mode, because the umask or the mode of the copied file may be stricter.
      await chmod(target, entry.mode);
      bytes += (await stat(target)).size;
    }
  }
  return bytes;
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

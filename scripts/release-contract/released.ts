// The last published version, such as openapi/released/1.2.0.yaml. A published file never changes. The next version replaces the
// file, which stays in the git history.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../src/contract/document.ts';
import { bundleContract } from '../bundle.ts';
import { objectOf } from '../contract-diff/json.ts';
import { root } from '../tool.ts';
import { byOrder, numberOf, parseVersion, type Version } from './decide.ts';

const openapi = join(root, 'openapi');
const folder = join(openapi, 'released');
const changelogFile = join(openapi, 'CHANGELOG.md');

type Released = { readonly version: Version; readonly document: Json };

/** Returns the last published version, or `null` if nothing is published yet. */
export async function findLastReleased(): Promise<Released | null> {
  const versions = await listReleased();
  const version = versions.sort(byOrder).at(-1);
  if (version === undefined) return null;
  const file = `openapi/released/${numberOf(version)}.yaml`;
  const document = await readYaml(file, `Restore ${file} with git checkout.`);
  const number = objectOf(document['info'])['version'];
  if (number !== numberOf(version))
    throw new Error(`${file} has the version ${number} inside. Restore it with git checkout.`);
  return { version, document };
}

/**
 * Returns the published versions. There is usually one; if a process was interrupted before it removed the previous version,
 * there are two.
 */
async function listReleased(): Promise<Version[]> {
  const names = await readdir(folder).catch(unlessMissing([]));
  return names.map((name) => {
    const version = name.endsWith('.yaml') ? parseVersion(name.slice(0, -'.yaml'.length)) : null;
    if (version === null) throw new Error(`openapi/released/${name} is not a published version. Remove it.`);
    return version;
  });
}

export async function readChangelog(): Promise<string> {
  return readFile(changelogFile, 'utf8').catch(unlessMissing(''));
}

/**
 * Writes the changelog and the file of the version, and then removes the file of the previous version. If the process is
 * interrupted before it writes the file, the version does not count as published, and the next run replaces its entry in the
 * changelog.
 */
export async function publish({
  version,
  text,
  changelog,
}: {
  version: Version;
  text: string;
  changelog: string;
}): Promise<void> {
  await mkdir(folder, { recursive: true });
  const previous = await listReleased();
  const scratch = await mkdtemp(join(openapi, '.release-'));
  try {
    await writeFile(join(scratch, 'CHANGELOG.md'), changelog);
    await writeFile(join(scratch, 'document.yaml'), text);
    await rename(join(scratch, 'CHANGELOG.md'), changelogFile);
    await rename(join(scratch, 'document.yaml'), fileOf(version));
    for (const older of previous) await rm(fileOf(older), { force: true });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function fileOf(version: Version): string {
  return join(folder, `${numberOf(version)}.yaml`);
}

/** Reads an OpenAPI document with the files to which it refers. If that fails, throws an error with the remedy. */
export async function readYaml(file: string, remedy: string): Promise<Json> {
  try {
    return await bundleContract(join(root, file));
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${remedy}`);
  }
}

function unlessMissing<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return fallback;
    throw error;
  };
}

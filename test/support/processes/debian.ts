import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  canInstallPackages,
  findOnPath,
  installPackages,
  isProgram,
  unpackPackages,
} from '../../../scripts/programs.mjs';

const DOWNLOADS = join(import.meta.dirname, '../../../node_modules/.cache/debian');
const PYTHON = '/usr/bin/python3';

/**
 * Returns the path of a program, and first installs its Debian package if the program is missing. Only the long tests need such
 * programs.
 */
export function getProgram(name: string, packageName: string): string {
  const find = () => findOnPath([name], { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` });
  return find() ?? install(packageName, find);
}

/** Returns the folder with the programs of Debian's newest PostgreSQL, which Debian does not add to PATH. */
export function getPostgresPrograms(): string {
  const find = () => {
    const [newest] = globSync('/usr/lib/postgresql/*/bin/initdb').toSorted().toReversed();
    return newest === undefined ? null : dirname(newest);
  };
  return find() ?? install('postgresql', find);
}

/** Returns the path of Debian's own Python, because Debian's Python packages are built for it. */
export function getPython(): string {
  const find = () => (isProgram(PYTHON) ? PYTHON : null);
  return find() ?? install('python3', find);
}

/** Unpacks packages of Debian 12 without their dependencies. Installing the packages would start services. */
export function unpackIn(folder: string, packages: readonly string[]): void {
  const remedy = 'Run it as root, on Debian 12.';
  if (!canInstallPackages()) throw new Error(`This test unpacks the packages ${packages.join(', ')}. ${remedy}`);
  const { status, stdout, stderr } = unpackPackages(packages, { folder, downloads: DOWNLOADS });
  if (status === 0) return;
  const failed = `The packages ${packages.join(', ')} of Debian 12 cannot be unpacked (${status})`;
  throw new Error(`${failed}: ${stdout}${stderr}\n${remedy} Delete ${DOWNLOADS}, and try again.`);
}

/** Returns the path of libfaketime, which changes the time that a process sees. This variant of it supports threads. */
export function getFaketimeLibrary(): string {
  const find = () => globSync('/usr/lib/*/faketime/libfaketimeMT.so.1').at(0) ?? null;
  return find() ?? install('libfaketime', find);
}

function install(packageName: string, find: () => string | null): string {
  const remedy = `Install it, as root: apt-get install ${packageName}`;
  if (!canInstallPackages()) throw new Error(`This test needs the package ${packageName}. ${remedy}`);
  const { status, stdout, stderr } = installPackages([packageName]);
  const found = find();
  if (found === null) throw new Error(`${packageName} cannot be installed (${status}): ${stdout}${stderr}\n${remedy}`);
  return found;
}

/** Replaces all occurrences of each key by its value. Throws if the text does not contain one of the keys. */
export function replaceEach(text: string, replacements: Readonly<Record<string, string>>): string {
  const parts = Object.keys(replacements);
  for (const part of parts) if (!text.includes(part)) throw new Error(`The configuration does not contain "${part}".`);
  // Replaces all keys in one pass, because a value may contain another key: 127.0.0.1:30025 contains 127.0.0.1:3002.
  const any = new RegExp(parts.map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('|'), 'g');
  return text.replace(any, (part) => replacements[part] ?? part);
}

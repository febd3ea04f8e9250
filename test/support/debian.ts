import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { canInstallPackages, findOnPath, installPackages } from '../../scripts/debian.mjs';

/** The path of a program, installed from its Debian package if it is missing. Only the long tests need such programs. */
export function findProgram(name: string, packageName: string): string {
  const find = () => findOnPath([name], { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` });
  return find() ?? installed(packageName, find);
}

/** The folder of the newest PostgreSQL of Debian, whose package is not in PATH. */
export function findPostgresPrograms(): string {
  const find = () => {
    const [newest] = globSync('/usr/lib/postgresql/*/bin/initdb').toSorted().toReversed();
    return newest === undefined ? null : dirname(newest);
  };
  return find() ?? installed('postgresql', find);
}

function installed(packageName: string, find: () => string | null): string {
  const remedy = `Install it, as root: apt-get install ${packageName}`;
  if (!canInstallPackages()) throw new Error(`This test needs the package ${packageName}. ${remedy}`);
  const { status, stdout, stderr } = installPackages([packageName]);
  const found = find();
  if (found === null) throw new Error(`${packageName} cannot be installed (${status}): ${stdout}${stderr}\n${remedy}`);
  return found;
}

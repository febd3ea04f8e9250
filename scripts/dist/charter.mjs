#!/usr/bin/env node
// The commands of an artifact. This is plain JavaScript, so that a version of Node that is too old can also run this file, which
// then prints a message.
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';

const HELP = `node charter.mjs             starts the server
node charter.mjs check       checks the environment variables, and starts nothing
node charter.mjs admin       administers the installation; --help lists the commands
node charter.mjs workflows   runs the workflows against a server; --help tells how
node charter.mjs health      exits with 0 if the server of this machine is ready, else with 1
node charter.mjs --version   prints the version of this release

The environment variables are the same for all commands; README.md names those that every server needs.
`;
const PROGRAMS = {
  start: './src/main.ts',
  // `check` is a command of the admin program, which gets "check" as its first argument.
  check: './scripts/admin/main.ts',
  admin: './scripts/admin/main.ts',
  workflows: './scripts/workflows/main.ts',
};

const [name = 'start'] = process.argv.slice(2);
const { engines, version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
// In any other mode, the server would create demonstration users, whose passwords are public.
process.env.NODE_ENV ||= 'production';

if (isTooOld(process.versions.node, engines.node.replace('>=', ''))) {
  process.stderr.write(
    `Charter needs Node ${engines.node.replace('>=', '')} or newer; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else if (Object.hasOwn(PROGRAMS, name)) {
  if (name !== 'check') process.argv.splice(2, 1);
  await import(new URL(PROGRAMS[name], import.meta.url).href);
} else if (name === 'health') {
  process.exitCode = (await isReady()) ? 0 : 1;
} else if (name === '--version') {
  process.stdout.write(`${version}\n`);
} else if (name === '--help') {
  process.stdout.write(HELP);
} else {
  process.stderr.write(`There is no command "${name}".\n\n${HELP}`);
  process.exitCode = 1;
}

function isTooOld(version, oldest) {
  const [one, other] = [version, oldest].map((each) => each.split('.').map(Number));
  const at = other.findIndex((part, i) => part !== one[i]);
  return at !== -1 && one[at] < other[at];
}

async function isReady() {
  const { HOST, PORT } = process.env;
  const host = !HOST || HOST === '0.0.0.0' ? '127.0.0.1' : HOST === '::' ? '::1' : HOST;
  const url = `http://${isIPv6(host) ? `[${host}]` : host}:${PORT || 3000}/readyz`;
  const response = await fetch(url, { signal: AbortSignal.timeout(4000) }).catch(() => null);
  return response?.ok === true;
}

import { runFile } from '../support/processes/process.ts';

test.each([
  ['scripts/generate/main.ts', '--chek', 'npm run generate'],
  ['scripts/soak/main.ts', '--fast', 'npm run soak'],
  ['scripts/fuzz.ts', '--minute', 'npm run fuzz'],
  ['scripts/workflows/main.ts', '--sever', 'npm run workflows'],
])('%s refuses the unknown option %s in a sentence, with its help', async (file, option, command) => {
  const { code, stdout, stderr } = await runFile(file, [option]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.trimStart()).toMatch(`Unknown option '${option}'`);
  expect(stderr.split(command).length).toBeGreaterThan(1);
  expect(stderr).not.toMatch(/^ +at /m);
});

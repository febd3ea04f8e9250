import { runAdmin } from './commands.ts';

const code = await runAdmin(process.argv.slice(2), process);
if (code !== 0) process.exit(code);

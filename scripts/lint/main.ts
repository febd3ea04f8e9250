// Everything that writers are told before they publish: the contract, the pages, their links and their spelling.
import { parseArgs } from 'node:util';
import { lintContract, lintWorkflows } from './contract.ts';
import { contractFiles, lintFiles, pageFiles, workflowFiles } from './files.ts';
import { lintPages } from './pages.ts';
import { inOrder, type Problem, problemsText } from './problem.ts';
import { measureScore, problemOfScore } from './score.ts';
import { lintSpelling } from './spelling.ts';

const HELP = `npm run lint   looks through the contract and every page, and says what is wrong, where, and what to do

  openapi/            the contract: OpenAPI's own rules, Redocly's and ours, in openapi/lint/contract
  openapi/workflows/  Arazzo: its own rules, and ours, in openapi/lint/workflows
  openapi/guides/     and every other Markdown file: headings, lists, tables, links, pictures, labels of code
  all of these        the spelling: British, with "-ize"; words of our own stand in openapi/lint/words.txt

It needs no network and changes no file. It ends with 1 where there is a problem, and with 0 where there is none.
`;

const options = readOptions();
if (options === null) process.exitCode = 1;
else if (options.help === true) console.log(HELP);
else process.exitCode = await lint();

/** Null: what was typed is told, and how it is meant. */
function readOptions(): { readonly help?: boolean | undefined } | null {
  try {
    return parseArgs({ options: { help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return null;
  }
}

async function lint(): Promise<number> {
  const startedAt = Date.now();
  const [contract, workflows, pages] = [contractFiles(), workflowFiles(), pageFiles()];
  const [ofContract, score, ...others] = await Promise.all([
    lintContract(),
    measureScore(),
    lintWorkflows(workflows),
    lintPages(pages),
    lintSpelling([...contract, ...workflows, ...pages]),
  ]);
  const problems = inOrder([...ofContract, ...problemOfScore(score), ...lintFiles(), ...others.flat()]);
  if (problems.length > 0) console.log(problemsText(problems));
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(
    `${summary(problems)} among ${contract.length} files of the contract, ${workflows.length} of workflows and ${pages.length} pages, ${seconds} s.`,
  );
  if (score !== null) console.log(`Redocly gives the contract ${score} of 100 points.`);
  return problems.length === 0 ? 0 : 1;
}

function summary(problems: readonly Problem[]): string {
  if (problems.length === 0) return 'No problem';
  const files = new Set(problems.map(({ file }) => file)).size;
  return `${problems.length} problem${problems.length === 1 ? '' : 's'} in ${files} file${files === 1 ? '' : 's'}`;
}

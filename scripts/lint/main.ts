// Checks the contract, the workflows, and the pages with their links and their spelling.
import { join } from 'node:path';
import { formatCount } from '../../src/domain/text.ts';
import { bundleContract } from '../bundle.ts';
import { runMain } from '../command-line.ts';
import { root } from '../tool.ts';
import { workflowFiles } from '../workflows/run.ts';
import { CONTRACT, lintDocuments, measureScore, problemOfScore, scoreText } from './contract.ts';
import { contractFiles, lintFiles, lintPages, pageFiles } from './files.ts';
import { inOrder, type Problem, problemsText } from './problem.ts';
import { lintSpelling } from './spelling.ts';

const HELP = `npm run lint   checks the contract and every page, and prints each problem with its location and a remedy

  openapi/            the contract: the rules of OpenAPI, of Redocly and of openapi/lint/contract
  openapi/workflows/  the workflows: the rules of Arazzo and of openapi/lint/workflows
  openapi/guides/     the guides and all other Markdown files: headings, lists, tables, links, pictures, and code against the contract
  all of these        the spelling: British, with "-ize"; openapi/lint/words.txt contains additional words

It works offline and changes no files. The exit code is 1 if there is a problem, otherwise 0.
`;

await runMain({}, HELP, lint);

async function lint(): Promise<number> {
  const startedAt = Date.now();
  const [contract, workflows, pages] = [contractFiles(), workflowFiles(), pageFiles()];
  const [ofDocuments, score, ...others] = await Promise.all([
    // Lints the contract and all workflows in one process, because starting Redocly takes longer than linting.
    lintDocuments([CONTRACT, ...workflows]),
    measureScore(),
    // If the contract cannot be bundled, `lintDocuments` reports the reason.
    bundleContract(join(root, CONTRACT)).then(
      (document) => lintPages(pages, document),
      () => lintPages(pages, null),
    ),
    lintSpelling([...contract, ...workflows, ...pages]),
  ]);
  const problems = inOrder([...ofDocuments.flat(), ...problemOfScore(score), ...lintFiles(), ...others.flat()]);
  if (problems.length > 0) console.log(problemsText(problems));
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(
    `${summary(problems)} Checked ${contract.length} contract files, ${workflows.length} workflow files and ${pages.length} pages in ${seconds} s.`,
  );
  if (score !== null) console.log(`Redocly's score of the contract: ${scoreText(score)}.`);
  return problems.length === 0 ? 0 : 1;
}

function summary(problems: readonly Problem[]): string {
  if (problems.length === 0) return 'No problems.';
  const files = new Set(problems.map(({ file }) => file)).size;
  return `${formatCount(problems.length, 'problem')} in ${formatCount(files, 'file')}.`;
}

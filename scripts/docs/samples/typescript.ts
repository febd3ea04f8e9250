import { isEmpty, lines, literal } from './literal.ts';
import type { SampleRequest } from './request.ts';

/** Our own client, which sends an Idempotency-Key by itself, and reads on by itself where there are pages. */
export function typescript(request: SampleRequest): string {
  return lines(
    "import { createClient } from 'charter-client';",
    '',
    'const charter = createClient({',
    '  baseUrl: process.env.CHARTER_URL,',
    '  apiKey: process.env.CHARTER_API_KEY,',
    '});',
    '',
    request.isPaged ? allPages(request) : oneCall(request),
  );
}

function oneCall(request: SampleRequest): readonly string[] {
  return [
    `const answer = await charter.${request.method}(${parametersOf(request)});`,
    `if (!answer.ok) throw new Error(\`\${answer.status} \${answer.error.message}\`);`,
    request.hasAnswerBody ? 'console.log(answer.data);' : 'console.log(answer.status);',
  ];
}

function allPages(request: SampleRequest): readonly string[] {
  return [
    `const items = charter.items(${parametersOf(request)});`,
    'for await (const item of items) console.log(item);',
  ];
}

function parametersOf({ template, path, query, headers, body }: SampleRequest): string {
  const header = Object.fromEntries(headers.filter(({ isFresh }) => !isFresh).map(({ name, value }) => [name, value]));
  const params = Object.fromEntries(Object.entries({ path, query, header }).filter(([, values]) => !isEmpty(values)));
  const options = { ...(!isEmpty(params) && { params }), ...(body !== undefined && { body }) };
  return isEmpty(options) ? `'${template}'` : `'${template}', ${literal(options)}`;
}

import { isEmpty, lines, literal } from './literal.ts';
import type { SampleRequest } from './request.ts';

/** Uses charter-client, which adds an Idempotency-Key and reads all pages of a list. */
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
    `const result = await charter.${request.method}(${parametersOf(request)});`,
    `if (!result.ok) throw new Error(\`\${result.status} \${result.error.message}\`);`,
    request.hasResponseBody ? 'console.log(result.data);' : 'console.log(result.status);',
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

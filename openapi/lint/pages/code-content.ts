import { STATUS_CODES } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import {
  isObject,
  isOfTemplate,
  type Json,
  type Operation,
  operationsOf,
  type Schema,
  segmentsOf,
} from '../../../src/contract/document.ts';
import { nearest } from '../nearest.ts';
import type { PageRule } from '../page-rule.ts';
import { labelOf } from './code-label.ts';

// Checks that the JSON and the responses in a guide match the contract.

export const codeContent: PageRule = {
  name: 'code-content',
  check({ file, tokens, report }, { document }) {
    if (!file.startsWith('openapi/guides/')) return;
    const contract = document === null ? null : contractOf(document);
    for (const at of tokens.filter(({ type }) => type === 'codeFenced')) {
      const [opening = '', ...lines] = at.text.split('\n');
      const { language, options } = labelOf(opening);
      const code = lines.slice(0, -1).join('\n');
      for (const { line = 0, ...fault } of faultsOf(code, { language, options, contract }))
        report({ at, line: at.startLine + line, ...fault });
    }
  },
  mistakes: [
    { find: 'sh status=200', replace: 'sh status=201', says: 'getKey has no response 201.' },
    { find: '$CHARTER_URL/api/key', replace: '$CHARTER_URL/api/keys', says: 'The contract has no GET /api/keys.' },
    { find: 'curl "', replace: 'curl -X PUT "', says: 'The contract has no PUT /api/key.' },
    {
      find: '{}',
      replace: '{ "a": }',
      says: 'This is not JSON: Unexpected token \'}\', "{ "a": }" is not valid JSON.',
    },
    {
      find: 'example=ValidationLimit\n',
      replace: 'example=ValidationLimit\n{}\n',
      says: 'This block shows an example of the contract, but is not empty.',
    },
    {
      find: 'schema=Anything',
      replace: 'schema=Key',
      says: 'This JSON does not match the schema "Key": it must have required property \'id\'.',
    },
    { find: 'response=getKey:200', replace: 'response=getKeys:200', says: 'The contract has no operation "getKeys".' },
    { find: 'response=getKey:200', replace: 'response=getKey:418', says: 'getKey has no response 418.' },
    {
      find: 'HTTP/1.1 200 OK',
      replace: 'HTTP/1.1 404 OK',
      says: 'The first line of this response must be "HTTP/1.1 200 OK".',
    },
    {
      find: 'HTTP/1.1 200 OK',
      replace: 'HTTP/1.1 200 OK\nE-Tag: "x"',
      says: 'The response 200 of getKey has no header "E-Tag".',
    },
    {
      find: 'HTTP/1.1 200 OK',
      replace: 'HTTP/1.1 200 OK\nETag: x',
      says: 'The header ETag cannot have this value: it must match pattern "^"".',
    },
  ],
};

type Fault = {
  /** The number of the line in the code block. Line 0 opens the block. */
  readonly line?: number;
  readonly message: string;
  readonly remedy: string;
};
type Options = ReadonlyMap<string, string>;
type Contract = {
  readonly operations: readonly Operation[];
  readonly ajv: Ajv2020;
};

const NOT_EMPTY = {
  message: 'This block shows an example of the contract, but is not empty.',
  remedy: 'Delete the lines between the fences. The documentation shows the example there.',
};

const known = new WeakMap<Json, Contract>();

function contractOf(document: Json): Contract {
  const found = known.get(document);
  if (found !== undefined) return found;
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  formats.default(ajv);
  ajv.addSchema(document, 'contract');
  const contract = { operations: operationsOf(document), ajv };
  known.set(document, contract);
  return contract;
}

type Block = { readonly language: string; readonly options: Options; readonly contract: Contract | null };

function faultsOf(code: string, { language, options, contract }: Block): Fault[] {
  if (language === 'json') return faultsOfJson(code, options, contract);
  if (contract === null) return [];
  if (language === 'http') return faultsOfResponse(code, options, contract);
  return language === 'sh' ? faultsOfCommands(code, options, contract) : [];
}

/**
 * Returns the faults of a JSON block. Checks only the syntax if there is no contract. Labels that name an unknown example or
 * schema are reported by code-label.
 */
function faultsOfJson(code: string, options: Options, contract: Contract | null): Fault[] {
  if (options.has('example')) return code === '' ? [] : [{ line: 1, ...NOT_EMPTY }];
  if (!options.has('schema')) return [];
  let value: unknown;
  try {
    value = JSON.parse(code);
  } catch (error) {
    const reason = error instanceof Error ? withoutPlace(error.message) : '';
    return [
      {
        line: code.slice(0, endOfReadable(code)).split('\n').length,
        message: `This is not JSON: ${reason}.`,
        remedy: 'Correct the quotation marks, commas and brackets.',
      },
    ];
  }
  const name = options.get('schema') ?? '';
  const validate = contract === null ? null : validatorOf(name, contract.ajv);
  if (validate === null || validate(value)) return [];
  return [
    {
      message: `This JSON does not match the schema "${name}": ${reasonOf(validate.errors)}.`,
      remedy: `Correct it; see openapi/components/schemas/${name}.yaml.`,
    },
  ];
}

/** Returns the validator of a schema; `null` if the schema is missing or invalid, which other rules report. */
function validatorOf(name: string, ajv: Ajv2020): ValidateFunction | null {
  try {
    return ajv.getSchema(`contract#/components/schemas/${name}`) ?? null;
  } catch {
    return null;
  }
}

/** Removes the position from a message of JSON.parse. The position counts from the start of the code instead of the page. */
function withoutPlace(message: string): string {
  return message.replaceAll('\n', ' ').replace(/ in JSON at position \d+(?: \(line \d+ column \d+\))?/, '');
}

/**
 * Returns the number of characters before the first character that makes the JSON invalid. JSON.parse does not always report this
 * position.
 */
function endOfReadable(text: string): number {
  for (let end = 1; end <= text.length; end += 1) {
    if (isRefusedBeforeItsEnd(text.slice(0, end))) return end - 1;
  }
  return text.length;
}

/** Returns whether JSON.parse fails at a character of the text, rather than because the text ends too early. */
function isRefusedBeforeItsEnd(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const position = / at position (\d+)/.exec(message)?.[1];
    if (position !== undefined) return Number(position) < text.length;
    return !message.startsWith('Unexpected end of JSON input');
  }
}

/**
 * Returns a fault for each curl command that cannot get the status in the label. The label lists the statuses in the order of the
 * commands. If the contract does not have the requested operation, the status must be 404 or 405.
 */
function faultsOfCommands(code: string, options: Options, { operations }: Contract): Fault[] {
  const lines = code.split('\n');
  const starts = lines.flatMap((line, i) => (/\bcurl\b/.test(line) ? [i] : []));
  return starts.flatMap((start, i) => {
    const command = lines.slice(start, starts[i + 1]).join('\n');
    const status = options.get('status')?.split(',')[i];
    const path = /\$CHARTER_URL(\/api\/[^\s"'?]*)/.exec(command)?.[1];
    if (status === undefined || path === undefined) return [];
    const isSent = /\s(-d|--data)\b/.test(command) && !/\s(-G|--get)\b/.test(command);
    const method = /(?:-X|--request)[ =]?(\w+)/.exec(command)?.[1] ?? (isSent ? 'POST' : 'GET');
    const operation = operations.find(
      (each) => each.method.toUpperCase() === method && isOfTemplate(segmentsOf(each.path), segmentsOf(path)),
    );
    const line = start + 1;
    if (operation === undefined) {
      if (['404', '405'].includes(status)) return [];
      return [{ line, message: `The contract has no ${method} ${path}.`, remedy: 'Correct the method or the path.' }];
    }
    if (operation.responses[status] !== undefined) return [];
    const remedy = `Correct the status after the language: ${Object.keys(operation.responses).join(', ')}.`;
    return [{ message: `${operation.operationId} has no response ${status}.`, remedy }];
  });
}

function faultsOfResponse(code: string, options: Options, { operations, ajv }: Contract): Fault[] {
  const [operationId = '', status = ''] = options.get('response')?.split(':') ?? [];
  if (status === '') return [];
  const operation = operations.find((each) => each.operationId === operationId);
  if (operation === undefined) {
    const ids = operations.map((each) => each.operationId);
    const near = nearest(operationId, ids);
    const remedy = near === undefined ? `Name one of: ${ids.join(', ')}.` : `Did you mean "${near}"?`;
    return [{ message: `The contract has no operation "${operationId}".`, remedy }];
  }
  const response = operation.responses[status];
  if (response === undefined) {
    const remedy = `Name one of its responses: ${Object.keys(operation.responses).join(', ')}.`;
    return [{ message: `${operationId} has no response ${status}.`, remedy }];
  }
  const [first = '', ...headers] = code.split('\n');
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  const ofFirst = {
    line: 1,
    message: `The first line of this response must be "${line}".`,
    remedy: 'Correct it, or the status after the language.',
  };
  return [
    ...(first === line ? [] : [ofFirst]),
    ...headers.flatMap((header, i) => {
      const fault = faultOfHeader(header, { response, of: `The response ${status} of ${operationId}`, ajv });
      return fault === null ? [] : [{ ...fault, line: i + 2 }];
    }),
  ];
}

type Shown = { readonly response: Operation['responses'][string]; readonly of: string; readonly ajv: Ajv2020 };

function faultOfHeader(header: string, { response: { headers = {} }, of, ajv }: Shown): Fault | null {
  const [name = '', text = ''] = header.split(/: (.*)/);
  const declared = headers[name];
  if (declared === undefined) {
    const near = nearest(name, Object.keys(headers));
    const remedy =
      near === undefined ? `Its headers are: ${Object.keys(headers).join(', ')}.` : `Did you mean "${near}"?`;
    return { message: `${of} has no header "${name}".`, remedy };
  }
  const validate = ajv.compile(declared.schema);
  if (validate(headerValue(text, declared.schema))) return null;
  return {
    message: `The header ${name} cannot have this value: ${reasonOf(validate.errors)}.`,
    remedy: 'Correct it; see openapi/components/headers.',
  };
}

function headerValue(text: string, { type }: Schema): unknown {
  return type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}

function reasonOf(
  errors: readonly { instancePath: string; message?: string; params: unknown }[] | null | undefined,
): string {
  const [error] = errors ?? [];
  const place = error?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  const extra = isObject(error?.params) ? error.params['additionalProperty'] : undefined;
  return `${place === '' ? 'it' : place} ${error?.message ?? ''}${extra === undefined ? '' : ` (${extra})`}`;
}

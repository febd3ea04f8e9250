import { isObject } from '../../../src/contract/document.ts';
import { type Rule, report } from '../rule.ts';

// Clients distinguish errors by the name of their schema. Webhooks are not checked: the responses to webhooks come from
// clients, and have no body.

export const namedException: Rule = {
  name: 'named-exception',
  visitor: {
    Paths: {
      Responses(responses, context) {
        for (const [status, response] of Object.entries(responses)) {
          if (/^[45]/.test(status) && !NAME.test(nameOf(response))) {
            report(context, {
              at: context.location.child(status).key(),
              message: `The response ${status} has no exception schema.`,
              remedy:
                'Refer to one of components/responses, or to a schema of components/schemas whose name ends in "Exception".',
            });
          }
        }
      },
    },
  },
  mistakes: [
    {
      find: '$ref: "#/components/responses/NotFoundException"',
      replace: '$ref: "#/components/responses/BookPage"',
      says: 'The response 404 has no exception schema.',
    },
    {
      find: '                $ref: "#/components/schemas/NotFoundException"\n',
      replace: '                $ref: "#/components/schemas/Message"\n',
      says: 'The response 401 has no exception schema.',
    },
  ],
};

/** Matches a reference to an exception, such as "../components/responses/NotFoundException.yaml" or a reference within a file. */
const NAME = /\/[A-Z][A-Za-z]+Exception(\.yaml)?$/;

function nameOf(response: unknown): string {
  if (!isObject(response)) return '';
  if (typeof response['$ref'] === 'string') return response['$ref'];
  const { content } = response;
  const media = isObject(content) ? content['application/json'] : undefined;
  const schema = isObject(media) ? media['schema'] : undefined;
  return isObject(schema) ? String(schema['$ref']) : '';
}

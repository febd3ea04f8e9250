import { isNode, type Rule, report } from '../rule.ts';

// Clients tell errors apart by the name of their schema.

export const namedException: Rule = {
  name: 'named-exception',
  visitor: {
    Responses(responses, context) {
      for (const [status, response] of Object.entries(responses)) {
        if (/^[45]/.test(status) && !NAME.test(nameOf(response))) {
          report(context, {
            at: context.location.child(status).key(),
            words: `The answer ${status} is no named exception.`,
            remedy: 'Point to one of components/responses, or let its schema be one of components/schemas that ends in "Exception".',
          });
        }
      }
    },
  },
  mistakes: [
    {
      replace: '$ref: "#/components/responses/NotFoundException"',
      by: '$ref: "#/components/responses/BookPage"',
      says: 'The answer 404 is no named exception.',
    },
    {
      replace: '                $ref: "#/components/schemas/NotFoundException"\n',
      by: '                $ref: "#/components/schemas/Message"\n',
      says: 'The answer 401 is no named exception.',
    },
  ],
};

/** "../components/responses/NotFoundException.yaml", or the same within one file. */
const NAME = /\/[A-Z][A-Za-z]+Exception(\.yaml)?$/;

function nameOf(response: unknown): string {
  if (!isNode(response)) return '';
  if (typeof response['$ref'] === 'string') return response['$ref'];
  const { content } = response;
  const media = isNode(content) ? content['application/json'] : undefined;
  const schema = isNode(media) ? media['schema'] : undefined;
  return isNode(schema) ? String(schema['$ref']) : '';
}

import { isObject, METHODS } from '../../../src/contract/document.ts';
import { type Place, type Rule, report } from '../rule.ts';
import { memberAt } from '../walk.ts';

// Redocly's own rule refuses "/books/{id}/archive" beside "/books/by_isbn/{isbn}", even if these paths have no common method.

/** Reports two paths that can match the same URL if they have a common method and the same number of parameters. */
export const unambiguousPath: Rule = {
  name: 'unambiguous-path',
  visitor: {
    Root(root, context) {
      const paths = isObject(root['paths']) ? Object.keys(root['paths']) : [];
      const seen: Path[] = [];
      for (const path of paths) {
        const [item] = memberAt({ node: root, place: context.location }, ['paths', path], context);
        const methods = METHODS.filter((method) => item?.node[method] !== undefined);
        const place = context.location.child(['paths', path]);
        for (const other of seen) {
          const method = methods.find((each) => other.methods.includes(each))?.toUpperCase();
          if (method === undefined || !areAlike(path, other.path)) continue;
          report(context, {
            at: [place.key(), other.place.key()],
            message: `Some URLs match both "${other.path}" and "${path}", and both paths have ${method}.`,
            remedy:
              'Rename a segment. Without a common method, both paths can stay: such a URL belongs to the path whose literal segment stands first.',
          });
        }
        seen.push({ path, methods, place });
      }
    },
  },
  mistakes: [
    {
      find: 'webhooks:\n',
      replace: `${operation('/api/books/{id}/lent', 'getLent')}${operation('/api/books/by_isbn/{id}', 'getByIsbn')}webhooks:\n`,
      says: 'Some URLs match both "/api/books/{id}/lent" and "/api/books/by_isbn/{id}", and both paths have GET. The other place is FILE:92.',
    },
  ],
};

type Path = { readonly path: string; readonly methods: readonly string[]; readonly place: Place };

/**
 * Returns whether a URL can match both paths, and the paths have the same number of parameters. Servers may then choose either
 * path.
 */
function areAlike(a: string, b: string): boolean {
  const [own, other] = [a.split('/'), b.split('/')];
  const isParameter = (segment: string) => segment.startsWith('{');
  const parametersOf = (segments: readonly string[]) => segments.filter(isParameter).length;
  return (
    own.length === other.length &&
    parametersOf(own) === parametersOf(other) &&
    own.every((segment, i) => segment === other[i] || isParameter(segment) || isParameter(other[i] ?? ''))
  );
}

function operation(path: string, id: string): string {
  return `  ${path}:
    get:
      operationId: ${id}
      summary: Get a book
      description: Gets a book.
      tags: [Books]
      security:
        - apiKey: []
      parameters:
        - name: id
          in: path
          description: The ID.
          required: true
          schema:
            type: string
            maxLength: 36
          examples:
            one:
              summary: One
              value: "1"
      responses:
        "200":
          $ref: "#/components/responses/BookPage"
        "401":
          $ref: "#/components/responses/NotFoundException"
        "404":
          $ref: "#/components/responses/NotFoundException"
`;
}

// URLs that match two paths of a contract, such as "/{id}/archive" and "/by_external_id/{external_id}".
import { openMock } from '../../scripts/mock/server.ts';
import { createConformityCheck } from '../../src/contract/conformity.ts';
import { readDocument } from '../../src/contract/contract.ts';
import { Client } from '../support/clients/client.ts';

const LIST = '/api/parent_programs';

const contract = await readDocument();
const action = { ...Object(contract.paths?.[`${LIST}/{id}`])['delete'], operationId: 'archiveParentProgram' };
const document = { ...contract, paths: { ...contract.paths, [`${LIST}/{id}/archive`]: { post: action } } };
const mock = await openMock(
  { document, yaml: async () => '', style: '', icon: '' },
  { port: 0, isStateful: true, seed: {} },
);
afterAll(() => mock.close());
const client = new Client(mock.url, mock.key, () => {});
const check = createConformityCheck({ ...document });

test('a URL belongs to the path whose literal segment stands first, for the router and for the check of responses', async () => {
  const shared = `${LIST}/by_external_id/archive`;
  const created = await client.put(shared, { name: 'x' });
  expect([created.status, created.body.external_id]).toEqual([201, 'archive']);
  const refused = await client.post(shared, {});
  expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET, HEAD, PUT, DELETE']);
  const archived = await client.send('POST', `${LIST}/${created.body.id}/archive`, { headers: { Prefer: 'code=204' } });
  expect(archived.status).toBe(204);
  const namesOf = (method: string, url: string, response: typeof created) =>
    check({ method, url }, response).operations.map(({ operationId }) => operationId);
  expect(namesOf('PUT', shared, created)).toEqual(['upsertParentProgram']);
  expect(namesOf('POST', shared, refused)).toEqual([
    'getParentProgramByExternalId',
    'upsertParentProgram',
    'deleteParentProgramByExternalId',
  ]);
  expect(namesOf('POST', `${LIST}/${created.body.id}/archive`, archived)).toEqual(['archiveParentProgram']);
});

// A resource that refers to another resource: a copy of parent programs with a reference, a time and an action.
import { openMock } from '../../scripts/mock/server.ts';
import { readDocument } from '../../src/contract/contract.ts';
import { Client } from '../support/clients/client.ts';

const LIST = '/api/parent_programs';
const COURSES = '/api/sample_courses';
const UNKNOWN = '019c2291-34b8-752e-bca9-000000000000';

type Named = Record<string, object>;

/** Returns the contract with the additional resource "/api/sample_courses". No resource of the product has this name. */
async function documentWithCourses() {
  const document = await readDocument();
  const copyOf = (value: unknown): Named =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll('parent_program', 'sample_course')
        .replaceAll('ParentProgram', 'SampleCourse')
        .replaceAll('parent program', 'sample course'),
    );
  const { paths, components } = document;
  const own = Object.entries(Object(paths)).filter(([path]) => path.startsWith(LIST));
  const copied = copyOf(components);
  const parts = Object.entries<Named>(Object(components)).map(([name, part]) => [name, { ...copied[name], ...part }]);
  for (const name of ['SampleCourse', 'SampleCourseCreate', 'SampleCourseUpdate']) {
    const { properties } = Object(copied['schemas'])[name];
    properties.parent_program_id = { type: ['string', 'null'], format: 'uuid', maxLength: 36 };
    properties.starts_at = {
      type: ['string', 'null'],
      format: 'date-time',
      maxLength: name === 'SampleCourse' ? 24 : 40,
    };
  }
  const { SampleCourse: course, Event: event } = Object(Object.fromEntries(parts)['schemas']);
  course.properties.archived_at = { type: ['string', 'null'], format: 'date-time', maxLength: 24 };
  event.properties.type.enum.push('sample_course.updated', 'sample_course.archived');
  const courses = copyOf(Object.fromEntries(own));
  const { requestBody: _body, ...archive } = structuredClone(Object(courses[`${COURSES}/{id}`])['patch']);
  const { value: shown } = Object(Object.fromEntries(parts)['examples']).SampleCourseFull;
  archive.operationId = 'archiveSampleCourse';
  archive.responses['200'].content['application/json'].examples = {
    archived: { value: { ...shown, archived_at: '2026-05-04T10:00:00.000Z' } },
  };
  return {
    ...document,
    paths: { ...paths, ...courses, [`${COURSES}/{id}/archive`]: { post: archive } },
    components: { ...components, ...Object.fromEntries(parts) },
  };
}

const document = await documentWithCourses();
const assets = { document, yaml: async () => '', style: '', icon: '' };
const mock = await openMock(assets, { port: 0, isStateful: true, seed: {} });
afterAll(() => mock.close());
const client = new Client(mock.url, mock.key, () => {});

test('a reference to an item that does not exist gets the 422 of the server', async () => {
  const { body: program } = await client.post(LIST, { name: 'x' });
  const errors = { parent_program_id: ['is not the id of any parent program of your organization.'] };
  const refused = await client.post('/api/sample_courses', { name: 'x', parent_program_id: UNKNOWN });
  expect([refused.status, refused.body.errors]).toEqual([422, errors]);
  const { body: course, status } = await client.post('/api/sample_courses', {
    name: 'x',
    parent_program_id: program.id,
  });
  expect(status).toBe(201);
  const changed = await client.patch(`/api/sample_courses/${course.id}`, { parent_program_id: UNKNOWN });
  expect([changed.status, changed.body.errors]).toEqual([422, errors]);
  expect((await client.patch(`/api/sample_courses/${course.id}`, { parent_program_id: null })).status).toBe(200);
});

test('a deletion deletes what refers to the item, and nothing else', async () => {
  const [one, other] = [await client.post(LIST, { name: 'a' }), await client.post(LIST, { name: 'b' })];
  const course = (program: unknown) => client.post('/api/sample_courses', { name: 'x', parent_program_id: program });
  const [first, second] = [await course(one.body.id), await course(other.body.id)];
  expect((await client.delete(`${LIST}/${one.body.id}`)).status).toBe(204);
  expect((await client.get(`/api/sample_courses/${first.body.id}`)).status).toBe(404);
  expect((await client.get(`/api/sample_courses/${second.body.id}`)).status).toBe(200);
});

test('an instant with an offset is kept in UTC', async () => {
  const sent = { name: 'x', starts_at: '2026-01-31T23:30:00+05:30' };
  const { status, body } = await client.post('/api/sample_courses', sent);
  expect([status, body.starts_at]).toEqual([201, '2026-01-31T18:00:00.000Z']);
  const changed = await client.patch(`/api/sample_courses/${body.id}`, { starts_at: '2026-01-01T00:00:00-01:00' });
  expect(changed.body.starts_at).toBe('2026-01-01T01:00:00.000Z');
});

test('an action sets what its example shows changed, with its event, and does nothing the second time', async () => {
  expect((await client.send('POST', `${COURSES}/${UNKNOWN}/archive`)).status).toBe(404);
  const { body: course } = await client.post(COURSES, { name: 'x' });
  const archived = await client.send('POST', `${COURSES}/${course.id}/archive`);
  expect([archived.status, archived.body]).toEqual([
    200,
    { ...course, archived_at: expect.any(String), updated_at: archived.body.archived_at },
  ]);
  expect((await client.send('POST', `${COURSES}/${course.id}/archive`)).body).toEqual(archived.body);
  expect((await client.get(`${COURSES}/${course.id}`)).body).toEqual(archived.body);
  const { body: feed } = await client.get('/api/events?limit=100');
  const events = feed.data.filter(({ data }: { data: { id: string } }) => data.id === course.id);
  expect(events.map(({ type, data }: { type: string; data: object }) => [type, data])).toEqual([
    ['sample_course.archived', archived.body],
  ]);
});

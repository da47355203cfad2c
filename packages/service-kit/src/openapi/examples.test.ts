import { withExamples } from './examples.ts';

const operation = {
  operationId: 'renameThing',
  parameters: [
    { name: 'id', required: true },
    { name: 'q', required: false },
  ],
  requestBody: { required: true, content: { 'application/json': { schema: {} } } },
  responses: {
    200: { description: 'Success.', content: { 'application/json': { schema: {} } } },
    404: { description: 'No such thing.', content: { 'application/json': { schema: {} } } },
  },
};

it('shows what was sent and answered, and leaves optional parameters empty', () => {
  const example = { parameters: { id: 3, q: 'name:eq:a' }, request: { name: 'a' }, answer: { id: 3, name: 'a' } };
  const shown = withExamples({ '/things/{id}': { patch: operation } }, { renameThing: example });
  expect(shown['/things/{id}']?.patch).toMatchObject({
    parameters: [
      { name: 'id', example: 3 },
      { name: 'q', required: false },
    ],
    requestBody: { content: { 'application/json': { schema: {}, example: { name: 'a' } } } },
    responses: { 200: { content: { 'application/json': { example: { id: 3, name: 'a' } } } } },
  });
  expect(JSON.stringify(shown).match(/"example"/g)).toHaveLength(3);
});

it('leaves operations as they are that none was recorded of', () => {
  const paths = { '/things/{id}': { patch: operation } };
  expect(withExamples(paths, {})).toEqual(paths);
});

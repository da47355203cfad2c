import { type ApiDocument, asLines, brokenPromises, fromLines, readPromises } from './http-contract.ts';

type Schema = Record<string, unknown>;

const object = (properties: Record<string, Schema>, required = Object.keys(properties)): Schema => ({
  type: 'object',
  properties,
  required,
});
const text = { type: 'string' };

const before = {
  body: object({ name: text, kind: { enum: ['a', 'b'] } }, ['name']),
  answer: object({ id: { type: 'integer' }, note: { type: ['string', 'null'] } }),
};

const documentOf = ({ body, answer }: { body: Schema; answer: Schema }, more: object[] = []) =>
  ({
    paths: {
      '/things': {
        post: {
          'x-service': 'data',
          security: [{ oauth2: ['api:write'] }],
          parameters: more,
          requestBody: { content: { 'application/json': { schema: body } } },
          responses: { 201: { content: { 'application/json': { schema: answer } } } },
        },
      },
    },
    components: { schemas: {} },
  }) as unknown as ApiDocument;

const promises = (document: ApiDocument) => readPromises(document, 'data');
const breaks = (change: Partial<typeof before>, more?: object[]) =>
  brokenPromises(promises(documentOf(before)), promises(documentOf({ ...before, ...change }, more)));

describe('the HTTP contract beside that of the last release', () => {
  it('is written as lines and read again as it was', () => {
    const all = promises(documentOf(before));
    expect(fromLines(asLines(all))).toEqual(all);
    expect(asLines(all)).toContain('POST /things takes body name: string, required\n');
  });

  it('keeps its promises when nothing or something harmless changes', () => {
    expect(breaks({})).toEqual([]);
    expect(breaks({ body: object({ ...(before.body.properties as object), hint: text }, ['name']) })).toEqual([]);
    expect(breaks({ answer: object({ ...(before.answer.properties as object), hint: text }) })).toEqual([]);
    expect(breaks({}, [{ name: 'page', in: 'query', required: false, schema: text }])).toEqual([]);
  });

  it.each<[string, Partial<typeof before>, string]>([
    ['a property that callers send is gone', { body: object({ name: text }) }, 'takes body kind: is gone'],
    [
      'a value that callers send is gone',
      { body: object({ name: text, kind: { enum: ['a'] } }, ['name']) },
      'takes body kind: no longer "b"',
    ],
    [
      'a property must be sent',
      { body: object({ name: text, kind: { enum: ['a', 'b'] } }) },
      'takes body kind: is required now',
    ],
    [
      'a new property must be sent',
      { body: object({ name: text, kind: { enum: ['a', 'b'] }, hint: text }, ['name', 'hint']) },
      'takes body hint: is new and required',
    ],
    [
      'a property that callers read is gone',
      { answer: object({ id: { type: 'integer' } }) },
      'answers 201 note: is gone',
    ],
    [
      'a property that callers read is of another type',
      { answer: object({ id: text, note: { type: ['string', 'null'] } }) },
      'answers 201 id: may now be string',
    ],
    [
      'a property that callers read may be missing',
      { answer: object({ id: { type: 'integer' }, note: { type: ['string', 'null'] } }, ['id']) },
      'answers 201 note: may be missing now',
    ],
  ])('breaks when %s', (_what, change, told) => {
    expect(breaks(change)).toEqual([`POST /things ${told}`]);
  });

  it('breaks when an operation is gone, and when a call needs a parameter that it did not', () => {
    expect(brokenPromises(promises(documentOf(before)), [])).toContain('POST /things needs: is gone');
    expect(breaks({}, [{ name: 'page', in: 'query', required: true, schema: text }])).toEqual([
      'POST /things takes query page: is new and required',
    ]);
  });
});

import { eventually } from '@almanac/testkit/eventually';
import { callWith } from './given.ts';
import { useNeighbours } from './neighbours.ts';

const { services, identity, useGateway } = useNeighbours();
const gateway = useGateway();

type Line = { level: string; msg: string; request_id?: string };
const linesAbout = (id: string | null) =>
  gateway
    .log()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    .filter(({ request_id }) => request_id === id);

describe('the log', () => {
  it('has the cause of a failure of the gateway, under the request id of the answer (LOG-06)', async () => {
    services.answer((_req, res) => res.end('{"no": JSON'));
    const answer = await fetch(`${gateway.url}/openapi.json`);
    expect(answer.status).toBe(503);
    expect(await answer.text()).not.toContain('JSON');
    const err = expect.objectContaining({ type: 'SyntaxError', stack: expect.stringMatching(/^at JSON\.parse/) });
    const expected = { level: 'error', err };
    await eventually(() =>
      expect(linesAbout(answer.headers.get('x-request-id'))).toContainEqual(expect.objectContaining(expected)),
    );
  });

  it('has one line for each call, without its query, headers and token', async () => {
    const token = await identity.token({ account_id: 7, application_id: 8, sub: '9', user_id: 9 });
    const answer = await callWith(gateway, token, 'GET', '/api/v1/domains?q=name:eq:private&access_token=none');
    const [line, ...others] = await eventually(() => {
      const found = linesAbout(answer.headers.get('x-request-id'));
      expect(found).not.toHaveLength(0);
      return found;
    });
    expect(others).toEqual([]);
    expect(line).toMatchObject({ msg: 'request', method: 'GET', path: '/api/v1/domains', status: 200, account_id: 7 });
    expect(JSON.stringify(line)).not.toContain('private');
  });
});

// Removals with approval: a deployment names deployed tables to be removed, and is shown, approved
// and applied like any other (ADR 23).
import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Answer,
  type Api,
  givenAccount,
  givenTable,
  givenUser,
  keyColumn,
  type Metadata,
  startMetadata,
} from '../../given.ts';
import { givenWork, type Work } from '../../promotion-given.ts';

let metadata: Metadata;
let work: Work;
let developer: Api & { id: number };
let approver: Api & { id: number };

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  work = await givenWork(metadata);
  developer = givenUser(metadata, work.account.id, [['develop', 'account', work.account.id]]);
  approver = givenUser(metadata, work.account.id, [['approve', 'branch', work.account.mainId]]);
});
afterEach(() => {
  Object.assign(metadata.neighbours.data, { before: {}, after: {}, isOld: false });
});

const referenceTo = (id: number) => ({ name: 'parent', data_type: 'string', length: 10, foreign_key_table_id: id });

async function givenDeployed(name: string, columns: Record<string, unknown>[] = [keyColumn]): Promise<number> {
  const { id } = await work.table(name, columns);
  const body = { branch_id: work.account.mainId, table_definition_ids: [id] };
  const deployment = await work.admin.post('/deployments', body);
  await work.admin.post(`/deployments/${deployment.id}/deploy`);
  return id;
}
const bodyOf = (removed: number[], ids: number[] = [], branchId = work.account.mainId) => ({
  branch_id: branchId,
  table_definition_ids: ids,
  remove_table_definition_ids: removed,
});
const propose = (removed: number[], ids: number[] = []): Promise<Answer['body']> =>
  developer.post('/deployments', bodyOf(removed, ids));
const step = (user: Api, id: number, action: string) => user.send('POST', `/deployments/${id}/${action}`, {});
const isDeployed = (id: number) => metadata.neighbours.data.deployed.has(id);
const definitionOf = async (id: number) => (await work.admin.send('GET', `/table_definitions/${id}`)).status;

describe('a deployment that removes a table', () => {
  it('shows it as deleted with its rows, is not deployed by its creator, and removes it once an approver deploys it', async () => {
    const id = await givenDeployed('Codes');
    const made = await propose([id]);
    expect(made).toMatchObject({
      status: 'created',
      table_definitions: [{ id, key: 'codes' }],
      remove_table_definition_ids: [id],
      diffs: [{ table_definition_id: id, change: 'deleted', warnings: [{ rows: 3 }], blockers: [] }],
    });
    expect(await step(developer, made.id, 'deploy')).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
    expect((await step(developer, made.id, 'send_request')).status).toBe(200);
    expect(await step(developer, made.id, 'deploy')).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
    expect([isDeployed(id), await definitionOf(id)]).toEqual([true, 200]);

    const deployed = await step(approver, made.id, 'deploy');
    expect(deployed).toMatchObject({
      status: 200,
      body: {
        status: 'deployed',
        created_by: developer.id,
        approved_by: approver.id,
        remove_table_definition_ids: [id],
        diffs: [{ table_definition_id: id, change: 'deleted' }],
      },
    });
    expect([isDeployed(id), await definitionOf(id)]).toEqual([false, 404]);
    const served = await work.admin.get(`/deployed_table_definitions?branch_id=${work.account.mainId}`);
    expect(served.data).toEqual([]);
    await eventually(() => {
      const acts = metadata.acts.filter((act) => act.resource_id === id && act.action === 'table_definition.removed');
      expect(acts).toMatchObject([{ user_id: approver.id, before: { key: 'codes', column_names: ['code'] } }]);
    });
  });

  it('can be undone like any removal, by an administrator', async () => {
    const id = await givenDeployed('Codes');
    await step(approver, (await propose([id])).id, 'deploy');
    expect((await step(developer, id, 'nothing')).status).toBe(404);
    expect((await developer.send('POST', `/table_definitions/${id}/restore`)).status).toBe(403);
    expect((await work.admin.send('POST', `/table_definitions/${id}/restore`)).status).toBe(200);
    expect([isDeployed(id), await definitionOf(id)]).toEqual([true, 200]);
  });

  it('is not applied by its creator, even an approver, but by an administrator of the account', async () => {
    const id = await givenDeployed('Codes');
    const author = givenUser(metadata, work.account.id, [
      ['develop', 'account', work.account.id],
      ['approve', 'branch', work.account.mainId],
    ]);
    const made = await author.post('/deployments', bodyOf([id]));
    expect((await step(author, made.id, 'deploy')).status).toBe(403);
    expect(isDeployed(id)).toBe(true);
    expect((await step(work.admin, made.id, 'deploy')).status).toBe(200);
    expect(isDeployed(id)).toBe(false);
  });

  it('creates and changes other tables in the same transaction, also tables that refer to each other', async () => {
    const one = await givenDeployed('One');
    const other = await givenDeployed('Other', [keyColumn, referenceTo(one)]);
    await developer.post('/column_definitions', { table_definition_id: one, column_definition: referenceTo(other) });
    const again = await work.admin.post('/deployments', {
      branch_id: work.account.mainId,
      table_definition_ids: [one],
    });
    await work.admin.post(`/deployments/${again.id}/deploy`);
    const { id } = await work.table('New', [keyColumn]);
    const made = await propose([one, other], [id]);
    expect((await step(approver, made.id, 'deploy')).body.status).toBe('deployed');
    expect([isDeployed(one), isDeployed(other), isDeployed(id)]).toEqual([false, false, true]);
    expect(await Promise.all([one, other, id].map(definitionOf))).toEqual([404, 404, 200]);
  });

  it('removes a table whose definition was deleted before', async () => {
    const id = await givenDeployed('Codes');
    expect((await work.admin.send('DELETE', `/table_definitions/${id}`)).status).toBe(204);
    const made = await propose([id]);
    expect((await developer.send('POST', `/deployments/${made.id}/rehearse`)).body.violations).toEqual([]);
    expect((await step(approver, made.id, 'deploy')).status).toBe(200);
    expect(isDeployed(id)).toBe(false);
  });

  it('needs only the right "develop" on a branch that is not protected', async () => {
    const id = await givenDeployed('Codes');
    await work.admin.send('PATCH', `/branches/${work.account.mainId}`, { is_protected: false });
    expect((await step(developer, (await propose([id])).id, 'deploy')).status).toBe(200);
    expect(isDeployed(id)).toBe(false);
  });
});

describe('a blocker of a removal', () => {
  it('is a deployed table that refers to it: shown, and 422', async () => {
    const target = await givenDeployed('Target');
    const referring = await givenDeployed('Referring', [keyColumn, referenceTo(target)]);
    const made = await propose([target]);
    const reasons = [
      'Referring refers to this table.',
      'Columns of other definitions refer to this table: Referring.parent',
    ];
    expect(made.diffs[0].blockers.map(({ message }: { message: string }) => message)).toEqual(reasons);
    const rehearsed = await developer.send('POST', `/deployments/${made.id}/rehearse`);
    expect(rehearsed.body.violations.map(({ message }: { message: string }) => message)).toEqual(reasons);
    expect((await step(approver, made.id, 'deploy')).status).toBe(422);
    expect([isDeployed(target), await definitionOf(target)]).toEqual([true, 200]);
    expect((await step(approver, (await propose([target, referring])).id, 'deploy')).status).toBe(200);
  });

  it('is a column of a draft, which data does not know', async () => {
    const target = await givenDeployed('Target');
    const made = await propose([target]);
    await work.table('Draft', [keyColumn, referenceTo(target)]);
    const { status, body } = await step(approver, made.id, 'deploy');
    expect({ status, errors: body.errors }).toEqual({
      status: 422,
      errors: ['Target: Columns of other definitions refer to this table: Draft.parent'],
    });
    expect([isDeployed(target), await definitionOf(target)]).toEqual([true, 200]);
  });

  it('is that the table was removed or deployed again since it was shown', async () => {
    const [removed, changed] = [await givenDeployed('Removed'), await givenDeployed('Changed')];
    const [first, second] = [await propose([removed]), await propose([changed])];
    await approver.get(`/deployments/${second.id}`);
    await work.admin.send('POST', `/table_definitions/${removed}/remove`);
    expect((await step(approver, first.id, 'deploy')).body.errors).toEqual([
      `Table definition ${removed} (Removed) is not in service any more`,
    ]);
    const column = { table_definition_id: changed, column_definition: { name: 'note', data_type: 'text' } };
    await developer.post('/column_definitions', column);
    const again = await developer.post('/deployments', bodyOf([], [changed]));
    await step(approver, again.id, 'deploy');
    expect((await step(approver, second.id, 'deploy')).body.errors[0]).toBe(
      'Changed has changed since the diffs were shown',
    );
    expect(isDeployed(changed)).toBe(true);
  });

  it('is a data service of the previous release, which knows no removals', async () => {
    const id = await givenDeployed('Codes');
    const made = await propose([id]);
    metadata.neighbours.data.isOld = true;
    for (const { status, body } of [
      await developer.send('POST', '/deployments', bodyOf([id])),
      await step(approver, made.id, 'deploy'),
    ])
      expect([status, body.errors]).toEqual([
        503,
        ['The data service is of a release that removes no tables by deployment; try again when it is updated.'],
      ]);
    expect([isDeployed(id), await definitionOf(id)]).toEqual([true, 200]);
    metadata.neighbours.data.isOld = false;
    expect((await step(approver, made.id, 'deploy')).status).toBe(200);
  });
});

describe('the ids of tables to be removed', () => {
  it('are 404 when unknown or of another account, 422 of another branch or not in service', async () => {
    const id = await givenDeployed('Codes');
    const foreign = await givenTable(await givenAccount(metadata), 'Foreign');
    const draft = await work.table('Draft', [keyColumn]);
    const send = (body: object) => developer.send('POST', '/deployments', body);
    for (const missing of [2_000_000_000, foreign.id]) expect((await send(bodyOf([missing]))).status).toBe(404);
    const problems = async (body: object) => {
      const { status, body: answer } = await send(body);
      return [status, ...answer.errors];
    };
    const elsewhere = bodyOf([id], [], work.featureId);
    expect(await problems(elsewhere)).toEqual([422, `Table definition ${id} is not on this branch`]);
    expect(await problems(bodyOf([draft.id, id], [id]))).toEqual([
      422,
      `Table definition ${draft.id} is not in service; delete its definition instead`,
      `Table definition ${id} can't be both deployed and removed`,
    ]);
    const onlooker = givenUser(metadata, work.account.id, [['view', 'account', work.account.id]]);
    expect((await onlooker.send('POST', '/deployments', bodyOf([id]))).status).toBe(403);
  });

  it('are optional: without them a deployment is as before', async () => {
    const { id } = await work.table('Codes', [keyColumn]);
    const send = (body: object) => developer.send('POST', '/deployments', body);
    const none = await send({ branch_id: work.account.mainId, table_definition_ids: [] });
    expect(none).toMatchObject({ status: 400, body: { errors: ['table_definition_ids must have at least 1 item'] } });
    expect((await send({ branch_id: work.account.mainId, remove_table_definition_ids: [id] })).status).toBe(400);
    const made = await developer.post('/deployments', bodyOf([], [id]));
    expect('remove_table_definition_ids' in made).toBe(false);
    const many = Array.from({ length: 1001 }, (_, place) => place + 1);
    expect((await send(bodyOf(many, [id]))).status).toBe(400);
  });
});

describe('while a removal is being applied', () => {
  it('no column can start to refer to the table, and its definition can’t be deleted', async () => {
    const target = await givenDeployed('Target');
    const { id: other } = await work.table('Other', [keyColumn]);
    const made = await propose([target]);
    const answers: Answer[] = [];
    metadata.neighbours.data.before.ApplyDeployment = async () => {
      const column = { table_definition_id: other, column_definition: referenceTo(target) };
      answers.push(await work.admin.send('POST', '/column_definitions', column));
      answers.push(await work.admin.send('DELETE', `/table_definitions/${target}`));
      answers.push(await work.admin.send('POST', `/table_definitions/${target}/remove`));
    };
    expect((await step(approver, made.id, 'deploy')).status).toBe(200);
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422]);
    expect(await definitionOf(target)).toBe(404);
  });

  it('after a crash before or after data has applied it, the reconciler resumes it', async () => {
    for (const when of ['before', 'after'] as const) {
      const id = await givenDeployed(`Codes ${when}`);
      const { id: made } = await work.table(`Made ${when}`, [keyColumn]);
      const deployment = await propose([id], [made]);
      metadata.neighbours.data[when].ApplyDeployment = () => {
        metadata.neighbours.data[when] = {};
        throw new ServiceError('unavailable', 'data is away');
      };
      await step(approver, deployment.id, 'deploy');
      await eventually(async () => {
        const { status, deployed_by } = await work.admin.get(`/deployments/${deployment.id}`);
        expect([status, deployed_by]).toEqual(['deployed', approver.id]);
      });
      expect([isDeployed(id), isDeployed(made), await definitionOf(id)]).toEqual([false, true, 404]);
    }
  });
});

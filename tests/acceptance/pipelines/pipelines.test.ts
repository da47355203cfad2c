// The scripts and commands of get-a-token.md and deploy-from-a-pipeline.md, run as they are shown:
// a person's token, a service user, and a pipeline that deploys as it.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Api, createApi, type Page } from '@almanac/api-client/api';
import { Browser } from '@almanac/api-client/browser';
import { requestToken, walkThrough } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, baseUrl, givenAccount, mainBranchId } from '@almanac/testkit/system/builders';

const pageOf = (name: string) =>
  readFileSync(resolve(import.meta.dirname, '../../../docs/how-to', `${name}.md`), 'utf8');
const blocksOf = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text as string);

const tokenPage = pageOf('get-a-token');
const pipelinePage = pageOf('deploy-from-a-pipeline');
const [definition = ''] = blocksOf(pipelinePage, 'json');

type Made = { id: number };
type Output = { code: number | null; stdout: string; stderr: string };

describe('a program that acts for a user', () => {
  let folder: string;
  let account: Account;
  let admin: Api;
  const running: ChildProcess[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'almanac-pipeline-'));
    writeFileSync(join(folder, 'token.mjs'), blocksOf(tokenPage, 'js').join(''));
    writeFileSync(join(folder, 'deploy.mjs'), blocksOf(pipelinePage, 'js').join(''));
    writeFileSync(join(folder, 'cost-centres.json'), definition);
    account = await givenAccount();
    admin = await account.person();
  });

  afterAll(() => {
    for (const each of running) each.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (words: string[], env: Record<string, string>) => {
    const child = spawn(process.execPath, words, {
      cwd: folder,
      env: { PATH: process.env.PATH, ALMANAC_BASE_URL: baseUrl(), ...env },
    });
    running.push(child);
    const output: Output = { code: null, stdout: '', stderr: '' };
    child.stdout.on('data', (text) => (output.stdout += text));
    child.stderr.on('data', (text) => (output.stderr += text));
    const ended = new Promise<Output>((done) => {
      child.on('close', (code) => done(Object.assign(output, { code })));
    });
    return { child, output, ended };
  };

  describe('as a person', () => {
    let env: Record<string, string>;
    const file = () => join(folder, 'person.json');
    const saved = () => JSON.parse(readFileSync(file(), 'utf8'));

    beforeAll(async () => {
      const oauth_application = {
        name: 'Scripts',
        redirect_uri: 'http://127.0.0.1/callback',
        confidential: false,
        scopes: 'api',
      };
      const { client_id } = await admin.post('/oauth_applications', { oauth_application });
      env = { ALMANAC_CLIENT_ID: client_id, ALMANAC_TOKEN_FILE: file() };
    });

    const addressIn = ({ output }: ReturnType<typeof start>) =>
      eventually(async () => {
        const address = /^http\S+$/m.exec(output.stderr)?.[0];
        expect(address).toBeDefined();
        return address as string;
      });

    it('gets a token by a log-in in the browser, and keeps it where only its owner reads it', async () => {
      const script = start(['token.mjs'], env);
      const address = await addressIn(script);
      const redirectUri = new URL(address).searchParams.get('redirect_uri') as string;
      const callback = await walkThrough(new Browser(), address, redirectUri, account.admin);
      expect((await fetch(new URL('/callback?code=x&state=wrong', callback))).status).toBe(404);
      expect(await (await fetch(callback)).text()).toBe('Done. You can close this page.');
      const { code, stdout } = await script.ended;
      expect(code).toBe(0);
      expect(stdout.trim()).toBe(saved().access_token);
      expect(statSync(file()).mode & 0o777).toBe(0o600);
      await createApi(baseUrl(), stdout.trim()).get('/deployments');
    });

    it('gets the next one by refresh, without a log-in', async () => {
      const before = saved();
      expect((await start(['token.mjs'], env).ended).stdout.trim()).toBe(before.access_token);
      writeFileSync(file(), JSON.stringify({ ...before, until: 0 }));
      const { code, stdout } = await start(['token.mjs'], env).ended;
      expect([code, stdout.trim()]).toEqual([0, saved().access_token]);
      expect(saved().refresh_token).not.toBe(before.refresh_token);
      await createApi(baseUrl(), stdout.trim()).get('/deployments');
      // A copy of the replaced token ends the grant: the script asks for a log-in.
      writeFileSync(file(), JSON.stringify({ ...before, until: 0 }));
      const script = start(['token.mjs'], env);
      await addressIn(script);
      script.child.kill();
      await script.ended;
    });
  });

  describe('as a service user', () => {
    let userId: number;
    let env: Record<string, string>;

    it('is made by the commands of its page', async () => {
      const [variables = ''] = blocksOf(tokenPage, 'sh');
      const commands = blocksOf(tokenPage.slice(tokenPage.indexOf('## As a service user')), 'sh');
      expect(commands).toHaveLength(4);
      const names = ['USER_ID', 'CLIENT_ID', 'CLIENT_SECRET', 'REFRESH_TOKEN', 'PIPELINE_TOKEN'];
      const show = `echo; echo "${names.map((name) => `$${name}`).join(' ')}"`;
      const script = ['set -euo pipefail', variables, ...commands, show].join('\n');
      const { stdout } = await promisify(execFile)('bash', ['-c', script.replace('http://127.0.0.1:8080', baseUrl())], {
        cwd: folder,
        env: { ...process.env, TOKEN: admin.token },
      });
      const shown = stdout.trim().split('\n').at(-1) ?? '';
      const [user = '', client_id = '', client_secret = '', refresh_token = '', token = ''] = shown.split(' ');
      userId = Number(user);
      env = {
        ALMANAC_CLIENT_ID: client_id,
        ALMANAC_CLIENT_SECRET: client_secret,
        ALMANAC_REFRESH_TOKEN: refresh_token,
      };
      // The page revokes the first token, and with it the access tokens of the script.
      await eventually(async () => {
        const answer = await createApi(baseUrl(), token).send('GET', '/deployments');
        expect([answer.status, answer.body]).toMatchObject([401, { error: 'Invalid token' }]);
      });
      const tokens = await admin.get<Page<Made>>(`/users/${userId}/refresh_tokens`);
      expect(tokens.data).toHaveLength(1);
      await admin.post('/domains', { domain: { name: 'Finance' } });
    });

    const deploy = (...words: string[]) => start(['deploy.mjs', ...words], env);
    const asPipeline = async () => {
      const client = {
        client_id: env.ALMANAC_CLIENT_ID as string,
        client_secret: env.ALMANAC_CLIENT_SECRET as string,
      };
      const form = { grant_type: 'refresh_token', refresh_token: env.ALMANAC_REFRESH_TOKEN as string };
      return createApi(baseUrl(), (await requestToken(baseUrl(), client, form)).access_token);
    };

    it('makes a branch and deploys there, and the branch, the deployment and the audit log name it', async () => {
      const first = await deploy('feature', 'cost-centres.json').ended;
      expect(first).toMatchObject({ code: 0, stderr: '' });
      expect(first.stdout).toMatch(/Cost centres: new[\s\S]*Cost centres is deployed on feature\./);
      const again = await deploy('feature', 'cost-centres.json').ended;
      expect(again).toMatchObject({ code: 0, stdout: 'Cost centres needs no deployment.\n' });
      const branches = await admin.get<Page<Made & { owner_id: number }>>('/branches?q=name:eq:feature');
      expect(branches.data[0]?.owner_id).toBe(userId);
      const deployments = await admin.get<Page<{ created_by: unknown; status: string }>>(
        `/deployments?q=branch_id:eq:${branches.data[0]?.id}`,
      );
      expect(deployments.data).toMatchObject([{ status: 'deployed' }]);
      expect(JSON.stringify(deployments.data[0]?.created_by)).toMatch(new RegExp(`\\b${userId}\\b`));
      await eventually(async () => {
        const log = await admin.get<Page<object>>(
          `/audit_events?q=user_id:eq:${userId}&q=action:eq:deployment.deployed`,
        );
        expect(log.data).toMatchObject([{ actor: { type: 'user', id: userId, name: 'Deployment pipeline' } }]);
      });
    });

    it('makes a reference to the table that the file names, on the branch it runs on', async () => {
      const refersTo = (name: string) => ({ name, data_type: 'string', length: 10, refers_to: 'Teams' });
      const { columns, ...teams } = JSON.parse(definition);
      writeFileSync(
        join(folder, 'people.json'),
        JSON.stringify({ ...teams, name: 'People', columns: [columns[0], refersTo('team')] }),
      );
      expect(await deploy('feature', 'people.json').ended).toMatchObject({
        code: 1,
        stderr: 'team refers to Teams, which is not on feature. Run the file of Teams first.\n',
      });
      writeFileSync(
        join(folder, 'teams.json'),
        JSON.stringify({ ...teams, name: 'Teams', columns: [columns[0], refersTo('part_of')] }),
      );
      for (const file of ['teams.json', 'people.json'])
        expect(await deploy('feature', file).ended).toMatchObject({ code: 0, stderr: '' });
      expect(await deploy('feature', 'people.json').ended).toMatchObject({
        stdout: 'People needs no deployment.\n',
      });
      const idOf = async (name: string) =>
        (await admin.get<Page<Made>>(`/table_definitions?q=name:eq:${name}`)).data[0]?.id;
      const teamsId = await idOf('Teams');
      for (const id of [teamsId, await idOf('People')]) {
        const columns = await admin.get<Page<object>>(`/column_definitions?table_definition_id=${id}`);
        expect(columns.data).toMatchObject([{ name: 'code' }, { foreign_key_table_id: teamsId }]);
      }
    });

    it('cancels a deployment that can’t be made, and says why', async () => {
      const wanted = JSON.parse(definition);
      const columns = [wanted.columns[0], { name: 'team', data_type: 'date', refers_to: 'Teams' }];
      writeFileSync(join(folder, 'dates.json'), JSON.stringify({ ...wanted, name: 'Dates', columns }));
      const { code, stderr } = await deploy('feature', 'dates.json').ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(/^Deployment \d+ was cancelled: team is date, but code of Teams is string\.\n$/);
      const id = /\d+/.exec(stderr)?.[0];
      expect(await admin.get(`/deployments/${id}`)).toMatchObject({ status: 'cancelled' });
    });

    const requested = () =>
      eventually(async () => {
        const { data } = await admin.get<Page<Made>>('/deployments?q=status:eq:requested');
        expect(data).toHaveLength(1);
        return data[0]?.id as number;
      });

    it('waits for an approver on a protected branch, and can’t approve its own deployment', async () => {
      const groups = await admin.get<Page<Made>>('/user_groups?q=name:eq:main%20Approvers');
      await admin.post('/user_group_assignments', { user_id: userId, user_group_id: groups.data[0]?.id });
      const pipeline = deploy('main', 'cost-centres.json');
      const id = await requested();
      const own = await (await asPipeline()).send('POST', `/deployments/${id}/deploy`);
      expect([own.status, own.body]).toMatchObject([403, { error: 'Forbidden' }]);
      await admin.get(`/deployments/${id}`);
      await admin.post(`/deployments/${id}/deploy`);
      const ended = await pipeline.ended;
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(ended.stdout).toMatch(/waits for an approver of main\.\nCost centres is deployed on main\./);
    });

    it('fails with the reason of the approver, or with what is wrong', async () => {
      const wanted = JSON.parse(definition);
      wanted.columns[1].length = 200;
      writeFileSync(join(folder, 'longer.json'), JSON.stringify(wanted));
      const pipeline = deploy('main', 'longer.json');
      await admin.post(`/deployments/${await requested()}/reject`, { comment: 'Not in this quarter' });
      const rejected = await pipeline.ended;
      expect(rejected.code).toBe(1);
      expect(rejected.stderr).toMatch(/^Deployment \d+ is rejected: Not in this quarter\n$/);
      writeFileSync(join(folder, 'lost.json'), JSON.stringify({ ...wanted, name: 'Other', domain: 'Nowhere' }));
      expect(await deploy('main', 'lost.json').ended).toMatchObject({
        code: 1,
        stderr: 'There is no domain Nowhere.\n',
      });
      wanted.columns[1].length = -1;
      writeFileSync(join(folder, 'wrong.json'), JSON.stringify(wanted));
      const wrong = await deploy('feature', 'wrong.json').ended;
      expect(wrong).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^PATCH .*: 422 Validation failed\n {2}Length/),
      });
    });

    it('promotes what it has made on a branch, as one who proposes', async () => {
      const pipeline = await asPipeline();
      const branch = await pipeline.post<Made>('/branches', { branch: { name: 'changes' } });
      const main = await mainBranchId(pipeline);
      const [table] = (await pipeline.get<Page<Made>>(`/table_definitions?branch_id=${main}`)).data;
      const clone = await pipeline.post<Made>(`/table_definitions/${table?.id}/clone`, { target_branch_id: branch.id });
      const column_definition = { name: 'note', data_type: 'string', length: 20 };
      await pipeline.post('/column_definitions', { table_definition_id: clone.id, column_definition });
      const promotion = await pipeline.post('/promotions', {
        from_branch_id: branch.id,
        to_branch_id: main,
        table_definition_ids: [clone.id],
      });
      expect((await pipeline.send('POST', `/promotions/${promotion.id}/promote`)).status).toBe(403);
      await admin.get(`/promotions/${promotion.id}`);
      expect(await admin.post(`/promotions/${promotion.id}/promote`)).toMatchObject({ status: 'promoted' });
    });

    it('has the limits of its scopes, and its application alone still gets no user context', async () => {
      const pipeline = await asPipeline();
      const users = await pipeline.send('GET', '/users');
      expect([users.status, users.body]).toMatchObject([403, { error: 'Insufficient scope. Required: api:admin' }]);
      const { ALMANAC_CLIENT_ID: client_id = '', ALMANAC_CLIENT_SECRET: client_secret = '' } = env;
      const own = await requestToken(baseUrl(), { client_id, client_secret }, { grant_type: 'client_credentials' });
      const answer = await createApi(baseUrl(), own.access_token).send('GET', '/deployments');
      expect(answer.status).toBe(401);
      expect(JSON.stringify(answer.body)).toContain('This operation needs a user context');
    });

    it('acts no more when it is deleted, and says so in a sentence', async () => {
      const pipeline = await asPipeline();
      await admin.delete(`/users/${userId}`);
      await eventually(async () => {
        const answer = await pipeline.send('GET', '/deployments');
        expect([answer.status, answer.body]).toMatchObject([401, { error: 'Invalid resource owner' }]);
      });
      const ended = await deploy('feature', 'cost-centres.json').ended;
      expect(ended).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^The refresh token was refused: invalid_grant/),
      });
    });
  });
});

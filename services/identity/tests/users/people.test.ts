// /people: who is behind an id, for every caller of the account.
import { type Account, givenIdentity, type Identity } from '../given.ts';

let identity: Identity;
let account: Account;
let ids: Record<'ada' | 'grace' | 'nameless' | 'robot' | 'out', number>;

beforeAll(async () => {
  identity = await givenIdentity();
  account = await identity.account();
  const make = async (user: object) => (await account.admin('POST', '/users', { user })).body.id as number;
  const password = 'correct horse battery';
  ids = {
    ada: await make({ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace', password }),
    grace: await make({ email: 'grace@example.com', first_name: 'Grace', last_name: 'Hopper', password }),
    nameless: await make({ email: 'nameless@example.com' }),
    robot: await make({ user_type: 'service', first_name: 'Pipeline' }),
    out: await make({ email: 'out@example.com', first_name: 'Out', password }),
  };
  await account.admin('PATCH', `/users/${ids.out}`, { status: 'suspended' });
});
afterAll(() => identity.close());

const steward = (path: string) => identity.as({ accountId: account.account_id, userId: ids.ada })('GET', path);
const namesOf = async (path: string) =>
  (await steward(path)).body.data.map(({ name }: { name: string }) => name) as string[];

describe('people', () => {
  it('are shown to everybody of the account, without their addresses', async () => {
    const { status, body } = await steward('/people?sort=id');
    expect(status).toBe(200);
    expect(body.data.slice(1)).toEqual([
      { id: ids.ada, name: 'Ada Lovelace', initials: 'AL', user_type: 'person', active: true },
      { id: ids.grace, name: 'Grace Hopper', initials: 'GH', user_type: 'person', active: true },
      { id: ids.nameless, name: '', initials: '', user_type: 'person', active: false },
      { id: ids.robot, name: 'Pipeline', initials: 'P', user_type: 'service', active: true },
      { id: ids.out, name: 'Out', initials: 'O', user_type: 'person', active: false },
    ]);
    expect(JSON.stringify(body)).not.toContain('@');
    expect((await account.machine('GET', '/people')).body).toEqual((await steward('/people')).body);
  });

  it('are found by ids, of which unknown ones are left out', async () => {
    expect(await namesOf(`/people?ids=${ids.grace},${ids.ada},2000000000,${ids.ada}`)).toEqual([
      'Ada Lovelace',
      'Grace Hopper',
    ]);
    expect(await namesOf('/people?ids=999999999999999')).toEqual([]);
  });

  it('are found and sorted by both names at once', async () => {
    expect(await namesOf('/people?q=a%20love')).toEqual(['Ada Lovelace']);
    expect(await namesOf('/people?q=name:starts_with:grace')).toEqual(['Grace Hopper']);
    expect(await namesOf(`/people?ids=${ids.ada},${ids.grace},${ids.robot}&sort=-name`)).toEqual([
      'Pipeline',
      'Grace Hopper',
      'Ada Lovelace',
    ]);
    expect(await namesOf('/people?q=user_type:eq:service')).toEqual(['Pipeline']);
  });

  it('are found by whether they are active', async () => {
    expect(await namesOf(`/people?active=false&sort=id`)).toEqual(['', 'Out']);
    expect(await namesOf(`/people?active=true&ids=${ids.ada},${ids.out}`)).toEqual(['Ada Lovelace']);
  });

  it('keep a new name at once', async () => {
    await account.admin('PATCH', `/users/${ids.grace}`, { last_name: 'Murray Hopper' });
    expect(await namesOf(`/people?ids=${ids.grace}`)).toEqual(['Grace Murray Hopper']);
  });

  it('are not searched by what others may not see', async () => {
    for (const q of ['email:contains:ada', 'license_type:eq:developer', 'status:eq:suspended', 'first_name:eq:Ada'])
      expect(await steward(`/people?q=${q}`)).toMatchObject({
        status: 400,
        body: { problems: [{ code: 'unknown_property' }] },
      });
  });

  it('refuse what are no ids', async () => {
    for (const wrong of ['', 'a', '1,', '1,,2', '-1', '1 2', '1;2', '1.5'])
      expect(await steward(`/people?ids=${wrong}`)).toMatchObject({
        status: 400,
        body: { problems: [{ code: 'wrong_format', field: 'ids' }] },
      });
    const many = Array.from({ length: 1_001 }, (_, i) => i + 1).join(',');
    expect(await steward(`/people?ids=${many}`)).toMatchObject({
      status: 400,
      body: { problems: [{ code: 'too_many', field: 'ids' }] },
    });
    expect((await steward('/people?active=maybe')).body.problems).toMatchObject([{ code: 'not_in_list' }]);
  });

  it('of another account are not there', async () => {
    const other = await identity.account();
    expect((await other.admin('GET', `/people?ids=${ids.ada},${ids.grace}`)).body.data).toEqual([]);
    const { body } = await other.admin('GET', '/people');
    expect(body.meta.total_count).toBe(1);
  });
});

// The console in a real browser: a branch is made, compared and promoted.
import { eventually } from '@almanac/testkit/eventually';
import { givenBranchCopy, givenColleague } from '@almanac/testkit/system/builders';
import { cellOf, givenCities, namesOf, typeInto } from './gestures.ts';
import { api, overConsole, served } from './served-console.ts';

overConsole();

it('a row is corrected on a branch, compared and promoted, and an approver lets it in', async () => {
  const table = await givenCities(api);
  const developer = await givenColleague(served.account, 'Developers');
  const approver = await givenColleague(served.account, 'main Approvers');
  const asDeveloper = await served.openTo(developer.token);
  await asDeveloper('/console/branches', async (page) => {
    await page.getByRole('button', { name: 'New branch…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('corrections');
    await page.getByRole('checkbox', { name: table.name }).check();
    await page.getByRole('button', { name: 'Make the branch' }).click();
    await page.getByRole('heading', { level: 1, name: 'corrections' }).waitFor();
    await page.getByText('same rows').waitFor();
    await page.getByRole('link', { name: 'Open its tables' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tables' }).waitFor();
    await page.getByRole('link', { name: new RegExp(`^${table.name}`) }).click();
    await typeInto(page, cellOf(page, 'name', 'Pariss'), 'Paris');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Branches', exact: true }).click();
    await page.getByRole('link', { name: /^corrections.*1 table, 1 row ahead/ }).click();
    await page.getByRole('link', { name: new RegExp(`^${table.name}.*1 row ahead`) }).waitFor();
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    const differing = page.getByRole('region', { name: `Rows of ${table.name} that differ` });
    await differing.getByRole('row', { name: /B.*Pariss.*Paris/ }).waitFor();
    await page.getByRole('button', { name: 'Make a promotion…' }).click();
    await page.getByRole('button', { name: 'Propose 1 table' }).click();
    await page.getByRole('heading', { level: 1, name: /^Promotion #/ }).waitFor();
    await page.getByText('Only an approver of the protected branch', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Send for review…' }).click();
    await page.getByRole('textbox', { name: 'Comment' }).fill('One s is enough');
    await page.getByRole('button', { name: 'Send for review', exact: true }).click();
    await page.getByText('to review').waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Pariss', 'Rome']);
  const asApprover = await served.openTo(approver.token);
  await asApprover('/console/requests', async (page) => {
    await page.getByRole('link', { name: /One s is enough/ }).click();
    const rows = page.getByRole('region', { name: `Rows of ${table.name} that would change` });
    await rows.getByRole('row', { name: /B.*Pariss.*Paris/ }).waitFor();
    await page.getByText('Would succeed').waitFor();
    await page.getByRole('button', { name: 'Promote 1 table to main…' }).click();
    await page.getByRole('button', { name: 'Promote 1 table to main', exact: true }).click();
    await page.getByText('Promoted to main').waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Paris', 'Rome']);
});

it('an approver sends a promotion back with a comment, and nothing changes', async () => {
  const table = await givenCities(api);
  const { branchId, id: copy } = await givenBranchCopy(api, table.id);
  await correct(copy, 'C', 'Roma');
  const developer = await givenColleague(served.account, 'Developers');
  const { id } = await developer.api.post('/promotions', {
    from_branch_id: branchId,
    to_branch_id: table.branchId,
    table_definition_ids: [copy],
    include_data: true,
  });
  await developer.api.post(`/promotions/${id}/send_request`, { comment: 'In Italian' });
  await served.withPage('/console/', async (page) => {
    await page.getByRole('link', { name: /In Italian/ }).click();
    await page.getByRole('button', { name: 'Reject…' }).click();
    await page.getByRole('textbox', { name: 'Comment' }).fill('English names, please');
    await page.getByRole('button', { name: 'Reject it' }).click();
    await page.getByText('rejected', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Promote 1 table to main…' }).waitFor({ state: 'detached' });
  });
  expect(await api.get(`/promotions/${id}`)).toMatchObject({ status: 'rejected', comment: 'English names, please' });
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Pariss', 'Rome']);
});

it('rows of a promotion are decided one by one, with reasons that its page keeps', async () => {
  const table = await givenCities(api);
  const { branchId, id: copy } = await givenBranchCopy(api, table.id);
  await correct(copy, 'A', 'Bern');
  await correct(copy, 'B', 'Paris');
  await correct(copy, 'C', 'Roma');
  await api.post('/table_data', { table_definition_id: copy, record: { code: 'X', name: 'Xanten' } });
  const body = { from_branch_id: branchId, to_branch_id: table.branchId, table_definition_ids: [copy] };
  const { id } = await api.post('/promotions', { ...body, include_data: true });
  await served.withPage(`/console/promotions/${id}`, async (page) => {
    const row = (name: RegExp) => page.getByRole('row', { name });
    await page.getByText('Would succeed').waitFor();
    await row(/new.*X.*Xanten/).waitFor();
    await page.getByRole('button', { name: 'Accept B' }).click();
    await row(/B.*Pariss.*Paris/)
      .getByText('accepted')
      .waitFor();
    // By keyboard: the reason has the focus, and Enter rejects.
    await page.getByRole('button', { name: 'Reject A' }).press('Enter');
    await page.getByRole('textbox', { name: /Why it is rejected/ }).fill('Berlin is right');
    await page.keyboard.press('Enter');
    await row(/A.*Berlin/)
      .getByText('Berlin is right')
      .waitFor();
    await page.getByRole('button', { name: 'Reject C' }).click();
    await page.getByRole('textbox', { name: /Why it is rejected/ }).press('Enter');
    await page.getByRole('checkbox', { name: 'only 2 rejected' }).check();
    await row(/B.*Pariss/).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Take 2 decisions back' }).click();
    await page.getByText('No row matches the filters').waitFor();
    await page.getByRole('button', { name: 'Show all rows' }).click();
    await page.getByRole('button', { name: 'Reject A' }).click();
    await page.getByRole('textbox', { name: /Why it is rejected/ }).fill('Berlin is right');
    await page.keyboard.press('Enter');
    await row(/A.*Berlin/)
      .getByText('rejected')
      .waitFor();
    await page.getByText('Would succeed').waitFor();
    await page.getByRole('button', { name: 'Promote 1 table to main…' }).click();
    await page.getByRole('button', { name: 'Promote 1 table to main', exact: true }).click();
    await page.getByRole('heading', { name: '1 rejected row' }).waitFor();
    await page.getByText('Berlin is right').waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Paris', 'Roma', 'Xanten']);
});

it('a conflict is decided, and what was promoted is deployed', async () => {
  const table = await givenCities(api);
  const { branchId, id: copy } = await givenBranchCopy(api, table.id);
  await correct(copy, 'B', 'Paris');
  await correct(table.id, 'B', 'Parigi');
  const column_definition = { name: 'river', data_type: 'string', length: 20 };
  await api.post('/column_definitions', { table_definition_id: copy, column_definition });
  await served.withPage(`/console/branches/${branchId}`, async (page) => {
    await page.getByText('changes to deploy').waitFor();
    await page.getByRole('button', { name: 'Promote…' }).click();
    await page.getByRole('button', { name: 'Propose 1 table' }).click();
    await page.getByText('1 conflict to decide').waitFor();
    await page.getByRole('radio', { name: /: Paris$/ }).check();
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByText('Would succeed').waitFor();
    await page.getByRole('button', { name: 'Promote 1 table to main…' }).click();
    await page.getByRole('button', { name: 'Promote 1 table to main', exact: true }).click();
    await page.getByRole('button', { name: 'Deploy 1 table…' }).click();
    await page.getByRole('checkbox', { name: table.name }).waitFor();
    await page.getByRole('button', { name: /^Show what/ }).click();
    await page.getByRole('row', { name: /river/ }).waitFor();
    await page.getByRole('button', { name: /^Deploy \d+ tables? on main…$/ }).click();
    await page.getByRole('button', { name: /^Deploy \d+ tables? on main$/ }).click();
    await page.getByText('Deployed on main').waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Paris', 'Rome']);
  const { data } = await api.get(`/table_data?table_definition_id=${table.id}&per_page=1`);
  expect(data[0]).toHaveProperty('river', null);
});

/** Gives the city of this code another name, by API. */
async function correct(tableId: number, code: string, name: string): Promise<void> {
  const { data } = await api.get(`/table_data?table_definition_id=${tableId}&q=code:eq:${code}`);
  await api.patch(`/table_data/${data[0].svc_sk}`, { table_definition_id: tableId, record: { name } });
  await eventually(async () => expect(await namesOf(api, tableId)).toContain(name));
}

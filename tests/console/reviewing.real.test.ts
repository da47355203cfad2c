// The console in a real browser: a change request is reviewed row by row, and applied.
import { eventually } from '@almanac/testkit/eventually';
import { givenDeployedTable } from '@almanac/testkit/system/builders';
import { type ServedConsole, serveConsole } from './served-console.ts';

let served: ServedConsole;

beforeAll(async () => {
  served = await serveConsole();
});
afterAll(() => served?.stop());

it('350 changes are reviewed: two are refused with a reason, the others are approved and applied', async () => {
  const { table, id } = await givenRequest(350);
  await served.withPage(`/console/requests/${id}`, async (page) => {
    await page.getByRole('heading', { level: 1, name: 'Monthly correction' }).waitFor();
    for (const code of ['N1', 'N3']) {
      await page.getByRole('button', { name: `Reject ${code}`, exact: true }).click();
      await page.getByRole('textbox', { name: /^Why it is rejected/ }).pressSequentially('It is no city.');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: `Reject ${code}`, exact: true, pressed: true }).waitFor();
    }
    await page.getByText('2 rejected').first().waitFor();
    await page.getByRole('button', { name: 'Finish review…' }).click();
    await page.getByRole('button', { name: 'Apply 348 changes to main' }).click();
    await page.getByText('Applied', { exact: false }).first().waitFor();
  });
  const api = await served.account.person();
  const applied = { status: 'applied', counts: { accepted: 348, rejected: 2 } };
  await eventually(async () => expect(await api.get(`/change_requests/${id}`)).toMatchObject(applied));
  const { meta } = await api.get(`/table_data?table_definition_id=${table}&per_page=1`);
  expect(meta.total_count).toBe(348);
});

/** A request for new rows, made and sent by an application. */
async function givenRequest(count: number): Promise<{ table: number; id: number }> {
  const api = await served.account.person();
  const columns = [
    { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
    { name: 'name', data_type: 'string', length: 40 },
  ];
  const { id: table } = await givenDeployedTable(api, { name: 'Cities', columns });
  const { data: branches } = await api.get('/branches');
  const branch_id = branches[0].id;
  const machine = await served.account.machine();
  const change_request = { title: 'Monthly correction' };
  const { id } = await machine.post('/change_requests', { branch_id, change_request });
  const operations = Array.from({ length: count }, (_, place) => ({
    operation: 'create',
    record: { code: `N${place}`, name: `City ${place}` },
  }));
  await machine.post(`/change_requests/${id}/operations`, { table_definition_id: table, operations });
  await machine.post(`/change_requests/${id}/send_request`, {});
  return { table, id };
}

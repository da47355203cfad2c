// The console in a real browser: a change request is reviewed row by row, and applied.
import { eventually } from '@almanac/testkit/eventually';
import { givenRequest } from './given-request.ts';
import { api, overConsole, served } from './served-console.ts';

overConsole();

it('350 changes are reviewed: two are refused with a reason, the others are approved and applied', async () => {
  const { table, id } = await givenRequest(served, 350);
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
  const applied = { status: 'applied', counts: { accepted: 348, rejected: 2 } };
  await eventually(async () => expect(await api.get(`/change_requests/${id}`)).toMatchObject(applied));
  const { meta } = await api.get(`/table_data?table_definition_id=${table}&per_page=1`);
  expect(meta.total_count).toBe(348);
});

it('one list has the requests, promotions and deployments of a branch, by kind and by state', async () => {
  const { id } = await givenRequest(served, 1);
  await served.withPage('/console/requests?tab=all', async (page) => {
    const request = page.getByRole('link', { name: new RegExp(`^Monthly correction.*#${id} `) });
    const deployment = page.getByRole('link', { name: /^Deployment #\d+ deployed/ }).first();
    await request.waitFor();
    await deployment.waitFor();
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('deployments');
    await request.waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'State' }).selectOption('done');
    await deployment.waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption('failed');
    await page.getByText('No request is in the state “failed”').waitFor();
    await page.getByRole('button', { name: 'Show all requests' }).click();
    await request.waitFor();
    await page.getByRole('link', { name: 'Mine', exact: true }).click();
    await page
      .getByRole('link', { name: /^Deployment #\d+ · main deployed/ })
      .first()
      .waitFor();
  });
});

// The console in a real browser: axe finds no breach of WCAG on any page, in both schemes, from a
// phone to a desktop.
import { createRequire } from 'node:module';
import { givenDeployedTable } from '@almanac/testkit/system/builders';
import type { Page } from 'playwright-core';
import { type ServedConsole, serveConsole } from './served-console.ts';

const require = createRequire(import.meta.url);

type Api = Awaited<ReturnType<ServedConsole['account']['person']>>;

let served: ServedConsole;
let paths: string[];

beforeAll(async () => {
  served = await serveConsole();
  paths = await givenPages();
});
afterAll(() => served?.stop());

/** A page is loaded once, and looked at in each scheme and width. */
const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1440, 768, 360].map((width) => ({ colorScheme, width })),
);
const withinMs = 900_000;

it(
  'no page has a breach, in the light or the dark, from 360 to 1440 pixels',
  async () => {
    const breaches: string[] = [];
    await served.withPage(
      '/console/',
      async (page) => {
        for (const path of paths) {
          await page.goto(new URL(path, page.url()).href);
          await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') });
          for (const { colorScheme, width } of looks) {
            // A colour on its way from one scheme to the other is no colour of a page.
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
            await page.setViewportSize({ width, height: 800 });
            await page.getByRole('heading', { level: 1 }).waitFor();
            await page.locator('[aria-label="Loading…"]').first().waitFor({ state: 'detached' });
            for (const breach of await findBreaches(page))
              breaches.push(`${path}, ${colorScheme}, ${width} pixels: ${breach}`);
          }
        }
      },
      // The pages are served beside the system, so the session of the profile is missing.
      { faults: 'expected' },
    );
    expect(breaches).toEqual([]);
  },
  withinMs,
);

async function givenPages(): Promise<string[]> {
  const api = await served.account.person();
  const columns = [
    { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
    { name: 'state', data_type: 'string', length: 10, valid_values: 'open|closed' },
  ];
  const { id, key } = await givenDeployedTable(api, { name: 'Orders', columns });
  const record = { code: 'A-1', state: 'open' };
  await api.post('/table_data', { table_definition_id: id, record });
  const { svc_sk } = (await api.get(`/table_data?table_definition_id=${id}`)).data[0];
  const { data: branches } = await api.get('/branches');
  const change_request = { title: 'Close an order' };
  const request = await api.post('/change_requests', { branch_id: branches[0].id, change_request });
  const operations = [
    { operation: 'update', id: svc_sk, record: { state: 'closed' } },
    { operation: 'create', record: { code: 'A-2', state: 'open' } },
  ];
  await api.post(`/change_requests/${request.id}/operations`, { table_definition_id: id, operations });
  await api.post(`/change_requests/${request.id}/send_request`, {});
  const admin = ['people', 'groups', 'applications', 'account', 'usage', 'audit'].map((name) => `admin/${name}`);
  const others = ['', 'tables', `t/${key}`, `t/${key}?row=${svc_sk}`, 'requests', `requests/${request.id}`];
  const view = { name: 'Open ones', sharing: 'shared', state: { q: 'open' } };
  const { id: viewId } = await api.post('/views', { table_definition_id: id, view });
  others.push(`t/${key}?view=${viewId}&q=closed`);
  const model = [`t/${key}/structure`, `t/${key}/impact`, 'tables/new'];
  const branching = await givenBranchingPages(api, { id, branchId: branches[0].id });
  return [...others, ...model, ...branching, 'imports', 'import', 'exports', ...admin, 'me'].map(
    (path) => `/console/${path}`,
  );
}

async function givenBranchingPages(
  api: Api,
  { id, branchId: main }: { id: number; branchId: number },
): Promise<string[]> {
  const copy = { table_definition_ids: [id], include_data: true, deploy: true };
  const branch = await api.post('/branches', { branch: { name: 'next year' }, copy });
  const { table_definitions, deployment } = branch.copied;
  const promotion = await api.post('/promotions', {
    from_branch_id: branch.id,
    to_branch_id: main,
    table_definition_ids: [table_definitions[0].id],
    include_data: true,
  });
  const changes = [`promotions/${promotion.id}`, `deployments/${deployment.id}`];
  return ['branches', `branches/${branch.id}`, `compare?left=${main}&right=${branch.id}`, ...changes];
}

type Axe = { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };

async function findBreaches(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run());
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

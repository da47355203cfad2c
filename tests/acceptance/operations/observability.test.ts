// The services have every metric that the dashboard and the alert rules use; clients see no metric.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '@almanac/testkit/eventually';
import { baseUrl, givenAccount, givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import { givenLocalSystem, type LocalSystem } from '@almanac/testkit/system/system';
import { parse } from 'yaml';

const folder = resolve(import.meta.dirname, '../../../deploy/observability');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

type Panel = { id: number; type: string; title: string; targets?: { expr: string }[] };
type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string } };

const dashboard = JSON.parse(read('grafana-dashboard.json')) as { panels: Panel[] };
const rules = (parse(read('prometheus-rules.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

const setOperators = new Set(['and', 'or', 'unless']);

/** The metrics that an expression of PromQL names. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ')
    .replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ');
  const names = [...bare.matchAll(/[a-z_:][\w:]*(?!\w*\s*\()/gi)].map(([name]) => name);
  return names.filter((name) => !setOperators.has(name));
}

/** The labels that an expression selects or groups by. */
function labelsIn(expression: string): string[] {
  const selected = [...expression.matchAll(/\b(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, name = '']) => name);
  const grouped = [...expression.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/\s*,\s*/));
  return [...selected, ...grouped];
}

describe('metrics', () => {
  let system: LocalSystem;
  let addresses: Record<string, string>;
  const scrape = async (service: string) => {
    const answer = await fetch(`http://${addresses[service]}/metrics`);
    expect([service, answer.status]).toEqual([service, 200]);
    return answer.text();
  };
  const scrapeAll = async () => (await Promise.all(Object.keys(addresses).map(scrape))).join('\n');

  beforeAll(async () => {
    system = await givenLocalSystem();
    const runtime = JSON.parse(readFileSync(join(system.home, 'runtime.json'), 'utf8'));
    addresses = runtime.metrics;
  });

  afterAll(() => system?.stop());

  it('are served by every service, and to no client of the gateway', async () => {
    const services = ['billing', 'console', 'data', 'gateway', 'identity', 'jobs', 'metadata'];
    expect(Object.keys(addresses).toSorted()).toEqual(services);
    for (const path of ['/metrics', '/metrics/', '/api/v1/metrics', '/data/metrics', '/%6detrics', '/docs/../metrics'])
      expect([path, (await fetch(`${baseUrl()}${path}`)).status]).toEqual([path, 404]);
  });

  it('include all that the dashboard and the alert rules use', async () => {
    const expressions = [
      ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...rules.map(({ expr }) => expr),
    ];
    expect(expressions.length).toBeGreaterThan(30);
    const asked = new Set(expressions.flatMap(metricsIn));
    expect(asked).toContain('almanac_outbox_oldest_seconds');
    asked.delete('up'); // Prometheus' own
    const api = await (await givenAccount({ plan: 'plus' })).machine();
    await givenDeployedTable(api, { withoutBranching: true }); // calls of all kinds, over HTTP and gRPC
    await eventually(async () => {
      const text = await scrapeAll();
      const exposed = new Set([...text.matchAll(/^([a-z_]\w*)(?:\{| )/gim)].map(([, name]) => name));
      expect([...asked].filter((name) => !exposed.has(name))).toEqual([]);
      const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, name]) => name));
      const given = ['job', 'instance']; // by Prometheus
      expect(expressions.flatMap(labelsIn).filter((name) => !labels.has(name) && !given.includes(name))).toEqual([]);
    });
  });

  it('name routes by their pattern: no path, id or other text of a caller becomes a label', async () => {
    const api = await (await givenAccount({ plan: 'plus' })).machine();
    const word = `outsider${unique()}`;
    await api.send('GET', `/domains/${word}`);
    await api.send('GET', `/${word}`);
    await api.send('GET', `/domains?q=name:eq:${word}`);
    await fetch(`${baseUrl()}/${word}`, { method: 'PROPFIND' });
    await api.send('GET', '/domains/987654321');
    const text = await eventually(async () => {
      const scraped = await scrapeAll();
      expect(scraped).toMatch(/route="\/domains\/\{id\}",[^}]*status="404"|status="404"[^}]*route="\/domains\/\{id\}"/);
      return scraped;
    });
    expect(text).not.toContain(word);
    expect(text).not.toContain('987654321');
  });
});

describe('the dashboard', () => {
  it('has panels with titles and ids of their own, each with something to show', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const empty = panels.filter(({ type, title, targets = [] }) => !title || (type !== 'row' && targets.length === 0));
    expect(empty).toEqual([]);
  });
});

describe('the alert rules', () => {
  it('have names of their own, a severity and a sentence each, and are documented', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    const page = readFileSync(resolve(import.meta.dirname, '../../../docs/how-to/observe.md'), 'utf8');
    for (const { alert, labels, annotations } of rules) {
      expect(labels.severity).toMatch(/^(page|ticket)$/);
      expect(annotations.summary).toMatch(/\w+ \w+/);
      expect(page).toContain(`\`${alert}\``);
    }
  });
});

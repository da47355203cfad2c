import { renderMail } from './render-mail.ts';
import type { Template } from './template.ts';
import { findTemplate } from './templates.ts';

const publicUrl = 'https://almanac.test';
const consoleUrl = 'https://almanac.test/console';
const facts = { person: 'Ada', account: 'Acme', until: '' };
const given = {
  id: 85,
  title: 'Monthly correction',
  by: 'Bob Bauer',
  branch: 'main',
  comment: 'As published',
  changes: { created: 12, updated: 340, deleted: 0 },
  tables: [{ name: 'Subdivisions', created: 12, updated: 340, deleted: 0 }],
  table_count: 3,
};

function letterOf(name: string, values: object) {
  const template = findTemplate(`change_request_${name}`) as Template;
  return renderMail({ template, facts, values: template.values.parse(values), publicUrl, consoleUrl });
}

describe('a mail about a change request', () => {
  it('names the requester, the request, its rows and its address', () => {
    const { subject, text, html } = letterOf('requested', given);
    expect(subject).toBe('A change request on main waits for your approval: Monthly correction');
    expect(text).toContain(
      'Bob Bauer asks you to approve change request 85 “Monthly correction” of Acme, on the branch main.',
    );
    expect(text).toContain('Rows: 12 new, 340 changed.');
    expect(text).toContain('Subdivisions: 12 new, 340 changed.');
    expect(text).toContain('… and 2 more tables.');
    expect(text).toContain('The comment: As published');
    for (const body of [text, html]) expect(body).toContain('https://almanac.test/api/v1/change_requests/85');
  });

  it('leads to the console, with the address of the API below', () => {
    const { text, html } = letterOf('requested', given);
    expect(text).toContain('Review the change request:\nhttps://almanac.test/console/requests/85\n');
    expect(text).toContain('The change request over the API: https://almanac.test/api/v1/change_requests/85');
    expect(html).toContain('href="https://almanac.test/console/requests/85"');
    expect(text.indexOf('/console/')).toBeLessThan(text.indexOf('/api/'));
  });

  it.each([
    ['approved', 'was approved', 'Bob Bauer has approved your change request 85'],
    ['applied', 'was applied', 'Bob Bauer has applied your change request 85'],
    ['rejected', 'was rejected', 'Bob Bauer has rejected your change request 85'],
    ['returned', 'needs changes', 'Bob Bauer asks for changes of your change request 85'],
    ['failed', 'failed', 'Your change request 85 “Monthly correction” of Acme on the branch main failed'],
  ])('tells its creator that it was %s', (outcome, subject, sentence) => {
    const letter = letterOf('decided', { ...given, outcome, reasons: ['Reason 1.'] });
    expect(letter.subject).toBe(`Your change request ${subject}: Monthly correction`);
    expect(letter.text).toContain(sentence);
    expect(letter.text).toContain('Reason 1.');
  });

  it('keeps names as text, on one line', () => {
    const evil = `"a@evil.test, b" <img src=x>\r\nBcc: evil@evil.test\u202E`;
    const long = `${evil}${'x'.repeat(5000)}`;
    const tables = [{ ...given.tables[0], name: long }];
    const named = { ...given, by: evil, title: evil, branch: evil, comment: long, tables };
    for (const [name, more] of [
      ['requested', {}],
      ['decided', { outcome: 'rejected', reasons: [long] }],
    ] as const) {
      const letter = letterOf(name, { ...named, ...more });
      expect(letter.subject).not.toMatch(/[\r\n\u202E]/);
      expect(letter.text).not.toMatch(/\nBcc|\u202E/);
      expect(letter.html).not.toContain('<img');
      expect(letter.text.length).toBeLessThan(6000);
    }
  });

  it('is refused without its values', () => {
    const template = findTemplate('change_request_decided') as Template;
    for (const values of [{}, given, { ...given, outcome: 'lost', reasons: [] }])
      expect(template.values.safeParse(values).success).toBe(false);
  });
});

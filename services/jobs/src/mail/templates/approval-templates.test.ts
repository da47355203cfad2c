import { renderMail } from './render-mail.ts';
import type { Template } from './template.ts';
import { findTemplate } from './templates.ts';

const publicUrl = 'https://almanac.test';
const consoleUrl = 'https://almanac.test/console';
const facts = { person: 'Ada', account: 'Acme', until: '' };
const changes = { new: 2, modified: 1, deleted: 0 };
const plain = { id: 12, by: 'Bob Bauer', branch: 'main', comment: 'Capitals, please', changes };
const decided = { outcome: 'rejected', reasons: [] };

function letterOf(name: string, values: object, more: Partial<typeof facts> = {}) {
  const template = findTemplate(name) as Template;
  return renderMail({
    template,
    facts: { ...facts, ...more },
    values: template.values.parse(values),
    publicUrl,
    consoleUrl,
  });
}

describe.each(['deployment', 'promotion'])('a mail about a %s', (noun) => {
  it('names the requester, the change and its address', () => {
    const { subject, text, html } = letterOf(`${noun}_requested`, plain);
    expect(subject).toBe(`A ${noun} to main waits for your approval`);
    expect(text).toContain(`Bob Bauer asks you to approve ${noun} 12 of Acme, to the branch main.`);
    expect(text).toContain('Tables: 2 new, 1 changed.');
    expect(text).toContain('The comment: Capitals, please');
    expect(text).toContain(`Review the ${noun}:\nhttps://almanac.test/console/${noun}s/12\n`);
    for (const body of [text, html]) expect(body).toContain(`https://almanac.test/api/v1/${noun}s/12`);
  });

  it('summarises the changes: tables, and their columns', () => {
    const column = (name: string, change: string, attributes: string[] = []) => ({ name, change, attributes });
    const tables = [
      { name: 'Countries', change: 'new', columns: [column('code', 'new', ['name', 'length']), column('name', 'new')] },
      {
        name: 'Cities',
        change: 'modified',
        columns: [column('capital', 'new'), column('size', 'deleted'), column('name', 'modified', ['name', 'length'])],
      },
      { name: 'Rivers', change: 'deleted', columns: [] },
      { name: 'Lakes', change: 'modified', columns: [] },
    ];
    const shown = { ...plain, ...decided, tables, changes: { new: 1, modified: 9, deleted: 1 } };
    for (const name of ['requested', 'decided']) {
      const { text } = letterOf(`${noun}_${name}`, shown);
      expect(text).toContain('Tables: 1 new, 9 changed, 1 deleted.');
      expect(text).toContain('Countries, new: new code, name.');
      expect(text).toContain('Cities, changed: new capital; changed name (name, length); deleted size.');
      expect(text).toContain('Rivers, deleted.');
      expect(text).toContain('Lakes, changed.');
      expect(text).toContain('… and 7 more.');
    }
  });

  it('reports the decision, with the reasons when it failed', () => {
    const { subject, text } = letterOf(`${noun}_decided`, { ...plain, ...decided });
    expect(subject).toBe(`Your ${noun} to main was rejected`);
    expect(text).toContain(`Bob Bauer has rejected your ${noun} 12`);
    const reasons = Array.from({ length: 30 }, (_, at) => `Reason ${at}.`);
    const failed = letterOf(`${noun}_decided`, { ...plain, by: '', outcome: 'failed', reasons });
    expect(failed.subject).toBe(`Your ${noun} to main failed`);
    expect(failed.text).toContain('Reason 9.');
    expect(failed.text).not.toContain('Reason 10.');
  });

  it('reports that it was abandoned', () => {
    expect(letterOf(`${noun}_abandoned`, { ...plain, comment: null, by: '' }).text).toContain(
      `Someone has abandoned ${noun} 12`,
    );
  });

  it('keeps names as text, on one line', () => {
    const evil = `"a@evil.test, b" <img src=x>\r\nBcc: evil@evil.test\u202E`;
    const long = `${evil}${'x'.repeat(5000)}`;
    for (const name of ['requested', 'decided', 'abandoned']) {
      const column = { name: long, change: 'modified', attributes: [evil] };
      const tables = [{ name: evil, change: 'modified', columns: [column] }];
      const words = { by: evil, branch: evil, from_branch: evil, comment: long, reasons: [long], tables };
      const named = { ...plain, ...decided, ...words };
      const letter = letterOf(`${noun}_${name}`, named, { person: evil, account: evil });
      expect(letter.subject).not.toMatch(/[\r\n\u202E]/);
      expect(letter.text).not.toMatch(/\nBcc|\u202E/);
      expect(letter.html).not.toContain('<img');
      expect(letter.text.length).toBeLessThan(5000);
    }
  });

  it('is refused without its values', () => {
    const template = findTemplate(`${noun}_decided`) as Template;
    for (const values of [{}, plain, { ...plain, outcome: 'lost', reasons: [] }, { ...plain, ...decided, changes: {} }])
      expect(template.values.safeParse(values).success).toBe(false);
  });
});

import { renderMail } from './render-mail.ts';
import type { Template } from './template.ts';
import { findTemplate } from './templates.ts';

const publicUrl = 'https://almanac.test';
const consoleUrl = 'https://almanac.test/console';
const link = `${publicUrl}/oauth/password?token=a&b="c"`;
const evil = `<img src=x onerror=alert(1)>"'&\r\n\u202EBcc: evil@evil.test`;
const named = (name: string) => findTemplate(name) as Template;

describe('a rendered mail', () => {
  it.each(['invitation', 'password_reset', 'password_changed'])('of %s says the same as text and as HTML', (name) => {
    const template = named(name);
    const facts = { person: 'Ada', account: 'Acme', until: 'tomorrow' };
    const given = template.button ? { link } : {};
    const letter = renderMail({ template, facts, values: {}, publicUrl, consoleUrl, ...given });
    const wording = template.write(facts, {});
    for (const sentence of [...wording.before, ...(wording.after ?? [])]) {
      expect(letter.text).toContain(sentence);
      expect(letter.html).toContain(`<p>${sentence}</p>`);
    }
    expect(letter.subject).toBe(wording.subject);
    expect(letter.text.includes(link)).toBe(template.button !== undefined);
    expect(letter.html.includes('href=')).toBe(template.button !== undefined);
  });

  it('keeps names as text, on one line', () => {
    const facts = { person: evil, account: evil, until: 'tomorrow' };
    const letter = renderMail({ template: named('invitation'), facts, values: {}, link, publicUrl, consoleUrl });
    expect(letter.html).not.toMatch(/<img|onerror=alert\(1\)>|\u202E/);
    expect(letter.html).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
    expect(letter.html).toContain('href="https://almanac.test/oauth/password?token=a&amp;b=&quot;c&quot;"');
    expect(letter.text).not.toMatch(/\r|\u202E|\nBcc/);
    expect(letter.subject).not.toMatch(/[\r\n]/);
  });

  it('has a subject of at most 200 characters', () => {
    const facts = { person: 'Ada', account: '😀'.repeat(300), until: 'tomorrow' };
    expect([
      ...renderMail({ template: named('invitation'), facts, values: {}, link, publicUrl, consoleUrl }).subject,
    ]).toHaveLength(200);
  });
});

import { renderMail } from './render-mail.ts';
import type { Template } from './template.ts';
import { findTemplate } from './templates.ts';

const template = findTemplate('webhook_switched_off') as Template;
const values = { host: 'hooks.example.com:8443', failing_since: '2026-03-01T08:00:00.000Z' };

it('a mail about a webhook names its host, and since when it has failed', () => {
  const facts = { person: 'Ada', account: 'Acme', until: '' };
  const read = template.values.parse({ ...values, url: 'https://hooks.example.com/secret' });
  const publicUrl = 'https://almanac.test';
  const { subject, text } = renderMail({
    template,
    facts,
    values: read,
    publicUrl,
    consoleUrl: `${publicUrl}/console`,
  });
  expect(subject).toBe('A webhook of Acme on Almanac was switched off');
  expect(text).toContain('to hooks.example.com:8443 has failed since 1 March 2026 at 08:00 UTC');
  expect(text).toContain('https://almanac.test/api/v1/webhook_endpoints');
  expect(text).not.toContain('secret');
});

it('its values are checked', () => {
  expect(template.values.safeParse({ host: 'a' }).success).toBe(false);
  expect(template.values.safeParse({ ...values, failing_since: 'March' }).success).toBe(false);
});

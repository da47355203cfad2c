import { renderMail } from './render-mail.ts';
import type { Template } from './template.ts';
import { findTemplate } from './templates.ts';

const publicUrl = 'https://almanac.test';
const consoleUrl = 'https://almanac.test/console';
const facts = { person: 'Ada', account: 'Acme <Ltd>', until: '' };
const reached = { percent: 80, calls: 12_000, allowance: 15_000, period_start: '2026-12-01', overage_enabled: false };
const overdue = { overdue_since: '2026-03-01T08:00:00.000Z', writes_blocked_from: '2026-03-08T08:00:00.000Z' };

function letterOf(name: string, values: object) {
  const template = findTemplate(name) as Template;
  return renderMail({ template, facts, values: template.values.parse(values), publicUrl, consoleUrl });
}

describe('a mail about the allowance', () => {
  it('reports the use, the allowance, and what happens next', () => {
    const { subject, text, html } = letterOf('allowance_reached', reached);
    expect(subject).toBe('Acme <Ltd> has used 80 % of its API calls of December 2026');
    expect(text).toContain('Acme <Ltd> has made 12,000 of the 15,000 API calls that its plan gives for December 2026.');
    expect(text).toContain('When it is used up, calls are refused with 429 until 1 January 2027 (UTC)');
    expect(html).toContain('Acme &lt;Ltd&gt; has made 12,000');
    for (const body of [text, html]) expect(body).toContain('https://almanac.test/api/v1/usage');
  });

  it('reports that calls are refused when none is left', () => {
    const { subject, text } = letterOf('allowance_reached', { ...reached, percent: 100, calls: 15_000 });
    expect(subject).toBe('Acme <Ltd> has used up its API calls of December 2026');
    expect(text).toContain('Further calls are refused with 429 until 1 January 2027 (UTC)');
  });

  it('reports that calls go on at a price when overage is on', () => {
    const { text } = letterOf('allowance_reached', { ...reached, percent: 100, overage_enabled: true });
    expect(text).toContain('calls beyond the allowance are served and charged');
    expect(text).not.toContain('429');
  });
});

describe('a mail about payment', () => {
  it('reports since when it is overdue, and from when changes are refused', () => {
    const { subject, text, html } = letterOf('payment_overdue', overdue);
    expect(subject).toBe('Payment for Acme <Ltd> on Almanac is overdue');
    for (const body of [text, html]) {
      expect(body).toContain('1 March 2026 at 08:00 UTC');
      expect(body).toContain('402 from 8 March 2026 at 08:00 UTC on');
    }
  });
});

describe('the values of such a mail', () => {
  it.each([
    ['allowance_reached', { ...reached, percent: 90 }],
    ['allowance_reached', { ...reached, calls: -1 }],
    ['allowance_reached', { ...reached, period_start: 'December' }],
    ['payment_overdue', { ...overdue, overdue_since: 'yesterday' }],
    ['payment_overdue', {}],
  ])('are checked: %s %j', (name, values) => {
    expect((findTemplate(name) as Template).values.safeParse(values).success).toBe(false);
  });
});

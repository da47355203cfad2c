import { escapeHtml, html } from './html.ts';

describe('html', () => {
  it('escapes every value that is not markup', () => {
    const evil = `<script>"'&`;
    expect(html`<p title="${evil}">${evil}</p>`.text).toBe(
      '<p title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;</p>',
    );
  });

  it('takes markup, lists of it, numbers and nothing', () => {
    const items = ['a', '<'].map((text) => html`<li>${text}</li>`);
    expect(html`<ul>${items}</ul>${1}${undefined}${false}`.text).toBe('<ul><li>a</li><li>&lt;</li></ul>1');
  });

  it('drops characters that turn the reading direction or show nothing', () => {
    expect(escapeHtml('abc\u202Efdp\u2066.exe\u0000\u0007')).toBe('abcfdp.exe');
    expect(escapeHtml('שלום é 漢')).toBe('שלום é 漢');
  });
});

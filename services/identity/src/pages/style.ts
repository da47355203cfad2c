// The one style sheet of the pages: light and dark, readable on a phone, visible focus.
import { createHash } from 'node:crypto';

export const styleSheet = `
:root { color-scheme: light dark; --back: #f5f6f8; --card: #fff; --text: #1c2430; --quiet: #556070; --line: #c4cad3;
  --accent: #1f4fbf; --on-accent: #fff; --bad: #a3180f; --bad-back: #fdecea; }
@media (prefers-color-scheme: dark) { :root { --back: #12161c; --card: #1b2129; --text: #e8ecf2; --quiet: #a3aebd;
  --line: #47515f; --accent: #8fb2ff; --on-accent: #0d1a38; --bad: #ffb4ab; --bad-back: #3a1513; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--back);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 26rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  padding: 1.75rem; overflow-wrap: anywhere; }
.brand { margin: 0 0 1rem; color: var(--quiet); font-weight: 600; letter-spacing: .02em; }
h1 { margin: 0 0 .75rem; font-size: 1.4rem; line-height: 1.25; }
h2 { margin: 1.25rem 0 .25rem; font-size: 1rem; }
p { margin: .5rem 0; }
.quiet { color: var(--quiet); font-size: .9rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input { width: 100%; padding: .65rem .75rem; border: 1px solid var(--quiet); border-radius: .5rem; background: var(--card);
  color: var(--text); font: inherit; }
button { width: 100%; margin-top: 1rem; padding: .7rem 1rem; border: 1px solid var(--accent); border-radius: .5rem;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
button.second { background: transparent; color: var(--accent); }
button.plain { width: auto; margin: 0; padding: 0; border: 0; background: none; color: var(--accent);
  text-decoration: underline; font-weight: 400; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[role=alert] { margin: 0 0 1rem; padding: .75rem 1rem; border-left: 4px solid var(--bad); background: var(--bad-back);
  color: var(--bad); }
[role=alert] h2 { margin: 0; } [role=alert] a { color: inherit; }
ul { margin: .25rem 0; padding-left: 1.25rem; }
code { display: block; margin: .75rem 0; padding: .75rem; border: 1px dashed var(--line); border-radius: .5rem;
  font: 1rem/1.4 ui-monospace, monospace; user-select: all; }
form.inline { display: inline; }
form + .quiet { margin-top: 1.25rem; }
`;

/** Changes with the sheet, so that browsers may keep it for ever. */
export const styleVersion = createHash('sha256').update(styleSheet).digest('base64url').slice(0, 12);

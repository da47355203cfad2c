// The style sheet of the pages: light and dark, readable on a phone, with a visible focus.
import { createHash } from 'node:crypto';

/** The style sheet. */
export const styleSheet = `
:root { color-scheme: light dark; --back: #f3f5f8; --card: #fff; --text: #1b2430; --quiet: #55606f; --line: #d5dae2;
  --edge: #76818f; --accent: #1d4fc4; --on-accent: #fff; --bad: #a3180f; --bad-back: #fdeeec; --good: #14603a; --good-back: #e8f5ee; }
@media (prefers-color-scheme: dark) { :root { --back: #10141a; --card: #191f27; --text: #e7ebf1; --quiet: #a6b0be;
  --line: #333d4a; --edge: #7f8b9b; --accent: #93b4ff; --on-accent: #0c1a3a; --bad: #ffb4ab; --bad-back: #3a1614;
  --good: #93dcb2; --good-back: #11301f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100svh; display: flex; flex-direction: column; align-items: center;
  justify-content: center; padding: 2rem 1rem; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
header, main { width: 100%; max-width: 27rem; }
header { display: flex; align-items: center; gap: .5rem; margin-bottom: 1rem; font-size: 1.05rem; font-weight: 650; }
header svg { width: 1.6rem; height: 1.6rem; fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
main { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 2rem; overflow-wrap: anywhere;
  box-shadow: 0 1px 2px rgb(0 0 0 / .05), 0 8px 24px rgb(0 0 0 / .05); }
.wide { justify-content: start; }
.wide header, .wide main { max-width: 44rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance; }
h2 { margin: 1.5rem 0 .25rem; font-size: 1rem; line-height: 1.4; }
p { margin: .5rem 0; }
a { color: var(--accent); text-underline-offset: .15em; }
.lead { margin-bottom: 1.25rem; }
.lead, .quiet, .hint, .facts, .after { color: var(--quiet); }
.lead strong { color: var(--text); }
.quiet, .hint, .facts, .after { font-size: .9rem; font-weight: 400; }
label { display: block; margin: 1.1rem 0 .3rem; font-weight: 600; }
.hint { margin: -.15rem 0 .4rem; }
input { width: 100%; min-height: 2.9rem; padding: .6rem .75rem; border: 1px solid var(--edge); border-radius: .5rem;
  background: var(--card); color: var(--text); font: inherit; }
input[readonly] { border-color: var(--line); background: var(--back); }
input[aria-invalid] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
button { width: 100%; min-height: 2.9rem; margin-top: 1.25rem; padding: .6rem 1rem; border: 1px solid var(--accent);
  border-radius: .5rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
button.second { background: transparent; color: var(--accent); }
button.danger { border-color: var(--bad); background: transparent; color: var(--bad); }
button.small { width: auto; min-height: 2.5rem; margin-top: .75rem; padding: .4rem 1rem; }
button + button { margin-top: .75rem; }
button.plain { width: auto; min-height: 0; margin: 0; padding: 0; border: 0; background: none; color: var(--accent);
  text-decoration: underline; text-underline-offset: .15em; font-weight: 400; }
button:hover { filter: brightness(1.1); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.box { margin: 0 0 1.25rem; padding: .75rem 1rem; border-left: 4px solid; border-radius: .25rem .5rem .5rem .25rem; }
.box h1, .box h2, .box p { margin: 0; } .box a { color: inherit; }
.bad { border-color: var(--bad); background: var(--bad-back); color: var(--bad); }
.good { border-color: var(--good); background: var(--good-back); color: var(--good); }
ul { margin: .5rem 0; padding-left: 1.25rem; }
li + li { margin-top: .25rem; }
.scopes { padding: 0; list-style: none; }
.scopes li { position: relative; padding-left: 1.6rem; }
.scopes li::before { content: ""; position: absolute; left: .3rem; top: .55rem; width: .45rem; height: .45rem;
  border: 2px solid var(--accent); border-radius: 50%; }
.scopes.allowed li::before { top: .35rem; width: .35rem; height: .7rem; border-width: 0 2px 2px 0; border-radius: 0; transform: rotate(40deg); }
.scopes .quiet { font-family: ui-monospace, monospace; font-size: .8rem; white-space: nowrap; }
.facts { margin-top: 1.25rem; }
.applications { margin: 0; padding: 0; list-style: none; }
.applications > li { margin: 0; padding: 1.25rem 0; border-top: 1px solid var(--line); }
.applications h2 { margin: 0; font-size: 1.1rem; } .applications h2 + p { margin-top: .1rem; }
.after { margin: 1.5rem 0 0; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.after p { margin: .25rem 0; }
code { display: block; margin: 1rem 0; padding: 1rem; border: 1px dashed var(--edge); border-radius: .5rem;
  background: var(--back); font: 1.05rem/1.5 ui-monospace, monospace; user-select: all; }
form.inline { display: inline; }
@media (max-width: 30rem) { body { justify-content: start; padding: 1rem .75rem 2rem; } main { padding: 1.5rem 1.25rem; } }
@media (forced-colors: active) { .scopes li::before { border-color: CanvasText; } }
`;

/**
 * Part of the style sheet's address. It changes with the text, so that browsers may cache it for
 * ever.
 */
export const styleVersion = createHash('sha256').update(styleSheet).digest('base64url').slice(0, 12);

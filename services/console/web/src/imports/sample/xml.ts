// As much of XML as the parts of a workbook need. The browser's own parser would take what the
// page's policy refuses: text that might become a script.

type Element = { attributes: Record<string, string>; content: string };

/** The elements of a name, whatever their prefix, that are closed; at most so many. */
export function elements(xml: string, name: string, limit = Number.POSITIVE_INFINITY): Element[] {
  const opening = new RegExp(`<(?:\\w+:)?${name}(\\s[^>]*?)?(/?)>`, 'g');
  const closing = new RegExp(`</(?:\\w+:)?${name}>`, 'g');
  const found: Element[] = [];
  for (let open = opening.exec(xml); open !== null && found.length < limit; open = opening.exec(xml)) {
    const attributes = readAttributes(open[1] ?? '');
    if (open[2] === '/') {
      found.push({ attributes, content: '' });
      continue;
    }
    closing.lastIndex = opening.lastIndex;
    const close = closing.exec(xml);
    if (close === null) break;
    found.push({ attributes, content: xml.slice(opening.lastIndex, close.index) });
    opening.lastIndex = closing.lastIndex;
  }
  return found;
}

// Without prefixes: `r:id` is `id`.
function readAttributes(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/(?:\w+:)?(\w+)\s*=\s*("[^"]*"|'[^']*')/g)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, unescapeXml(value.slice(1, -1))]));
}

/** The text of runs, without how they are pronounced; `isPlain`: of a value, which has no runs. */
export function textOf(content: string, isPlain = false): string {
  if (isPlain) return unescapeXml(content);
  const spoken = /<(?:\w+:)?rPh\b[\s\S]*?<\/(?:\w+:)?rPh>/g;
  const runs = elements(content.replaceAll(spoken, ''), 't');
  return unescapeXml(runs.map((run) => run.content).join(''));
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return entities[name] ?? whole;
      return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    },
  );
}

/** The place of a cell's column, from 0: that of `AB7` is 27. */
export function cellAddress(reference: string): number {
  const letters = /^[A-Z]+/.exec(reference)?.[0] ?? 'A';
  return [...letters].reduce((place, letter) => place * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

// Mail addresses. A text that could become two addresses, or a header line of its own, is refused.
import { visibleText } from '@almanac/service-kit/http/html';

export type MailAddress = { name: string; address: string };

const pattern = /^[^\s@"`(),:;<>[\]\\\p{C}]{1,64}@[^\s@"`(),:;<>[\]\\\p{C}]{1,253}$/u;
const maxNameLength = 100;

/**
 * Whether the text is one plain address. Identity checks input; this is the last check before an
 * address reaches a header.
 */
export function isMailAddress(text: string): boolean {
  return pattern.test(text);
}

/** A name fit for a header or a sentence: one line of visible characters, of limited length. */
export function shownName(text: string): string {
  const line = visibleText(text.replace(/\s+/gu, ' ')).trim();
  const characters = [...line];
  return characters.length > maxNameLength ? `${characters.slice(0, maxNameLength - 1).join('')}…` : line;
}

/** Reads `Name <address>` or a bare address; undefined when it is neither. */
export function readMailAddress(text: string): MailAddress | undefined {
  const [, name = '', address = ''] = /^\s*(?:"?([^"<>]*?)"?\s*<([^<>]+)>|.*)\s*$/su.exec(text) ?? [];
  const read = { name: shownName(name), address: address === '' ? text.trim() : address };
  return isMailAddress(read.address) ? read : undefined;
}

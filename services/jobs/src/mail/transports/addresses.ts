// Mail addresses. One that could become two, or a header line of its own, is none.
import { visibleText } from '@almanac/service-kit/http/html';

export type MailAddress = { name: string; address: string };

const pattern = /^[^\s@"`(),:;<>[\]\\\p{C}]{1,64}@[^\s@"`(),:;<>[\]\\\p{C}]{1,253}$/u;
const longestName = 100;

/** Whether the text is one plain address. Identity checks what people enter; this is the last look before it reaches a header. */
export function isMailAddress(text: string): boolean {
  return pattern.test(text);
}

/** A name as it may stand in a header or a sentence: one line, nothing invisible, not endless. */
export function shownName(text: string): string {
  const line = visibleText(text.replace(/\s+/gu, ' ')).trim();
  const characters = [...line];
  return characters.length > longestName ? `${characters.slice(0, longestName - 1).join('')}…` : line;
}

/** Reads `Name <address>` or a bare address; undefined when it is neither. */
export function readMailAddress(text: string): MailAddress | undefined {
  const [, name = '', address = ''] = /^\s*(?:"?([^"<>]*?)"?\s*<([^<>]+)>|.*)\s*$/su.exec(text) ?? [];
  const read = { name: shownName(name), address: address === '' ? text.trim() : address };
  return isMailAddress(read.address) ? read : undefined;
}

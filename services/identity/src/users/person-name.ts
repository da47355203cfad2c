// Names of users: the parts as requests give them, and the initials that stand for a person.
import { limits } from '@almanac/service-kit/limits';
import { atMost, rule } from '@almanac/service-kit/problems';
import { z } from 'zod';

/** A part of a user's name: may be empty (null means the same) and holds no control character. */
export const personNameSchema = z
  .string()
  .nullable()
  .transform((text) => text ?? '')
  .refine((text) => [...text].length <= limits.nameCodePoints, atMost(limits.nameCodePoints))
  .refine((text) => !/\p{Cc}/u.test(text), rule('wrong_format', 'holds a control character'))
  .meta({ type: ['string', 'null'], maxLength: limits.nameCodePoints });

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The first letters of both names in upper case; empty for a user without a name. */
export function initialsOf({ first_name, last_name }: { first_name: string; last_name: string }): string {
  return [first_name, last_name].map((text) => firstLetter(text.trim())).join('');
}

const firstLetter = (text: string) => [...graphemes.segment(text.slice(0, 100))][0]?.segment.toLocaleUpperCase() ?? '';

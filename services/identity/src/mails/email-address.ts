// E-mail addresses: which are valid, and when two are equal. They are compared in a normal form and
// stored as entered.
import { rule } from '@almanac/service-kit/problems';
import { z } from 'zod';

/**
 * The form in which equal addresses are the same text. Only case is ignored: `a+b@x` is not `a@x`.
 */
export function emailKey(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase();
}

// No quotes, commas, angle brackets or control characters, which could make two addresses of one in
// the header of a mail.
const emailPattern =
  /^[^\s@"'`(),:;<>[\]\\\p{C}]{1,64}@[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?(\.[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?)*$/u;

/** An e-mail address in a request; blanks around it are dropped. */
export const emailSchema = z
  .string()
  .transform((text) => text.trim())
  .refine((text) => text !== '', rule('blank', "can't be blank"))
  .refine(
    (text) => text === '' || (text.length <= 254 && emailPattern.test(text.replaceAll("'", 'x'))),
    rule('wrong_format', 'is invalid'),
  )
  .meta({ type: 'string', format: 'email', maxLength: 254 });

// When two addresses are the same: compared in one normal form, stored as they were given.
import { z } from 'zod';

/** Addresses in the form in which two are equal. Everything but case counts: `a+b@x` is not `a@x`. */
export function emailKey(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase();
}

// No quotes, commas, angle brackets or control characters: an address must never become two in a mail's header.
const emailPattern =
  /^[^\s@"'`(),:;<>[\]\\\p{C}]{1,64}@[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?(\.[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?)*$/u;

/** An e-mail address as a person gives it; blanks around it are dropped. */
export const emailSchema = z
  .string()
  .transform((text) => text.trim())
  .refine((text) => text !== '', "can't be blank")
  .refine((text) => text === '' || (text.length <= 254 && emailPattern.test(text.replaceAll("'", 'x'))), 'is invalid')
  .meta({ type: 'string', format: 'email', maxLength: 254 });

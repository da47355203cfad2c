// The text of a search over many things at once, as a palette of commands sends it with each key.
import { z } from 'zod';
import { ServiceError, validationFailed } from '../errors.ts';
import { limits } from '../limits.ts';

const { searchMinimum: minimum, searchMaximum: maximum } = limits;

/** The parameter `q` of a search. */
export const searchTextSchema = z.string().meta({
  minLength: minimum,
  maxLength: maximum,
  description: `The text to find, ${minimum} to ${maximum} characters. Case is ignored; \`%\` and \`_\` are ordinary characters.`,
});

/** The text without blanks around it. 422 when too short or too long, 400 when it is no text. */
export function readSearchText(given: string): string {
  if (given.includes('\u0000') || !given.isWellFormed())
    throw new ServiceError('bad_request', { code: 'malformed', message: 'q: this is no text.', field: 'q' });
  const text = given.trim();
  const length = [...text].length;
  if (length < minimum)
    throw validationFailed({
      code: 'too_short',
      message: `q must be at least ${minimum} characters long`,
      field: 'q',
      params: { minimum },
    });
  if (length > maximum)
    throw validationFailed({
      code: 'too_long',
      message: `q must be at most ${maximum} characters long`,
      field: 'q',
      params: { maximum },
    });
  return text;
}

// The problems of a refusal as programs read them: a stable code, the sentence for people, and the
// place in the request. `docs/errors.md` explains each code.

/** What a code means. A program acts the same way on all problems of one code. */
export const problemCodes = {
  blank: 'a required value is missing, null or empty',
  wrong_type: 'a value has the wrong JSON type',
  wrong_format: 'a text is not in the form that is due here',
  not_in_list: 'a value is none of the allowed ones',
  out_of_range: 'a number or a time is too small or too large',
  too_long: 'a text is too long',
  too_short: 'a text is too short',
  too_many: 'there are too many items',
  too_few: 'there are too few items',
  unknown_property: 'a property, a parameter, a column or a field has a name that is not known here',
  given_twice: 'the same thing is named twice in one request',
  incompatible: 'two values of the request do not go together',
  malformed: 'the request, its body, its query or a header could not be read',
  invalid: 'another rule is broken, which the sentence names',
  taken: 'another one has this value, which must be unique',
  invalid_reference: 'a value refers to something that does not exist, or that may not be referred to',
  still_referenced: 'something else still refers to it',
  cycle: 'a hierarchy would refer to itself',
  read_only: 'the value or the record is not set this way',
  proposals_only: 'rows of the table change by change requests alone',
  not_allowed: 'never done, whatever the rights of the caller',
  wrong_state: 'the present state does not allow it',
  version_conflict: 'it has been changed since it was read',
  not_reviewed: 'what would be done has not been shown yet, or has changed since',
  outdated: 'what was approved or seen is not what is there now',
  cursor_expired: 'what happened since the cursor is not known any more; begin again from a full copy',
  merge_conflict: 'both sides of a promotion have changed it and no choice was made',
  blocked: 'what is there keeps it from being done, such as rows that break a rule that is to hold',
  invalid_file: 'the file is not of the format, or not as its format demands',
  limit_reached: 'a limit of the account or of the system is reached',
  key_reused: 'the Idempotency-Key was used with another request',
  not_found: 'there is no such resource in this account, or it is hidden',
  unknown_address: 'there is nothing at this address',
  method_not_allowed: 'the address is known, the method is not',
  too_large: 'the request or the answer would be larger than the limit',
  unsupported_media_type: 'the body is of another type or encoding',
  request_timeout: 'the request took too long to arrive',
  missing_token: 'no token was sent',
  invalid_token: 'the token does not hold',
  unknown_user: 'the user of the token no longer exists',
  account_mismatch: 'application and user belong to different accounts',
  session_ended: 'a call of the console has no session, or its session has ended',
  user_required: 'the operation needs the token of a person',
  invalid_signature: 'the signature of a message does not hold',
  invalid_link: 'the link was changed, or its time is over',
  insufficient_scope: 'the token lacks the scope',
  missing_right: 'the caller lacks the right',
  password_required: 'the act needs a password that was given a short while ago',
  cross_site: 'the request was not made by a page of the console',
  not_in_plan: 'the plan of the account does not include it',
  payment_overdue: 'writes are blocked until a payment arrives',
  account_cancelled: 'writes are blocked, for the account is cancelled',
  allowance_exceeded: "the month's allowance of calls is used up",
  too_many_requests: 'throttled for now',
  internal: 'a fault of the service',
  unavailable: 'a part is away or too busy; worth another try',
  more_problems: 'stands for the problems that are not listed; `params.count` says how many',
} as const;

export type ProblemCode = keyof typeof problemCodes;

export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problemCodes, code);

/** Where a problem is in the request, and its values for a program. */
export type Place = {
  /** The attribute or parameter; a dotted path below the body (`operations.3.record`). */
  field?: string;
  /** The column of a record, by name. */
  column?: string;
  /** The operation of a batch, counted from 0. */
  operation?: number;
  /** The record, by its `svc_sk`. */
  row?: number;
  params?: Record<string, unknown>;
  /** The record as it is now, where it has another version than the caller asked for. */
  current?: unknown;
};

/** One problem. `message` is its line in `errors`. */
export type Problem = { code: ProblemCode; message: string } & Place;

/** The last of a list of problems that was cut. */
export const moreProblems = (count: number): Problem => ({
  code: 'more_problems',
  message: `${count} more problems are not listed`,
  params: { count },
});

/** The messages of problems. */
export const messagesOf = (problems: readonly Problem[]): string[] => problems.map(({ message }) => message);

/** The problems without those whose message is there before. */
export function withoutRepeated(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  return problems.filter(({ message }) => !seen.has(message) && seen.add(message));
}

/**
 * The error of a rule that zod doesn't know: `.refine(holds, rule('blank', "can't be blank"))`.
 * `message` completes a sentence that begins with the field.
 */
export const rule = (code: ProblemCode, message: string, params?: Place['params']) => ({
  message,
  params: { code, params },
});

/** The rule of a text's length in characters. */
export const atMost = (maximum: number) =>
  rule('too_long', `is too long (maximum is ${maximum} characters)`, { maximum });

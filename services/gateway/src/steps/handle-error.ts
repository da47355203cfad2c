// The last step.
import type { ErrorRequestHandler } from 'express';
import { answerError } from '../answers/error-answer.ts';
import type { GatewayContext } from '../context.ts';

/** Answers the error that another step threw. */
export const handleError =
  ({ defaultHeaders }: GatewayContext): ErrorRequestHandler =>
  (thrown, req, res, _next) =>
    answerError(req, res, thrown, defaultHeaders);

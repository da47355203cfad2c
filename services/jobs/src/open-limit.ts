// How many imports and exports of an account may be open at once.
import { validationFailed } from '@almanac/service-kit/errors';

/** 422 when as many are open as may be; `advice`: what the caller can do. */
export function requireRoomForOne(open: number, maximum: number, noun: string, advice: string): void {
  if (open >= maximum)
    throw validationFailed({
      code: 'limit_reached',
      message: `${open} ${noun} are open; at most ${maximum} may be open at once. ${advice}`,
      params: { maximum },
    });
}

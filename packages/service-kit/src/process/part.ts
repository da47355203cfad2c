/** A part that starts and stops with the service. `start` may return its port. */
export type Part = { name: string; start?: () => Promise<unknown>; stop?: () => Promise<unknown> | unknown };

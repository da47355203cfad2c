const linkMs = 3_600_000;
// Left for the clocks of the browser and the server to differ.
const marginMs = 60_000;

/** For how many whole minutes a link works that was made at an instant; 0 when it has expired. */
export function linkMinutes(madeAt: number, now: number): number {
  return Math.max(0, Math.floor((madeAt + linkMs - marginMs - now) / 60_000));
}

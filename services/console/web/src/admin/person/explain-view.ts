// What is asked about a user's rights, as the address of their page has it.
import { readText } from '../../address/view.ts';
import { type Place, readPlace, writePlace } from '../rights/place.ts';
import { type Right, rights } from '../rights/rights.ts';

export type ExplainView = { right?: Right | undefined; place?: string | undefined };

export function readExplainView(search: Record<string, unknown>): ExplainView {
  const place = readPlace(readText(search.place));
  return { right: rights.find((right) => right === search.right), place: place && writePlace(place) };
}

/** The place that is asked about; undefined before one is chosen. */
export function placeOf({ place }: ExplainView): Place | undefined {
  return readPlace(place);
}

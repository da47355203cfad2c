// The ways in which a call of an operation can name a resource of another account.
import { findPlaces, type Operation, type Place, placeName } from './operations.ts';
import { type Kind, kindsAt } from './places.ts';
import type { Choice } from './requests.ts';
import type { Owned } from './twins.ts';

/** One way to name something of another account in a call. */
export type Try = { name: string; operation: Operation; choose(whose: Owned, own: Owned): Choice[] };

/** Every place alone, lists mixed with identifiers of the caller's own, and all places at once. */
export function triesOf(operation: Operation): Try[] {
  const own = findPlaces(operation).filter((place) => kindsAt(place)?.length);
  const single = own.flatMap((place) =>
    (kindsAt(place) as Kind[]).flatMap((kind): Try[] => {
      const name = `${placeName(place)} (${kind})`;
      const alone: Try = { name, operation, choose: (whose) => [{ place, kind, values: [whose[kind]] }] };
      if (!/ids$/.test(place.name) || place.where === 'query') return [alone];
      const mixed: Try['choose'] = (whose, mine) => [{ place, kind, values: [mine[kind], whose[kind]] }];
      return [alone, { name: `${name} beside own ones`, operation, choose: mixed }];
    }),
  );
  const combinable = own.filter((place) => place.where !== 'filter' && !isOtherName(place, own));
  if (combinable.length < 2 || alternatives.has(operation.name)) return single;
  const choose: Try['choose'] = (whose) =>
    combinable.map((place) => {
      const [kind] = kindsAt(place) as [Kind];
      return { place, kind, values: [whose[kind]] };
    });
  return [...single, { name: 'all places at once', operation, choose }];
}

// The places of a side exclude each other.
const alternatives = new Set(['POST /table_data/diff']);

// A table is named by its id or by a key on a branch; both at once contradict each other.
function isOtherName(place: Place, all: Place[]): boolean {
  const isById = all.some(({ name, where }) => name === 'table_definition_id' && where !== 'filter');
  return isById && all.some(({ name }) => name === 'table_definition_key')
    ? /^(table_definition_key|branch_id)$/.test(place.name)
    : false;
}

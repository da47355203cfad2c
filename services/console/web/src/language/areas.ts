// The texts of the console by area: those of an area are loaded together, beside the code that
// shows them. A module that is loaded later names the areas of what it imports (`withTexts`).

/** The folders and files of each area. The longest place of a file counts. */
export const areas = {
  // What every page has: loaded before the first of them.
  shell: [
    'address',
    'admin/who-administers.tsx',
    'diff',
    'frame',
    'home',
    'live',
    'me',
    'model/head',
    'palette',
    'parts',
    'router.tsx',
    'tables',
  ],
  table: ['edits', 'grid', 'table'],
  bulk: ['table/bulk'],
  model: ['model'],
  review: ['branches', 'changes', 'compare', 'requests'],
  files: ['exports', 'imports'],
  admin: ['admin'],
} as const satisfies Record<string, readonly string[]>;

export type Area = keyof typeof areas;

const places = Object.values(areas).flat();

/** The places of other areas within those of an area. */
export const placesWithin = (area: Area): string[] =>
  places.filter((place) => areas[area].some((own) => place.startsWith(`${own}/`)));

// No two folders of a package import each other, types included. Files in the root of a service's
// `src` connect its folders, and tests may import any file, so both are left out. Read by
// dependency-cruiser (npm run check).
import files from './.dependency-cruiser.js';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-folder-cycles',
      comment: 'Merge folders that import each other, or move what both need into a third.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    ...files.options,
    exclude: {
      path: `${files.options.exclude.path}|[.](test|suite)[.]ts$|^services/[^/]+/(src/[^/]+[.]ts$|tests/)|^tests/`,
    },
  },
};

// No two folders of a package import each other, types included. The files in the root of a `src` put
// the parts together, and tests may look anywhere, so both are left out. Read by dependency-cruiser
// (npm run check).
import files from './.dependency-cruiser.js';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-folder-cycles',
      comment: 'Folders that import each other are one folder; move what both need below them.',
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

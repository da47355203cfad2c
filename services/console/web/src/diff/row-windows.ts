// Changed rows come in windows: the query of each list of them says which one it asks for.

const size = 100;

/** The window that begins at a row. */
export const windowFrom = (startRow: number) => ({ startRow, endRow: startRow + size });

/** What the infinite queries of windows have in common. */
export const rowWindows = {
  initialPageParam: 0,
  getNextPageParam: ({ rowCount }: { rowCount: number }, _pages: unknown, before: number) =>
    before + size < rowCount ? before + size : undefined,
  // To find what differs takes seconds in large tables: it is done when one comes to it.
  refetchOnWindowFocus: false,
};

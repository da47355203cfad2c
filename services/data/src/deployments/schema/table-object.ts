// A named constraint, index, function or trigger of a deployed table.
export type TableObject = {
  kind: 'index' | 'check' | 'key' | 'foreign key' | 'function' | 'trigger';
  name: string;
  /**
   * Its text, and the types of its columns: an object with another signature is dropped and
   * created.
   */
  signature: string;
  create: string;
  drop: string;
  /** How it is added to a large table that is in use. */
  online?: OnlineBuild;
};
/**
 * `immediate`: in the transaction, without reading a row. `deferred`: the rest, beside readers and
 * writers, after `cleanup` of what an interrupted attempt left.
 */
export type OnlineBuild = { immediate: string[]; cleanup?: string; deferred: string };

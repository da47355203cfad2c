// What the handlers of the console's server work with.
import type { ConsoleFiles } from './files.ts';

export type ConsoleContext = { files: ConsoleFiles };
